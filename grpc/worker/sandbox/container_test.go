//go:build container

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/grpc/worker/sandbox"
)

// scene is a container runtime and what a job needs.
type scene struct {
	box  *sandbox.Container
	with sandbox.Settings
	from *registry
	log  *output.Log
	job  *sandbox.Job
	out  bytes.Buffer
	said bytes.Buffer // on standard error

}

// podman runs Podman beside the sandbox.
func podman(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("podman", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("podman %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{from: newRegistry(t), log: output.New()}
	s.with = sandbox.Settings{
		Podman: "podman", Folder: filepath.Join(t.TempDir(), "work"), Images: 1 << 30, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Limits: sandbox.Limits{CPUs: 1, Memory: 64 << 20, Disk: 1 << 20, Time: time.Minute},
	}
	s.box = s.container(t)
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "input"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "input", "in"), []byte("topics"), 0o444); err != nil {
		t.Fatal(err)
	}
	s.job = &sandbox.Job{
		Name: fmt.Sprintf("assay-test-%d", time.Now().UnixNano()), Owner: folder, Stdout: &s.out, Stderr: &s.said,
		Folders: []sandbox.Folder{
			{Path: filepath.Join(folder, "input"), Mount: "/assay/input", Variables: []string{"ASSAY_INPUT", "inputDataset"}},
			{Path: filepath.Join(folder, "output"), Mount: "/assay/output", Variables: []string{"ASSAY_OUTPUT"}, Writable: true},
		},
		Limits: s.with.Limits,
	}
	s.fresh(t)
	t.Cleanup(func() {
		if left := s.containers(t); left != "" {
			t.Errorf("containers are left: %s", left)
		}
		if err := s.box.CleanUp(context.WithoutCancel(t.Context()), folder); err != nil {
			t.Error(err)
		}
		// The images are the test's own, and are collected as those of a worker.
		notes, _ := filepath.Glob(filepath.Join(s.with.Folder, "images", "*"))
		for _, note := range notes {
			old := time.Now().Add(-8 * 24 * time.Hour)
			if err := os.Chtimes(note, old, old); err != nil {
				t.Error(err)
			}
		}
		s.with.Limits, s.with.Builder = s.job.Limits, ""
		s.container(t)
		if notes, _ = filepath.Glob(filepath.Join(s.with.Folder, "images", "*")); len(notes) > 0 {
			t.Errorf("images are left: %v", notes)
		}
	})
	return s
}

// container makes a sandbox over what is on the machine.
func (s *scene) container(t *testing.T) *sandbox.Container {
	t.Helper()
	c, err := sandbox.NewContainer(context.WithoutCancel(t.Context()), &s.with)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fresh gives the job an empty output folder.
func (s *scene) fresh(t *testing.T) {
	t.Helper()
	out := &s.job.Folders[1]
	if out.Root != nil {
		out.Root.Close()
		if err := s.box.Remove(t.Context(), out.Path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(out.Path + ".ext4"); err != nil {
		t.Fatal(err)
	}
	var err error
	if out.Root, err = s.box.Output(t.Context(), out.Path, s.with.Limits.Disk); err != nil {
		t.Fatal(err)
	}
	s.out.Reset()
}

func (s *scene) containers(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(s.box.Podman, "ps", "-aq", "--filter=label=assay.worker="+s.job.Owner).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// run pulls the image of the probe's command and runs it.
func (s *scene) run(ctx context.Context, t *testing.T, mode string) error {
	t.Helper()
	p, err := s.box.Image(ctx, s.from.address+"/lakeside/probe:"+mode, s.log)
	if err != nil {
		t.Fatal(err)
	}
	if want := s.from.address + "/lakeside/probe@" + s.from.tags[mode]; p.Version != want {
		t.Errorf("the image is %s, want %s", p.Version, want)
	}
	s.job.Program = p
	return sandbox.Run(ctx, s.box, s.job)
}

func TestContainer_IsIsolated(t *testing.T) {
	t.Setenv("ASSAY_WORKER_TOKEN", "secret")
	t.Setenv("HTTPS_PROXY", "http://user:password@proxy.example.org")
	t.Setenv("NO_PROXY", "127.0.0.1")
	s := newScene(t)
	if err := s.run(t.Context(), t, "look"); err != nil {
		t.Fatal(err)
	}
	saw := s.out.String()
	for _, want := range []string{
		"input: topics <nil>", "root: refused", "input folder: refused", "tmp: written", "output: written", "interface: lo",
		"CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1", "volume is tmpfs",
		"ASSAY_INPUT=/assay/input", "inputDataset=/assay/input", "ASSAY_OUTPUT=/assay/output", "HOME=/tmp",
		"mode of tmp: dtrwxrwxrwx <nil>", `hosts: "" true`, "output is rw,nosuid,nodev",
	} {
		if !strings.Contains(saw, want) {
			t.Errorf("not seen: %s", want)
		}
	}
	users := regexp.MustCompile(`users: 0 (\d+) \d+\n`).FindStringSubmatch(saw)
	if len(users) != 2 || users[1] == "0" || users[1] == strconv.Itoa(os.Geteuid()) {
		t.Errorf("the root of the container is a user of the machine: %v", users)
	}
	if strings.Count(saw, "interface:") != 1 || strings.Contains(saw, "secret") || strings.Contains(saw, "PROXY") {
		t.Error("more is seen than should be")
	}
	if t.Failed() {
		t.Log(saw)
	}
	if _, err := s.job.Folders[1].Root.Stat("run"); err != nil {
		t.Error(err)
	}
}

func TestContainer_EndsWithItsFailure(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct{ mode, command, want string }{
		{"fail", "", "It ended with exit code 7 after"},
		{"memory", "", "wanted more memory than the 64 MiB that are allowed"},
		{"disk", "", "It wrote 3 MiB into its folders, more than the 1 MiB"},
		{"deep", "", "cannot be counted, which is over the limit of 1 MiB"},
		{"unlisted", "", "It wrote 3 MiB into its folders, more than the 1 MiB"}, // root can list it
		{"look", "echo a", "The image cannot run this"},
		{"user", "", "The image cannot run this"},
		{"file", "", "The image cannot run this"},
		{"sleep", "", "It was ended after 1s: no more time is allowed."},
	} {
		t.Run(c.mode+c.command, func(t *testing.T) {
			s.job.Command, s.job.Limits.Time = c.command, 20*time.Second
			if c.mode == "sleep" {
				s.job.Limits.Time = time.Second
			}
			s.fresh(t)
			err := s.run(t.Context(), t, c.mode)
			var ofRun *failure.RunError
			if !errors.As(err, &ofRun) || !ofRun.Diagnostics[0].GetDiscreet() || !strings.Contains(ofRun.Diagnostics[0].GetMessage(), c.want) || len(ofRun.Diagnostics) > 1 {
				t.Errorf("it ended with %v, want %s", err, c.want)
			}
		})
	}
	if !strings.Contains(s.said.String(), "the cause") {
		t.Errorf("what it printed: %s", s.said.String())
	}
}

// The file system of the output is hardly larger than the limit, whatever is kept open behind its back.
func TestOutput_BoundsDeletedOpenFiles(t *testing.T) {
	s := newScene(t)
	if err := s.run(t.Context(), t, "held"); err != nil {
		t.Error(err)
	}
	var written int
	if _, err := fmt.Sscanf(s.out.String(), "held: %d", &written); err != nil || written > 6<<20 {
		t.Errorf("%s: %v", s.out.String(), err)
	}
}

func TestImage_VolumesAreBounded(t *testing.T) {
	s := newScene(t)
	if err := s.run(t.Context(), t, "output"); err != nil || !strings.Contains(s.out.String(), "output: written") {
		t.Errorf("a volume over the output: %v %s", err, s.out.String())
	}
	if _, err := s.job.Folders[1].Root.Stat("run"); err != nil {
		t.Error(err)
	}
	_, err := s.box.Image(t.Context(), s.from.address+"/lakeside/probe:sys", s.log)
	var ofRun *failure.RunError
	if !errors.As(err, &ofRun) || !strings.Contains(err.Error(), `the volume "/a/../../sys", over which nothing can be mounted`) {
		t.Errorf("a volume over /sys: %v", err)
	}
}

func TestContainer_EndsWithTheContext(t *testing.T) {
	s := newScene(t)
	gone := errors.New("the lease is gone")
	ctx, end := context.WithCancelCause(t.Context())
	s.job.Stdout = trigger(func() { end(gone) })
	if err := s.run(ctx, t, "sleep"); !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
}

// trigger calls a function when something is written.
type trigger func()

func (f trigger) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

// left starts a container as a worker does that is then killed.
func (s *scene) left(t *testing.T, owner string, options ...string) (id string) {
	t.Helper()
	p, err := s.box.Image(t.Context(), s.from.address+"/lakeside/probe:sleep", s.log)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run", "--detach", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--label=assay.worker=" + owner}, options...)
	id = podman(t, append(args, p.Version)...)
	t.Cleanup(func() { podman(t, "rm", "--force", "--ignore", "--time=0", id) })
	return id
}

func TestCleanUp_RemovesWhatADeadWorkerLeft(t *testing.T) {
	s := newScene(t)
	s.left(t, s.job.Owner)
	if s.containers(t) == "" {
		t.Fatal("nothing was left")
	}
	if err := s.box.CleanUp(t.Context(), s.job.Owner); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.job.Owner); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestOwners_FindsContainersOfOtherFolders(t *testing.T) {
	s := newScene(t)
	other := filepath.Join(t.TempDir(), "of another worker")
	id := s.left(t, other)
	owners, err := s.box.Owners(t.Context())
	if err != nil || !slices.Contains(owners, other) {
		t.Fatalf("owners %q %v", owners, err)
	}
	if err := s.box.RemoveContainers(t.Context(), other); err != nil {
		t.Error(err)
	}
	if out := podman(t, "ps", "--all", "--quiet", "--filter=id="+id); out != "" {
		t.Errorf("the container is there: %s", out)
	}
}

// A worker that starts removes the containers of the dead, and leaves those of others that start at the same time.
func TestNewContainer_SweepsContainersOfDeadWorkers(t *testing.T) {
	s := newScene(t)
	id := s.left(t, filepath.Join(t.TempDir(), "of a dead worker"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := sandbox.NewContainer(t.Context(), &s.with); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if out := podman(t, "ps", "--all", "--quiet", "--filter=id="+id); out != "" {
		t.Errorf("the container is there: %s", out)
	}
}

// A worker that is killed takes its containers with it: the guard reads from a pipe that ends with the worker.
func TestWatchdog_EndsContainersWithTheirWorker(t *testing.T) {
	s := newScene(t)
	id := s.left(t, s.job.Owner)
	release, err := s.box.StartWatchdog(s.job.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if s.containers(t) == "" {
		t.Fatal("the guard did not wait")
	}
	release() // waits for the guard
	if out := podman(t, "ps", "--all", "--quiet", "--filter=id="+id); out != "" {
		t.Errorf("the container is there: %s", out)
	}
}

// A limit that Podman cannot set stands for a machine that cannot: the worker does not start.
func TestNewContainer_RefusesMachinesThatStartNoContainer(t *testing.T) {
	s := newScene(t)
	s.with.Limits.Memory = 1
	if _, err := sandbox.NewContainer(t.Context(), &s.with); err == nil || !strings.Contains(err.Error(), "no container can be run with its limits") {
		t.Errorf("%v", err)
	}
}
