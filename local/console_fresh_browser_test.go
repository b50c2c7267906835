//go:build browser

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// closesSoon returns members of a dataset that close it after the seconds.
func closesSoon(seconds int) map[string]any {
	at := time.Now().Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
	return map[string]any{"submissions": map[string]any{"closesAt": at, "total": 5}}
}

// within fails unless the expression becomes true on the page within the time.
func (p *consolePage) within(limit time.Duration, expression string) {
	p.t.Helper()
	begun := time.Now()
	p.Await(expression)
	if took := time.Since(begun); took > limit {
		p.t.Errorf("%s became true only after %s", expression, took.Round(time.Second))
	}
}

// shows is an expression that is true if the screen shows the text.
func shows(text string) string {
	return fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text)
}

// oldest is the longest time for which a screen may show what another person has changed: an interval, and the time of the machine.
const oldest = 30 * time.Second

// TestConsole_KeepsTheTeamOfOrganizersFresh leaves the organizer's page of a team open over a change of terms, a run and a close.
func TestConsole_KeepsTheTeamOfOrganizersFresh(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task, team, open := s.twoDatasets(t)
	p := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Sees("Summer takes runs: 2 runs left")
	s.submitTo(t, "ada", task, open, "Entry")
	p.within(oldest, shows("takes runs: 1 run left"))
	s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": "Cite the lake."}}, nil)
	p.within(oldest, shows("Summer takes no runs until the team has accepted the terms"))
	p.Sees("not accepted. The team cannot submit until it accepts version 1")
	s.call(t, ada, http.MethodPatch, team, map[string]any{"acceptedTerms": 1}, nil)
	p.within(oldest, shows("takes runs: 1 run left"))
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, closesSoon(40), nil)
	p.within(oldest, shows("Summer takes runs until"))
	p.Sees("second ago")
	p.within(5*time.Second, shows("Summer closed"))
}

// TestConsole_KeepsDatasetsFresh leaves the overview of a task open while its organizer changes a dataset, signed out and as a team.
func TestConsole_KeepsDatasetsFresh(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	path := strings.TrimPrefix(task, "/v1")
	outside := s.open(t, "/console#"+path, browsertest.DeskLight)
	team := s.signedIn(t, "ada", path)
	pages := []*consolePage{outside, team}
	for _, p := range pages {
		p.Sees("A team may submit 2 in 24 hours on this dataset.")
	}
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{"total": 7}}, nil)
	for _, p := range pages {
		p.within(oldest, shows("A team may submit 2 in 24 hours, 7 in all on this dataset."))
	}
	team.Sees("(at most 2 in 24 hours, 7 in all on this dataset)")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": time.Now().Add(-time.Second).UTC().Format(time.RFC3339)}}, nil)
	for _, p := range pages {
		p.within(oldest, shows("A team could submit 2 in 24 hours, 7 in all on this dataset."))
	}
	team.Sees("Summer closed")
}

// TestConsole_ShowsTheNextScreenAtOnce leaves a screen as soon as it appears. The next screen reads the same resources within seconds.
func TestConsole_ShowsTheNextScreenAtOnce(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, _ := s.twoDatasets(t)
	path := "#" + strings.TrimPrefix(task, "/v1")
	p := s.signedIn(t, "ada", strings.TrimPrefix(path, "#"))
	for at, heading := range map[string]string{path + "/team": "Team", path + "/submit": "Submit", path + "/runs": "My runs"} {
		browsertest.Evaluate[string](p.Page, fmt.Sprintf(`location.hash = %q`, at))
		p.within(8*time.Second, fmt.Sprintf(`document.querySelector("main h2")?.textContent === %q`, heading))
	}
}

// TestConsole_EndsUsedInvitations uses invitations while the pages that made them are open.
func TestConsole_EndsUsedInvitations(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	_, team, _ := s.twoDatasets(t)
	var of struct{ OrganizerID string }
	s.get(t, s.token(t, "owner"), "/v1/tasks/"+strings.Split(team, "/")[3], &of)
	task, _, _ := strings.Cut(team, "/registrations")
	places := []struct{ user, path, guest string }{
		{"ada", strings.TrimPrefix(task, "/v1") + "/team", "bob"},
		{"owner", "/organizers/" + of.OrganizerID, "eve"},
	}
	for _, place := range places {
		p := s.signedIn(t, place.user, place.path)
		p.Sees("No invitation is open.")
		p.Press("Make a link")
		p.Sees("Hand this link over to those whom you invite")
		p.Sees("for 1 more")
		secret := p.invitationShown()
		s.call(t, s.token(t, place.guest), http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret}, nil)
		p.within(oldest, shows("No invitation is open."))
		p.within(time.Second, `!`+shows("Hand this link over"))
		p.within(time.Second, shows(place.guest))
	}
}

// invitationShown returns the secret of the link that the page shows.
func (p *consolePage) invitationShown() string {
	p.t.Helper()
	return browsertest.Evaluate[string](p.Page, `document.querySelector("main [role=status]").innerText.match(/assay-invitation_\w+/)[0]`)
}

// resources returns the resources of the API that the page has read since it forgot them.
func (p *consolePage) resources() (read []string) {
	p.t.Helper()
	return browsertest.Evaluate[[]string](p.Page, `[...new Set(performance.getEntriesByType("resource").map(e => new URL(e.name)).
		filter(u => u.pathname.startsWith("/v1/")).map(u => u.pathname + u.search))].sort()`)
}

// TestConsole_ReadsAllPartsOfAScreenTogether leaves screens open on which nothing happens. Everything that they read at first must be read
// again within an interval, because a part that is not would contradict the others after a change.
func TestConsole_ReadsAllPartsOfAScreenTogether(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, team, open := s.twoDatasets(t)
	var of struct{ OrganizerID string }
	s.get(t, s.token(t, "owner"), task, &of)
	run := s.submitTo(t, "ada", task, open, "Entry")
	s.awaitRuns(t, s.token(t, "owner"), task)
	path := strings.TrimPrefix(task, "/v1")
	for at, user := range map[string]string{
		path: "ada", path + "/team": "ada", path + "/submit": "ada", path + "/runs": "ada", run: "ada",
		strings.TrimPrefix(team, "/v1"): "owner", path + "/desk": "owner", path + "/leaderboard": "owner",
		"/organizers/" + of.OrganizerID: "owner",
	} {
		t.Run(strings.ReplaceAll(at, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := s.signedIn(t, user, "/nothing")
			p.Sees("There is nothing here")
			browsertest.Evaluate[any](p.Page, `performance.clearResourceTimings()`)
			p.Visit(at)
			p.Await(`document.querySelector("main h1")?.textContent !== "There is nothing here" &&
				document.querySelector("main [aria-busy=true]") === null`)
			time.Sleep(3 * time.Second) // Parts whose addresses come from other parts are read, too.
			first := p.resources()
			browsertest.Evaluate[any](p.Page, `performance.clearResourceTimings()`)
			time.Sleep(oldest)
			again := p.resources()
			for _, resource := range first {
				if !slices.Contains(again, resource) {
					t.Errorf("%s is read only once", resource)
				}
			}
		})
	}
}

// hold makes requests for all but the task and the user wait until the page calls release().
const hold = `{ const real = fetch; const released = new Promise(done => window.release = done); window.fetch = async request => {
if (!/\/v1\/(user|tasks\/\w+)$/.test(request.url)) await released; return real(request); } }`

// claims is an expression for the texts on the screen that hold only after lists have been read.
const claims = `document.querySelector("main").innerText
.match(/to do|nothing|add its dataset|there is no|has no|no runs?\b|none of|takes runs/i)?.[0] ?? ""`

// TestConsole_ClaimsNothingBeforeItIsRead holds the data of screens back. A screen must not take them for empty.
func TestConsole_ClaimsNothingBeforeItIsRead(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, team, open := s.twoDatasets(t)
	s.submitTo(t, "ada", task, open, "Entry")
	s.awaitRuns(t, s.token(t, "owner"), task)
	path := strings.TrimPrefix(task, "/v1")
	for _, c := range []struct{ user, at string }{
		{"owner", path}, {"owner", path + "/edit"}, {"owner", path + "/desk"}, {"owner", path + "/submit?baseline=1"}, {"owner", "/desk"},
		{"owner", strings.TrimPrefix(team, "/v1")}, {"ada", path + "/submit"}, {"ada", path + "/team"}, {"ada", path + "/runs"},
		{"ada", path + "/leaderboard"}, {"ada", "/trash"}, {"ada", "/runs"}, {"ada", "/"},
	} {
		t.Run(c.user+strings.ReplaceAll(c.at, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := s.signedIn(t, c.user, "/nothing")
			p.Sees("There is nothing here")
			browsertest.Evaluate[any](p.Page, hold)
			p.Visit(c.at)
			p.Await(`document.querySelector("main [aria-busy=true]") !== null`)
			if claim := browsertest.Evaluate[string](p.Page, claims); claim != "" {
				t.Errorf("before anything is read, the screen says %q", claim)
			}
			browsertest.Evaluate[any](p.Page, `window.release()`)
			p.Await(`document.querySelector("main [aria-busy=true]") === null`)
		})
	}
}

// TestConsole_SaysThatAListCannotBeRead refuses the submissions that the steps of a task come from. The screen must say so, and not seem to
// read them.
func TestConsole_SaysThatAListCannotBeRead(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, _ := s.twoDatasets(t)
	p := s.signedIn(t, "owner", "/nothing")
	p.Sees("There is nothing here")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.url.includes("/submissions")
? Promise.resolve(new Response('{"detail":"This is refused."}', {status: 403})) : real(request); }`)
	p.Visit(strings.TrimPrefix(task, "/v1") + "/edit")
	p.Sees("This is refused.")
	p.Await(`document.querySelector("main [aria-busy=true]") === null`)
}

// TestConsole_ShowsNothingOlderThanTheArrival returns to a screen that was read before the dataset closed.
func TestConsole_ShowsNothingOlderThanTheArrival(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	at := strings.TrimPrefix(task, "/v1") + "/submit"
	p := s.signedIn(t, "ada", at)
	p.Sees("takes runs")
	p.Visit("/nothing")
	p.Sees("There is nothing here")
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1/datasets/"+open, closesSoon(-5), nil)
	browsertest.Evaluate[any](p.Page, hold)
	p.Visit(at)
	p.Await(`document.querySelector("main [aria-busy=true]") !== null`)
	if claim := browsertest.Evaluate[string](p.Page, claims); claim != "" {
		t.Errorf("the screen says %q before it is read again", claim)
	}
	browsertest.Evaluate[any](p.Page, `window.release()`)
	p.Sees("closed")
}
