//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assay/shared/problem"
	"assay/shared/record"
)

// fullDiskVariable names the folder on which the child of TestServer_SurvivesFullDisk mounts a small file system.
const fullDiskVariable = "ASSAY_TEST_FULL_DISK"

// TestServer_SurvivesFullDisk fills the disk of a server that has its table, files and temporary files on a tmpfs of 24 MiB. The test
// runs itself in a mount namespace of its own, and in a user namespace unless it is root.
func TestServer_SurvivesFullDisk(t *testing.T) {
	if folder := os.Getenv(fullDiskVariable); folder != "" {
		fillDisk(t, folder)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServer_SurvivesFullDisk$", "-test.v")
	child.Env = append(os.Environ(), fullDiskVariable+"="+t.TempDir())
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := child.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended), bytes.Contains(out, []byte(cannotMount)):
		fmt.Fprintf(os.Stderr, "NOT CHECKED: what a full disk does to the whole server. Mounting a tmpfs needs root or user namespaces: %v %s\n",
			err, out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

const cannotMount = "a tmpfs cannot be mounted"

func fillDisk(t *testing.T, folder string) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatalf("%s: %v", cannotMount, err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=24m"); err != nil {
		t.Fatalf("%s: %v", cannotMount, err)
	}
	t.Setenv("TMPDIR", folder)
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startIn(t, folder, "-demo=false", "-quotas", `{"user":{"storedBytes":0},"server":{"storedBytes":0}}`)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Task")
	dataset := s.dataset(t, owner, task, "1 0 d1 1\n", nil)
	s.post(t, owner, task+"/registrations", map[string]any{"team": "Home"})

	var kept []string // what was acknowledged
	submit := func(n int) (int, string) {
		file := inline("run.txt", ranked(fmt.Sprint("try", n)))
		file["datasetId"] = dataset
		return s.try(t, owner, task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
	}
	n := 0
	for ; n < 100; n++ {
		status, location := submit(n)
		if status != http.StatusCreated {
			break
		}
		kept = append(kept, location)
	}
	fill(t, filepath.Join(folder, "rest"))
	if n == 100 {
		t.Fatal("the disk does not get full")
	}
	writes := map[string]func() (int, string){
		"a submission with a file": func() (int, string) { return submit(n) },
		"an organizer": func() (int, string) {
			return s.try(t, owner, "/v1/organizers", map[string]any{"name": strings.Repeat("x", 100), "description": strings.Repeat("y", 60_000)})
		},
		"a result of a tool": func() (int, string) {
			return s.try(t, owner, "/v1/tools/converter", map[string]any{
				"to": "jsonl", "run": map[string]any{"files": []any{map[string]any{"name": "run.txt", "text": ranked("t")}}}})
		},
	}
	for name, write := range writes {
		full := false
		for range 200 { // the table goes on in pages that it has already
			status, slug := write()
			if full = status == problem.StorageFull.Status && slug == problem.StorageFull.Type(); full {
				break
			}
			if status >= 300 {
				t.Errorf("%s on a full disk: %d %s", name, status, slug)
				break
			}
		}
		if !full {
			t.Errorf("%s never met the full disk", name)
		}
	}
	readable := func(when string) {
		for _, path := range append(kept, task, "/v1/datasets/"+dataset, "/v1/organizers", "/v1/tasks", "/v1/runs", "/health", "/info") {
			if a := s.send(t, owner, http.MethodGet, path, nil); a.status != http.StatusOK {
				t.Errorf("%s: GET %s: %d", when, path, a.status)
			}
		}
	}
	readable("on the full disk")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for name, write := range writes {
		if status, slug := write(); status >= 300 {
			t.Errorf("%s when there is room again: %d %s", name, status, slug)
		}
	}
	readable("when there is room again")
	for _, location := range kept {
		var made record.Submission
		if s.get(t, owner, location, &made); len(made.Files) != 1 || made.Files[0].State != record.FileStored {
			t.Fatalf("%+v", made.Files)
		}
		if got := s.send(t, "", http.MethodGet, made.Files[0].URL, nil).body; int64(len(got)) != made.Files[0].Size {
			t.Errorf("%s has %d bytes of %d", location, len(got), made.Files[0].Size)
		}
	}
}

// ranked is a run of half a megabyte.
func ranked(tag string) string {
	var run strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&run, "1 Q0 d%d 1 %d %s\n", i, 25_000-i, tag)
	}
	return run.String()
}

// fill writes until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// try posts the body, and returns the status with the Location or the type of the problem.
func (s *running) try(t *testing.T, token, path string, body any) (int, string) {
	t.Helper()
	a := s.send(t, token, http.MethodPost, path, body)
	if a.status < 300 {
		return a.status, a.header.Get("Location")
	}
	var p problem.Document
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("POST %s: %d is no problem document: %v", path, a.status, err)
	}
	return a.status, p.Type
}
