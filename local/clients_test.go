//go:build clients

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clientStepTime is how long it may take to install, generate, compile or run a client.
const clientStepTime = 5 * time.Minute

// generatedClient is a client that a generator makes from the document in openapi.json, and the program that runs the story with
// it. All of it runs in a copy of the folder of that name, which has the versions of what is installed.
type generatedClient struct {
	name      string
	programs  []string   // what must be installed
	steps     [][]string // commands that install, generate and compile
	story     []string
	files     string         // pattern of the generated files ...
	operation *regexp.Regexp // ... that have this once for each operation
}

// clientsFolder has a folder for each client, and what the story prints.
var clientsFolder = filepath.Join("clients", "testdata")

var generatedClients = []generatedClient{
	{
		name:     "openapi-generator",
		programs: []string{"python3", "java"},
		steps: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "--no-deps", "-r", "requirements.txt"},
			{"venv/bin/openapi-generator-cli", "generate", "-i", "openapi.json", "-g", "python", "-o", "client", "--package-name", "assay"},
		},
		story:     []string{"venv/bin/python", "-W", "error", "story.py"},
		files:     "client/assay/api/*_api.py",
		operation: regexp.MustCompile(`(?m)^    def \w+_with_http_info\(`),
	},
	{
		name:     "openapi-python-client",
		programs: []string{"python3"},
		steps: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "--no-deps", "-r", "requirements.txt"},
			{"venv/bin/openapi-python-client", "generate", "--path", "openapi.json", "--config", "config.yaml", "--meta", "none", "--output-path",
				"client/assay"},
		},
		story:     []string{"venv/bin/python", "-W", "error", "story.py"},
		files:     "client/assay/api/*/*.py",
		operation: regexp.MustCompile(`(?m)^def sync_detailed\(`),
	},
	{
		name:     "openapi-typescript",
		programs: []string{"node", "npm"},
		steps: [][]string{
			{"npm", "ci", "--no-audit", "--no-fund"},
			{"node_modules/.bin/openapi-typescript", "openapi.json", "-o", "assay.d.ts"},
			{"node_modules/.bin/tsc"},
		},
		story:     []string{"node", "built/story.js"},
		files:     "assay.d.ts",
		operation: regexp.MustCompile(`(?m)^    \w+: \{\n        parameters: \{`),
	},
	{
		name:     "oapi-codegen",
		programs: []string{"go"},
		steps: [][]string{
			{"go", "tool", "oapi-codegen", "-config", "config.yaml", "openapi.json"},
			{"go", "build", "-o", "story", "."},
		},
		story:     []string{"./story"},
		files:     "client/*.go",
		operation: regexp.MustCompile(`(?m)^type \w+Response struct \{`),
	},
}

// TestClients generates every client from the document that a server serves, and runs the story with it against that server. The
// programs print the same, which story.txt has.
func TestClients(t *testing.T) {
	story, err := os.ReadFile(filepath.Join(clientsFolder, "story.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range generatedClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range c.programs {
				if _, err := exec.LookPath(program); err != nil {
					t.Fatalf("install %s; clients/README.md says which version: %v", program, err)
				}
			}
			s := start(t, "-demo=false")
			var document json.RawMessage
			s.get(t, "", "/openapi.json", &document)
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(filepath.Join(clientsFolder, c.name))); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "openapi.json"), document, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, step := range c.steps {
				runClient(t, folder, step)
			}
			want, got := operationsOf(t, document), c.operations(t, folder)
			t.Logf("%d operations", got)
			if got != want {
				t.Errorf("the client has %d operations, the document %d", got, want)
			}
			out := runClient(t, folder, c.story, "PYTHONPATH=client", "ASSAY_URL="+s.url,
				"ASSAY_ORGANIZER="+s.token(t, "olivia"), "ASSAY_PARTICIPANT="+s.token(t, "tom"))
			if out != string(story) {
				t.Errorf("it prints\n%s\nwant, as story.txt has it,\n%s", out, story)
			}
		})
	}
}

// warning is how the generators begin a warning.
var warning = regexp.MustCompile(`(?m)^WARNING |\] WARN `)

// runClient runs a command in the folder and returns what it prints.
func runClient(t *testing.T, folder string, command []string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientStepTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), err, &out, &errs)
	}
	warnings := warning.FindAllString(out.String()+errs.String(), -1)
	t.Logf("%.1f s, %d warnings: %s", time.Since(began).Seconds(), len(warnings), strings.Join(command, " "))
	return out.String()
}

// operations counts the operations of the generated client.
func (c *generatedClient) operations(t *testing.T, folder string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(c.files)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += len(c.operation.FindAll(content, -1))
	}
	return n
}

func operationsOf(t *testing.T, document []byte) int {
	t.Helper()
	var described struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(document, &described); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range described.Paths {
		n += len(item)
	}
	return n
}

// TestClients_TypesAreKept holds the program in TypeScript to the types that were generated.
func TestClients_TypesAreKept(t *testing.T) {
	program, err := os.ReadFile(filepath.Join(clientsFolder, "openapi-typescript", "story.ts"))
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\b(any|unknown)\b|@ts-`).FindString(string(program)); found != "" {
		t.Errorf("it has %q, which gives up a type", found)
	}
}
