//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_MakesFilesOfRuns fuses two runs and converts one, and reads the files that the browser saves.
func TestConsole_MakesFilesOfRuns(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	dataset := s.dataset(t, owner, task, "1 0 lake 1\n", nil)
	var runs []string
	for _, content := range []string{"1 Q0 lake 1 2.0 a\n", "1 Q0 sea 1 2.0 b\n1 Q0 lake 2 1.0 b\n"} {
		var made struct{ RunIDs []string }
		s.call(t, owner, http.MethodPost, task+"/submissions", map[string]any{"type": "upload", "baseline": true, "files": []any{
			map[string]any{"datasetId": dataset, "name": "run.txt", "content": []byte(content)}}}, &made)
		runs = append(runs, made.RunIDs...)
	}
	p := s.signedIn(t, "owner", "/compare?runs="+strings.Join(runs, ","))
	saved := func(button string) string {
		t.Helper()
		browsertest.Evaluate[any](p.Page, `{ delete window.saved; const create = window.create ??= URL.createObjectURL;
URL.createObjectURL = blob => { blob.text().then(text => window.saved = text); return create(blob); } }`)
		p.Press(button)
		p.Await(`window.saved !== undefined`)
		return browsertest.Evaluate[string](p.Page, `window.saved`)
	}
	p.Press("Fuse these runs to one")
	p.Fill("Method", "combmnz")
	if got := saved("Download the fused run"); !strings.HasPrefix(got, "1 Q0 lake 1 2") || !strings.Contains(got, "1 Q0 sea 2 1") {
		t.Errorf("the fused run is %q", got)
	}
	p.Visit("/runs/" + runs[0])
	p.Sees("Download as JSON Lines")
	if got := saved("Download as JSON Lines"); !strings.HasPrefix(got, `{"topic":"1","docid":"lake"`) {
		t.Errorf("the converted run is %q", got)
	}
}

// TestConsole_ChecksPackedFiles chooses runs that are packed with gzip: a valid run, and a run with a fault, whose line is shown. Messages
// about the file before disappear.
func TestConsole_ChecksPackedFiles(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", nil)
	p := s.signedIn(t, "owner", strings.TrimPrefix(task, "/v1")+"/submit?baseline=1")
	p.Sees("A line of it looks like topic1 Q0 document7 1 14.89 my-run")
	p.Press("Submit")
	p.Sees("Choose a file for at least one dataset.")
	choose := func(content string) {
		t.Helper()
		browsertest.Evaluate[any](p.Page, `new Response(new Blob(["`+content+`"]).stream().pipeThrough(new CompressionStream("gzip"))).blob().then(packed => {
const chosen = new DataTransfer(), field = document.querySelector("input[type=file]");
chosen.items.add(new File([packed], "run.txt.gz"));
field.files = chosen.files;
field.dispatchEvent(new Event("change", {bubbles: true})); })`)
	}
	choose(`1 Q0 lake 1 high t\n`)
	p.Sees("not valid")
	p.Sees("1 Q0 lake 1 high t")
	if browsertest.Evaluate[bool](p.Page, `document.body.innerText.includes("Choose a file")`) {
		t.Error("a file is asked for though one is chosen")
	}
	choose(`1 Q0 lake 1 1.0 t\n`)
	p.Sees("valid The file can be submitted.")
	p.Press("Submit")
	p.Sees("Submitted.")
}

// TestConsole_ComparesLabels tests whether runs of labels differ, leaves out a run that the reader cannot see, and shows the organizer the
// predictions of one run for each label.
func TestConsole_ComparesLabels(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	dataset := s.dataset(t, owner, task, `{"id":"1","label":"a"}`+"\n"+`{"id":"2","label":"b"}`+"\n", map[string]any{
		"runFormat": map[string]any{"kind": "jsonl", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
	})
	runs := []string{"01JZ0000000000000000000000"}
	for _, label := range []string{"a", "b"} {
		file := inline("run.jsonl", `{"id":"1","label":"a"}`+"\n"+`{"id":"2","label":"`+label+`"}`+"\n")
		file["datasetId"] = dataset
		var made struct{ RunIDs []string }
		s.call(t, owner, http.MethodPost, task+"/submissions",
			map[string]any{"type": "upload", "baseline": true, "files": []any{file}}, &made)
		runs = append(runs, made.RunIDs...)
	}
	p := s.signedIn(t, "owner", "/compare?runs="+strings.Join(runs, ","))
	p.Sees("Accuracy 0.5000 1.0000")
	p.Sees("You cannot see its scores.")
	p.Sees("The two runs cannot be distinguished")
	p.Sees("Run " + runs[1][20:])
	if got := browsertest.Evaluate[string](p.Page, `document.querySelector("main").innerText`); strings.Contains(got, "Fuse these runs") ||
		strings.Contains(got, "By document") {
		t.Errorf("the screen offers what is of rankings: %s", got)
	}

	p.Forget()
	p.Visit("#/runs/" + runs[1])
	p.Sees("True label Precision Recall F1 Examples as a as b a 0.5000 1.0000 0.6667 1 1 0 b 0.0000 0.0000 0.0000 1 1 0")
	p.Await(`document.querySelector("main img")?.naturalWidth > 300`)
	p.Check(s.url+"/", "blob:")
}

// TestConsole_ConvertsAFileOfAnotherFormat chooses labels in CSV for a dataset of JSON lines, and lets the server convert them.
func TestConsole_ConvertsAFileOfAnotherFormat(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner, ada := s.token(t, "owner"), s.token(t, "ada")
	task := s.task(t, owner, "Birds")
	s.dataset(t, owner, task, `{"id":"1","label":"wren"}`+"\n", map[string]any{"name": "Songs",
		"runFormat": map[string]any{"kind": "jsonl", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}}})
	s.post(t, ada, task+"/registrations", map[string]any{"team": "Otters"})
	p := s.signedIn(t, "ada", strings.TrimPrefix(task, "/v1")+"/submit")
	p.Give("Run on Songs", "run.csv", "id,label\n1,wren\n")
	p.Sees("The file seems to be in another format")
	p.Press("Convert and check")
	p.Sees("The file was converted to run.converted.jsonl.")
	p.Sees("valid The file can be submitted.")
	p.Press("Title > Submit")
	p.Await(`/^#\/runs\//.test(location.hash)`)
	p.Sees("completed")
}
