//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_AsksBeforeWhatHasNoWayBack makes a member leave a team. The screen must ask first; cancelling and a double click must change
// nothing.
func TestConsole_AsksBeforeWhatHasNoWayBack(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	ada := s.token(t, "ada")
	bob := s.token(t, "bob")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public"}, nil)
	team := s.post(t, ada, task+"/registrations", map[string]any{"team": "Otters"})
	var invitation struct{ Secret string }
	s.call(t, ada, http.MethodPost, team+"/invitations", map[string]any{}, &invitation)
	s.call(t, bob, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": invitation.Secret}, nil)
	members := func() int {
		var r struct{ Members []string }
		s.get(t, owner, team, &r)
		return len(r.Members)
	}
	p := s.signedIn(t, "bob", strings.TrimPrefix(task, "/v1")+"/team")
	p.Press("Leave the team")
	p.Sees("The way back is another invitation.")
	p.Check(s.url + "/")
	if focus := browsertest.Evaluate[string](p.Page, `document.activeElement.textContent`); focus != "Cancel" || members() != 2 {
		t.Errorf("%q has the focus, and the team has %d members", focus, members())
	}
	p.Press("Cancel")
	p.Press("Leave the team")
	p.Press("Yes, go on")
	p.Sees("You have left the team.")
	if members() != 1 {
		t.Errorf("the team has %d members", members())
	}
}

// TestConsole_LeadsOrganizersToTheirTasks lists the tasks of an organizer with their states. The navigation must mark the area of
// organizers on the screens of these tasks and of a review.
func TestConsole_LeadsOrganizersToTheirTasks(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p, task := s.organizedTask(t, 1)
	s.call(t, s.token(t, "owner"), http.MethodPatch, "/v1"+task,
		map[string]any{"visibility": "public", "submissions": map[string]any{"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	browsertest.Evaluate[any](p.Page, `location.reload()`)
	p.Sees("Lakes closed")
	organizing := `document.querySelector(".top [aria-current]")?.textContent === "Organize"`
	p.Await(organizing)
	p.Press("Edit Lakes")
	p.Sees("The task is published")
	p.Await(organizing)
	p.Visit(task + "/desk")
	p.Press("Review Entry 0")
	p.Sees("Not reviewed yet.")
	p.Await(organizing)
	p.Press("The run")
	p.Await(`document.querySelector(".top [aria-current]")?.textContent === "My runs"`)
}

// TestConsole_SaysWhatIsMissingBeforePublishing publishes a task without datasets and with an unsaved text. The screen must name both, and
// publishing can be cancelled.
func TestConsole_SaysWhatIsMissingBeforePublishing(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "private"}, nil)
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/edit")
	p.Press("Write terms")
	p.Await(`document.activeElement.textContent === "Terms"`)
	p.Fill("Text of the terms", "Keep the lakes clean.")
	p.Await(`Object.keys(sessionStorage).some(key => key.startsWith("draft terms"))`)
	p.Press("Publish the task")
	p.Sees("Not done yet: Add a dataset; Store its ground truth; Have a baseline evaluated; Save the changes under Terms.")
	p.Check(s.url + "/")
	p.Press("What this will do > Cancel")
	p.Await(`!document.querySelector("main").innerText.includes("Not done yet")`)
	var now struct{ Visibility string }
	s.get(t, owner, task, &now)
	if now.Visibility != "private" {
		t.Errorf("the task is %s", now.Visibility)
	}
	p.Press("Add its dataset first")
	p.Sees("New dataset")
}

// TestConsole_GrantsNoEmptyException sends an exception without a grant. The form must ask for a grant, distinguish runs of the same
// title, and not offer a run that another exception refunds.
func TestConsole_GrantsNoEmptyException(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{
		"visibility": "public", "submissions": map[string]any{"perDay": 10, "total": 10},
	}, nil)
	team := s.post(t, ada, task+"/registrations", map[string]any{"team": "Otters"})
	for _, name := range []string{"Ponds", "Waters"} {
		file := inline("run.txt", "1 Q0 lake 1 1 t\n")
		file["datasetId"] = s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": name, "split": "test"})
		s.post(t, ada, task+"/submissions", map[string]any{"type": "upload", "title": "First", "files": []any{file}})
	}
	p := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	p.Fill("Reason", "Ill")
	p.Press("Grant")
	p.Sees("Choose what the team gets: a later close, more runs, or a run that does not count in the quota.")
	const offered = `[...document.querySelectorAll("option")].filter(o => /^First, (Ponds|Waters), /.test(o.textContent)).length`
	p.Await(offered + " === 2")
	p.Fill("More runs in all", "2")
	p.Press("Grant")
	p.Press("Grant, with these effects")
	p.Sees("Granted: 2 runs more in all, over all datasets together.")
	var runs struct{ Data []struct{ ID string } }
	s.get(t, ada, "/v1/runs?filter[taskId]="+strings.TrimPrefix(task, "/v1/tasks/"), &runs)
	s.post(t, owner, team+"/exceptions", map[string]any{"reason": "Broken server", "runId": runs.Data[0].ID})
	p.returnOften()
	p.Await(offered + " === 1")
	p.Visit("/desk")
	p.Sees("Lakes, Ponds,")
	p.Sees("Lakes, Waters,")
}

// TestConsole_TellsTeamsOfExceptions grants a team a later close and one run. The team must see both on each screen with its quota, until
// others can submit as long. After that, only the run can be granted again when the exception is withdrawn.
func TestConsole_TellsTeamsOfExceptions(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, team, _ := s.twoDatasets(t)
	var datasets struct{ Data []struct{ ID, Name string } }
	s.get(t, owner, "/v1/datasets?filter[name]=Winter&filter[taskId]="+strings.TrimPrefix(task, "/v1/tasks/"), &datasets)
	winter := datasets.Data[0].ID
	s.post(t, owner, team+"/exceptions", map[string]any{"reason": "Ill", "perDay": 1, "closesAt": "2100-01-01T00:00:00Z"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1"))
	for _, screen := range []string{"", "/team", "/submit"} {
		p.Visit(strings.TrimPrefix(task, "/v1") + screen)
		p.Sees("The organizers granted your team a later close of all datasets,")
		p.Sees("; 1 run more in 24 hours, over all datasets together. Their reason: Ill")
	}
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+winter,
		map[string]any{"submissions": map[string]any{"closesAt": "2100-01-02T00:00:00Z"}}, nil)
	p.returnOften()
	p.Sees("The organizers granted your team 1 run more in 24 hours")
	organizer := s.signedIn(t, "owner", strings.TrimPrefix(team, "/v1"))
	organizer.Press("Withdraw: Ill")
	organizer.Sees("The exception is withdrawn.")
	organizer.Press("Undo")
	organizer.Sees("Undone.")
	organizer.Sees("Granted: 1 run more in 24 hours, over all datasets together.")
}

// TestConsole_TakesTheFormatOfTheFile chooses a CSV file for labels. The faults of the file before must disappear.
func TestConsole_TakesTheFormatOfTheFile(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task := strings.TrimPrefix(s.task(t, s.token(t, "owner"), "Lakes"), "/v1")
	p := s.signedIn(t, "owner", task+"/datasets/new")
	p.Fill("What participants submit", "classification")
	p.Give("File of the ground truth", "truth.jsonl", "1,salt\n")
	p.Sees("or choose another format of runs above")
	p.Give("File of the ground truth", "truth.csv", "id,label\n1,salt\n2,sweet\n")
	p.Sees("The file can be evaluated against.")
	format := browsertest.Evaluate[string](p.Page, `document.querySelector("[data-field='runFormat/kind'] select").value`)
	if format != "csv" {
		t.Errorf("the format of runs is %s", format)
	}
}

// TestConsole_AsksForTheNameOfATask deletes a task with submissions. The screen must ask for its name at once, and refuse another name.
func TestConsole_AsksForTheNameOfATask(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	task, _, open := s.twoDatasets(t)
	s.submitTo(t, "ada", task, open, "Entry")
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/edit")
	p.Press("Delete the task")
	p.Sees("Everything that was submitted to it is deleted with it.")
	p.Fill("Current name of the task", "Lake")
	p.Press("Delete it with all submissions")
	p.Sees("\"Lake\" is not the current name of the task, so nothing was deleted.")
	p.Fill("Current name of the task", "Lakes")
	p.Press("Delete it with all submissions")
	p.Sees("Lakes was deleted.")
}

// TestConsole_RestoresFromTheTrash deletes a task and restores it from the trash. Then the console shows the task.
func TestConsole_RestoresFromTheTrash(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodDelete, task, nil, nil)
	p := s.signedIn(t, "owner", "/trash")
	p.Press("Restore Lakes")
	p.Sees("Lakes is restored.")
	p.Sees("To do")
	p.Visit(strings.TrimPrefix(task, "/v1") + "/desk")
	p.Press("Trash")
	p.Sees("Nothing is here.")
	p.Press("Back to the task")
	p.Sees("The task has no dataset.")
}

// TestConsole_OffersNothingToRejectedTeams shows a rejected team. It must have no actions.
func TestConsole_OffersNothingToRejectedTeams(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.call(t, owner, http.MethodPatch, task, map[string]any{"visibility": "public", "registration": map[string]any{"mode": "approval"}}, nil)
	s.post(t, s.token(t, "ada"), task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "owner", "/desk")
	p.Press("Reject Otters")
	p.Sees("Otters rejected.")
	p = s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/team")
	p.Sees("The organizers rejected your team")
	if offers := browsertest.Evaluate[int](p.Page, `document.querySelectorAll("main button, main form, main details").length`); offers != 0 {
		t.Errorf("%d controls are offered", offers)
	}
}

// TestConsole_DeletesAnAccount deletes an account after typing the word. The console must sign out.
func TestConsole_DeletesAnAccount(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.signedIn(t, "ada", "/me")
	p.Press("Delete my account")
	p.Fill("Type DELETE to go on", "yes")
	p.Press("Type DELETE to go on > Delete my account")
	p.Sees("Nothing was deleted")
	p.Fill("Type DELETE to go on", "DELETE")
	p.Press("Type DELETE to go on > Delete my account")
	p.Await(`document.querySelector("header a[href='#/sign-in']") !== null`)
}

// TestConsole_SaysThatBlindedRunsStayBlinded publishes a blinded run.
func TestConsole_SaysThatBlindedRunsStayBlinded(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 1)
	p.Visit(task + "/desk")
	p.Press("Review Entry 0")
	p.Sees("nobody but the organizers sees its scores, published or not")
	p.Fill("Blinded", "false")
	p.Fill("Published", "false")
	p.Sees("Only the organizers see the scores, until you tick this.")
	p.Fill("Published", "true")
	p.Sees("Everyone who sees the task sees the scores.")
}

// TestConsole_NamesFieldsByTheirLabels reviews a run with contradicting flags. The fault must name the other field by its label.
func TestConsole_NamesFieldsByTheirLabels(t *testing.T) {
	t.Parallel()
	p, task := useShared(t).organizedTask(t, 1)
	p.Visit(task + "/desk")
	p.Press("Review Entry 0")
	p.Fill("No errors", "true")
	p.Fill("Output is missing", "true")
	p.Press("Save the review")
	p.Sees("contradicts “No errors”: only one of the two can hold")
}
