package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow holds the parts of a workflow of GitHub Actions that the tests use.
type workflow struct {
	Env  map[string]string
	Jobs map[string]job
}

type job struct {
	Needs       []string
	Uses        string // another workflow
	Permissions map[string]string
	Strategy    struct{ Matrix map[string][]string }
	Steps       []step
}

type step struct {
	ID   string
	Uses string
	With map[string]string
	Run  string
	Env  map[string]string
}

func releaseWorkflow(t *testing.T) (w workflow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// awaited returns the jobs that must end before the job begins.
func (w workflow) awaited(name string) map[string]bool {
	all := map[string]bool{}
	for _, needed := range w.Jobs[name].Needs {
		all[needed] = true
		maps.Copy(all, w.awaited(needed))
	}
	return all
}

func TestWorkflow_PublishesAfterEveryCheck(t *testing.T) {
	w := releaseWorkflow(t)
	for _, publishes := range []string{"images", "files", "wheels"} {
		for _, needed := range []string{"version", "gate", "nightly", "build"} {
			if !w.awaited(publishes)[needed] {
				t.Errorf("%s does not wait for %s", publishes, needed)
			}
		}
	}
	for _, check := range []string{"gate", "nightly"} {
		if got := w.Jobs[check].Uses; got != "./.github/workflows/"+check+".yml" {
			t.Errorf("%s is the workflow %q", check, got)
		}
		text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", check+".yml"))
		if err != nil || !strings.Contains(string(text), "\n  workflow_call:") {
			t.Errorf("%s.yml cannot be called: %v", check, err)
		}
	}
}

// TestWorkflow_GivesJobsWhatTheyNeed checks the permissions of each job. Only jobs that publish may write, and these jobs do not build.
func TestWorkflow_GivesJobsWhatTheyNeed(t *testing.T) {
	read := map[string]string{"contents": "read"}
	want := map[string]map[string]string{
		"version": read, "gate": read, "nightly": read, "build": read,
		"images": {"contents": "read", "packages": "write", "id-token": "write", "attestations": "write"},
		"files":  {"contents": "write", "id-token": "write", "attestations": "write"},
		"wheels": {"contents": "read", "id-token": "write"},
	}
	got := map[string]map[string]string{}
	for name, j := range releaseWorkflow(t).Jobs {
		got[name] = j.Permissions
		for _, s := range j.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				t.Errorf("%s keeps its token where every later step can read it", name)
			}
		}
	}
	if !maps.EqualFunc(got, want, maps.Equal) {
		t.Errorf("the permissions are %v, want %v", got, want)
	}
}

// TestWorkflow_StepsAreShort requires short commands without expressions. Longer commands belong into a script or the Makefile. An
// expression in a command could run the name of a tag as code.
func TestWorkflow_StepsAreShort(t *testing.T) {
	w := releaseWorkflow(t)
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		for _, s := range w.Jobs[name].Steps {
			if strings.Contains(s.Run, "${{") || strings.Count(strings.TrimSpace(s.Run), "\n") > 1 {
				t.Errorf("%s runs\n%s", name, s.Run)
			}
		}
	}
}
