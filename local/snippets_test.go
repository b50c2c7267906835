//go:build snippets

package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/functions/components"
)

// snippetTime bounds the time of a snippet.
const snippetTime = time.Minute

// TestSnippets runs every snippet of the catalogue like a reader. It fetches the snippet from a live server, and runs it in an empty
// folder. The environment has only PATH, the URL of the server, and a token. It needs curl, python3 and go.
func TestSnippets(t *testing.T) {
	s := start(t, "-demo=false", "-webhook-networks", "127.0.0.1/32")
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

func (s *testServer) runSnippet(t *testing.T, c components.Component, snippet components.Snippet) {
	folder := t.TempDir()
	fetched := s.send(t, "", http.MethodGet, snippet.URL, nil)
	if fetched.status != http.StatusOK {
		t.Fatalf("%s: status %d\n%s", snippet.URL, fetched.status, fetched.body)
	}
	text := fetched.body
	token := s.token(t, c.ID+"."+snippet.Language, "workers")
	var command []string
	switch snippet.Language {
	case "curl":
		command = []string{"sh", write(t, folder, "snippet.sh", text)}
	case "python":
		command = []string{"python3", "-W", "error", write(t, folder, "snippet.py", text)}
	case "go":
		command = []string{compileSnippet(t, write(t, folder, "snippet.go", text))}
	default:
		t.Fatalf("nobody knows how to run %s", snippet.Language)
	}
	ctx, cancel := context.WithTimeout(t.Context(), snippetTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
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
		// A snippet may leave files that its output names.
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

// compileSnippet compiles a Go snippet and returns the program. go run would need the cache in the home folder, which snippets do not have.
func compileSnippet(t *testing.T, path string) string {
	binary := filepath.Join(t.TempDir(), "snippet")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, path)
	cmd.Dir = filepath.Dir(path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// documents lists documents whose shell blocks continue each other, with regular expressions for parts of the blocks' output.
var documents = []struct {
	names  []string
	prints []string
}{
	{[]string{"README.md", "local/cli/README.md"}, []string{
		`nDCG@10 +0\.8155 .*\nRR +0\.7500\nRank +none while the run is not published\n`, `"state":"completed"`,
		`"RR":0.75,"nDCG@10":0.8154648767857287.*filter\[runId\]`,
	}},
	{[]string{"local/README.md", "local/organize.md", "grpc/README.md"}, []string{
		`"line":1`, `"line":2`, `"remainingToday":4`, `"rank":1`, ",Tom and friends,", ",false,everyone,,,,,tom,,", `"valid":false`,
		"leaderboard.html", "fused.txt",
		`"people":\[.*"name":"pia"`, `"reason":"The store was down.".*"total":3,"remaining":0,`, // all runs are used up
		`"status":200,"resource":.*"effects":\[`, `"kind":"task".*"name":"eve"`,
		`(?s)"RR":1,"nDCG@10":1.*"kind":"task".*"RR":1,"nDCG@10":1`, // before the deletion and after its undo
		`"text": "ranking"`, `"state": "RUN_STATE_COMPLETED"`, `"leaseId"`,
	}},
}

// documentTime bounds the time of the blocks of a document, which download and compile programs.
const documentTime = 15 * time.Minute

var block = regexp.MustCompile("(?ms)^```sh\n(.*?\n)```$")

// TestSnippetsOfDocuments runs the blocks like a reader who copies them into a shell, against servers that have only the demo task. The
// blocks write to a temporary folder and to the folders of the build.
func TestSnippetsOfDocuments(t *testing.T) {
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(programs, "assay"), "./cli")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, shell := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("NOT CHECKED: the blocks of the documents in %s, which is not installed", shell)
			continue
		}
		for _, d := range documents {
			t.Run(shell+"/"+strings.Join(d.names, "+"), func(t *testing.T) {
				s := start(t)
				script := ""
				for _, name := range d.names {
					text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
					if err != nil {
						t.Fatal(err)
					}
					for _, found := range block.FindAllSubmatch(text, -1) {
						script += string(found[1])
					}
				}
				script = strings.NewReplacer("http://127.0.0.1:8080", s.url, "127.0.0.1:50052", s.grpc).Replace(script)
				ctx, cancel := context.WithTimeout(t.Context(), documentTime)
				defer cancel()
				cmd := exec.CommandContext(ctx, shell, "-c", script)
				cmd.Dir = ".."
				cmd.WaitDelay = time.Second // A program that a stopped block started may hold the output.
				cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "ASSAY_WORKER_SERVER="+s.grpc,
					"PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CONFIG_HOME="+t.TempDir())
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil {
					t.Errorf("%v", err)
				}
				for _, want := range d.prints {
					if !regexp.MustCompile(want).Match(out.Bytes()) {
						t.Errorf("it does not print %s", want)
					}
				}
				if t.Failed() {
					t.Logf("it printed\n%s\nand as errors\n%s", &out, &errs)
				}
			})
		}
	}
}
