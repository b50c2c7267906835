package registrations_test

import (
	"net/http"
	"testing"

	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// What was used of the quota stays used when a user withdraws and registers again.
func TestRemove_KeepsTheUsedQuota(t *testing.T) {
	f := serve(t)
	made := f.register("tom", "Heron")
	used := &record.Allowance{Meta: record.MetaOf(recordtest.UserID("tom"), f.Now()), TaskID: f.task.ID, Total: 7}
	f.Records().Put(used)
	f.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, made, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, made, nil)
	f.register("tom", "Heron")
	if a := recordtest.Get[record.Allowance](t, f.Store, used.Key()); a == nil || a.Total != 7 {
		t.Errorf("%+v", a)
	}
}

func TestRemove_IsRefusedWithSubmissions(t *testing.T) {
	f := serve(t)
	path := f.register("tom", "T")
	f.Records().Put(&record.Allowance{Meta: record.MetaOf(recordtest.UserID("tom"), f.Now()), TaskID: f.task.ID, Submissions: 1})
	f.Want(http.StatusConflict, nil, "tom", http.MethodDelete, path, nil)
	f.Want(http.StatusConflict, nil, "olga", http.MethodDelete, path, nil)
}

func TestRemove_OfRejectedIsForOrganizers(t *testing.T) {
	f := serve(t)
	path := f.register("tom", "T")
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"state": "rejected"})
	f.Want(http.StatusForbidden, nil, "tom", http.MethodDelete, path, nil)
	f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"state": "pending"})
	f.Want(http.StatusConflict, nil, "tom", http.MethodPost, f.path, map[string]any{"team": "U"})
	f.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
}
