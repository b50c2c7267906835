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

// fixture is a container sandbox with a registry and a job.
type fixture struct {
	box      *sandbox.Container
	settings sandbox.Config
	registry *registry
	log      *output.Log
	job      *sandbox.Job
	stdout   bytes.Buffer
	stderr   bytes.Buffer
}

// podman runs Podman.
func podman(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("podman", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("podman %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{registry: newRegistry(t), log: output.New()}
	s.settings = sandbox.Config{
		Podman: "podman", Folder: filepath.Join(t.TempDir(), "work"), Images: 1 << 30, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Limits: sandbox.Limits{CPUs: 1, Memory: 64 << 20, Disk: 1 << 20, Time: time.Minute},
	}
	s.box = s.container(t)
	folder := t.TempDir()
	must(t, os.Mkdir(filepath.Join(folder, "input"), 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "input", "in"), []byte("topics"), 0o444))
	s.job = &sandbox.Job{
		Name: fmt.Sprintf("assay-test-%d", time.Now().UnixNano()), Owner: folder, Stdout: &s.stdout, Stderr: &s.stderr,
		Folders: []sandbox.Folder{
			{Path: filepath.Join(folder, "input"), Mount: "/assay/input", Variables: []string{"ASSAY_INPUT", "inputDataset"}},
			{Path: filepath.Join(folder, "output"), Mount: "/assay/output", Variables: []string{"ASSAY_OUTPUT"}, Writable: true},
		},
		Limits: s.settings.Limits,
	}
	s.resetOutput(t)
	t.Cleanup(func() {
		if left := s.containers(t); left != "" {
			t.Errorf("containers are left: %s", left)
		}
		if err := s.box.CleanUp(context.WithoutCancel(t.Context()), folder); err != nil {
			t.Error(err)
		}
		// The test's images are removed like those of a worker.
		notes, _ := filepath.Glob(filepath.Join(s.settings.Folder, "images", "*"))
		for _, note := range notes {
			old := time.Now().Add(-8 * 24 * time.Hour)
			if err := os.Chtimes(note, old, old); err != nil {
				t.Error(err)
			}
		}
		s.settings.Limits, s.settings.Builder = s.job.Limits, ""
		s.container(t)
		notes, _ = filepath.Glob(filepath.Join(s.settings.Folder, "images", "*"))
		if len(notes) > 0 {
			t.Errorf("images are left: %v", notes)
		}
	})
	return s
}

// container creates another sandbox with the settings.
func (s *fixture) container(t *testing.T) *sandbox.Container {
	t.Helper()
	c, err := sandbox.NewContainer(context.WithoutCancel(t.Context()), &s.settings)
	must(t, err)
	return c
}

// resetOutput gives the job an empty output folder.
func (s *fixture) resetOutput(t *testing.T) {
	t.Helper()
	out := &s.job.Folders[1]
	if out.Root != nil {
		out.Root.Close()
		must(t, s.box.Remove(t.Context(), out.Path))
	}
	must(t, os.RemoveAll(out.Path+".ext4"))
	var err error
	if out.Root, err = s.box.Output(t.Context(), out.Path, s.settings.Limits.Disk); err != nil {
		t.Fatal(err)
	}
	s.stdout.Reset()
}

func (s *fixture) containers(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(s.box.Podman, "ps", "-aq", "--filter=label=assay.worker="+s.job.Owner).Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// run pulls the probe image with the command, and runs it.
func (s *fixture) run(ctx context.Context, t *testing.T, mode string) error {
	t.Helper()
	p, err := s.box.Image(ctx, s.registry.address+"/lakeside/probe:"+mode, s.log)
	must(t, err)
	if want := s.registry.address + "/lakeside/probe@" + s.registry.tags[mode]; p.Version != want {
		t.Errorf("the image is %s, want %s", p.Version, want)
	}
	s.job.Program = p
	return sandbox.Run(ctx, s.box, s.job)
}

func TestContainer_IsIsolated(t *testing.T) {
	t.Setenv("ASSAY_WORKER_TOKEN", "secret")
	t.Setenv("HTTPS_PROXY", "http://user:password@proxy.example.org")
	t.Setenv("NO_PROXY", "127.0.0.1")
	s := newFixture(t)
	must(t, s.run(t.Context(), t, "look"))
	saw := s.stdout.String()
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
	s := newFixture(t)
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
			s.job.Command, s.job.Limits.Time = c.command, s.settings.Limits.Time
			if c.mode == "sleep" {
				s.job.Limits.Time = time.Second
			}
			s.resetOutput(t)
			err := s.run(t.Context(), t, c.mode)
			ofRun, ok := errors.AsType[*failure.RunError](err)
			if !ok || !ofRun.Diagnostics[0].GetDiscreet() || !strings.Contains(ofRun.Diagnostics[0].GetMessage(), c.want) ||
				len(ofRun.Diagnostics) > 1 {
				t.Errorf("it ended with %v, want %s", err, c.want)
			}
		})
	}
	if !strings.Contains(s.stderr.String(), "the cause") {
		t.Errorf("what it printed: %s", s.stderr.String())
	}
}

func TestOutput_BoundsDeletedOpenFiles(t *testing.T) {
	s := newFixture(t)
	if err := s.run(t.Context(), t, "held"); err != nil {
		t.Error(err)
	}
	var written int
	if _, err := fmt.Sscanf(s.stdout.String(), "held: %d", &written); err != nil || written > 6<<20 {
		t.Errorf("%s: %v", s.stdout.String(), err)
	}
}

func TestImage_VolumesAreBounded(t *testing.T) {
	s := newFixture(t)
	if err := s.run(t.Context(), t, "output"); err != nil || !strings.Contains(s.stdout.String(), "output: written") {
		t.Errorf("a volume over the output: %v %s", err, s.stdout.String())
	}
	if _, err := s.job.Folders[1].Root.Stat("run"); err != nil {
		t.Error(err)
	}
	_, err := s.box.Image(t.Context(), s.registry.address+"/lakeside/probe:sys", s.log)
	if !isRunError(err) || !strings.Contains(err.Error(), `the volume "/a/../../sys", over which nothing can be mounted`) {
		t.Errorf("a volume over /sys: %v", err)
	}
}

func TestContainer_EndsWithTheContext(t *testing.T) {
	s := newFixture(t)
	lost := errors.New("the lease is lost")
	ctx, end := context.WithCancelCause(t.Context())
	s.job.Stdout = trigger(func() { end(lost) })
	if err := s.run(ctx, t, "sleep"); !errors.Is(err, lost) {
		t.Errorf("it ended with %v", err)
	}
}

// trigger is an io.Writer that calls a function.
type trigger func()

func (f trigger) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

// abandon starts a container like a worker that is then killed.
func (s *fixture) abandon(t *testing.T, owner string, options ...string) (id string) {
	t.Helper()
	p, err := s.box.Image(t.Context(), s.registry.address+"/lakeside/probe:sleep", s.log)
	must(t, err)
	args := append([]string{"run", "--detach", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
		"--label=assay.worker=" + owner}, options...)
	id = podman(t, append(args, p.Version)...)
	t.Cleanup(func() { podman(t, "rm", "--force", "--ignore", "--time=0", id) })
	return id
}

func TestCleanUp_RemovesWhatADeadWorkerLeft(t *testing.T) {
	s := newFixture(t)
	s.abandon(t, s.job.Owner)
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
	s := newFixture(t)
	other := filepath.Join(t.TempDir(), "of another worker")
	id := s.abandon(t, other)
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

// Workers that start at the same time do not remove each other's containers.
func TestNewContainer_SweepsContainersOfDeadWorkers(t *testing.T) {
	s := newFixture(t)
	id := s.abandon(t, filepath.Join(t.TempDir(), "of a dead worker"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := sandbox.NewContainer(t.Context(), &s.settings); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if out := podman(t, "ps", "--all", "--quiet", "--filter=id="+id); out != "" {
		t.Errorf("the container is there: %s", out)
	}
}

func TestWatchdog_EndsContainersWithTheirWorker(t *testing.T) {
	s := newFixture(t)
	id := s.abandon(t, s.job.Owner)
	stop, err := s.box.StartWatchdog(s.job.Owner)
	must(t, err)
	if s.containers(t) == "" {
		t.Fatal("the watchdog did not wait")
	}
	stop() // waits for the watchdog
	if out := podman(t, "ps", "--all", "--quiet", "--filter=id="+id); out != "" {
		t.Errorf("the container is there: %s", out)
	}
}

func TestNewContainer_RefusesMachinesThatStartNoContainer(t *testing.T) {
	s := newFixture(t)
	s.settings.Limits.Memory = 1
	if _, err := sandbox.NewContainer(t.Context(), &s.settings); err == nil ||
		!strings.Contains(err.Error(), "no container can be run with its limits") {
		t.Errorf("%v", err)
	}
}
