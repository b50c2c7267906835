//go:build browser

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// organizedTask creates a task with a number of evaluated runs, and opens the screen Organize as its organizer.
func (s *testServer) organizedTask(t *testing.T, runs int) (p *consolePage, task string) {
	t.Helper()
	owner := s.token(t, "owner")
	task = s.task(t, owner, "Lakes")
	dataset := s.dataset(t, owner, task, "1 0 lake 1\n2 0 lake 1\n", map[string]any{"split": "test"})
	for i := range runs {
		file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
		file["datasetId"] = dataset
		s.post(t, owner, task+"/submissions", map[string]any{"type": "upload", "baseline": true, "title": fmt.Sprint("Entry ", i),
			"files": []any{file}})
	}
	p = s.signedIn(t, "owner", "/desk")
	p.Sees("has a run to review")
	return p, strings.TrimPrefix(task, "/v1")
}

// TestConsole_TakesReviewsBack undoes reviews. The runs must have their former reviews, and wait again.
func TestConsole_TakesReviewsBack(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 3)
	p.Sees("Entry 2")
	for press, said := range map[string]string{
		"Mark 3 runs as seen": "3 runs are marked as seen.", "Unblind and publish 3 runs": "3 runs are published.",
	} {
		p.Fill("Select all 3", "true")
		p.Press(press)
		if strings.HasPrefix(press, "Unblind") {
			p.Sees("will see scores of 3 runs.")
			p.Press("Yes, go on")
		}
		p.Sees(said)
		p.Sees("Nothing waits for you.")
		p.Press("Undo")
		p.Sees("Undone.")
		p.Sees("has a run to review")
	}
	p.Visit(task + "/desk")
	p.Sees("blinded")
	p.Press("Review Entry 1")
	p.Sees("Not reviewed yet.")
	p.Fill("Comment", "Good.")
	p.Press("Save the review")
	p.Press("Undo")
	p.Sees("Undone.")
	p.Visit("/desk")
	p.Sees("Select all 3")
}

// TestConsole_ChangesOnlyWhatDiffers changes the reviews of ticked runs of which some have the values already. The screen must offer and
// report only real changes, and must not mark the other runs as reviewed.
func TestConsole_ChangesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p, task := s.organizedTask(t, 3)
	owner := s.token(t, "owner")
	p.Visit(task + "/desk")
	p.Await(`document.querySelectorAll(".rows strong.number").length === 3`)
	p.Fill("Select all 3", "true")
	p.Sees("Unblind 3 runs")
	p.Press("Unblind 3 runs")
	p.Sees("Only the organizers and the users who submitted them will see scores of 3 runs.")
	p.Press("Yes, go on")
	p.Sees("3 runs are unblinded.")
	p.Press("Undo")
	p.Sees("Undone.")
	runs := allOf[struct{ ID string }](t, s, owner, "/v1/runs?filter%5BtaskId%5D="+id(task))
	s.call(t, owner, http.MethodPatch, "/v1/runs/"+runs[0].ID+"/review", map[string]any{"published": true, "blinded": false}, nil)
	p.Visit("/desk")
	p.Visit(task + "/desk")
	p.Sees("published")
	p.Fill("Select all 3", "true")
	p.Sees("Unblind and publish 2 runs")
	p.Sees("Unblind 2 runs")
	p.Press("Unpublish 1 run")
	p.Sees("1 run is no longer published.")
	for _, r := range runs[1:] {
		var review struct{ ReviewedAt string }
		s.get(t, owner, "/v1/runs/"+r.ID+"/review", &review)
		if review.ReviewedAt != "" {
			t.Errorf("a run whose review did not change was reviewed at %s", review.ReviewedAt)
		}
	}
	p.Visit("/desk")
	p.Sees("Select all 2")
}

// TestConsole_SaysWhyNothingCanBePublished makes the server fail to answer the evaluations, and then the teams. The inbox and the reviews
// must say what is missing, and must offer to publish again once the server answers.
func TestConsole_SaysWhyNothingCanBePublished(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 1)
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fails = "/v1/evaluations?"; window.fetch = request =>
window.fails && request.url.includes(window.fails)
? Promise.resolve(new Response('{"detail":"This fails.","status":503}', {status: 503})) : real(request); }`)
	const teams = "Which teams were rejected cannot be read, so runs cannot be published together here now."
	p.Visit("/")
	p.Visit("/desk")
	p.Fill("Select this one", "true")
	p.Sees("The evaluations of the runs cannot be read, so runs cannot be published together here now.")
	p.lacks("Unblind and publish")
	browsertest.Evaluate[any](p.Page, `window.fails = ""`)
	p.Press("Try again")
	p.Sees("Unblind and publish 1 run")
	browsertest.Evaluate[any](p.Page, `window.fails = "/registrations?"`)
	p.Visit("/")
	p.Visit("/desk")
	p.Fill("Select this one", "true")
	p.Sees(teams)
	p.Visit(task + "/desk")
	p.Fill("Select this one", "true")
	p.Sees(teams)
	browsertest.Evaluate[any](p.Page, `window.fails = ""`)
	p.Press("Try again")
	p.Sees("Unblind and publish 1 run")
}

// TestConsole_ReviewsWhatItShows makes more runs than one request for scores can name. It must not review ticked runs that left the list.
func TestConsole_ReviewsWhatItShows(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 52)
	p.Visit(task + "/desk")
	p.Sees("Select all 50")
	p.Press("Show more")
	p.Sees("Select all 52")
	p.Await(`document.querySelectorAll(".rows strong.number").length === 52`)
	p.Fill("Select all 52", "true")
	p.Sees("Unblind 52 runs")
	p.Fill("State of the runs", "failed")
	p.Sees("No run on this dataset has failed.")
	p.Fill("State of the runs", "completed")
	p.Sees("Select all 5")
	if browsertest.Evaluate[bool](p.Page, `[...document.querySelectorAll("main button")].some(b => b.textContent.startsWith("Unblind"))`) {
		t.Error("what was ticked before is still chosen")
	}
}

// TestConsole_DecidesWhereATeamIsLookedAt accepts a team on the screen that names its only member, and grants, withdraws and restores an
// exception there.
func TestConsole_DecidesWhereATeamIsLookedAt(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{
		"visibility": "public", "submissions": map[string]any{"perDay": 10, "total": 10}, "registration": map[string]any{"mode": "approval"},
	}, nil)
	team := s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Await(`document.querySelector("main dl")?.innerText.includes("ada")`)
	p.Press("Accept Otters")
	p.Sees("Otters accepted.")
	p.Await(`document.querySelector("main dl .tag").textContent === "accepted"`)
	p.Press("Undo")
	p.Await(`document.querySelector("main dl .tag").textContent === "pending"`)
	p.Press("Accept Otters")
	p.Await(`document.querySelector("main dl .tag").textContent === "accepted"`)
	p.Press("Reject Otters")
	p.Press("Yes, go on")
	p.Sees("Otters rejected.")
	p.Press("Undo")
	p.Await(`document.querySelector("main dl .tag").textContent === "accepted"`)
	p.Fill("More runs in 24 hours", "3")
	p.Fill("Reason", "Ill")
	p.Press("Grant")
	p.Press("Grant, with these effects")
	p.Sees("Granted: 3 runs more in 24 hours, over all datasets together.")
	p.Press("Withdraw: Ill")
	p.Sees("The team has the windows and quotas of everyone.")
	p.Press("Undo")
	p.Sees("Granted: 3 runs more in 24 hours, over all datasets together.")
}

// TestConsole_OrganizersHandATeamOver makes another member the owner of a team as an organizer. Nobody hands over a rejected team, and such
// a team sees its exceptions only once it is accepted.
func TestConsole_OrganizersHandATeamOver(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, eve := s.token(t, "owner"), s.token(t, "eve")
	task, team, _ := s.twoDatasets(t)
	var invitation struct{ Secret string }
	s.call(t, owner, http.MethodPost, team+"/invitations", map[string]any{}, &invitation)
	s.call(t, eve, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": invitation.Secret}, nil)
	member := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/team")
	member.Press("Make owner: eve")
	member.Sees("Only they and the organizers can undo that. Open invitations to the team end.")
	p := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Await(`/ada\S*\s+owner/.test(document.querySelector("main dl").innerText)`)
	p.lacks("Make owner: ada")
	p.Press("Make owner: eve")
	p.Sees("Only they and the organizers can undo that. Open invitations to the team end.")
	p.Press("Yes, go on")
	p.Sees("The team has a new owner.")
	p.Await(`/eve\S*\s+owner/.test(document.querySelector("main dl").innerText)`)
	p.Press("Make owner: ada") // undoes that
	p.Press("Yes, go on")
	p.Await(`/ada\S*\s+owner/.test(document.querySelector("main dl").innerText)`)
	p.Sees("The team reads it.")
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "rejected"}, nil)
	p.returnOften()
	p.Sees("The team reads it only once you accept the team.")
	p.lacks("Make owner: eve")
	p.Fill("More runs in 24 hours", "3")
	p.Fill("Reason", "Ill")
	p.Press("Grant")
	p.Press("Grant, with these effects")
	p.Sees("Granted. The team is shown the exception, with the reason, only once you accept the team.")
}

// TestConsole_MergesWhatAnotherSaved saves a form after another part of its resource has changed. It must be saved at once.
func TestConsole_MergesWhatAnotherSaved(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	organizer := s.post(t, owner, "/v1/organizers", map[string]any{"name": "Lake Lab"})
	p := s.signedIn(t, "owner", strings.TrimPrefix(organizer, "/v1"))
	p.Fill("Description", "Mine.")
	s.call(t, owner, http.MethodPatch, organizer, map[string]any{"website": "https://theirs.example"}, nil)
	p.Press("Save")
	p.Sees("Somebody else changed this while you edited it.")
	p.Press("Save")
	p.Sees("Saved.")
	var now struct{ Website, Description string }
	s.get(t, owner, organizer, &now)
	if now.Website != "https://theirs.example" || now.Description != "Mine." {
		t.Errorf("the organizer has %+v", now)
	}
}

// TestConsole_LeadsToSignInAndBack opens a screen that needs a login. After the sign-in, the screen must be shown.
func TestConsole_LeadsToSignInAndBack(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.open(t, "/console#/trash", browsertest.DeskLight)
	p.signIn("ada")
	p.Sees("Nothing is here.")
	p.Visit("/admin")
	p.Sees("Only administrators can do this")
	if n := browsertest.Evaluate[int](p.Page, `document.querySelectorAll(".failure").length`); n != 1 {
		t.Errorf("the screen says it %d times", n)
	}
}

// TestConsole_ShowsNoSecretThatEnded checks that the secret of a deleted token disappears, and other secrets that are shown once.
func TestConsole_ShowsNoSecretThatEnded(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := strings.TrimPrefix(s.task(t, owner, "Lakes"), "/v1")
	p := s.signedIn(t, "owner", "/me")
	gone := func(what string) {
		p.Sees("this once")
		p.Press(what)
		p.Press("Yes, go on")
		p.Await(`!document.querySelector("main .notice")`)
	}
	p.Press("Make an access token")
	gone("Revoke terminal")
	p.Visit(task + "/webhooks")
	p.Fill("Address", "https://assay.example/hook")
	p.Press("Make a webhook")
	gone("Delete https://assay.example/hook")
	p.Visit(task + "/desk?part=registrations")
	p.Press("Make a link")
	gone("Withdraw the invitation")
}
