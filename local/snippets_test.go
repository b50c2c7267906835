//go:build snippets

package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/functions/components"
)

// snippetTime is how long a snippet may take.
const snippetTime = time.Minute

// TestSnippets runs every snippet of the catalogue as a reader does: fetched from a live server, alone in an empty folder,
// with nothing in its environment but where programs are, where the server is, and a token. It needs curl, python3 and go.
func TestSnippets(t *testing.T) {
	s := start(t, "-demo=false")
	ran := 0
	for _, c := range allOf[components.Component](t, s, "", "/v1/platform/components?limit=20") {
		for _, snippet := range c.Snippets {
			ran++
			t.Run(c.Name+"/"+snippet.Language, func(t *testing.T) {
				t.Parallel()
				s.runSnippet(t, c, snippet)
			})
		}
	}
	t.Logf("%d snippets", ran)
}

func (s *running) runSnippet(t *testing.T, c components.Component, snippet components.Snippet) {
	folder := t.TempDir()
	fetched := s.send(t, "", http.MethodGet, snippet.URL, nil)
	if fetched.status != http.StatusOK {
		t.Fatalf("%s: status %d\n%s", snippet.URL, fetched.status, fetched.body)
	}
	text := fetched.body
	token := s.token(t, c.ID+"."+snippet.Language, "workers")
	ctx, cancel := context.WithTimeout(t.Context(), snippetTime)
	defer cancel()
	var cmd *exec.Cmd
	switch snippet.Language {
	case "curl":
		cmd = exec.CommandContext(ctx, "sh", write(t, folder, "snippet.sh", text))
	case "python":
		cmd = exec.CommandContext(ctx, "python3", "-W", "error", write(t, folder, "snippet.py", text))
	case "go":
		cmd = exec.CommandContext(ctx, compileSnippet(t, write(t, folder, "snippet.go", text)))
	default:
		t.Fatalf("nobody knows how to run %s", snippet.Language)
	}
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "ASSAY_URL=" + s.url, "ASSAY_GRPC=" + s.grpc, "ASSAY_TOKEN=" + token}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil || !strings.Contains(out.String(), c.Prints) || c.Prints == "" {
		t.Errorf("%v; it printed\n%s\nwhich should have %q; errors:\n%s", err, &out, c.Prints, &errs)
	}
	if strings.Contains(out.String()+errs.String(), token) {
		t.Error("it shows the token")
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "snippet.") {
			continue
		}
		// What it says that it has saved may stay.
		if saved, err := f.Info(); err != nil || saved.Size() == 0 || !strings.Contains(out.String(), f.Name()) {
			t.Errorf("it leaves %s behind, which is empty, or of which it says nothing", f.Name())
		}
	}
}

func write(t *testing.T, folder, name string, content []byte) string {
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compileSnippet is the first half of go run, which keeps what it has compiled in a home that the second half has not.
func compileSnippet(t *testing.T, path string) string {
	binary := filepath.Join(t.TempDir(), "snippet")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, path)
	cmd.Dir = filepath.Dir(path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
