package functions_test

import (
	"net/http"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/ratelimit"
)

// TestRestore_KeepsTheLimitOfUnfinishedBaselines deletes a waiting baseline and submits another one in its place. No organizer can restore
// the deleted one before another one of its user has ended.
func TestRestore_KeepsTheLimitOfUnfinishedBaselines(t *testing.T) {
	p := newPlatform(t, nil)
	p.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 2}, "")
	p.Join("eddy", p.Invite("olga", p.organizer, nil), nil)
	body := servertest.Image(servertest.ID(p.newDataset(nil)))
	body["again"], body["baseline"] = true, true
	first := p.submit("eddy", body)
	p.submit("eddy", body)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task+"/submissions/"+first.ID, nil)
	deletion := "/v1/deletions/" + servertest.List[record.Deletion](p.Server, "olga", "/v1/deletions")[0].ID
	third := p.submit("eddy", body)
	const why = "The user who submitted this baseline has 2 baselines in this task that have not ended, and this would restore 1 more"
	checkRefusal(p, "olga", deletion, false, why)
	p.Want(http.StatusForbidden, nil, "olga", http.MethodDelete, deletion, nil)
	p.change("eddy", "/v1/runs/"+third.RunIDs[0], map[string]any{"state": record.Cancelled})
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, deletion, nil)
}
