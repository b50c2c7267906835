//go:build clients

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// clientStepTime bounds the time to install, generate, compile or run a client.
const clientStepTime = 5 * time.Minute

// generatedClient is a client that a generator makes from the OpenAPI document, and the program that runs the story with it. The steps run
// in a copy of the folder of that name. The folder has the versions of all installed packages.
type generatedClient struct {
	name      string
	programs  []string   // programs that must be installed
	steps     [][]string // commands that install, generate and compile
	story     []string
	files     string         // pattern of the generated files ...
	operation *regexp.Regexp // ... that have this once for each operation
}

// clientsFolder holds a folder for each client, and the expected output of the story.
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

// TestClients generates every client from the document of a server, and runs the story with it against that server. All programs must print
// the content of story.txt.
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

// warning matches the begin of a generator's warning.
var warning = regexp.MustCompile(`(?m)^WARNING |\] WARN `)

// runClient runs a command in the folder and returns its output.
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

// TestClients_TypesAreKept checks that the program in TypeScript uses the generated types.
func TestClients_TypesAreKept(t *testing.T) {
	program, err := os.ReadFile(filepath.Join(clientsFolder, "openapi-typescript", "story.ts"))
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\b(any|unknown)\b|@ts-`).FindString(string(program)); found != "" {
		t.Errorf("it has %q, which gives up a type", found)
	}
}

// acceptedFault is a class of faults that schemathesis finds and that no OpenAPI document can prevent.
type acceptedFault struct {
	Check, Operation, Request, Fault string // Check is a name, the others are patterns
	Status                           int    // status of the answer
	Reason                           string

	count int
}

func (a *acceptedFault) covers(f finding, fault string) bool {
	matches := func(pattern, s string) bool { return regexp.MustCompile(pattern).MatchString(s) }
	return a.Check == f.check && a.Status == f.status && matches(a.Operation, f.operation) && matches(a.Request, f.request) &&
		matches(a.Fault, fault)
}

// finding is a failed check of a request.
type finding struct {
	check, operation, request string
	body, answer              []byte
	status                    int
	// faults of the request from the answer or, if the request was accepted, faults of the answer from the check
	faults []string
}

// TestClients_Schemathesis makes schemathesis send valid and invalid requests to every operation. Each fault must belong to a class in
// accepted.json, which has its reason.
func TestClients_Schemathesis(t *testing.T) {
	folder, sources := t.TempDir(), filepath.Join(clientsFolder, "schemathesis")
	var list []*acceptedFault
	text, err := os.ReadFile(filepath.Join(sources, "accepted.json"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := filepath.Abs(filepath.Join(sources, "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "-rates", `{"tool":{"perSecond":0},"write":{"perSecond":0},"upload":{"perSecond":0}}`)
	for _, command := range [][]string{
		{"python3", "-m", "venv", "venv"},
		{"venv/bin/pip", "install", "--quiet", "--no-deps", "-r", requirements},
		{
			"venv/bin/schemathesis", "run", s.url + "/openapi.json", "--header", "Authorization: Bearer " + s.token(t, "fuzz", "admins"),
			"--checks", "all",
			"--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "12", "--seed", "7", "--continue-on-failure", "--no-shrink",
			"--suppress-health-check", "all", "--report", "ndjson", "--report-ndjson-path", "report.ndjson",
		},
	} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir, cmd.WaitDelay = folder, time.Second
		out, err := cmd.CombinedOutput()
		if failed, ok := errors.AsType[*exec.ExitError](err); err != nil &&
			!(ok && failed.ExitCode() == 1 && strings.HasSuffix(command[0], "schemathesis")) {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
		t.Logf("%s: %s", command[0], out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:])
	}
	report, err := os.Open(filepath.Join(folder, "report.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	found, requests := findings(t, report)
	if requests < 5000 {
		t.Errorf("only %d requests were sent", requests)
	}
	shown := map[string]bool{}
	for _, f := range found {
		for _, fault := range f.faults {
			if i := slices.IndexFunc(list, func(a *acceptedFault) bool { return a.covers(f, fault) }); i >= 0 {
				list[i].count++
			} else if at := f.operation + f.check + fault; !shown[at] {
				shown[at] = true
				t.Errorf("%s, check %s: %s\n\t%s\n\t%.500s\n\tanswered %d: %.500s", f.operation, f.check, fault, f.request, f.body, f.status, f.answer)
			}
		}
	}
	for _, a := range list {
		t.Logf("%5d times: %s", a.count, a.Reason)
	}
	t.Logf("%d requests, of which %d failed a check that is listed or an error above", requests, len(found))
}

// findings reads the failed checks and the number of requests from the report of a run.
func findings(t *testing.T, report io.Reader) (found []finding, requests int) {
	t.Helper()
	type content struct {
		Bytes []byte `json:"$base64"`
	}
	type check struct {
		Name, Status string
		Info         struct {
			Failure struct{ Operation, Message string }
		} `json:"failure_info"`
	}
	type interaction struct {
		Request struct {
			Method, URI string
			Body        content
		}
		Response struct {
			Status  int `json:"status_code"`
			Content content
		}
	}
	lines := bufio.NewReaderSize(report, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return found, requests
		}
		var event struct {
			ScenarioFinished struct {
				Recorder struct {
					Checks       map[string][]check
					Interactions map[string]interaction
				}
			}
		}
		if err == nil {
			err = json.Unmarshal(line, &event)
		}
		if err != nil {
			t.Fatal(err)
		}
		recorder := event.ScenarioFinished.Recorder
		requests += len(recorder.Interactions)
		for id, checks := range recorder.Checks {
			for _, c := range checks {
				if c.Status == "success" {
					continue
				}
				i := recorder.Interactions[id]
				f := finding{
					check: c.Name, operation: c.Info.Failure.Operation, request: i.Request.Method + " " + i.Request.URI,
					body: i.Request.Body.Bytes, answer: i.Response.Content.Bytes, status: i.Response.Status,
				}
				var p struct {
					Detail string
					Errors []struct{ Detail string }
				}
				_ = json.Unmarshal(f.answer, &p) // An answer without a problem document has no faults.
				for _, e := range p.Errors {
					f.faults = append(f.faults, e.Detail)
				}
				if aboutRequest := c.Name == "positive_data_acceptance" || c.Name == "negative_data_rejection"; !aboutRequest || p.Detail == "" ||
					f.status < http.StatusBadRequest {
					first, _, _ := strings.Cut(c.Info.Failure.Message, "\n\n")
					f.faults = []string{first}
				} else if len(f.faults) == 0 {
					f.faults = []string{p.Detail}
				}
				found = append(found, f)
			}
		}
	}
}
