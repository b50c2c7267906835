package servertest

import (
	"context"
	"testing"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

func put(t testing.TB, s store.Store, all []record.Record) {
	t.Helper()
	for _, r := range all {
		if err := new(records.Tx).Create(r).Commit(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
}
