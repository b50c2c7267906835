package files_test

import (
	"errors"
	"testing"
	"time"

	"assay/shared/domain/record/recordtest"
	"assay/shared/service/files"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// The cleaning deletes files that no record of the table names after some days. It would delete all files of another table.
func TestClaim_KeepsFilesToOneTable(t *testing.T) {
	objects := recordtest.OpenFiles(t)
	table := recordtest.OpenStore(t, embedded.Options{})
	other := recordtest.OpenStore(t, embedded.Options{})
	check := func(s store.Store) error { return files.CheckClaim(t.Context(), s, objects) }
	if err := check(table); err != nil {
		t.Errorf("files without a claim: %v", err)
	}
	claim := func(s store.Store) error {
		return files.Claim{Table: s, Objects: objects, Now: time.Now}.Make(t.Context())
	}
	if err := errors.Join(claim(table), claim(table)); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{check(other), claim(other), check(other)} { // before and after the other table gets an id
		if !errors.Is(err, files.ErrOtherTable) {
			t.Errorf("another table: %v", err)
		}
	}
	if err := errors.Join(check(table), claim(table)); err != nil {
		t.Errorf("the table of the files again: %v", err)
	}
}
