//go:build browser

package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// twoDatasets creates a public task with a dataset that takes runs and a closed one, and registers a team of ada.
func (s *testServer) twoDatasets(t *testing.T) (task, team, open string) {
	t.Helper()
	owner := s.token(t, "owner")
	task = s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public", "submissions": map[string]any{"perDay": 50}}, nil)
	open = s.dataset(t, owner, task, "1 0 lake 1\n2 0 lake 1\n", map[string]any{"name": "Summer", "split": "test",
		"submissions": map[string]any{"perDay": 2}})
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Winter",
		"submissions": map[string]any{"closesAt": "2020-01-01T00:00:00Z"}})
	return task, s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"}), open
}

// submitForm is the form of submissions that ada sees of a task with two datasets, of which one is open.
type submitForm struct {
	*consolePage
	task, team, open string
}

// submitForm creates the task of twoDatasets, and opens the form.
func (s *testServer) submitForm(t *testing.T) *submitForm {
	t.Helper()
	task, team, open := s.twoDatasets(t)
	return &submitForm{
		consolePage: s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit"),
		task:        task,
		team:        team,
		open:        open,
	}
}

// TestConsole_SaysWhatCanBeSubmitted shows the quota that binds on each screen that has it. Submit says for each dataset whether it takes
// runs, says that the same was submitted before, and asks for changed terms.
func TestConsole_SaysWhatCanBeSubmitted(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	ada := s.token(t, "ada")
	p := s.submitForm(t)
	p.Sees("Runs start blinded")
	p.Sees("takes runs: 2 runs left (at most 2 in 24 hours on this dataset)")
	p.Sees("This dataset closed")
	p.Check(s.url + "/")
	file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	file["datasetId"] = p.open
	s.post(t, ada, p.task+"/submissions", map[string]any{"type": "upload", "files": []any{file}, "title": "Entry"})
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Fill("Title", "Entry")
	p.Press("Run on Summer > Submit")
	p.Sees("Your team has submitted the same before: Entry.")
	p.Press("Submit again")
	p.Await(`/^#\/runs\//.test(location.hash)`)
	for _, screen := range []string{p.task, p.task + "/team", p.task + "/submit"} {
		p.Visit("/")
		p.Visit(strings.TrimPrefix(screen, "/v1"))
		p.Sees("no run is left (at most 2 in 24 hours on this dataset), one more")
	}
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+p.open, map[string]any{"inputsFor": "registrants"}, nil)
	p.Visit(strings.TrimPrefix(p.task, "/v1"))
	p.Sees("No files.")
	p.Await(`!document.querySelector("main").innerText.includes("only for teams")`)
	organizer := s.signedIn(t, "owner", strings.TrimPrefix(p.team, "/v1"))
	organizer.Sees("no run is left (at most 2 in 24 hours on this dataset), one more")
	p.Visit(strings.TrimPrefix(p.task, "/v1") + "/submit")
	p.Sees("no run is left")
	s.call(t, owner, http.MethodPatch, p.task, map[string]any{"terms": map[string]any{"text": "Cite us."}}, nil)
	browsertest.Evaluate[any](p.Page, `setInterval(() => dispatchEvent(new Event("focus")), 200)`) // reads again, at most every five seconds
	p.Sees("Cite us.")
	p.Fill("I accept these terms", "true")
	p.Press("Your team can submit only > Accept")
	p.Sees("Runs start blinded")
}

// TestConsole_ListsFilesForParticipants shows a dataset that gives out its input and its ground truth to accepted teams.
func TestConsole_ListsFilesForParticipants(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"inputs": []any{inline("topics.tsv", "1\tdeep lakes\n")},
		"inputsFor": "registrants", "truthsPublic": true})
	team := s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	hash := strings.TrimPrefix(task, "/v1")
	const files = `[...document.querySelectorAll("article h4")].slice(0, 2).map(h => h.nextElementSibling.innerText.trim()).join("|")`
	of := func(p *consolePage, want string) {
		t.Helper()
		p.Sees("It is measured by")
		p.Await(files + " === " + strconv.Quote(want))
	}
	const others = "Files that it has are only for teams that take part: they are here "
	p := s.signedIn(t, "ada", hash)
	of(p, "topics.tsv 13 B|qrels 11 B")
	p.Await(`document.querySelectorAll("article h4 + ul a").length === 2`)
	const once = others + "once yours is accepted."
	of(s.open(t, "/console#"+hash, browsertest.DeskLight), once+"|"+once)
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "rejected"}, nil)
	p.Visit("/")
	p.Visit(hash)
	const rejected = others + "if the organizers accept yours."
	of(p, rejected+"|"+rejected)
}

// TestConsole_SaysWhatAnAnonymousTeamHides opens the forms of a submission as a member of an anonymous team.
func TestConsole_SaysWhatAnAnonymousTeamHides(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.submitForm(t)
	open := func() {
		browsertest.Evaluate[any](p.Page, `document.querySelector("form details")?.setAttribute("open", "")`)
	}
	p.Sees("What you call this run")
	open()
	p.Sees("for those who see the submission")
	ada := s.token(t, "ada")
	s.call(t, ada, http.MethodPatch, p.team, map[string]any{"anonymous": true}, nil)
	run := s.submitTo(t, "ada", p.task, p.open, "Entry")
	for _, screen := range []string{p.task + "/submit", run} {
		p.Visit("/")
		p.Visit(strings.TrimPrefix(screen, "/v1"))
		p.Sees("Only your team sees them.")
		open()
		p.Sees("others see the alias anonymous-")
		p.Sees("for your team and the organizers while your team is anonymous")
	}
}

// TestConsole_SaysWhoSeesABaseline submits a baseline as the form proposes it. The form and the page of the run must say who sees what.
func TestConsole_SaysWhoSeesABaseline(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, _ := s.twoDatasets(t)
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/submit?baseline=1")
	p.Sees("You see the scores at once. Others see them once you have unblinded and published the run.")
	p.Sees("Only you see them.")
	const audience = `[...document.querySelectorAll("[data-field=visibility] option")].find(o => o.selected)?.textContent === `
	p.Await(audience + `"Everyone who sees the task"`)
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Fill("Title", "Coin")
	p.Press("Run on Summer > Submit")
	p.Press("Coin")
	p.Sees("Title and notes")
	p.Sees("Only you see them.")
	p.Await(audience + `"Everyone who sees the task"`)
}

// TestConsole_SaysThatASubmissionIsRefused uses up the quota elsewhere while a form is filled. The refusal must be shown, although the form
// no longer is.
func TestConsole_SaysThatASubmissionIsRefused(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.submitForm(t)
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Sees("The file can be submitted.")
	s.submitTo(t, "ada", p.task, p.open, "First")
	s.submitTo(t, "ada", p.task, p.open, "Second")
	p.Fill("Title", "Third")
	p.Press("Run on Summer > Submit")
	p.Sees("You can submit to no dataset of the task now.")
	p.Sees("Your last submission was refused: no run was made.")
	p.Await(`document.querySelector("main .notice .failure") !== null`)
}

// TestConsole_KeepsTheFileWhileTermsChange changes the terms while Submit has a chosen file. Once the team has accepted them, the file must
// be there, and the organizers must read meanwhile that the team cannot submit.
func TestConsole_KeepsTheFileWhileTermsChange(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.submitForm(t)
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Fill("Title", "Entry")
	s.call(t, s.token(t, "owner"), http.MethodPatch, p.task, map[string]any{"terms": map[string]any{"text": "Cite us."}}, nil)
	organizer := s.signedIn(t, "owner", strings.TrimPrefix(p.team, "/v1"))
	organizer.Sees("not accepted. The team cannot submit until it accepts version 1 on its page Overview, Team or Submit.")
	p.returnOften()
	p.Sees("Cite us.")
	p.Fill("I accept these terms", "true")
	p.Press("Your team can submit only > Accept")
	p.Await(`document.querySelector("section[aria-label='Changed terms']") === null`)
	p.Sees("The file can be submitted.")
	p.Press("Run on Summer > Submit")
	p.Await(`/^#\/runs\//.test(location.hash)`)
}

// TestConsole_KeepsTheTableOfFaults submits a file that the server refuses only when it is submitted.
func TestConsole_KeepsTheTableOfFaults(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.submitForm(t)
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 2.0 t\n1 Q0 lake 2 high t\n")
	p.Sees("Correct the file")
	p.Press("Run on Summer > Submit")
	p.Sees("look at what is marked")
	p.Await(`document.querySelector("form td.number")?.textContent === "2" && !document.querySelector("form .fault")`)
}

// TestConsole_LoadsAPartThatWasMissing fails to load the part of a screen. Trying again must show the screen. An application of an older
// build must load the new one by itself.
func TestConsole_LoadsAPartThatWasMissing(t *testing.T) {
	t.Parallel()
	p := useShared(t).signedIn(t, "ada", "/runs")
	p.Block("/console/new_organizer-*")
	p.Visit("/organizers/new")
	p.Sees("A part of the page could not be loaded.")
	p.Block()
	p.Press("Try again")
	p.Sees("Tasks belong to an organizer")
	p.Visit("/runs")
	p.Sees("There is no run of yours or of your teams yet.")
	p.Block("/console/trash-*")
	browsertest.Evaluate[any](p.Page, `{ const real = fetch; window.former = true;
window.fetch = request => String(request).endsWith("/console")
? Promise.resolve(new Response('<script type="module" src="/console/main-NEWBUILD.js">')) : real(request); }`)
	p.Visit("/trash")
	p.Await(`!window.former`)
}

// TestConsole_SignsInWhereItIs opens addresses without a session. The screen must have the form, and appear after the sign-in.
func TestConsole_SignsInWhereItIs(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	private := s.task(t, owner, "Ponds")
	s.call(t, owner, http.MethodPatch, private, map[string]any{"visibility": "private"}, nil)
	for address, shown := range map[string]string{
		strings.TrimPrefix(private, "/v1"):           "Ponds",
		strings.TrimPrefix(private, "/v1") + "/desk": "The task has no dataset.",
		"/trash": "Nothing is here.",
	} {
		p := s.open(t, "/console#"+address, browsertest.DeskLight)
		p.signIn("owner")
		p.Sees(shown)
	}
	p := s.open(t, "/console#/?show=past", browsertest.DeskLight)
	p.Press("Sign in")
	p.signIn("owner")
	p.Await(`location.hash === "#/?show=past"`)
}

// TestConsole_AsksForTheSignInBelowTheFold ends the session while a long form is sent at its end. The form to sign in must be in view.
func TestConsole_AsksForTheSignInBelowTheFold(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task := s.task(t, s.token(t, "owner"), "Ponds")
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/edit")
	p.Fill("Text of the terms", "Cite us.")
	browsertest.Evaluate[any](p.Page, `scrollTo(0, document.body.scrollHeight);
{ const real = fetch; window.fetch = request => {
if (request.method !== "PATCH") return real(request);
window.fetch = real;
const next = new Request(request); next.headers.set("Authorization", "Bearer of-nobody"); return real(next); } }`)
	p.Press("Save: Terms")
	p.Sees("Waits until you sign in again above")
	p.Await(`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector(".ended").getBoundingClientRect())`)
	p.signIn("owner")
	p.Sees("Saved.") // at once: no team has to accept the terms
}

// TestConsole_NamesTheOrganizerWithWork opens the work of an organizer without any, while another organizer has some.
func TestConsole_NamesTheOrganizerWithWork(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p, task := s.organizedTask(t, 1)
	s.post(t, s.token(t, "owner"), "/v1/organizers", map[string]any{"name": "Empty Lab"})
	browsertest.Evaluate[any](p.Page, `location.reload()`)
	p.Press("Empty Lab")
	p.Sees("Nothing waits here, but in")
	p.Press("Nothing waits here > Lakes")
	p.Sees("has a run to review")
	p.Visit(task + "/leaderboard")
	p.Sees("all ranks count it")
	p.Press("As others see it")
	p.Sees("others see the result of a run once the organizers have unblinded and published it")
	p.Await(`![...document.querySelectorAll("main button, main a.button")].some(b => /Download|Compare/.test(b.innerText))`)
}

// TestConsole_PublishesNoRunOfARejectedTeam rejects a team that takes part, and publishes its run together with a run of another team.
func TestConsole_PublishesNoRunOfARejectedTeam(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, team, open := s.twoDatasets(t)
	s.post(t, s.token(t, "bob"), task+"/registrations", map[string]any{"team": "Beavers"})
	s.submitTo(t, "ada", task, open, "Run of ada")
	final := s.submitTo(t, "bob", task, open, "Run of bob")
	s.awaitRuns(t, s.token(t, "owner"), task)
	p := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Press("Reject Otters")
	p.Sees("It has 1 run.")
	p.Press("Cancel")
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 1}, nil)
	p.Press("Reject Otters")
	p.Sees("It has 1 run, none marked as final.")
	p.Press("Yes, go on")
	p.Sees("Otters rejected.")
	p.Visit("/desk")
	p.Sees("team rejected")
	s.call(t, s.token(t, "bob"), http.MethodPatch, "/v1"+final, map[string]any{"final": true}, nil)
	p.Fill("Select all 2", "true")
	p.Press("Unblind and publish 1 run")
	p.Sees("Unblind and publish 1 run of 1 team, 1 marked as final?") // since the list was read
	p.Press("Cancel")
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 0}, nil)
	p.Press("Unblind and publish 1 run")
	p.Sees("Unblind and publish 1 run of 1 team?")
	p.Sees("Everyone who sees the task will see scores of 1 run. Left out: 1 run")
	p.Press("Yes, go on")
	p.Sees("1 run is published.")
	p.Visit(strings.TrimPrefix(task, "/v1") + "/audit")
	p.Sees("Run unblinded and published: Run of bob of Beavers on Summer, by")
	p.Sees("Published: no → yes")
	p.Visit(strings.TrimPrefix(task, "/v1") + "/desk?part=announcements")
	p.Fill("Title", "Hello")
	p.Press("Title > Announce")
	p.Sees("Nobody gets an e-mail: this server sends none")
	p.Press("Announce, with these effects")
	p.Sees("Announced.")
}

// TestConsole_OffersEMailsWhereTheyAreSent invites on a server without e-mail, and on one that says that it sends e-mails.
func TestConsole_OffersEMailsWhereTheyAreSent(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, _ := s.twoDatasets(t)
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/team")
	p.Sees("This server sends no e-mail: you get a link, and hand it over yourself.")
	p.Press("Make a link")
	p.Sees("Hand this link over to those whom you invite: nothing was sent.")
	p.Visit("/organizers/new")
	const mails = `{ const real = fetch; window.fetch = async request => { const answer = await real(request);
return request.url.endsWith("/info") ? Response.json({...await answer.json(), mail: true}) : answer; }
setInterval(() => dispatchEvent(new Event("focus")), 200); }` // reads again, at most every five seconds
	browsertest.Evaluate[any](p.Page, mails)
	p.Visit(strings.TrimPrefix(task, "/v1") + "/team")
	p.Press("Invite a member")
	p.Sees("The link is sent there, and works once")
	p = s.signedIn(t, "owner", "/organizers/new")
	browsertest.Evaluate[any](p.Page, mails)
	for at, said := range map[string]string{
		task:                                    "Those members of 1 team who want such e-mails get it by e-mail",
		s.task(t, s.token(t, "owner"), "Ponds"): "Nobody gets an e-mail: no team takes part",
	} {
		p.Visit(strings.TrimPrefix(at, "/v1") + "/desk?part=announcements")
		p.Fill("Title", "Hello")
		p.Press("Title > Announce")
		p.Sees(said)
		p.Press("Announce, with these effects")
		p.Sees("Announced. The page of the task shows it")
		if strings.HasPrefix(said, "Nobody") {
			p.Sees("shows it.")
			p.lacksText("get an e-mail if they want such e-mails")
		}
	}
}
