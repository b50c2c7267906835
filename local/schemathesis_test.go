//go:build clients

package main

import (
	"bufio"
	"bytes"
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

// accepted is a class of faults that schemathesis finds and that no description in OpenAPI can prevent.
type accepted struct {
	Check, Operation, Request, Fault string // the first by its name, the others as patterns
	Status                           int    // of the answer
	Reason                           string

	met int
}

func (a *accepted) covers(f finding, fault string) bool {
	matches := func(pattern, s string) bool { return regexp.MustCompile(pattern).MatchString(s) }
	return a.Check == f.check && a.Status == f.status && matches(a.Operation, f.operation) && matches(a.Request, f.request) &&
		matches(a.Fault, fault)
}

// finding is a check that a request did not pass.
type finding struct {
	check, operation, request string
	body, answer              []byte
	status                    int
	// what the answer says is wrong with a request that was refused, else what the check says is wrong with the answer
	faults []string
}

// TestClients_Schemathesis lets schemathesis send what the document allows, and what it does not, to every operation. Each fault
// must be of a class that accepted.json lists, with the reason.
func TestClients_Schemathesis(t *testing.T) {
	folder, sources := t.TempDir(), filepath.Join(clientsFolder, "schemathesis")
	var list []*accepted
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
			if i := slices.IndexFunc(list, func(a *accepted) bool { return a.covers(f, fault) }); i >= 0 {
				list[i].met++
			} else if at := f.operation + f.check + fault; !shown[at] {
				shown[at] = true
				t.Errorf("%s, check %s: %s\n\t%s\n\t%.500s\n\tanswered %d: %.500s", f.operation, f.check, fault, f.request, f.body, f.status, f.answer)
			}
		}
	}
	for _, a := range list {
		t.Logf("%5d times: %s", a.met, a.Reason)
	}
	t.Logf("%d requests, of which %d failed a check that is listed or an error above", requests, len(found))
}

// findings reads the report of a run: what failed, and how many requests were sent.
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
				_ = json.Unmarshal(f.answer, &p) // an answer that is no problem document says nothing
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
