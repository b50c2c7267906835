//go:build snippets

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// documents are those with shell blocks that continue each other, and what the blocks print among other things, as regular expressions.
var documents = []struct {
	names  []string
	prints []string
}{
	{[]string{"README.md"}, []string{`"nDCG@10":0.8154648767857287`, `"RR":0.75`,
		`(?m)^01[0-9A-Z]{24}\n01[0-9A-Z]{24}$`, // ids of the registration and the submission, which begin with the time
	}},
	{[]string{"local/README.md", "grpc/README.md"}, []string{
		`"line":1`, `"line":2`, `"remainingToday":4`, `"rank":1`, ",Tom and friends,", ",false,everyone,,,,,tom,,", `"valid":false`,
		"leaderboard.html", "fused.txt",
		`"text": "ranking"`, `"state": "RUN_STATE_COMPLETED"`, `"leaseId"`,
	}},
}

// documentTime is how long the blocks of a document may take.
const documentTime = 5 * time.Minute

var block = regexp.MustCompile("(?ms)^```sh\n(.*?\n)```$")

// TestSnippetsOfDocuments runs the blocks as a reader does who copies them into a shell, against servers that are new but for
// the demo task. What they write goes to a temporary folder, and the folders that the build writes to.
func TestSnippetsOfDocuments(t *testing.T) {
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
				cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "ASSAY_WORKER_SERVER="+s.grpc)
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
