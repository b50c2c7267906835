//go:build unix

package sandbox

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakePodman answers like Podman without root, up to the creation of a container. There CREATE and START are commands of its shell.
const fakePodman = `#!/bin/sh
runtime=
case "$1" in --runtime=*) runtime=${1#--runtime=}; shift;; esac
case "$1" in
info) echo '{"host":{"cgroupVersion":"v2","cgroupControllers":["cpu","memory","pids"],"security":{"rootless":true}}}';;
images) echo sha256:1;;
unshare) shift; exec "$@";;
create) CREATE;;
start) START;;
inspect) echo '{"Status":"created","StartedAt":"0001-01-01T00:00:00Z"}';;
esac
`

// startWith returns the error of a worker's start with a Podman that runs the commands for the creation and the start of a container.
func startWith(t *testing.T, create, start string, programs ...string) error {
	t.Helper()
	folder := t.TempDir()
	script := strings.NewReplacer("CREATE", create, "START", start).Replace(fakePodman)
	must(t, os.WriteFile(filepath.Join(folder, "podman"), []byte(script), 0o700))
	for _, name := range programs {
		must(t, os.WriteFile(filepath.Join(folder, name), nil, 0o700))
	}
	for _, name := range []string{"rm", "cat"} {
		must(t, os.Symlink("/bin/"+name, filepath.Join(folder, name)))
	}
	t.Setenv("PATH", folder)
	_, err := NewContainer(t.Context(), &Config{
		Podman: "podman", Folder: filepath.Join(folder, "work"), Images: 1 << 30, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Limits: Limits{CPUs: 1, Memory: 64 << 20, Disk: 1 << 20, Time: time.Minute},
	})
	return err
}

// Messages of Podman 4.3.1 and crun 1.8.1 of Debian 12.
const (
	noUserIDs = `time="2026-05-04T10:12:45Z" level=error msg="Cannot find mappings for user \"containers\": ` +
		`no subuid ranges found for user \"containers\" in /etc/subuid"` + "\nError: creating container storage: could not find enough available IDs"
	noGroupIDs = `time="2026-05-04T10:12:45Z" level=error msg="Cannot find mappings for user \"containers\": ` +
		`no subgid ranges found for group \"containers\" in /etc/subgid"` + "\nError: creating container storage: could not find enough available IDs"
	fewIDs = "Error: creating container storage: could not find enough available IDs"
	hybrid = "Error: OCI runtime error: unable to start container f0fe: crun: cgroups in hybrid mode not supported, " +
		"drop all controllers from cgroupv2"
	worked = `Error: unable to start container f0fe: crun: executable file "/bin/sh" not found in $PATH: No such file or directory`
)

// fails returns a command that fails with the message, as Podman does.
func fails(message string) string { return "cat >&2 <<'END'\n" + message + "\nEND\nexit 125" }

// A worker that cannot run containers on a freshly installed machine names the missing part and the remedy, and repeats Podman's own words.
func TestNewContainer_SaysWhatTheMachineLacks(t *testing.T) {
	for name, c := range map[string]struct {
		create, start string
		want          []string
	}{
		"no user ids": {fails(noUserIDs), "", []string{
			`/etc/subuid gives no user ids to containers`, `add the line "containers:2147483647:2147483648" to /etc/subuid and to /etc/subgid`}},
		"no group ids": {fails(noGroupIDs), "", []string{`/etc/subgid gives no user ids to containers`, `"containers:2147483647:2147483648"`}},
		"few ids":      {fails(fewIDs), "", []string{`Podman has too few user ids for a run`, `/etc/subuid and /etc/subgid`}},
		"hybrid":       {"", fails(hybrid), []string{`install runc`, `cgroup v2`}},
		"no newuidmap": {fails(`Error: command required for rootless mode: exec: "newuidmap": executable file not found in $PATH`), "",
			[]string{`package uidmap`}},
		"anything else": {fails("Error: the moon is full"), "", []string{"no container can be run with its limits", "the moon is full"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := startWith(t, c.create, c.start)
			if err == nil {
				t.Fatal("the worker starts")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
		})
	}
}

// Where crun refuses the cgroups, runc runs the containers if it is installed.
func TestNewContainer_ChoosesARuntimeThatWorks(t *testing.T) {
	start := `if [ "${runtime##*/}" = runc ]; then ` + "\n" + fails(worked) + "\nfi\n" + fails(hybrid)
	if err := startWith(t, "", start, "runc"); err != nil {
		t.Error(err)
	}
	if err := startWith(t, "", start); err == nil || !strings.Contains(err.Error(), "install runc") {
		t.Errorf("without runc: %v", err)
	}
	if err := startWith(t, "", fails(worked)); err != nil {
		t.Errorf("a machine that lacks nothing: %v", err)
	}
}
