//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_LosesNothingWhenTheServerIsKilled kills the server while a form is filled in and while a file is uploaded. Both must continue
// by themselves after the server is back.
func TestConsole_LosesNothingWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	v := newServerProcess(t)
	v.start(t)
	s := v.server()
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Waters"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/join")
	p.Fill("Name of your team", "Otters")
	v.kill(t)
	p.Press("Name of your team > Take part")
	p.Sees("No connection. Trying again")
	v.start(t)
	p.Sees("Your team takes part.")

	p.Visit(strings.TrimPrefix(task, "/v1") + "/submit")
	p.Give("Run on Waters", "run.txt", "1 Q0 lake 1 2.0 ada\n"+strings.Repeat("1 Q0 long-name-of-a-document-that-takes-room 2 1.0 ada\n", 1)+
		strings.Repeat(" ", 4<<20)+"\n")
	p.Sees("The server reads the file")
	// The page gets the link of the upload, and then the server dies.
	browsertest.Evaluate[any](p.Page, `{ const open = XMLHttpRequest.prototype.open; XMLHttpRequest.prototype.open = function(method, url) {
window.uploads = (window.uploads ?? 0) + 1; open.call(this, method, window.reachable ? url : url.replace(location.host, "127.0.0.1:9")); } }`)
	p.Press("Title > Submit")
	p.Sees("It begins again by itself.")
	v.kill(t)
	v.start(t)
	browsertest.Evaluate[any](p.Page, `window.reachable = true`)
	p.Await(`/^#\/runs\//.test(location.hash)`)
	if uploads := browsertest.Evaluate[int](p.Page, `window.uploads`); uploads < 2 {
		t.Errorf("the file was sent %d times", uploads)
	}
}

// TestConsole_SubmitsOnceWhenAnUploadIsStopped stops an upload that cannot reach the server. The page must show the submission with a field
// for its file, and no form that would make a second submission. The list of runs must follow actions on the run.
func TestConsole_SubmitsOnceWhenAnUploadIsStopped(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Waters"})
	s.post(t, ada, task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Give("Run on Waters", "run.txt", "1 Q0 lake 1 2.0 ada\n"+strings.Repeat(" ", 4<<20)+"\n")
	p.Sees("The server reads the file")
	browsertest.Evaluate[any](p.Page, `{ const open = XMLHttpRequest.prototype.open; XMLHttpRequest.prototype.open = function(method, url) {
open.call(this, method, url.replace(location.host, "127.0.0.1:9")); } }`)
	p.Press("Title > Submit")
	p.Sees("It begins again by itself.")
	p.Press("Title > Stop")
	p.Sees("The upload was stopped. The submission is made")
	p.Await(`/^#\/runs\//.test(location.hash) && document.querySelector("main input[type=file]") !== null`)
	var made struct{ Data []struct{ ID string } }
	s.get(t, ada, task+"/submissions", &made)
	if len(made.Data) != 1 {
		t.Errorf("%d submissions were made", len(made.Data))
	}
	p.Visit("/runs")
	p.Await(`document.querySelector("main h1")?.textContent === "My runs"`)
	p.Press("Cancel")
	p.Press("Delete")
	p.Await(`document.querySelector("main").textContent.includes("There is no run of yours or of your teams yet.")`)
	p.Press("Undo")
	p.Await(`document.querySelector("main .tag")?.textContent === "cancelled"`)
}

// TestConsole_WaitsForWhatPassesByItself answers first attempts with 429, with 503 or not at all. The form must be sent once, without any
// action of the user.
func TestConsole_WaitsForWhatPassesByItself(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	for name, first := range map[string]string{
		"busy":    `new Response('{"detail":"Too many."}', {status: 429, headers: {"Retry-After": "1"}})`,
		"down":    `new Response('{"message":"Service Unavailable"}', {status: 503})`,
		"gateway": `new Response("", {status: 502})`,
		"offline": `Promise.reject(new TypeError("Failed to fetch"))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.signedIn(t, "ada", "/organizers/new")
			p.Fill("Name", "Lab "+name)
			browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.failed = 0; window.keys = new Set();
window.fetch = request => { if (request.method !== "POST") return real(request);
keys.add(request.headers.get("Idempotency-Key")); return window.passed ? real(request) : (failed++, Promise.resolve(`+first+`)); } }`)
			p.Press("Name > Create, and go on to the task")
			p.Await(`failed > 1`)
			p.Sees("Trying again in")
			browsertest.Evaluate[any](p.Page, `window.passed = true`)
			p.Sees("It starts private")
			if keys := browsertest.Evaluate[int](p.Page, `window.keys.size`); keys != 1 {
				t.Errorf("the request was repeated with %d keys", keys)
			}
		})
	}
}

// TestConsole_KeepsWhatWasTypedWhenTheTokenEnds refuses the token when a form is sent. The page must ask to sign in again on the same
// screen, and then send the unchanged form.
func TestConsole_KeepsWhatWasTypedWhenTheTokenEnds(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "ada", "/organizers/new")
	p.Fill("Name", "Lake Lab")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => { window.fetch = real;
const next = new Request(request); next.headers.set("Authorization", "Bearer of-nobody"); return real(next); } }`)
	p.Press("Name > Create, and go on to the task")
	p.Sees("Your session has ended.")
	p.signIn("ada")
	p.Sees("It starts private")
	var mine struct {
		Memberships []struct{ OrganizerName string }
	}
	s.get(t, s.token(t, "ada"), "/v1/user", &mine)
	if len(mine.Memberships) != 1 || mine.Memberships[0].OrganizerName != "Lake Lab" {
		t.Errorf("ada belongs to %+v", mine.Memberships)
	}
}

// TestConsole_KeepsADraftWhenItsTabIsLoadedAgain types into a form and reloads the tab. The form must keep its values.
func TestConsole_KeepsADraftWhenItsTabIsLoadedAgain(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "ada", "/organizers/new")
	p.Fill("Name", "Lake Lab")
	p.Await(`Object.keys(sessionStorage).some(key => key.startsWith("draft "))`)
	browsertest.Evaluate[any](p.Page, `location.reload()`)
	p.Await(`document.querySelector("main input")?.value === "Lake Lab"`)
	p.Sees("The fields have changes that are not sent yet. Choose “Create, and go on to the task” to send them, or “Start over”.")
}

// TestConsole_GoesOnWithoutRoomForADraft makes the browser refuse a draft, like drafts of many megabytes. The form must still be sent.
func TestConsole_GoesOnWithoutRoomForADraft(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "ada", "/organizers/new")
	p.Sees("New organizer")
	browsertest.Evaluate[any](p.Page, `Storage.prototype.setItem = () => { throw new DOMException("It is full.", "QuotaExceededError"); }`)
	p.Fill("Name", "Lake Lab")
	p.Press("Name > Create, and go on to the task")
	p.Sees("It starts private")
}

// TestConsole_ShowsConflictsOfTwoEditors changes a task while its form is open. Changes of other members must be merged, and conflicting
// changes shown at their fields.
func TestConsole_ShowsConflictsOfTwoEditors(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	ada := s.token(t, "ada")
	task := s.task(t, ada, "Lakes")
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/edit")
	p.Fill("Website", "https://mine.example")
	s.call(t, ada, http.MethodPatch, task, map[string]any{"website": "https://theirs.example", "description": "Theirs."}, nil)
	p.Press("Save: About the task")
	p.Sees("Somebody else saved:")
	p.Sees("https://theirs.example")
	p.Await(`document.querySelector("main textarea").value === "Theirs."`)
	p.Press("Save: About the task")
	p.Sees("Saved.")
	var now struct{ Website, Description string }
	s.get(t, ada, task, &now)
	if now.Website != "https://mine.example" || now.Description != "Theirs." {
		t.Errorf("the task has %+v", now)
	}
}

// TestConsole_ShowsWhatCameFirst delays the task of a screen until after the answer with the team.
func TestConsole_ShowsWhatCameFirst(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task := s.task(t, s.token(t, "owner"), "Lakes")
	s.call(t, s.token(t, "owner"), http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	team := s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "owner", "/me")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; const came = new Promise(done => window.came = done);
window.fetch = async request => { const answer = await real(request);
if (request.url.endsWith("`+task+`")) { await came; await new Promise(later => setTimeout(later)); }
if (request.url.endsWith("`+team+`")) window.came(); return answer; } }`)
	p.Visit(strings.TrimPrefix(team, "/v1"))
	p.Sees("Otters")
}

// TestConsole_WorksOnASlowNetwork takes part over a slow network. Pressing once must make one team.
func TestConsole_WorksOnASlowNetwork(t *testing.T) {
	t.Parallel()
	s := start(t, "-demo=false") // Its first screen lists no other task.
	olga := s.token(t, "olga")
	task := s.task(t, olga, "Lakes")
	p := s.signedIn(t, "ada", "/")
	p.Slow()
	p.Press("Lakes")
	p.Press("Lakes > Take part")
	p.Fill("Name of your team", "Otters")
	browsertest.Evaluate[any](p.Page, `new MutationObserver(() => window.working ||= document.body.innerText.includes("Working …"))
.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true})`)
	p.Press("Name of your team > Take part")
	p.Sees("Your team takes part.")
	if !browsertest.Evaluate[bool](p.Page, `window.working === true`) {
		t.Error("the form does not say that it is working")
	}
	if teams := allOf[struct{ Team string }](t, s, olga, task+"/registrations"); len(teams) != 1 {
		t.Errorf("there are %d teams", len(teams))
	}
	p.Check(s.url + "/")
}

// TestConsole_OutlivesAScreenThatBreaks answers a screen with invalid data. The navigation must stay and lead to other screens.
func TestConsole_OutlivesAScreenThatBreaks(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task := s.task(t, s.token(t, "olga"), "Lakes")
	p := s.signedIn(t, "ada", "/runs")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = async request => { const answer = await real(request);
return /v1.tasks.[^/]+$/.test(request.url) ? Response.json({...await answer.json(), registration: {closesAt: "soon"}}) : answer; } }`)
	p.Visit(strings.TrimPrefix(task, "/v1"))
	p.Sees("This page cannot be shown")
	p.Press("Tasks")
	p.Sees("Search by name")
}

// TestConsole_SaysThatAnAnswerIsNone answers a list with a page, like networks that first ask for a login.
func TestConsole_SaysThatAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	s := start(t, "-demo=false") // It has no task.
	p := s.signedIn(t, "ada", "/runs")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.url.includes("/v1/tasks?")
? Promise.resolve(new Response("<html>Log in</html>")) : real(request); window.again = () => { window.fetch = real; } }`)
	p.Visit("#/")
	p.Sees("is not valid JSON")
	browsertest.Evaluate[any](p.Page, `window.again()`)
	p.Press("Try again")
	p.Sees("No task is open now.")
}

// TestConsole_SaysThatUndoingFailed makes an undo fail after the time at which its note disappears.
func TestConsole_SaysThatUndoingFailed(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/webhooks")
	p.Fill("Address", "https://assay.example/hook")
	p.Press("Make a webhook")
	p.Sees("All events")
	browsertest.Evaluate[any](p.Page,
		`{ const later = setTimeout; window.setTimeout = (f, ms) => ms === 20_000 ? (window.expire = f, 0) : later(f, ms); }`)
	p.Press("Switch off")
	p.Sees("Switched off.")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.fetch = request => request.method !== "PATCH" ? real(request) :
new Promise(done => window.refuse = () => done(Response.json({detail: "This is refused."}, {status: 403}))); }`)
	p.Press("Undo")
	p.Await(`window.refuse !== undefined`)
	browsertest.Evaluate[any](p.Page, `window.expire(); setTimeout(window.refuse)`)
	p.Sees("It could not be undone: This is refused.")
}

// TestConsole_StopsAnUploadBeforeItsLinkIsThere stops an upload while its link is requested. Nothing must be uploaded.
func TestConsole_StopsAnUploadBeforeItsLinkIsThere(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Waters"})
	s.post(t, ada, task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Give("Run on Waters", "run.txt", "1 Q0 lake 1 2.0 ada\n"+strings.Repeat(" ", 4<<20)+"\n")
	p.Sees("The server reads the file")
	browsertest.Evaluate[any](p.Page, `{ const open = XMLHttpRequest.prototype.open; window.uploads = 0; XMLHttpRequest.prototype.open =
function(method, url) { open.call(this, method, ++window.uploads === 1 ? url.replace(location.host, "127.0.0.1:9") : url); };
const real = fetch; window.fetch = async request => { const answer = await real(request);
if (window.uploads !== 1 || !/submissions.[^/]+$/.test(request.url)) return answer;
window.asked = true; await new Promise(done => window.answers = done); return answer; } }`)
	p.Press("Title > Submit")
	p.Await(`window.asked === true`)
	p.Press("Title > Stop")
	browsertest.Evaluate[any](p.Page, `window.answers()`)
	p.Sees("The upload was stopped.")
	if uploads := browsertest.Evaluate[int](p.Page, `window.uploads`); uploads != 1 {
		t.Errorf("the file was sent %d times", uploads)
	}
}

// TestConsole_UnfoldsFaults saves a wrong value in a folded part of a form. The browser, and then the server, refuse it. Each time the part
// must unfold, and its field must have the focus.
func TestConsole_UnfoldsFaults(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	dataset := s.dataset(t, owner, s.task(t, owner, "Lakes"), "1 0 lake 1\n", nil)
	p := s.signedIn(t, "owner", "/datasets/"+dataset+"/edit")
	folded := map[string][3]string{
		"When scores are seen":     {"Final runs of a team", "0", ":invalid"},
		"Where images and reposit": {"Pool of workers", "no pool", "[aria-invalid=true]"},
	}
	for part, field := range folded {
		p.Press(part)
		p.Fill(field[0], field[1])
		p.Press(part)
		p.Await(`!document.querySelector("details[open]")`)
		p.Press("Save the dataset")
		p.Await(`document.activeElement.matches("details[open] ` + field[2] + `")`)
		p.Fill(field[0], "")
		p.Press(part)
	}
}
