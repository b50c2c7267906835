//go:build snippets

package main

import (
	"bytes"
	"context"
	"io"
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
	for next := "/v1/platform/components?limit=20"; next != ""; {
		var p struct {
			Data  []components.Component
			Links struct{ Next string }
		}
		s.do(t, request(t, http.MethodGet, s.url+next, nil), &p)
		for _, c := range p.Data {
			for _, snippet := range c.Snippets {
				ran++
				t.Run(c.Name+"/"+snippet.Language, func(t *testing.T) {
					t.Parallel()
					s.runSnippet(t, c, snippet)
				})
			}
		}
		next = p.Links.Next
	}
	t.Logf("%d snippets", ran)
}

func (s *running) runSnippet(t *testing.T, c components.Component, snippet components.Snippet) {
	folder := t.TempDir()
	text := s.text(t, snippet.URL)
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

// text returns what the server answers at the path, to nobody in particular.
func (s *running) text(t *testing.T, path string) []byte {
	resp, err := http.DefaultClient.Do(request(t, http.MethodGet, s.url+path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v\n%s", path, resp.StatusCode, err, body)
	}
	return body
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
