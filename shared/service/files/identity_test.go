package files_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/files"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// TestCheckForm_RefusesOtherForms checks tables whose records have another form than this build's, and tables without a form.
func TestCheckForm_RefusesOtherForms(t *testing.T) {
	const ours, theirs = `{"schema":1,"digest":"`, `"}`
	key := record.TableIdentityKey()
	user := store.Key{Partition: "USER#1", Sort: "PROFILE"}
	for name, c := range map[string]struct {
		key  store.Key
		data string
		says string // empty: the table can be used
	}{
		"empty":          {},
		"this build":     {key, ours + record.Digest + theirs, ""},
		"another digest": {key, ours + "another" + theirs, "schema 1, digest another, and"},
		"another schema": {key, `{"schema":15,"digest":"` + record.Digest + theirs, "schema 15, digest " + record.Digest},
		"no digest":      {key, `{"schema":1}`, "digest none"},
		"no identity":    {user, `{"schema":1}`, "schema 0, digest none"},
	} {
		table := recordtest.OpenStore(t, embedded.Options{})
		if c.data != "" {
			if err := table.Write(t.Context(), store.Create(store.Item{Key: c.key, Data: []byte(c.data)})); err != nil {
				t.Fatal(err)
			}
		}
		switch err := files.CheckForm(t.Context(), table.(store.Scanner)); {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (!errors.Is(err, record.ErrOtherForm) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if _, err := files.NameTable(t.Context(), table, time.Now); (err == nil) != (c.says == "" || c.key == user) {
			t.Errorf("%s: named with %v", name, err)
		}
	}
}
