//go:build browser

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_SaysWhenATaskRegisters shows a task before and after its window of registration.
func TestConsole_SaysWhenATaskRegisters(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, _ := s.twoDatasets(t)
	window := func(member string, in time.Duration) {
		t.Helper()
		at := map[string]any{member: time.Now().Add(in).UTC().Format(time.RFC3339)}
		s.call(t, s.token(t, "owner"), http.MethodPatch, task, map[string]any{"registration": at}, nil)
	}
	window("opensAt", time.Hour)
	screen := strings.TrimPrefix(task, "/v1")
	p := s.signedIn(t, "eve", screen)
	p.Sees("Then you take part at once")
	p.Visit(screen + "/join")
	p.Sees("The task takes registrations from")
	s.call(t, s.token(t, "owner"), http.MethodPatch, task, map[string]any{"registration": map[string]any{"opensAt": nil}}, nil)
	window("closesAt", -time.Minute)
	p.returnOften()
	p.Sees("The task took registrations until")
	p.Visit(screen)
	p.Sees("Took registrations until")
	p.Await(`!document.querySelector("nav a[href$='/join']")`)
	for _, at := range []string{"/team", "/submit"} {
		p.Visit(screen + at)
		p.Sees("The task took registrations until")
		p.lacksText("Take part")
	}
	p.Visit(screen + "/join") // an address that somebody kept
	p.Await(`document.querySelector("nav a[href$='/join']") !== null`)
}

// TestConsole_TellsAdviceInTheWordsOfThePreview shows the advice for a dataset with a limit for each day and without a close.
func TestConsole_TellsAdviceInTheWordsOfThePreview(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	var labels strings.Builder
	for i := range 8 {
		fmt.Fprintf(&labels, "{\"id\":\"%d\",\"label\":\"%c\"}\n", i, 'a'+rune(i%2))
	}
	dataset := s.dataset(t, owner, s.task(t, owner, "Lakes"), labels.String(), map[string]any{"split": "validation",
		"runFormat":   map[string]any{"kind": "jsonl", "idField": "id", "valueField": "label"},
		"evaluator":   map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
		"submissions": map[string]any{"perDay": 1}})
	p := s.signedIn(t, "owner", "/datasets/"+dataset+"/edit")
	p.Sees("reveal the ground truth, and a team may submit any number over the days, as the dataset has no close.")
	p.Sees("It helps to allow fewer runs in all (“Runs of a team in all”)")
}

// TestConsole_PromisesNoSubmissionAfterTheClose changes the terms of a task, before and after its last dataset closes.
func TestConsole_PromisesNoSubmissionAfterTheClose(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": "Cite us."}}, nil)
	screen := strings.TrimPrefix(task, "/v1")
	p := s.signedIn(t, "ada", screen)
	p.Sees("Your team can submit only after it has accepted them.")
	p.Press("Accept the terms")
	p.Await(`location.hash.endsWith("/submit")`)
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p.returnOften()
	p.Sees("No dataset of the task takes a run of your team any more, even if it accepts them.")
	p.Sees("You can submit to no dataset of the task now.")
}

// TestConsole_FollowsAPublication shows the address of a private task to somebody who is signed out, and publishes the task.
func TestConsole_FollowsAPublication(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Hidden lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "private"}, nil)
	p := s.open(t, "/console#"+strings.TrimPrefix(task, "/v1"), browsertest.DeskLight)
	p.Sees("Nothing is public at this address.")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	p.Sees("Hidden lakes")
}

// TestConsole_PromisesNoGroundTruth opens the form of a dataset. Unblinding a run shows scores, and never the ground truth.
func TestConsole_PromisesNoGroundTruth(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "owner", strings.TrimPrefix(s.task(t, s.token(t, "owner"), "Lakes"), "/v1")+"/datasets/new")
	p.Sees("their teams see no scores until an organizer unblinds them. Unblinding a run shows nobody the ground truth.")
}
