package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/webpage"
)

// A waiting run that is marked as final counts in the limit of final runs until it is cancelled. As it has no result, the leaderboard shows
// the team's last run with a result, and says so.
func TestFinalRuns_ACancelledRunIsNoLongerFinal(t *testing.T) {
	f := newPhases(t, recordtest.Measures("nDCG@10"), func(d *record.DatasetItem) { d.FinalRuns = 1 })
	done := f.dataset.Run("ada", recordtest.Published, recordtest.Public, recordtest.Value("nDCG@10", 0.5))
	waiting := f.dataset.Run("ada", recordtest.Queued)
	shown := func() {
		t.Helper()
		var out tools.LeaderboardOutput
		f.Want(http.StatusOK, &out, "", http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": f.dataset.ID, "final": true})
		if len(out.Entries) != 1 || out.Entries[0].RunID != done.ID || out.FinalsNote != webpage.FinalRuns(1, false) {
			t.Errorf("the leaderboard shows %+v and says %q", out.Entries, out.FinalsNote)
		}
	}
	f.patch(http.StatusOK, "ada", "/v1/runs/"+waiting.ID, map[string]any{"final": true})
	shown()
	p := f.patch(http.StatusUnprocessableEntity, "ada", "/v1/runs/"+done.ID, map[string]any{"final": true})
	if !strings.Contains(p.Errors[0].Detail, waiting.ID) {
		t.Errorf("the problem does not name the marked run: %+v", p)
	}
	f.patch(http.StatusOK, "ada", "/v1/runs/"+waiting.ID, map[string]any{"state": record.Cancelled})
	shown()
	f.patch(http.StatusUnprocessableEntity, "ada", "/v1/runs/"+waiting.ID, map[string]any{"final": true})
	f.patch(http.StatusOK, "ada", "/v1/runs/"+done.ID, map[string]any{"final": true})
	shown()
}
