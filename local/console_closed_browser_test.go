//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_OffersNothingAfterTheClose closes the last open dataset of a task. The console must no longer offer to submit, to restore a
// run among which teams would choose, or to wait for runs, and an invitation must say that it comes too late.
func TestConsole_OffersNothingAfterTheClose(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task, _, open := s.twoDatasets(t)
	screen := strings.TrimPrefix(task, "/v1")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 1}, nil)
	run := s.submitTo(t, "ada", task, open, "Entry")
	s.call(t, ada, http.MethodDelete, "/v1"+run, nil, nil)
	soon := map[string]any{"submissions": map[string]any{"closesAt": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)}}
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, soon, nil)
	another := s.submitTo(t, "ada", task, open, "Another")
	s.awaitRuns(t, owner, task)
	p := s.signedIn(t, "ada", another)
	p.Press("Delete Another")
	p.Sees("Your team can restore it only until")
	p.Press("Yes, go on")
	p.Sees("Another is deleted.")
	p.Visit("/trash")
	p.Sees("Your team can restore it until")
	p.Visit(screen)
	p.Await(`document.querySelectorAll("main summary").length === 1`) // Winter has closed.
	p.Sees("Submit")
	p.Visit("/trash")
	p.Sees("Restore")
	eve := s.signedIn(t, "eve", screen+"/join")
	eve.Sees("You take part at once. Others join your team by a link")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p.returnOften()
	p.Sees(", which takes final runs, closed")
	p.lacks("Restore")
	p.Visit(screen + "/runs")
	p.Sees("No dataset of the task takes a run of your team any more.")
	p.Visit(screen)
	p.Sees("Your team can submit no run now.")
	p.lacks("Submit")
	p.Await(`![...document.querySelectorAll("nav a")].some(a => a.textContent === "Submit")`)

	organizer := s.signedIn(t, "owner", screen+"/desk?state=all&dataset="+open)
	organizer.Sees("No run is here, and the dataset has closed.")
	organizer.Visit(screen + "/desk?dataset=" + open)
	organizer.Sees("No run on this dataset is completed. “All” lists runs of every state.")

	eve.returnOften()
	eve.Await(`document.querySelector("main").textContent.includes("You take part at once.") &&
!document.querySelector("main").textContent.includes("Others join your team")`)
	p.Visit(screen + "/team")
	p.Sees("joining the team, closed")
	p.lacks("Invite a member")
	var invitation struct{ Secret string }
	s.call(t, owner, http.MethodPost, task+"/invitations", map[string]any{}, &invitation)
	eve = s.open(t, "/console#"+invitation.Secret, browsertest.DeskLight)
	eve.signIn("eve")
	eve.Sees("The task has closed for submissions")
	eve.Sees("A team that registers now can submit only if the organizers set a later close.")
	organizer.Visit(screen + "/desk?part=registrations")
	organizer.Sees("A team that registers now can submit only if the organizers set a later close. " +
		"You can grant it a later close on its page.")
}

// TestConsole_SaysWhatInvitationsToATeamGive invites to a team that is pending, and then rejected.
func TestConsole_SaysWhatInvitationsToATeamGive(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, eve := s.token(t, "owner"), s.token(t, "eve")
	task, _, _ := s.twoDatasets(t)
	screen := strings.TrimPrefix(task, "/v1")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"registration": map[string]any{"mode": "approval"}}, nil)
	var team struct{ ID string }
	s.call(t, eve, http.MethodPost, task+"/registrations", map[string]any{"team": "Eves"}, &team)
	var invitation struct{ Secret string }
	s.call(t, eve, http.MethodPost, task+"/registrations/"+team.ID+"/invitations", map[string]any{}, &invitation)
	p := s.open(t, "/console#"+invitation.Secret, browsertest.DeskLight)
	p.signIn("zoe")
	p.Sees("It takes part once the organizers accept it.")
	p = s.signedIn(t, "eve", screen+"/team")
	p.Sees("Your team and those who join it take part once the organizers accept the team.")
	organizer := s.signedIn(t, "owner", screen+"/registrations/"+team.ID)
	organizer.Sees("The team and those who join it take part once you accept the team.")
	s.call(t, owner, http.MethodPatch, task+"/registrations/"+team.ID, map[string]any{"state": "rejected"}, nil)
	organizer.returnOften()
	organizer.Sees("The team is rejected, so a link admits nobody. Accept the team first.")
	organizer.lacks("Invite a member")
}

// TestConsole_KeepsInvitationsApartAndFresh opens invitations to two tasks in one tab. What is ticked for one must not be ticked for the
// other. The page must follow the task while it is open.
func TestConsole_KeepsInvitationsApartAndFresh(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	invite := func(terms string) (task, secret string) {
		t.Helper()
		task, _, _ = s.twoDatasets(t)
		s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": terms}}, nil)
		var made struct{ Secret string }
		s.call(t, owner, http.MethodPost, task+"/invitations", map[string]any{}, &made)
		return task, made.Secret
	}
	_, first := invite("Cite us.")
	task, second := invite("Pay us.")
	p := s.open(t, "/console#"+first, browsertest.DeskLight)
	p.signIn("zoe")
	p.Sees("Cite us.")
	p.Fill("I accept these terms", "true")
	browsertest.Evaluate[any](p.Page, `location.hash = "`+second+`"`)
	p.Sees("Pay us.")
	p.Await(`![...document.querySelectorAll("main input[type=checkbox]")].some(box => box.checked)`)
	p.returnOften()
	s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": "Thank us."}}, nil)
	p.Sees("Thank us.")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"submissions": map[string]any{"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p.Sees("The task has closed for submissions")
}

// TestConsole_AcceptsTermsForTheTeamThatIsJoined joins a team that has not accepted changed terms. Users who join accept them for the team.
// If that is refused, they have joined all the same, and are asked again.
func TestConsole_AcceptsTermsForTheTeamThatIsJoined(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task, team, _ := s.twoDatasets(t)
	var invitation struct{ Secret string }
	s.call(t, ada, http.MethodPost, team+"/invitations", map[string]any{"uses": 2}, &invitation)
	s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": "Cite us."}}, nil)
	join := func(user, before string) *consolePage {
		t.Helper()
		p := s.open(t, "/console#"+invitation.Secret, browsertest.DeskLight)
		p.signIn(user)
		p.Sees("Cite us.")
		browsertest.Evaluate[any](p.Page, before)
		p.Fill("I accept these terms", "true")
		p.Press("Join")
		p.Await(`/^#\/tasks\/.*\/team$/.test(location.hash)`)
		p.Sees("Members")
		return p
	}
	p := join("eve", `{ const real = fetch; window.fetch = request => request.method === "PATCH"
? Promise.resolve(new Response('{"detail":"This is refused."}', {status: 403})) : real(request); }`)
	p.Sees("Your team can submit only after it has accepted them.")
	p = join("zoe", "null")
	p.lacksText("Your team can submit only after it has accepted them.")
	var r struct{ AcceptedTerms int64 }
	s.get(t, ada, team, &r)
	if r.AcceptedTerms != 1 {
		t.Errorf("the team has accepted version %d", r.AcceptedTerms)
	}
}

// TestConsole_ListsTasksWithTheClosesOfTheTeam lists a task that has closed, except for a team with a later close. It must offer Submit
// until the team has used up its quota.
func TestConsole_ListsTasksWithTheClosesOfTheTeam(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Belated lakes")
	closes := func(at string) map[string]any { return map[string]any{"submissions": map[string]any{"closesAt": at}} }
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	dataset := s.dataset(t, owner, task, "1 0 lake 1\n", closes("2100-01-01T00:00:00Z"))
	team := s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+dataset, closes("2020-01-01T00:00:00Z"), nil)
	s.post(t, owner, team+"/exceptions", map[string]any{"reason": "Ill", "closesAt": "2100-01-01T00:00:00Z"})
	const open = "/?show=open&name=Belated"
	const past = "/?show=past&name=Belated"
	const none = "No task of this name is here."
	p := s.signedIn(t, "ada", open)
	p.Sees("Belated lakes")
	p.Sees("Submissions until")
	p.Visit(past)
	p.Sees(none)
	p.Visit("/?show=mine")
	const submits = `document.querySelector("[aria-label='Submit to Belated lakes']") !== null`
	p.Await(submits)
	s.submitTo(t, "ada", task, dataset, "Entry")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"submissions": map[string]any{"total": 1}}, nil)
	p.returnOften()
	p.Await("!(" + submits + ")")
	p.Sees("Belated lakes")
	p = s.signedIn(t, "ben", open)
	p.Sees(none)
	p.Visit(past)
	p.Sees("Belated lakes")
}
