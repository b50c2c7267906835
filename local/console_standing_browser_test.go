//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/webpage/browsertest"
)

// submitTo submits a run with the title for the team of the user, and returns the path of its page.
func (s *testServer) submitTo(t *testing.T, user, task, dataset, title string) string {
	t.Helper()
	file := inline("run.txt", "1 Q0 lake 1 1 first-try\n2 Q0 sea 1 1 first-try\n")
	file["datasetId"] = dataset
	var made struct{ RunIDs []string }
	s.call(t, s.token(t, user), http.MethodPost, task+"/submissions",
		map[string]any{"type": "upload", "title": title, "files": []any{file}}, &made)
	return "/runs/" + made.RunIDs[0]
}

// returnOften makes the tab behave as if its reader returned to it again and again. Screens read again at most every five seconds.
func (p *consolePage) returnOften() {
	p.t.Helper()
	browsertest.Evaluate[any](p.Page, `setInterval(() => dispatchEvent(new Event("focus")), 200)`)
}

// lacks reports controls of the screen whose names begin with the name.
func (p *consolePage) lacks(name string) {
	p.t.Helper()
	if browsertest.Evaluate[bool](p.Page, `[...document.querySelectorAll("main button, main summary")].some(b =>
(b.getAttribute("aria-label") ?? b.textContent).startsWith("`+name+`"))`) {
		p.t.Errorf("%s is offered", name)
	}
}

// TestConsole_KeepsTheRunsOfFormerMembers submits as a member who leaves the team. The run must stay among the runs of the team, and
// organizers must find it among the runs that need not count. The former member sees the public run, and gets no forms for it.
func TestConsole_KeepsTheRunsOfFormerMembers(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	ada, bob := s.token(t, "ada"), s.token(t, "bob")
	task, team, open := s.twoDatasets(t)
	var invitation struct{ Secret string }
	s.call(t, ada, http.MethodPost, team+"/invitations", map[string]any{}, &invitation)
	s.call(t, bob, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": invitation.Secret}, nil)
	run := s.submitTo(t, "bob", task, open, "By bob")
	var made struct{ SubmissionID string }
	s.get(t, bob, "/v1"+run, &made)
	s.call(t, bob, http.MethodPatch, task+"/submissions/"+made.SubmissionID, map[string]any{"visibility": "public"}, nil)
	var user struct{ ID string }
	s.get(t, bob, "/v1/user", &user)
	s.call(t, bob, http.MethodDelete, team+"/members/"+user.ID, nil, nil)
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/runs")
	p.Sees("By bob")
	p.Visit("/runs")
	p.Sees("By bob")
	p = s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Await(`[...document.querySelectorAll("option")].some(o => o.textContent.startsWith("By bob, Summer"))`)
	s.awaitRuns(t, s.token(t, "owner"), task)
	p = s.signedIn(t, "bob", run)
	p.Sees("Others than its team and the organizers see the values")
	p.lacks("Delete")
	p.Await(`![...document.querySelectorAll("main h2")].some(h => h.textContent === "Title and notes")`)
}

// TestConsole_SaysThatATaskIsDeleted deletes a task whose screens are open. Its organizers and its teams must be told, on these screens and
// on new ones, and others must see the same as for a missing task. Once the task is restored, the screens must show it again.
func TestConsole_SaysThatATaskIsDeleted(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	path := strings.TrimPrefix(task, "/v1")
	editor := s.signedIn(t, "owner", "/datasets/"+open+"/edit")
	editor.Sees("The ground truth is stored")
	team := s.signedIn(t, "ada", path+"/submit")
	team.Sees("Runs start blinded")
	organizer := s.signedIn(t, "owner", path+"/desk")
	organizer.Sees("No run on this dataset is completed.")
	s.call(t, owner, http.MethodDelete, task, nil, nil)
	team.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	team.Press("Run on Summer > Submit")
	team.Sees("The organizers have deleted this task, with what teams submitted to it.")
	organizer.returnOften()
	organizer.Sees("This task was deleted")
	organizer.Sees("It can be restored from the trash until")
	editor.returnOften()
	editor.Sees("This task was deleted")
	s.signedIn(t, "eve", path).Sees("There is nothing here, or nothing that you may see.")
	another := s.signedIn(t, "ada", path)
	another.Await(`document.querySelector("main h1")?.textContent === "Lakes"`)
	another.Sees("The organizers have deleted this task")
	another.Visit("/?show=mine")
	another.Sees("The organizers have deleted Lakes, in which Otters was registered.")
	another.Visit("/runs")
	another.Sees("The organizers have deleted Lakes. The runs of Otters in it are not listed")
	another.Visit(path + "/team")
	another.Sees("The organizers have deleted this task")
	organizer.Press("trash")
	organizer.Press("Restore Lakes")
	organizer.Sees("Lakes is restored.")
	team.returnOften()
	team.Sees("Runs start blinded")
	another.Await(`document.querySelector("main")?.innerText.includes("Your team takes part.")`)
}

// TestConsole_SaysThatARegistrationIsDeleted deletes the registration of a team. Its owner must be told where the team was shown.
func TestConsole_SaysThatARegistrationIsDeleted(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, team, _ := s.twoDatasets(t)
	path := strings.TrimPrefix(task, "/v1")
	s.call(t, s.token(t, "owner"), http.MethodDelete, team, nil, nil)
	p := s.signedIn(t, "ada", path+"/team")
	p.Sees("The organizers deleted the registration of the team Otters")
	p.Sees("You have no team in this task.")
	p.Visit(path + "/join")
	p.Sees("The organizers deleted the registration of the team Otters")
	p.Visit("/?show=mine")
	p.Sees("The organizers deleted the registration of the team Otters in Lakes")
}

// TestConsole_SaysThatARunIsDeleted deletes a run of a team as an organizer, who is asked first. The page of the run tells its team, and
// nobody else, what became of it.
func TestConsole_SaysThatARunIsDeleted(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	run := s.submitTo(t, "ada", task, open, "Entry")
	p := s.signedIn(t, "ada", run)
	p.Sees("completed")
	organizer := s.signedIn(t, "owner", run)
	organizer.Press("Delete Entry")
	organizer.Sees("The team is told, and only organizers can restore it.")
	organizer.Press("Yes, go on")
	organizer.Sees("Entry is deleted.")
	organizer.Await(`location.hash.includes("/desk?dataset=")`)
	p.returnOften()
	p.Sees("The organizers deleted Entry")
	p.Sees("Only the organizers can restore it: ask them.")
	p.Visit(strings.TrimPrefix(task, "/v1") + "/runs")
	p.Sees("The organizers deleted Entry")
	p.Visit("/trash")
	p.Sees("by the organizers; gone for good")
	p.Sees("The organizers deleted this run, so only they can restore it.")
	s.signedIn(t, "ada", run).Sees("The organizers deleted Entry")
	s.signedIn(t, "owner", run).Sees("This is deleted: Entry")
	s.signedIn(t, "bob", run).Sees("It may have been deleted, or its team or the organizers may not show it to you.")
}

// TestConsole_OffersFinalRunsToTeams shows runs on a dataset that takes one final run: a baseline, and the second run of a team that has
// marked its first.
func TestConsole_OffersFinalRunsToTeams(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 1}, nil)
	first := s.submitTo(t, "ada", task, open, "First")
	second := s.submitTo(t, "ada", task, open, "Second")
	file := inline("run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	file["datasetId"] = open
	var baseline struct{ RunIDs []string }
	s.call(t, owner, http.MethodPost, task+"/submissions",
		map[string]any{"type": "upload", "baseline": true, "title": "Coin", "files": []any{file}}, &baseline)
	s.awaitRuns(t, owner, task)
	p := s.signedIn(t, "owner", second)
	p.Await(`[...document.querySelectorAll("main button")].some(b => b.textContent.startsWith("Mark as final"))`)
	s.call(t, s.token(t, "ada"), http.MethodPatch, "/v1"+first, map[string]any{"final": true}, nil)
	p.Visit("/runs/" + baseline.RunIDs[0])
	p.Sees("completed")
	p.Await(`[...document.querySelectorAll("main button")].some(b => b.textContent === "Delete")`)
	p.lacks("Mark as final")
	p.Visit(second)
	p.Await(`document.querySelector("main h1")?.textContent === "Second" && document.querySelector("main .actions .quiet") !== null`)
	p.lacks("Mark as final")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 2}, nil)
	s.call(t, s.token(t, "ada"), http.MethodPatch, "/v1"+second, map[string]any{"final": true}, nil)
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"finalRuns": 1}, nil)
	p = s.signedIn(t, "ada", second)
	p.Sees("2 runs are marked as final: of those with a result, only the newest counts")
	p.Press("Unmark as final")
	p.Sees("Second is no longer final.")
	if browsertest.Evaluate[bool](p.Page, `document.querySelector(".status").innerText.includes("Undo")`) {
		t.Error("undo is offered, although the team has marked as many runs as the dataset takes")
	}
}

// TestConsole_FollowsDecisionsAboutATeam rejects and accepts a team while its Submit is open.
func TestConsole_FollowsDecisionsAboutATeam(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, team, _ := s.twoDatasets(t)
	path := strings.TrimPrefix(task, "/v1")
	p := s.signedIn(t, "ada", path+"/submit")
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "rejected"}, nil)
	p.Press("Run on Summer > Submit")
	p.Sees("The organizers rejected your team: it does not take part, and cannot submit.")
	p.Visit(path + "/join")
	p.Sees("The organizers rejected your team Otters.")
	p.Visit(path + "/team")
	p.Sees("The organizers rejected your team")
	p.Await(`![...document.querySelectorAll("main h3")].some(h => h.textContent === "About the team")`)
	p.Await(`!document.querySelector("main").innerText.includes("ask the organizers")`)
	s.call(t, owner, http.MethodPatch, task, map[string]any{"website": "https://lakes.example"}, nil)
	p.returnOften()
	p.Sees("If that is a mistake, ask the organizers: website of the task")
	p.Visit(path + "/submit")
	p.Sees("The organizers rejected your team")
	s.call(t, owner, http.MethodPatch, team, map[string]any{"state": "accepted"}, nil)
	p.Sees("Runs start blinded")
}

// TestConsole_TellsPendingTeamsOfWindows shows Submit to a team that waits, before and after all datasets have closed.
func TestConsole_TellsPendingTeamsOfWindows(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	s.call(t, owner, http.MethodPatch, task, map[string]any{"registration": map[string]any{"mode": "approval"}}, nil)
	s.post(t, s.token(t, "bob"), task+"/registrations", map[string]any{"team": "Beavers"})
	p := s.signedIn(t, "bob", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Sees("Your team cannot submit before the organizers have accepted it.")
	p.Sees("Summer test This dataset takes runs of accepted teams.")
	p.Sees("This dataset closed")
	p.Check(s.url + "/")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p.returnOften()
	p.Sees("every dataset of the task has closed: your team cannot submit.")
}

// TestConsole_SwitchesWhenADatasetCloses waits on an open Submit until the dataset closes. Nothing else makes the screen read again.
func TestConsole_SwitchesWhenADatasetCloses(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": time.Now().Add(15 * time.Second).UTC().Format(time.RFC3339)}}, nil)
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Sees("This dataset takes runs until")
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Fill("Title", "Entry")
	p.Sees("You can submit to no dataset of the task now.")
	p.Sees("The last dataset has closed, so this form was not submitted.")
	p.Sees("The file run.txt that you chose for it is not submitted.")
	p.Await(`document.querySelector("[data-field=title] input").matches(":disabled") &&
		document.querySelector("[data-field=title] input").value === "Entry"`)
	p.Check(s.url + "/")
}

// TestConsole_SaysWhatBecomesOfADraft closes a dataset over an empty form, and again while the reader of a draft is on another screen.
func TestConsole_SaysWhatBecomesOfADraft(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	owner := s.token(t, "owner")
	screen := strings.TrimPrefix(task, "/v1")
	closeAt := func(at any) {
		t.Helper()
		s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{"closesAt": at}}, nil)
	}
	const past = "2020-01-01T00:00:00Z"
	p := s.signedIn(t, "ada", screen+"/submit")
	p.Sees("This dataset takes runs")
	p.returnOften()
	closeAt(past)
	p.Sees("You can submit to no dataset of the task now.")
	p.lacksText("was not submitted")
	closeAt(nil)
	p.Sees("This dataset takes runs")
	p.Fill("Title", "Entry")
	p.Visit(screen)
	p.Visit(screen + "/submit")
	p.Sees("Chosen files are not kept: choose them again.")
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.lacksText("Chosen files are not kept")
	p.Sees("Choose “Submit” to send them")
	p.Visit(screen)
	closeAt(past)
	p.Visit(screen + "/submit")
	p.Sees("You can submit to no dataset of the task now.")
	p.lacksText("Choose “Submit”")
}

// TestConsole_ShowsWhatIsShared shows two datasets whose runs count in one limit of the task.
func TestConsole_ShowsWhatIsShared(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, _ := s.twoDatasets(t)
	s.call(t, owner, http.MethodPatch, task, map[string]any{"submissions": map[string]any{"perDay": 3}}, nil)
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Autumn"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Sees("takes runs: up to 2 of the 3 runs left for all datasets together")
	p.Sees("takes runs: up to 3 of the 3 runs left for all datasets together")
}

// TestConsole_OpensTasksWithOpenDatasets lists a task that has closed, with a dataset that is open longer.
func TestConsole_OpensTasksWithOpenDatasets(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Stages of lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public",
		"submissions": map[string]any{"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p := s.signedIn(t, "ada", "/?show=past&name=Stages")
	p.Sees("Stages of lakes")
	p.Sees("Closed")
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Winter",
		"submissions": map[string]any{"closesAt": time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)}})
	p.returnOften()
	p.Visit("/?show=open&name=Stages")
	p.Sees("Winter: Submissions until")
	p.Visit("/?show=past&name=Stages")
	p.Sees("No task of this name is here.")
	p.Visit(strings.TrimPrefix(task, "/v1"))
	p.Sees("Teams may submit")
}

// TestConsole_ShowsTheDeadlinesOfDatasets shows a task without a close whose only dataset closes, before and after the close. Until then
// teams mark final runs.
func TestConsole_ShowsTheDeadlinesOfDatasets(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Deadlines of lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	window := func(closes string) map[string]any {
		return map[string]any{"name": "Winter", "finalRuns": 1, "submissions": map[string]any{"perDay": 2, "closesAt": closes}}
	}
	dataset := s.dataset(t, owner, task, "1 0 lake 1\n", window("2100-01-01T00:00:00Z"))
	p := s.signedIn(t, "ada", "/?show=open&name=Deadlines")
	p.Sees("Winter: Submissions until")
	p.Await(`!document.querySelector("main").innerText.includes("No deadline")`)
	p.Visit(strings.TrimPrefix(task, "/v1"))
	p.Sees("Winter: Submissions until")
	p.Await(`!document.querySelector("main").innerText.includes("No deadline")`)
	p.Sees("A team may submit 2 in 24 hours on this dataset.")
	p.Sees("1 final run counts: mark yours under My runs")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+dataset, window("2020-01-01T00:00:00Z"), nil)
	p.returnOften()
	p.Sees("A team could submit 2 in 24 hours on this dataset.")
	p.Sees("1 final run counts: those that it marked or, if none of these has a result, its last ones.")
	p.Sees("Leaderboards find the last runs of a team among those that their reader sees")
	p.Visit(strings.TrimPrefix(task, "/v1") + "/leaderboard")
	p.Sees("Runs that do not count are ranked here, too.")
	p.Visit("/?show=past&name=Deadlines")
	p.Sees("Winter: Closed")
}

// TestConsole_OffersNoDeletionThatIsRefused opens screens of resources that their readers cannot delete or leave.
func TestConsole_OffersNoDeletionThatIsRefused(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	path := strings.TrimPrefix(task, "/v1")
	run := s.submitTo(t, "ada", task, open, "Entry")
	p := s.signedIn(t, "ada", run)
	p.Sees("completed")
	p.Await(`[...document.querySelectorAll("main button")].some(b => b.textContent === "Delete")`)
	s.call(t, owner, http.MethodPatch, "/v1"+run+"/review", map[string]any{"published": true, "blinded": false}, nil)
	p.returnOften()
	p.Sees("The review of the run is published, so only the organizers can delete the run.")
	p.lacks("Delete")
	p.Visit(path + "/runs")
	p.Sees("Entry completed")
	p.Await(`document.querySelector("main strong.number") !== null`)
	p.lacks("Delete")
	p.Visit(path + "/team")
	p.Sees("Your team has submitted to the task, so it cannot withdraw.")
	p.lacks("Withdraw")

	p = s.signedIn(t, "owner", "/datasets/"+open+"/edit")
	p.Sees("Runs use the dataset, so it cannot be deleted.")
	p.lacks("Delete the dataset")
	var of struct{ OrganizerID string }
	s.get(t, owner, task, &of)
	p.Visit("/organizers/" + of.OrganizerID)
	p.Sees("An organizer with tasks cannot be deleted.")
	p.Sees("The only owner stays until another member is an owner.")
	p.lacks("Delete the organizer")
	p.lacks("Leave the organizer")
	p.lacks("Make editor")
	p.Visit("/me")
	p.Sees("Your account cannot be deleted while you are the only owner of")
	p.lacks("Delete my account")
}
