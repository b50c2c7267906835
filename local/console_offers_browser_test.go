//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_OffersATeamsActionsToNobodyElse opens the run of an anonymous team, which everyone sees. Only the team may be offered its
// actions. The organizers must read what the team says about it.
func TestConsole_OffersATeamsActionsToNobodyElse(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, bob := s.token(t, "owner"), s.token(t, "bob")
	task, _, open := s.twoDatasets(t)
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 1}, nil)
	s.post(t, bob, task+"/registrations", map[string]any{"team": "Beavers", "anonymous": true})
	file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	file["datasetId"] = open
	var made struct{ RunIDs []string }
	s.call(t, bob, http.MethodPost, task+"/submissions", map[string]any{"type": "upload", "visibility": "public", "files": []any{file},
		"description": "With **boats**."}, &made)
	run := "/runs/" + made.RunIDs[0]
	s.awaitRuns(t, owner, task)
	s.call(t, owner, http.MethodPatch, "/v1"+run+"/review", map[string]any{"published": true, "blinded": false}, nil)
	for _, p := range []*consolePage{s.open(t, "/console#"+run, browsertest.DeskLight), s.signedIn(t, "eve", run)} {
		p.Sees("Scores")
		p.lacks("Mark as final")
		p.lacks("Save")
	}
	s.signedIn(t, "owner", run).Sees("About the submission With boats.")
	p := s.signedIn(t, "bob", run)
	p.Sees("Title and notes")
	p.Await(`[...document.querySelectorAll("main button")].some(b => b.textContent.startsWith("Mark as final"))`)
}

// TestConsole_SaysThatADeletionCannotBeUndone deletes a run of a rejected team. The team must read before that it cannot restore the run,
// and the trash must not offer it.
func TestConsole_SaysThatADeletionCannotBeUndone(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, team, open := s.twoDatasets(t)
	run := s.submitTo(t, "ada", task, open, "Entry")
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "rejected"}, nil)
	p := s.signedIn(t, "ada", run)
	p.Press("Delete Entry")
	p.Sees("The organizers rejected your team, so only they can restore what it deletes.")
	p.Press("Yes, go on")
	p.Sees("Entry is deleted.")
	if browsertest.Evaluate[bool](p.Page, `[...document.querySelectorAll(".status button")].some(b => b.textContent === "Undo")`) {
		p.t.Error("Undo is offered")
	}
	p.Visit("/trash")
	p.Sees("The organizers rejected your registration.")
	p.lacks("Restore")
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "accepted"}, nil)
	p.returnOften()
	p.Press("Restore Entry")
	p.Sees("Entry is restored.")
}

// TestConsole_OffersNoDeletionOfPublishedFailedRuns publishes a run that then fails, because the ground truth gets an id. My runs must not
// offer to delete it.
func TestConsole_OffersNoDeletionOfPublishedFailedRuns(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task, _, _ := s.twoDatasets(t)
	dataset := s.dataset(t, owner, task, "", map[string]any{
		"truths":    []any{inline("truth.csv", "id,label\n1,a\n2,b\n")},
		"runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
	})
	runs := map[string]string{}
	for _, title := range []string{"Published", "Other"} {
		file := inline("run.csv", "id,label\n1,a\n2,b\n")
		file["datasetId"] = dataset
		var made struct{ RunIDs []string }
		s.call(t, ada, http.MethodPost, task+"/submissions", map[string]any{"type": "upload", "title": title, "files": []any{file}}, &made)
		runs[title] = made.RunIDs[0]
	}
	s.awaitRuns(t, owner, task)
	s.call(t, owner, http.MethodPatch, "/v1/runs/"+runs["Published"]+"/review", map[string]any{"published": true}, nil)
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+dataset, map[string]any{
		"truths": []any{inline("truth.csv", "id,label\n1,a\n2,b\n3,a\n")}}, nil)
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/runs")
	p.Sees("Published failed")
	p.Sees("Other failed")
	p.Await(`document.querySelector("main button[aria-label='Delete Other']") !== null`)
	p.lacks("Delete Published")
}

// TestConsole_NamesRunsInTheTrash deletes runs with and without a title. The trash must name them like the list of runs.
func TestConsole_NamesRunsInTheTrash(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	runs := []string{s.submitTo(t, "ada", task, open, "Entry"), s.submitTo(t, "ada", task, open, "")}
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/runs")
	p.Sees("Entry completed")
	p.Sees("first-try completed")
	for _, run := range runs {
		s.call(t, s.token(t, "ada"), http.MethodDelete, "/v1"+run, nil, nil)
	}
	p.Visit("/trash")
	p.Press("Restore Entry")
	p.Sees("Entry is restored.")
	p.Press("Restore first-try")
	p.Sees("first-try is restored.")
}
