//go:build browser

package main

import (
	"net/http"
	"testing"
	"time"
)

// TestConsole_ReviewsSayWhatIsTrueNow shows the review of a baseline, which no team reads, and of a run on a dataset that withheld scores
// until its close has come. The inbox tells an old run that was evaluated again from a new one.
func TestConsole_ReviewsSayWhatIsTrueNow(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	run := s.submitTo(t, "ada", task, open, "Entry")
	file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	file["datasetId"] = open
	var baseline struct{ RunIDs []string }
	s.call(t, owner, http.MethodPost, task+"/submissions",
		map[string]any{"type": "upload", "baseline": true, "title": "Coin", "files": []any{file}}, &baseline)
	s.awaitRuns(t, owner, task)
	closesAt := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	change := func(members map[string]any) { s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, members, nil) }
	change(map[string]any{"columns": []any{map[string]any{"key": "AP", "from": "close"}}, "submissions": map[string]any{"closesAt": closesAt}})
	p := s.signedIn(t, "owner", "/runs/"+baseline.RunIDs[0]+"/review")
	p.Sees("Only the organizers and the user who submitted the baseline read it.")
	p.lacksText("team")
	p.Visit(run + "/review")
	p.Sees("The team reads it on the page of the run, also while the run is blinded.")
	p.Fill("Blinded", "false")
	p.Sees("only the organizers see the scores, and the team after the window of the last team has closed")
	change(map[string]any{"submissions": map[string]any{"closesAt": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)}})
	p.Check(s.url + "/")
	p = s.signedIn(t, "owner", run+"/review")
	p.Fill("Blinded", "false")
	p.Sees("Only the team and the organizers see the scores, until you tick this.")
	change(map[string]any{"evaluator": map[string]any{"measures": []any{"P@1"}}})
	p.Visit("/desk")
	p.returnOften()
	p.Sees("evaluated again")
}

// lacksText waits until the main part of the page lacks the text.
func (p *consolePage) lacksText(text string) {
	p.t.Helper()
	p.Await("!" + shows(text))
}
