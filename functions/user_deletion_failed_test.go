package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// TestDeleteUser_DeletesWhyItsRunsFailed publishes runs that fail later, when the ground truth changes, and deletes the user of one of
// them. The organizers see the reason until then. Afterwards nobody is referred to people who do not see it either.
func TestDeleteUser_DeletesWhyItsRunsFailed(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enterPublished()
	before := l.run("ada", ada).EvaluationID
	l.changeTruth("1,a\n2,b\n3,c\n")
	l.evaluate(ada)
	l.evaluate(bob)
	const reason = "no prediction for 1 of 3 ids"
	const deleted = "The reason why the run failed was deleted"
	const account = "account of the user"
	messages := func(user, runID string) string {
		t.Helper()
		r := l.run(user, runID)
		if r.State != record.Failed {
			t.Fatalf("the run is %s", r.State)
		}
		return fmt.Sprint(r.Diagnostics)
	}
	if read := messages("olga", ada); !strings.Contains(read, reason) {
		t.Fatalf("the organizers read %s", read)
	}
	l.Want(http.StatusNoContent, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("ada"), nil)
	for range 3 {
		l.advance(2 * record.RequestTime)
		l.runDue()
	}
	for _, user := range []string{"olga", "root", "bob", ""} {
		insider := user == "olga" || user == "root"
		read := messages(user, ada)
		if !strings.Contains(read, deleted) || strings.Contains(read, account) != insider || strings.Contains(read, "rganizers") {
			t.Errorf("%q reads of the run of the deleted user: %s", user, read)
		}
	}
	review := servertest.Get[record.Review](l.Server, "olga", "/v1/runs/"+ada+"/review")
	if read := fmt.Sprint(review.Diagnostics); !strings.Contains(read, deleted) {
		t.Errorf("the review says %s", read)
	}
	result := "/v1/evaluations/" + before
	if e := servertest.Get[record.Evaluation](l.Server, "", result); e.RunID != ada {
		t.Errorf("the published result from before the failure is %+v", e)
	}
	if read := messages("olga", bob); !strings.Contains(read, reason) {
		t.Errorf("the organizers read of the other run: %s", read)
	}
	l.changeTruth("1,a\n2,b\n4,c\n")
	l.evaluate(ada)
	if read := messages("olga", ada); !strings.Contains(read, reason) || strings.Contains(read, deleted) {
		t.Errorf("after it failed again, the organizers read %s", read)
	}
	l.changeTruth("1,a\n2,b\n")
	l.evaluate(bob)
	l.evaluate(ada)
	l.nextMinute()
	board := servertest.List[record.Evaluation](l.Server, "", l.task+"/evaluations?sort=rank&filter[datasetId]="+servertest.ID(l.dataset))
	if !slices.ContainsFunc(board, func(e record.Evaluation) bool { return e.RunID == ada && e.Rank == 1 }) {
		t.Errorf("after the ground truth was corrected, the leaderboard is %+v", board)
	}
}
