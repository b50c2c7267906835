package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
)

// TestRestore_KeepsTheLimitOfUnfinishedRuns deletes a waiting run and submits another one in its place. The team cannot restore the deleted
// run before another one has ended. Organizers can, and the restored run counts.
func TestRestore_KeepsTheLimitOfUnfinishedRuns(t *testing.T) {
	p := newPlatform(t, nil)
	p.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 2}, "")
	p.register("tom", nil)
	body := servertest.Image(servertest.ID(p.newDataset(nil)))
	body["again"] = true
	first := p.submit("tom", body)
	p.submit("tom", body)
	remove := func() string {
		p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, p.task+"/submissions/"+first.ID, nil)
		return "/v1/deletions/" + servertest.List[record.Deletion](p.Server, "tom", "/v1/deletions")[0].ID
	}
	deletion := remove()
	third := p.submit("tom", body)
	var refused problem.Document
	p.Want(http.StatusForbidden, &refused, "tom", http.MethodDelete, deletion, nil)
	const why = "Your team has 2 runs in this task that have not ended, "
	if refused.Type != problem.QuotaExhausted.Type() || !strings.HasPrefix(refused.Detail, why) {
		t.Errorf("%+v", refused)
	}
	p.change("tom", "/v1/runs/"+third.RunIDs[0], map[string]any{"state": record.Cancelled})
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, deletion, nil)
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, p.task+"/submissions", body)
	deletion = remove()
	fourth := p.submit("tom", body)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, deletion, nil)
	p.change("tom", "/v1/runs/"+fourth.RunIDs[0], map[string]any{"state": record.Cancelled})
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, p.task+"/submissions", body)
}
