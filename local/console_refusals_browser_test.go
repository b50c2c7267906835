//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestConsole_SubmitsOnlyWhatItShows closes a dataset after a file was chosen for it. The refusal must not repeat, because the file is no
// longer submitted.
func TestConsole_SubmitsOnlyWhatItShows(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, _, open := s.twoDatasets(t)
	s.dataset(t, owner, task, "1 0 lake 1\n", map[string]any{"name": "Autumn"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Give("Run on Summer", "summer.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	p.Give("Run on Autumn", "autumn.txt", "1 Q0 lake 1 1 t\n")
	s.call(t, owner, http.MethodPatch, "/v1/datasets/"+open, map[string]any{"submissions": map[string]any{
		"closesAt": "2020-01-01T00:00:00Z"}}, nil)
	p.Press("Run on Autumn > Submit")
	p.Sees("The file summer.txt that you chose for it is not submitted.")
	p.Await(`document.querySelector("main .failure") !== null`)
	p.Press("Run on Autumn > Submit")
	p.Await(`/^#\/runs\//.test(location.hash)`)
	p.Sees("Autumn")
}

// TestConsole_StartsOverWithoutFiles chooses a file only. Starting over must empty its field.
func TestConsole_StartsOverWithoutFiles(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.submitForm(t)
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 2.0 t\n1 Q0 lake 2 high t\n")
	p.Sees("Correct the file")
	p.Press("Run on Summer > Start over")
	p.Await(`document.querySelector("main input[type=file]").value === "" && !document.querySelector("main").innerText.includes("not valid")`)
	p.Press("Run on Summer > Submit")
	p.Sees("Choose a file for at least one dataset.")
}

// TestConsole_DropsARefusalOnceItIsHealed submits after the terms have changed. Once the team has accepted the new ones, the refusal must
// disappear, even if another member accepts them.
func TestConsole_DropsARefusalOnceItIsHealed(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task, team, _ := s.twoDatasets(t)
	const refused = `[...document.querySelectorAll("main .failure")].some(e => e.textContent.includes("present terms"))`
	terms := func(text string) {
		s.call(t, owner, http.MethodPatch, task, map[string]any{"terms": map[string]any{"text": text}}, nil)
	}
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Give("Run on Summer", "run.txt", "1 Q0 lake 1 1 t\n2 Q0 sea 1 1 t\n")
	terms("Cite us.")
	p.Press("Run on Summer > Submit")
	p.Await(refused)
	p.Sees("Cite us.")
	p.Fill("I accept these terms", "true")
	p.Press("Your team can submit only > Accept")
	p.Await("!" + refused)
	terms("Cite us twice.")
	p.Press("Run on Summer > Submit")
	p.Await(refused + ` || document.body.innerText.includes("Cite us twice.")`) // A screen that is read again at this time shows the terms.
	s.call(t, s.token(t, "ada"), http.MethodPatch, team, map[string]any{"acceptedTerms": 2}, nil)
	p.returnOften()
	p.Await("!" + refused)
}
