package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

// Each task of an organizer lists the changes of members; nothing is left once the organizer is deleted.
func TestAudit_HasChangesOfMembersInEachTask(t *testing.T) {
	p := newPlatform(t, nil)
	tasks := []string{p.task}
	for range 6 {
		tasks = append(tasks, p.newTask(nil))
	}
	olga, tom := recordtest.UserID("olga"), recordtest.UserID("tom")
	p.Records().User("tom")
	p.change("olga", p.organizer, map[string]any{"members": []string{olga, tom}})
	p.change("tom", tasks[0], map[string]any{"submissions": map[string]any{"total": 3}})
	p.change("tom", p.organizer, map[string]any{"members": []string{tom}})
	for i, task := range tasks {
		want := "members.changed members.changed task.created organizer.created"
		if i == 0 {
			want = "members.changed task.rules-changed members.changed task.created organizer.created"
		}
		var got []string
		for next := task + "/audit-entries?limit=1"; next != ""; { // which goes on across both
			var list []record.AuditEntry
			list, next = servertest.Page[record.AuditEntry](p.Server, "tom", next)
			got = append(got, list[0].Action)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("task %d has %s, want %s", i, got, want)
		}
		p.Want(http.StatusForbidden, nil, "olga", http.MethodGet, task+"/audit-entries", nil)
		p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, task, nil)
	}
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, p.organizer, nil)
	for _, partition := range []string{
		record.AuditPartition(servertest.ID(p.organizer)), record.OrganizerKey(servertest.ID(p.organizer)).Partition} {
		left, err := p.Store.Query(t.Context(), store.Query{Partition: partition, Limit: 10, Consistency: store.Strong})
		if err != nil || len(left) > 0 {
			t.Errorf("%d items are left in %s: %v", len(left), partition, err)
		}
	}
}
