//go:build container

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"assay/shared/testing/programtest"
)

// diskVariable names a folder of a child process in which it mounts a small file system.
const diskVariable = "ASSAY_TEST_DISK"

const smallDisk = 32 << 20

// init mounts the file system, as root.
func init() {
	folder := os.Getenv(diskVariable)
	if folder == "" || os.Getenv(childEnv) == "" {
		return
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=700,size="+strconv.Itoa(smallDisk)); err != nil {
		panic(err)
	}
}

// A server on a full disk stays in rotation, and says what is wrong: it answers what is stored, refuses changes, and warns.
func TestServer_OnAFullDisk(t *testing.T) {
	v := newServerProcess(t)
	operators := programtest.FreeAddress(t)
	v.args += " -ops-addr " + operators
	v.env = []string{diskVariable + "=" + v.data}
	v.attributes = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // nobody else sees its disk
	v.start(t)
	s := v.server()
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	data := "/proc/" + strconv.Itoa(v.process.Process.Pid) + "/root" + v.data
	fill(t, filepath.Join(data, "filler"))

	var health struct {
		Status string
		Checks map[string]struct{ Status, Output string }
	}
	s.get(t, "", "/health", &health)
	if health.Status != "warn" || health.Checks["disk"].Status != "warn" || health.Checks["files"].Status != "pass" ||
		!strings.Contains(health.Checks["disk"].Output, "folder for the data") {
		t.Errorf("health is %+v", health)
	}
	s.get(t, "", task, nil)
	if a := s.send(t, owner, http.MethodPost, "/v1/organizers", map[string]any{"name": "Full " + strings.Repeat("x", 40)}); a.status != 507 {
		t.Errorf("a change is answered with %d %s", a.status, a.body)
	}
	if got := readOps(t, operators, "/ready"); got != "ready\n" {
		t.Errorf("/ready answers %q", got)
	}
	scraped := readOps(t, operators, "/metrics")
	for _, want := range []string{`assay_check_passes{check="disk"} 0`, `assay_disk_free_bytes{folder="the data"} 0`,
		`assay_disk_size_bytes{folder="the data"} 3.3554432e+07`, `assay_check_passes{check="files"} 1`} {
		if !strings.Contains(scraped, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if err := os.Remove(filepath.Join(data, "filler")); err != nil {
		t.Fatal(err)
	}
	s.post(t, owner, "/v1/organizers", map[string]any{"name": "With room again"})
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
}
