package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/grpc/worker/failure"
)

// Container runs images with Docker or Podman: without a network, without privileges, on a root file system that cannot be
// written to, within limits.
type Container struct {
	runtime string // path of the program
	podman  bool
}

// Runtimes are the programs that Container can use, the one that is tried first to begin with.
var Runtimes = []string{"docker", "podman"}

// NewContainer finds the named runtime on the path, or any when no name is given, and makes sure that it answers.
func NewContainer(ctx context.Context, name string) (*Container, error) {
	names := Runtimes
	if name != "" {
		names = []string{name}
	}
	var failed error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c := &Container{runtime: path, podman: filepath.Base(name) == "podman"}
		if _, err := c.call(ctx, io.Discard, "ps", "--quiet", "--last", "1"); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s does not answer: %w", name, err))
			continue
		}
		return c, nil
	}
	return nil, fmt.Errorf("no container runtime can be used; start Docker or install Podman, and name it with -runtime:\n%w", failed)
}

// Path is where the program of the runtime is.
func (c *Container) Path() string { return c.runtime }

const (
	ownerLabel = "assay.worker"
	maxPids    = 1024
	tidyTime   = time.Minute
)

func (c *Container) run(ctx context.Context, j *Job) (*ending, error) {
	if path := misplaced(j); path != "" {
		return nil, failure.New("The image declares the volume %s, over which nothing can be mounted. Build it without that volume.", path)
	}
	defer c.discard(ctx, j)
	if _, err := c.call(ctx, io.Discard, c.create(j)...); err != nil {
		return nil, fmt.Errorf("the container cannot be made: %w", err)
	}
	cmd := groupCommand(ctx, c.runtime, "start", "--attach", j.Name)
	cmd.Env = c.environment()
	cmd.Dir = j.Owner // Podman's monitor leaves a file where it is, when memory runs out
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = j.Stdout, io.MultiWriter(j.Stderr, &short{to: &said})
	how, err := ended(runGroup(cmd))
	if ctx.Err() != nil || err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return c.inspect(ctx, j, how, said.String())
}

// create are the arguments that make the container of a job.
func (c *Container) create(j *Job) []string {
	memory := strconv.FormatInt(int64(j.Limits.Memory), 10)
	tmpfs := ":rw,nosuid,nodev,mode=1777,size=" + memory
	args := []string{
		"create", "--pull=never", "--name=" + j.Name, "--label=" + ownerLabel + "=" + j.Owner, "--hostname=assay",
		"--network=none", "--read-only", "--tmpfs=/tmp" + tmpfs, "--cap-drop=ALL", "--security-opt=no-new-privileges",
		"--pids-limit=" + strconv.Itoa(maxPids), "--cpus=" + strconv.FormatFloat(j.Limits.CPUs, 'f', -1, 64),
		"--memory=" + memory, "--memory-swap=" + memory, "--log-driver=none", "--no-healthcheck", "--env=HOME=/tmp",
	}
	switch {
	case c.podman:
		args = append(args, "--read-only-tmpfs=false", "--http-proxy=false", "--image-volume=ignore")
	case os.Geteuid() != 0:
		// Docker's daemon is root. What root makes in a folder, the worker could not remove.
		args = append(args, fmt.Sprintf("--user=%d:%d", os.Geteuid(), os.Getegid()))
	}
	// A volume of the image would be a place to write to that nobody watches.
	for _, path := range j.Program.volumes {
		if slices.ContainsFunc(j.Folders, func(f Folder) bool { return f.Mount != "" && (within(path, f.Mount) || within(f.Mount, path)) }) {
			continue // the job's own folder is there
		}
		args = append(args, "--tmpfs="+path+tmpfs)
	}
	for _, f := range j.Folders {
		if f.Mount == "" {
			continue
		}
		mode := "ro"
		if f.Writable {
			mode = "rw"
		}
		args = append(args, "--volume="+f.Path+":"+f.Mount+":"+mode+",Z")
		for _, v := range f.Variables {
			args = append(args, "--env="+v+"="+f.Mount)
		}
	}
	if j.Command == "" {
		return append(args, j.Program.image)
	}
	return append(args, "--entrypoint=/bin/sh", j.Program.image, "-c", j.Command)
}

// misplaced returns a volume of the image where the system's own file systems are; empty when there is none.
func misplaced(j *Job) string {
	for _, path := range j.Program.volumes {
		for _, system := range []string{"/proc", "/sys", "/dev"} {
			if within(path, system) || path == "/" {
				return path
			}
		}
	}
	return ""
}

// within reports whether the path is the folder, or below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// state is what the runtimes tell of a container, in part.
type state struct {
	Status    string
	ExitCode  int
	OOMKilled bool
	Error     string // of starting it
	StartedAt time.Time
}

// inspect asks how the container ended: what the attached program returned may be its own trouble. What was said may be the
// program's own words once it was started, and stands in no error then.
func (c *Container) inspect(ctx context.Context, j *Job, attached *ending, said string) (*ending, error) {
	var s state
	out, err := c.call(ctx, io.Discard, "inspect", "--type=container", "--format={{json .State}}", j.Name)
	if err == nil {
		err = json.Unmarshal([]byte(out), &s)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the runtime does not tell how the container ended: %w", err)
	case s.StartedAt.Year() < 2000 || s.Status == "created":
		said = strings.TrimSpace(said + "\n" + s.Error)
		if s.ExitCode == 126 || s.ExitCode == 127 || missingProgram(said) {
			return nil, failure.New("The image cannot run this: the program, or the shell for the command, is not in it or cannot be executed here.").With(said)
		}
		return nil, fmt.Errorf("the container was not started: %s", said)
	case s.Status != "exited" && s.Status != "stopped" && s.Status != "dead":
		return nil, fmt.Errorf("the runtime lost its container, which is %s", s.Status)
	}
	return &ending{code: max(s.ExitCode, attached.code), outOfMemory: s.OOMKilled}, nil
}

// missingProgram reports whether a runtime says that what was to be run is not in the image, or is for another machine.
func missingProgram(said string) bool {
	said = strings.ToLower(said)
	for _, s := range []string{"executable file", "no such file or directory", "exec format error", "not found in $path", "permission denied: unknown", "no command specified"} {
		if strings.Contains(said, s) {
			return true
		}
	}
	return false
}

// discard removes the container, whatever runs in it, and the images that were made for it.
func (c *Container) discard(ctx context.Context, j *Job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	// What cannot be removed is found by its label when a worker starts here.
	_, _ = c.call(ctx, io.Discard, c.removal(j.Name)...)
	if len(j.Program.discard) > 0 {
		_, _ = c.call(ctx, io.Discard, slices.Concat([]string{"rmi", "--force"}, j.Program.discard)...)
	}
}

func (c *Container) removal(containers ...string) []string {
	args := []string{"rm", "--force", "--volumes"}
	if c.podman {
		args = append(args, "--time=0")
	}
	return append(args, containers...)
}

// Tidy implements Sandbox.
func (c *Container) Tidy(ctx context.Context, folder string) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	filter := "--filter=label=" + ownerLabel + "=" + folder
	containers, err := c.call(bounded, io.Discard, "ps", "--all", "--quiet", filter)
	if ids := strings.Fields(containers); err == nil && len(ids) > 0 {
		_, err = c.call(bounded, io.Discard, c.removal(ids...)...)
	}
	images, listed := c.call(bounded, io.Discard, "images", "--quiet", filter)
	if ids := strings.Fields(images); listed == nil && len(ids) > 0 {
		_, listed = c.call(bounded, io.Discard, slices.Concat([]string{"rmi", "--force"}, ids)...)
	}
	return errors.Join(err, listed, c.Remove(ctx, folder))
}

// Remove implements Sandbox.
func (c *Container) Remove(ctx context.Context, folder string) error {
	err := os.RemoveAll(folder)
	if err == nil || !c.podman || os.Geteuid() == 0 {
		return err
	}
	// Other users of the container than its root are other users here, too, and Podman may act for them.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	_, err = c.call(ctx, io.Discard, "unshare", "rm", "-rf", "--", folder)
	return err
}

// call runs the runtime and returns what it printed. What it says beside that goes to said, and into the error.
func (c *Container) call(ctx context.Context, said io.Writer, args ...string) (string, error) {
	cmd := groupCommand(ctx, c.runtime, args...)
	cmd.Env = c.environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(said, &short{to: &stderr})
	if err := runGroup(cmd); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &refusal{said: strings.TrimSpace(stderr.String()), err: err}
	}
	return strings.TrimSpace(stdout.String()), nil
}

// refusal is what the runtime said when it failed.
type refusal struct {
	said string
	err  error
}

// Error implements error.
func (r *refusal) Error() string {
	if r.said == "" {
		return r.err.Error()
	}
	return r.said
}

// environment is the worker's own without its token: the runtimes find their hosts and settings there.
func (c *Container) environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ASSAY_WORKER_") })
}
