package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/store"
)

// However many tasks an organizer has, each tells who came and went; when the organizer has gone, nothing does.
func TestAudit_HasChangesOfMembersInEachTask(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	lab := s.Create("olivia", "/v1/organizers", map[string]any{"name": "Lab"})
	id := strings.TrimPrefix(lab, "/v1/organizers/")
	var tasks []string
	for range 7 {
		tasks = append(tasks, s.Create("olivia", "/v1/tasks", map[string]any{"organizerId": id, "name": "Task"}))
	}
	olivia, tom := servertest.UserID("olivia"), servertest.UserID("tom")
	s.Know("tom")
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, lab, map[string]any{"members": []string{olivia, tom}})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, tasks[0], map[string]any{"submissions": map[string]any{"total": 3}})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, lab, map[string]any{"members": []string{tom}})
	for i, task := range tasks {
		want := "members.changed members.changed task.created organizer.created"
		if i == 0 {
			want = "members.changed task.rules-changed members.changed task.created organizer.created"
		}
		var told []string
		for next := task + "/audit-entries?limit=1"; next != ""; { // which goes on across both
			var p struct {
				Data  []record.AuditEntry
				Links struct{ Next string }
			}
			s.Want(http.StatusOK, &p, "tom", http.MethodGet, next, nil)
			told, next = append(told, p.Data[0].Action), p.Links.Next
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("task %d tells %s, want %s", i, got, want)
		}
		s.Want(http.StatusForbidden, nil, "olivia", http.MethodGet, task+"/audit-entries", nil)
		s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, task, nil)
	}
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, lab, nil)
	for _, partition := range []string{record.AuditPartition(id), record.OrganizerKey(id).Partition} {
		left, err := s.Store.Query(t.Context(), store.Query{Partition: partition, Limit: 10, Consistency: store.Strong})
		if err != nil || len(left) > 0 {
			t.Errorf("%d items are left in %s: %v", len(left), partition, err)
		}
	}
}
