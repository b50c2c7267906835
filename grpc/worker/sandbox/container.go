package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/grpc/worker/failure"
	"assay/shared/wait"
)

// Container runs images with Podman: without a network, without privileges, each in a user namespace of its own, on a read-only root
// file system, within limits, and with a timeout that holds without the worker.
type Container struct {
	Settings

	machine    hostInfo
	control    string // id of an empty image, for trial containers
	collecting sync.Mutex
	outage     outage
}

// Settings are those of a Container.
type Settings struct {
	Podman  string // name or path of the program
	Builder string // image of Buildah; empty: no repositories are built
	Folder  string // of the workers on this machine, with the record of their images
	Images  Bytes  // for images, beyond which the least recently used are removed
	Limits  Limits
	Log     *slog.Logger // of the worker; nothing else has the output of Podman and git
}

const (
	ownerLabel     = "assay.worker"
	maxPids        = 1024
	cleanUpTimeout = time.Minute
	timeoutMargin  = 5 * time.Second // after the time limit, when Podman itself ends the container
)

func (c *Container) run(ctx context.Context, j *Job) (*exitStatus, error) {
	if j.Program.discard {
		defer c.discard(ctx, j.Program.image)
	}
	how, err := c.attempt(ctx, j)
	var refused *startError
	if !errors.As(err, &refused) || ctx.Err() != nil {
		return how, err
	}
	c.Log.Warn("a container does not start", "image", j.Program.image, "podman", refused.said)
	if err := c.trial(ctx, j); err != nil {
		return nil, err
	}
	return nil, failure.New("The image cannot run this: the program, or the shell for the command, is not in it or cannot be executed here, " +
		"or its user, volumes or folders do not fit.")
}

// attempt makes the container of a job, runs it, and removes it.
func (c *Container) attempt(ctx context.Context, j *Job) (*exitStatus, error) {
	tmp := filepath.Join(j.Owner, j.Name)
	defer func() {
		if err := errors.Join(c.removeContainers(ctx, "name=^"+j.Name+"$"), c.Remove(ctx, tmp)); err != nil {
			c.Log.Warn("a container cannot be removed now; it is when the worker ends", "container", j.Name, "error", err)
		}
	}()
	if err := c.mountTemporary(ctx, tmp, j.Limits.Memory); err != nil {
		return nil, fmt.Errorf("no /tmp can be mounted: %w", err)
	}
	if _, err := c.call(ctx, c.create(j, tmp)...); err != nil {
		return nil, errors.Join(ctx.Err(), &startError{err.Error()})
	}
	if j.build {
		shut, err := c.openEgress(ctx, j.Name)
		if err != nil {
			return nil, err
		}
		defer shut()
	}
	var said headBuffer
	cmd := c.command(ctx, "start", "--attach", j.Name)
	cmd.Stdout, cmd.Stderr = j.Stdout, io.MultiWriter(j.Stderr, &said)
	how, err := exitStatusOf(runGroup(cmd))
	if ctx.Err() != nil || err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	how, err = c.inspect(ctx, j, how, said.String())
	if err == nil {
		err = c.takeOwnership(ctx, j)
	}
	return how, err
}

// startError means that a container could not be started, because of its image or of the machine.
type startError struct{ said string }

func (n *startError) Error() string { return "the container was not started: " + n.said }

// mountTemporary mounts the /tmp of a job, as root: a tmpfs of the OCI runtime itself would have the mode of the image's /tmp.
func (c *Container) mountTemporary(ctx context.Context, path string, size Bytes) error {
	if err := os.Mkdir(path, 0o700); err != nil || c.machine.Host.Security.Rootless {
		return err
	}
	return tool(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("nosuid,nodev,mode=1777,size=%d", size), "tmpfs", path)
}

// create returns the arguments of Podman that create the container of a job, with the folder that is its /tmp.
func (c *Container) create(j *Job, tmp string) []string {
	memory := strconv.FormatInt(int64(j.Limits.Memory), 10)
	tmpfs := ":rw,nosuid,nodev,size=" + memory
	pids := strconv.Itoa(maxPids)
	args := []string{
		"create", "--pull=never", "--name=" + j.Name, "--label=" + ownerLabel + "=" + j.Owner, "--hostname=assay", "--no-hosts",
		"--network=none", "--read-only", "--read-only-tmpfs=false",
		"--cap-drop=ALL", "--security-opt=no-new-privileges", "--http-proxy=false", "--image-volume=ignore",
		"--pids-limit=" + pids, "--cpus=" + strconv.FormatFloat(j.Limits.CPUs, 'f', -1, 64), "--memory=" + memory, "--memory-swap=" + memory,
		"--ulimit=nofile=" + openFiles(), "--ulimit=nproc=" + pids + ":" + pids, "--ulimit=core=0:0",
		"--timeout=" + strconv.Itoa(int((j.Limits.Time + timeoutMargin).Seconds())), "--log-driver=none", "--no-healthcheck", "--env=HOME=/tmp",
	}
	// Each has its own range of user ids, as many as images use; without root there are 65,536 for all containers.
	if c.machine.Host.Security.Rootless {
		args = append(args, "--userns=auto", "--tmpfs=/tmp"+tmpfs+",mode=1777,notmpcopyup")
	} else {
		args = append(args, "--userns=auto:size=65536", "--volume="+tmp+":/tmp:rw,nosuid,nodev,Z")
	}
	// A volume of the image would have no limit.
	for _, path := range j.Program.volumes {
		if slices.ContainsFunc(j.Folders, func(f Folder) bool { return f.Mount != "" && (within(path, f.Mount) || within(f.Mount, path)) }) {
			continue // the job's own folder is there
		}
		args = append(args, "--tmpfs="+path+tmpfs+",mode=1777")
	}
	for _, f := range j.Folders {
		if f.Mount == "" {
			continue
		}
		mode := "ro"
		if f.Writable {
			mode = "rw"
		}
		args = append(args, "--volume="+f.Path+":"+f.Mount+":"+mode+",nosuid,nodev,Z")
		for _, v := range f.Variables {
			args = append(args, "--env="+v+"="+f.Mount)
		}
	}
	switch {
	case j.build:
		return append(append(args, buildOptions...), slices.Concat([]string{"--entrypoint=" + buildah, j.Program.image},
			strings.Fields(j.Command))...)
	case j.Command == "":
		return append(args, j.Program.image)
	}
	return append(args, "--entrypoint=/bin/sh", j.Program.image, "-c", j.Command)
}

// within reports whether the path is the folder, or below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// state is part of what Podman says about a container.
type state struct {
	Status    string
	ExitCode  int
	OOMKilled bool
	Error     string // of starting it
	StartedAt time.Time
	Pid       int
}

func (c *Container) state(ctx context.Context, name string) (*state, error) {
	s := new(state)
	return s, c.ask(ctx, s, "inspect", "--type=container", "--format={{json .State}}", name)
}

// inspect returns how the container ended: the attached `podman start` may have failed for reasons of its own. What was said may be the
// output of the program once it was started, so no error has it then.
func (c *Container) inspect(ctx context.Context, j *Job, attached *exitStatus, said string) (*exitStatus, error) {
	s, err := c.state(ctx, j.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is unknown how the container ended: %w", err)
	case s.StartedAt.Year() < 2000 || s.Status == "created" || s.Status == "initialized":
		return nil, &startError{strings.TrimSpace(said + "\n" + s.Error)}
	case s.Status != "exited" && s.Status != "stopped" && s.Status != "dead":
		return nil, fmt.Errorf("the container was lost, which is %s", s.Status)
	}
	return &exitStatus{code: max(s.ExitCode, attached.code), outOfMemory: s.OOMKilled}, nil
}

// removeArgs are the arguments that kill and remove the containers of a filter.
var removeArgs = []string{"rm", "--force", "--ignore", "--volumes", "--time=0", "--filter"}

// removeContainers goes on when the context has ended. Podman's own cleaning of a container that has just ended can be in the way
// for a moment.
func (c *Container) removeContainers(ctx context.Context, filter string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	for failures := 1; ; failures++ {
		_, err := c.call(ctx, slices.Concat(removeArgs, []string{filter})...)
		if err == nil || failures == 5 || !wait.Sleep(ctx, wait.Backoff(failures, time.Second)) {
			return err
		}
	}
}

// command is a call of Podman.
func (c *Container) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := groupCommand(ctx, c.Podman, args...)
	cmd.Dir = c.Folder // Podman's monitor leaves a file where it is, when memory runs out
	return cmd
}

// call runs Podman and returns what it printed. What it says on standard error is in the error.
func (c *Container) call(ctx context.Context, args ...string) (string, error) {
	return c.callWatched(ctx, nil, args...)
}

// ask is call for an answer in JSON.
func (c *Container) ask(ctx context.Context, answer any, args ...string) error {
	out, err := c.call(ctx, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), answer)
}

// callWatched is call with a function that sees what Podman says on standard error.
func (c *Container) callWatched(ctx context.Context, each func(b []byte), args ...string) (string, error) {
	var stdout bytes.Buffer
	said := &headBuffer{each: each}
	cmd := c.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, said
	if err := runGroup(cmd); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// environment is the worker's own without its settings: Podman finds its hosts and settings there.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ASSAY_WORKER_") })
}
