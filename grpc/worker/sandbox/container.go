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
	"assay/shared/language/wait"
)

// Container runs images with Podman: without a network and without privileges, each in a user namespace of its own, on a read-only root
// file system, and within limits. The timeout holds even without the worker.
type Container struct {
	Config

	machine    hostInfo
	control    string // id of an empty image, for trial containers
	runtime    string // path of the OCI runtime instead of Podman's own; empty: Podman's own
	collecting sync.Mutex
	outage     outage
}

// Config are the settings of a Container.
type Config struct {
	Podman  string // name or path of the program
	Builder string // image of Buildah; empty: no repositories are built
	Folder  string // of the workers on this machine; it also records the images that they pulled
	Images  Bytes  // limit for all images; beyond it, the least recently used are removed
	Limits  Limits
	Log     *slog.Logger // of the worker; only this log shows the output of Podman and git
}

const (
	ownerLabel     = "assay.worker"
	maxPids        = 1024
	cleanUpTimeout = time.Minute
	timeoutMargin  = 5 * time.Second // after the time limit, Podman itself ends the container
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

// attempt creates the container of a job, runs it, and removes it.
func (c *Container) attempt(ctx context.Context, j *Job) (*exitStatus, error) {
	tmp := filepath.Join(j.Owner, j.Name)
	defer func() {
		if err := errors.Join(c.removeContainers(ctx, "name=^"+j.Name+"$"), c.Remove(ctx, tmp)); err != nil {
			c.Log.Warn("cannot remove a container; it is removed when the worker ends", "container", j.Name, "error", err)
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

// startError means that a container did not start. The cause is its image or the machine.
type startError struct{ said string }

func (n *startError) Error() string { return "the container was not started: " + n.said }

// mountTemporary mounts /tmp for a job as root. A tmpfs by the OCI runtime would have the mode of the image's /tmp.
func (c *Container) mountTemporary(ctx context.Context, path string, size Bytes) error {
	if err := os.Mkdir(path, 0o700); err != nil || c.machine.Host.Security.Rootless {
		return err
	}
	return tool(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("nosuid,nodev,mode=1777,size=%d", size), "tmpfs", path)
}

// create returns Podman's arguments that create the container of a job. tmp is the folder for its /tmp.
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
	// Each container has its own range of user ids, large enough for images. Without root, all containers together have 65,536 ids.
	if c.machine.Host.Security.Rootless {
		args = append(args, "--userns=auto", "--tmpfs=/tmp"+tmpfs+",mode=1777,notmpcopyup")
	} else {
		args = append(args, "--userns=auto:size=65536", "--volume="+tmp+":/tmp:rw,nosuid,nodev,Z")
	}
	// A volume that the image declares would have no limit.
	for _, path := range j.Program.volumes {
		if slices.ContainsFunc(j.Folders, func(f Folder) bool { return f.Mount != "" && (within(path, f.Mount) || within(f.Mount, path)) }) {
			continue // the job mounts its own folder there
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

// within reports whether the path is the folder or below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// containerState is the part of Podman's description of a container that tells how the container runs or has ended.
type containerState struct {
	Status    string
	ExitCode  int
	OOMKilled bool
	Error     string // of starting it
	StartedAt time.Time
	Pid       int
}

func (c *Container) state(ctx context.Context, name string) (*containerState, error) {
	s := new(containerState)
	return s, c.ask(ctx, s, "inspect", "--type=container", "--format={{json .State}}", name)
}

// inspect returns how the container ended. It asks Podman, because the attached `podman start` may have failed for another reason. said
// may be output of the program if that was started; then errors must not contain it.
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

// removeArgs are Podman's arguments that kill and remove the containers of a filter.
var removeArgs = []string{"rm", "--force", "--ignore", "--volumes", "--time=0", "--filter"}

// removeContainers removes containers even after the context has ended. It tries again, because Podman's own cleaning of a container
// that has just ended can block it for a moment.
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

// command returns a command that calls Podman.
func (c *Container) command(ctx context.Context, args ...string) *exec.Cmd {
	if c.runtime != "" {
		args = append([]string{"--runtime=" + c.runtime}, args...)
	}
	cmd := groupCommand(ctx, c.Podman, args...)
	cmd.Dir = c.Folder // Podman's monitor writes a file into the current folder when memory runs out
	return cmd
}

// call runs Podman and returns its standard output. The error contains its standard error.
func (c *Container) call(ctx context.Context, args ...string) (string, error) {
	return c.callWatched(ctx, nil, args...)
}

// ask is like call, and decodes a JSON answer.
func (c *Container) ask(ctx context.Context, answer any, args ...string) error {
	out, err := c.call(ctx, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), answer)
}

// callWatched is like call, and passes Podman's standard error to each.
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

// environment returns the worker's environment without its settings. Podman reads its own settings there.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ASSAY_WORKER_") })
}
