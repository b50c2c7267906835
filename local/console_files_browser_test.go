//go:build browser

package main

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/webpage/browsertest"
)

// TestConsole_MakesFilesOfRuns fuses two runs and converts one, and reads what the browser saves.
func TestConsole_MakesFilesOfRuns(t *testing.T) {
	s := start(t, "-demo=false")
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
	p := s.signedIn(t, browsertest.Start(t), "owner", "/compare?runs="+strings.Join(runs, ","))
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
	browsertest.Evaluate[any](p.Page, `location.hash = "/runs/`+runs[0]+`"`)
	p.Sees("Download as JSON Lines")
	if got := saved("Download as JSON Lines"); !strings.HasPrefix(got, `{"topic":"1","docid":"lake"`) {
		t.Errorf("the converted run is %q", got)
	}
}
