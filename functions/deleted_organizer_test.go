package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// TestDeleteOrganizer_EndsRestoringOfItsTasks deletes a task and then its organizer. The organizer finds before what goes with it, and
// nobody is told afterwards that the task or its baseline can be restored.
func TestDeleteOrganizer_EndsRestoringOfItsTasks(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	body := servertest.Image(servertest.ID(p.newDataset(nil)))
	body["baseline"] = true
	baseline := "/v1/runs/" + p.submit("olga", body).RunIDs[0]
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, baseline, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task+"?with=submissions&name=Lakes", nil)
	p.advance(2 * record.RequestTime)
	p.runDue()
	another := p.Create("olga", "/v1/organizers", map[string]any{"name": "Another lab"})
	gone := func(organizer string) []record.Deletion {
		return servertest.List[record.Deletion](p.Server, "olga", "/v1/deletions?filter[kind]=task&filter[organizerId]="+servertest.ID(organizer))
	}
	if found := gone(p.organizer); len(found) != 1 || found[0].Subject != p.task || len(gone(another)) > 0 {
		t.Errorf("the organizer has the deleted tasks %+v, and the other one %+v", found, gone(another))
	}
	deleted := func() users.UserDeletedTask {
		t.Helper()
		u := servertest.Get[users.Current](p.Server, "tom", "/v1/user")
		if len(u.DeletedTasks) != 1 || u.DeletedTasks[0].TaskName != "Lakes" {
			t.Fatalf("the member is told of %+v", u.DeletedTasks)
		}
		return u.DeletedTasks[0]
	}
	entry := deletionOf(p, "olga", p.task)
	if until := deleted().RestorableUntil; until == nil || !until.Equal(entry.ExpiresAt.Time) {
		t.Errorf("the task can be restored until %v, and the member is told of %v", entry.ExpiresAt, until)
	}
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.organizer, nil)
	if until := deleted().RestorableUntil; until != nil {
		t.Errorf("the member is told that organizers can restore the task until %v", until)
	}
	const refusal = "The organizer of the task was deleted, so nothing of the task can be restored."
	for _, user := range []string{"olga", "root"} {
		path := "/v1/deletions/" + deletionOf(p, user, baseline).ID
		checkRefusal(p, user, path, false, refusal)
		var refused problem.Document
		p.Want(http.StatusConflict, &refused, user, http.MethodDelete, path, nil)
		if !strings.Contains(refused.Detail, refusal) {
			t.Errorf("%s is told %+v", user, refused)
		}
	}
	checkRefusal(p, "root", "/v1/deletions/"+entry.ID, false, refusal)
}
