//go:build browser

package main

import (
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_MarksFaultsAtTheirFields closes a window before it opens. The fault must be at its field, in words for people.
func TestConsole_MarksFaultsAtTheirFields(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "owner", strings.TrimPrefix(s.task(t, s.token(t, "owner"), "Lakes"), "/v1")+"/edit")
	p.Sees("Submissions open")
	p.Fill("Submissions open", "2050-01-02T10:00")
	p.Fill("Submissions close", "2050-01-01T10:00")
	p.Press("Save: Submissions")
	p.Sees("must be later than the opening")
	p.Sees("Nothing was saved: look at what is marked above.")
	if said := browsertest.Evaluate[string](p.Page, `document.querySelector(".failure").innerText`); strings.Contains(said, "errors") {
		t.Errorf("the form says %q", said)
	}
	if browsertest.Evaluate[bool](p.Page, `document.body.innerText.includes("opensAt")`) {
		t.Error("the fault names a member of the API")
	}
	p.Fill("Submissions close", "2050-01-03T10:00")
	p.Await(`!document.querySelector(".failure, .fault")`)
}

// TestConsole_CompletesAddresses enters a web address without a scheme.
func TestConsole_CompletesAddresses(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	organizer := s.post(t, owner, "/v1/organizers", map[string]any{"name": "Lake Lab"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(organizer, "/v1"))
	p.Fill("Website", "lakes.example/lab")
	p.Press("Save")
	p.Sees("Saved.")
	var now struct{ Website string }
	s.get(t, owner, organizer, &now)
	if now.Website != "https://lakes.example/lab" {
		t.Errorf("the website is %q", now.Website)
	}
}

// TestConsole_ClearsTheNoteOfTheSaveBefore saves a form, and then fills in what the server refuses.
func TestConsole_ClearsTheNoteOfTheSaveBefore(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	organizer := s.post(t, s.token(t, "owner"), "/v1/organizers", map[string]any{"name": "Lake Lab"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(organizer, "/v1"))
	p.Fill("Website", "https://lakes.example")
	p.Press("Save")
	p.Sees("Saved.")
	p.Fill("Name", " ")
	p.Press("Save")
	p.Sees("Nothing was saved: look at what is marked above.")
	if said := browsertest.Evaluate[string](p.Page, `document.querySelector(".status").innerText`); said != "" {
		t.Errorf("the page still says %q", said)
	}
}

// TestConsole_CancelsWhatAPreviewShows cancels after the preview of a change. The form must keep its values, and nothing must be saved.
func TestConsole_CancelsWhatAPreviewShows(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/edit")
	p.Fill("Text of the terms", "Be kind.")
	p.Press("Save: Terms")
	p.Sees("What this will do")
	p.Press("What this will do > Cancel")
	p.Await(`!document.querySelector(".effects")`)
	p.Sees("Save: Terms")
	var now struct{ Terms any }
	s.get(t, owner, task, &now)
	if now.Terms != nil {
		t.Errorf("the terms are %v", now.Terms)
	}
	if !browsertest.Evaluate[bool](p.Page, `[...document.querySelectorAll("textarea")].some(e => e.value === "Be kind.")`) {
		t.Error("what was entered is lost")
	}
}

// TestConsole_NamesTheButtonsOfAPreview previews a kept draft. The form must not name buttons that the preview replaces, and must name them
// again after the preview is cancelled.
func TestConsole_NamesTheButtonsOfAPreview(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	screen := strings.TrimPrefix(s.task(t, s.token(t, "owner"), "Lakes"), "/v1")
	p := s.signedIn(t, "owner", screen+"/edit")
	p.Fill("Runs of a team in 24 hours", "3")
	p.Visit(screen + "/desk")
	p.Sees("The task has no dataset.")
	p.Visit(screen + "/edit")
	const hint = "Choose “Save: Submissions” to send them, or “Start over”."
	p.Sees(hint)
	p.Press("Save: Submissions")
	p.Sees("Save: Submissions, with these effects")
	p.lacksText(hint)
	p.Press("What this will do > Cancel")
	p.Sees(hint)
}
