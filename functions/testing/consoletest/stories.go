//go:build browser

// Package consoletest plays stories of people in the console of a running server, in Chromium. It finds elements by the names
// that a screen reader reads, and uses only what the screens offer. The same stories run against the local program and against
// the deployed functions.
package consoletest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// Setup is a server to test. SignIn signs a person in on the server's sign-in screen.
type Setup struct {
	URL    string
	Files  string // origin of files, if it is not that of the server
	SignIn func(p *browsertest.Page, user string)
}

// person is a user with a browser of their own.
type person struct {
	*browsertest.Page
	t testing.TB
	s Setup
}

func (s Setup) person(t testing.TB, user string, v browsertest.View) *person {
	p := &person{browsertest.Open(t, s.URL+"/console#/sign-in", v), t, s}
	s.SignIn(p.Page, user)
	p.Sees("Sign out")
	p.Forget()
	return p
}

// open opens an address of the console in the same tab and waits for its heading.
func (p *person) open(hash, heading string) {
	p.t.Helper()
	p.Visit(hash)
	p.Await(fmt.Sprintf(`[...document.querySelectorAll("h1")].some(h => h.textContent.includes(%q))`, heading))
}

// look checks the present screen: axe, width and errors.
func (p *person) look(name string) {
	p.t.Helper()
	p.Check(p.s.URL+"/", cmp.Or(p.s.Files, p.s.URL)+"/", "blob:")
	p.Screenshot(name)
}

const (
	qrels    = "1 0 lake 1\n2 0 river 2\n3 0 pond 1\n"
	baseline = "1 Q0 sea 1 2.0 base\n1 Q0 lake 2 1.0 base\n2 Q0 river 1 1.0 base\n3 Q0 sea 1 1.0 base\n"
	wrong    = "1 Q0 lake 1 2.0 otters\n1 Q0 lake 2 high otters\n"
	right    = "1 Q0 lake 1 2.0 otters\n2 Q0 river 1 1.0 otters\n3 Q0 pond 1 1.0 otters\n"
)

// long returns a run whose file is too large for the request, so that it is uploaded to the object store.
func long() string {
	var b strings.Builder
	b.WriteString(right)
	for topic := 4; b.Len() < 4<<20; topic++ {
		for rank := 1; rank <= 100; rank++ {
			fmt.Fprintf(&b, "%d Q0 document-%d 1 %d otters\n", topic, rank, 1000-rank)
		}
	}
	return b.String()
}

// FromNothingToABoard is a week of a shared task. An organizer creates the task, submits a baseline and publishes the task. A
// team of two joins, submits an invalid file and valid ones, and marks a run as final. The organizer reviews and publishes the
// runs. Everyone can see the leaderboard, whose address is returned.
func FromNothingToABoard(t testing.TB, s Setup) string {
	olga := s.person(t, "olga", browsertest.DeskLight)
	task := olga.makeTask()
	olga.submitBaseline(task)
	olga.publish(task)

	alice := s.person(t, "alice", browsertest.PhoneLight)
	alice.open("/tasks/"+task, "Lake search")
	alice.look("task-phone")
	alice.Press("Take part")
	alice.Fill("Name of your team", "Otters")
	alice.Press("Lake search > Take part")
	alice.Fill("I accept these terms", "true")
	alice.Press("Name of your team > Take part")
	alice.Sees("The organizers decide about your team.")

	olga.Press("Organize")
	olga.Sees("wants to take part")
	olga.look("desk")
	olga.Press("Accept Otters")
	olga.Sees("Otters accepted.")
	olga.Press("Undo")
	olga.Sees("wants to take part")
	olga.Press("Accept Otters")
	olga.Await(`!document.body.innerText.includes("wants to take part")`)

	bob := alice.invite(s, task)
	bob.submit(task)

	alice.open("/runs", "My runs")
	alice.Sees("Long lakes")
	alice.Sees("completed")
	alice.Press("First lakes > Mark as final")
	alice.Sees("First lakes is final.")
	alice.look("runs-phone")

	olga.review(task)

	bob.open("/tasks/"+task+"/leaderboard", "Lake search")
	bob.Sees("Otters")
	bob.Press("Final runs")
	bob.Fill("Compare Otters, First lakes", "true")
	bob.Press("Best of each team")
	bob.look("leaderboard")
	bob.compare()
	return s.URL + "/console#/tasks/" + task + "/leaderboard"
}

// makeTask creates an organizer, a task and its dataset. It returns the id of the task.
func (p *person) makeTask() string {
	p.t.Helper()
	p.Press("Organize")
	p.Press("Create an organizer")
	p.Fill("Name", "Lake Lab")
	p.look("new-organizer")
	p.Press("Create, and go on to the task")
	p.Sees("It starts private")
	p.Fill("Name", "Lake search")
	p.Fill("Description", "Find **lakes** in a corpus of waters.")
	p.Press("Create, and go on to edit it")
	p.Await(`/^#\/tasks\/[0-9A-Z]{26}\//.test(location.hash)`)
	task := browsertest.Evaluate[string](p.Page, `location.hash.split("/")[2]`)
	p.open("/tasks/"+task+"/datasets/new", "Lake search")
	p.Fill("Name", "Lakes")
	p.Give("File of the ground truth", "qrels.txt", qrels)
	p.Give("Files for participants", "topics.tsv", "1\tlake\n2\triver\n3\tpond\n")
	p.Press("When scores are seen")
	p.Fill("Final runs of a team", "1")
	p.look("new-dataset")
	p.Press("Add the dataset")
	p.Sees("Save the dataset")
	return task
}

// submitBaseline submits a run of the organizer and waits for its evaluation, while only the organizer sees the task.
func (p *person) submitBaseline(task string) {
	p.t.Helper()
	p.open("/tasks/"+task+"/edit", "Lake search")
	p.Press("Submit a baseline")
	p.Give("Run on Lakes", "baseline.txt", baseline)
	p.Sees("The file can be submitted.")
	p.Fill("Title", "Baseline of lakes")
	p.Press("Title > Submit")
	p.Sees("completed")
	p.Sees("nDCG@10")
	p.look("baseline")
}

// publish opens the registration with approval and makes the task public.
func (p *person) publish(task string) {
	p.t.Helper()
	p.open("/tasks/"+task+"/edit", "Lake search")
	p.Fill("Who can take part", "approval")
	p.Press("Save: Registration")
	p.Await(`!document.body.innerText.includes("Start over")`)
	p.Fill("Text of the terms", "Keep the lakes clean.")
	p.Press("Save: Terms")
	p.Sees("Saved.")
	p.Sees("Now: version 1.")
	p.Press("Publish the task")
	p.Sees("What this will do")
	p.look("edit-task")
	p.Press("Publish the task, with these effects")
	p.Sees("The task is public")
}

// invite creates an invitation by which another person joins the team.
func (p *person) invite(s Setup, task string) *person {
	p.t.Helper()
	p.open("/tasks/"+task+"/team", "Lake search")
	p.Sees("Your team takes part.")
	p.Press("Make a link")
	p.Sees("It is shown this once")
	p.look("team-phone")
	link := browsertest.Evaluate[string](p.Page, `document.querySelector("[aria-label='Invitation link']").textContent`)
	_, path, _ := strings.Cut(link, "/console#") // an emulated gateway uses http but links to https
	invited := &person{browsertest.Open(p.t, s.URL+"/console#"+path, browsertest.DeskDark), p.t, s}
	invited.Sees("Sign in to see the invitation.")
	if hash := browsertest.Evaluate[string](invited.Page, `location.hash`); strings.Contains(hash, "assay-invitation") {
		p.t.Errorf("the address keeps the secret: %s", hash)
	}
	s.SignIn(invited.Page, "bob")
	invited.Sees("You are invited to the team Otters, which takes part in the task Lake search of Lake Lab.")
	invited.Forget()
	invited.look("invitation")
	invited.Fill("I accept these terms", "true")
	invited.Press("You are invited to the team > Join")
	invited.Sees("You have joined.")
	invited.open("/tasks/"+task, "Lake search")
	invited.Await(`[...document.querySelectorAll("main a[href]")].some(a => a.textContent === "topics.tsv")`)
	return invited
}

// submit submits an invalid file, which does not count in the quota, a valid file and a large file.
func (p *person) submit(task string) {
	p.t.Helper()
	p.open("/tasks/"+task+"/submit", "Lake search")
	p.Give("Run on Lakes", "wrong.txt", wrong)
	p.Sees("Nothing is counted yet.")
	p.Sees("1 Q0 lake 2 high otters") // the faulty line, beside its error
	p.look("diagnostics")
	p.Give("Run on Lakes", "right.txt", right)
	p.Sees("The file can be submitted.")
	p.Fill("Title", "First lakes")
	p.Press("Title > Submit")
	p.Sees("completed")
	p.look("run-blinded")
	p.open("/tasks/"+task+"/submit", "Lake search")
	p.Give("Run on Lakes", "long.txt", long())
	p.Sees("The file can be submitted.")
	p.Fill("Title", "Long lakes")
	p.Press("Title > Submit")
	p.Await(`/^#\/runs\//.test(location.hash)`)
	p.Sees("completed")
}

// review opens a run. It unblinds and publishes all runs, undoes this, and does it again.
func (p *person) review(task string) {
	p.t.Helper()
	p.Press("Organize")
	p.Press("Review the run of Otters")
	p.Sees("Not reviewed yet.")
	p.look("review")
	p.open("/tasks/"+task+"/desk", "Lake search")
	p.Fill("Select all 3", "true")
	p.Press("Unblind and publish")
	p.Press("Yes, go on")
	p.Sees("3 runs are published.")
	p.Press("Undo")
	p.Sees("Undone.")
	p.Sees("blinded")
	p.Fill("Select all 3", "true")
	p.Press("Unblind and publish")
	p.Press("Yes, go on")
	p.Sees("3 runs are published.")
	p.look("task-desk")
}

// compare compares a run with the baseline in two clicks, and opens all tools.
func (p *person) compare() {
	p.t.Helper()
	p.Press("First lakes")
	p.Sees("By topic")
	p.look("run")
	p.Await(`[...document.querySelectorAll("#compare option")].some(o => o.textContent.includes("baseline"))`)
	browsertest.Evaluate[any](p.Page, `(e => { e.value = [...e.options].find(o => o.textContent.includes("baseline")).value;
e.dispatchEvent(new Event("change", { bubbles: true })); })(document.getElementById("compare"))`)
	p.Sees("Compare runs")
	p.Sees("Verdict")
	p.look("compare-significance")
	p.Press("By topic")
	p.Sees("Spread")
	p.look("compare-topics")
	p.Press("By document")
	p.Sees("Next topic")
	p.look("compare-documents")
}
