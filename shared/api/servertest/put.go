package servertest

import (
	"context"
	"testing"

	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

func put(t testing.TB, s store.Store, records []record.Record) {
	t.Helper()
	for _, r := range records {
		if err := new(table.Tx).Create(r).Commit(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
}
