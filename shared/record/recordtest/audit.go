package recordtest

import (
	"context"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// AuditEntries reads the entries of an organizer and its tasks, the newest first.
func AuditEntries(t TB, s store.Store, organizerID string) (all []*record.AuditEntry) {
	t.Helper()
	err := records.Each(context.Background(), s, store.MaxWrites, []records.Source{records.AuditEntries(organizerID)},
		func(a *record.AuditEntry) error {
			all = append(all, a)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
