package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/grpc/worker/scratch"
)

// hostInfo is a part of Podman's description of this machine.
type hostInfo struct {
	Host struct {
		CgroupVersion     string
		CgroupControllers []string
		ServiceIsRemote   bool
		Security          struct{ Rootless bool }
	}
	Store struct{ GraphRoot string }
}

// check returns an error if a limit would not hold on this machine.
func (m *hostInfo) check() error {
	h := m.Host
	switch {
	case h.ServiceIsRemote:
		return errors.New("the service of Podman runs on another machine, where the folders of runs are not: use the one of this machine")
	case h.Security.Rootless && h.CgroupVersion != "v2":
		return fmt.Errorf("without root, Podman limits no memory, processes and CPUs on cgroup %s: boot this machine with cgroup v2, or run "+
			"the worker as root", h.CgroupVersion)
	}
	for _, controller := range []string{"cpu", "memory", "pids"} {
		if !slices.Contains(h.CgroupControllers, controller) {
			return fmt.Errorf("the cgroup controller %q is not available to Podman here, so its limit would not hold: delegate it to this user, "+
				"or run the worker as root", controller)
		}
	}
	return nil
}

// NewContainer finds Podman, removes the containers of dead workers, and tests the guarantees for jobs: limits, a user namespace and,
// for builds, an isolated builder. Its error says what is missing.
func NewContainer(ctx context.Context, s *Config) (*Container, error) {
	path, err := exec.LookPath(s.Podman)
	if err != nil {
		return nil, fmt.Errorf("programs run in containers of Podman: install it, or name its program with -runtime: %w", err)
	}
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, err
	}
	c := &Container{Config: *s}
	c.Podman = path
	if err := c.ask(ctx, &c.machine, "info", "--format=json"); err != nil {
		return nil, explain(fmt.Errorf("%s does not answer as Podman does: %w", path, err))
	}
	if err := c.machine.check(); err != nil {
		return nil, err
	}
	if err := c.sweep(ctx); err != nil {
		return nil, err
	}
	if err := c.tryLimits(ctx); err != nil {
		return nil, explain(err)
	}
	c.collectGarbage(ctx)
	return c, nil
}

// tryLimits tests the guarantees for jobs in a folder that it locks like a worker's, so that other starting workers do not remove its
// containers.
func (c *Container) tryLimits(ctx context.Context) error {
	folder, err := os.MkdirTemp(c.Folder, "worker-trial-")
	if err != nil {
		return err
	}
	lock, err := scratch.Lock(folder)
	if err != nil {
		return err
	}
	defer lock.Release()
	defer func() { _ = c.Remove(ctx, folder) }()
	if c.control, err = c.emptyImage(ctx, folder); err != nil {
		return err
	}
	output := filepath.Join(folder, "output")
	root, err := c.Output(ctx, output, c.Limits.Disk)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	j := &Job{
		Name: "assay-" + filepath.Base(folder), Owner: folder, Limits: c.Limits, Stdout: io.Discard, Stderr: io.Discard,
		Folders: []Folder{{Path: output, Mount: outputMount, Writable: true, Root: root}},
	}
	if err := c.tryRuntimes(ctx, j); err != nil {
		return fmt.Errorf("no container can be run with its limits: %w", err)
	}
	if c.Builder == "" {
		return nil
	}
	if err := c.checkBuilder(ctx, j); err != nil {
		return fmt.Errorf("-builds: %w", err)
	}
	return nil
}

// tryRuntimes tests Podman's runtime. If this is crun, and crun refuses the machine's cgroups, it chooses runc where that is installed.
func (c *Container) tryRuntimes(ctx context.Context, j *Job) error {
	err := c.trial(ctx, j)
	if err == nil || !hybridCgroups.MatchString(err.Error()) {
		return err
	}
	runc, notInstalled := exec.LookPath("runc")
	if notInstalled != nil {
		return err
	}
	c.runtime = runc
	if err := c.trial(ctx, j); err != nil {
		return err
	}
	c.Log.Info("crun does not work with the cgroups of this machine; containers run with runc", "runtime", runc)
	return nil
}

// trial starts a container of an empty image with the settings of the job. It succeeds if Podman fails because the image contains no
// program, because Podman then has set up everything else. Any other failure is the machine's.
func (c *Container) trial(ctx context.Context, j *Job) error {
	empty := *j
	empty.Name = j.Name + "-trial"
	empty.Program = &Program{image: c.control}
	empty.Command = "true"
	empty.build = false
	_, err := c.attempt(ctx, &empty)
	if refused, ok := errors.AsType[*startError](err); ok && strings.Contains(strings.ToLower(refused.said), "/bin/sh") && ctx.Err() == nil {
		return nil
	}
	return errors.Join(errors.New("a trial container, of an empty image, did not end as expected"), err)
}

// emptyImage returns the id of an image without files.
func (c *Container) emptyImage(ctx context.Context, folder string) (string, error) {
	const name = "localhost/assay-empty"
	if id, err := c.call(ctx, "images", "--quiet", "--no-trunc", name); err == nil && id != "" {
		return id, nil
	}
	archive := filepath.Join(folder, "empty.tar")
	if err := os.WriteFile(archive, make([]byte, 1024), 0o600); err != nil { // an empty tar archive
		return "", err
	}
	id, err := c.call(ctx, "import", "--quiet", archive, name)
	if err != nil {
		return "", fmt.Errorf("no image can be stored: %w", err)
	}
	return id, nil
}

// Output implements Sandbox. As root it mounts a file system with the size, which also bounds files that a program deletes and keeps
// open. Without root, watchDisk enforces the size.
func (c *Container) Output(ctx context.Context, path string, size Bytes) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	if !c.machine.Host.Security.Rootless {
		if err := mountFixed(ctx, path, size); err != nil {
			return nil, fmt.Errorf("no file system of a fixed size can be mounted: %w", err)
		}
	}
	if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // only the worker can enter the folder above it
		return nil, err
	}
	return os.OpenRoot(path)
}

// mountFixed mounts a file system with the size and some space for its metadata.
func mountFixed(ctx context.Context, path string, size Bytes) error {
	file := path + ".ext4"
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, int64(size+size/16+4<<20))); err != nil {
		return err
	}
	if err := tool(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", file); err != nil {
		return err
	}
	if err := tool(ctx, "mount", "-o", "loop,nosuid,nodev", file, path); err != nil {
		return err
	}
	return os.Remove(filepath.Join(path, "lost+found"))
}

// tool runs a program of the machine.
func tool(ctx context.Context, name string, args ...string) error {
	if said, err := groupCommand(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return nil
}

// unmountBelow unmounts all file systems below the folder.
func unmountBelow(ctx context.Context, folder string) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var failed error
	for line := range strings.Lines(string(mounts)) {
		_, rest, _ := strings.Cut(line, " ")
		at, _, _ := strings.Cut(rest, " ")
		if path, err := strconv.Unquote(`"` + at + `"`); err == nil && within(path, folder) { // the file escapes a space as \040
			failed = errors.Join(failed, tool(ctx, "umount", "--lazy", path))
		}
	}
	return failed
}

// CleanUp implements Sandbox.
func (c *Container) CleanUp(ctx context.Context, folder string) error {
	return errors.Join(c.RemoveContainers(ctx, folder), c.Remove(ctx, folder))
}

// ownedBy returns the filter for the containers of the worker with the folder.
func ownedBy(folder string) string { return "label=" + ownerLabel + "=" + folder }

// RemoveContainers removes the containers of the worker with the folder.
func (c *Container) RemoveContainers(ctx context.Context, folder string) error {
	return c.removeContainers(ctx, ownedBy(folder))
}

// sweep removes the containers of dead workers, wherever their folders are.
func (c *Container) sweep(ctx context.Context) error {
	owners, err := c.Owners(ctx)
	for _, owner := range owners {
		if !scratch.Abandoned(owner) {
			continue
		}
		if err := c.RemoveContainers(ctx, owner); err != nil {
			c.Log.Warn("the containers of a dead worker cannot be removed", "folder", owner, "error", err)
		}
	}
	return err
}

// Owners returns the folders of workers that have containers on this machine.
func (c *Container) Owners(ctx context.Context) ([]string, error) {
	out, err := c.call(ctx, "ps", "--all", "--filter=label="+ownerLabel, `--format={{ index .Labels "`+ownerLabel+`" }}`)
	return slices.Compact(slices.Sorted(strings.SplitSeq(out, "\n"))), err
}

// StartWatchdog implements Sandbox. It starts a process that outlives the worker.
func (c *Container) StartWatchdog(folder string) (stop func(), err error) {
	args := slices.Concat([]string{"-c", `cat >/dev/null; exec "$0" "$@"`, c.Podman}, removeArgs, []string{ownedBy(folder)})
	cmd := exec.Command("sh", args...) //nolint:gosec,noctx // it must outlive the worker
	cmd.Env, cmd.SysProcAttr = environment(), sessionAttributes()
	pipe, err := cmd.StdinPipe() // closes when the worker ends; nothing is written to it
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = pipe.Close()
		_ = cmd.Wait()
	}, nil
}

// Remove implements Sandbox.
func (c *Container) Remove(ctx context.Context, folder string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	if c.machine.Host.Security.Rootless {
		// Files of containers belong to other user ids, with which only Podman may act.
		_, err := c.call(ctx, "unshare", "rm", "-rf", "--", folder)
		return err
	}
	if err := unmountBelow(ctx, folder); err != nil {
		c.Log.Warn("a file system of a job cannot be unmounted", "folder", folder, "error", err)
		return err
	}
	return os.RemoveAll(folder)
}

// takeOwnership makes the worker the owner of the files of a job. Without root, the worker could otherwise not read all of them.
func (c *Container) takeOwnership(ctx context.Context, j *Job) error {
	for _, f := range j.Folders {
		if c.machine.Host.Security.Rootless && f.Writable && f.Mount != "" {
			if _, err := c.call(ctx, "unshare", "sh", "-c", `chown -R -h 0:0 "$0" && chmod -R u+rwX "$0"`, f.Path); err != nil {
				return fmt.Errorf("the worker cannot take ownership of the output: %w", err)
			}
		}
	}
	return nil
}
