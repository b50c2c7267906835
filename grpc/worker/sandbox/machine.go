package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// machine is what Podman tells of this machine, in part.
type machine struct {
	Host struct {
		CgroupVersion     string
		CgroupControllers []string
		ServiceIsRemote   bool
		Security          struct{ Rootless bool }
	}
	Store struct{ GraphRoot string }
}

// check refuses a machine on which a limit would be announced that does not hold.
func (m *machine) check() error {
	h := m.Host
	switch {
	case h.ServiceIsRemote:
		return errors.New("the service of Podman runs on another machine, where the folders of runs are not: use the one of this machine")
	case h.Security.Rootless && h.CgroupVersion != "v2":
		return fmt.Errorf("without root, Podman limits no memory, processes and CPUs on cgroup %s: boot this machine with cgroup v2, or run the worker as root", h.CgroupVersion)
	}
	for _, controller := range []string{"cpu", "memory", "pids"} {
		if !slices.Contains(h.CgroupControllers, controller) {
			return fmt.Errorf("the cgroup controller %q is not available to Podman here, so its limit would not hold: delegate it to this user, or run the worker as root", controller)
		}
	}
	return nil
}

// userNamespace is the option that gives a container users of its own, as many as images use.
func (m *machine) userNamespace() string {
	if m.Host.Security.Rootless {
		return "--userns=auto" // a user has 65,536 for all of its containers
	}
	return "--userns=auto:size=65536"
}

// NewContainer finds Podman, and tries once whether it gives what jobs are promised: limits, a user namespace, and, where
// repositories are to be built, a builder that keeps a build from its surroundings. An error says what is missing.
func NewContainer(ctx context.Context, s *Settings) (*Container, error) {
	path, err := exec.LookPath(s.Podman)
	if err != nil {
		return nil, fmt.Errorf("programs run in containers of Podman: install it, or name its program with -runtime: %w", err)
	}
	c := &Container{podman: path, builder: s.Builder, limits: s.Limits, log: s.Log, images: images{folder: filepath.Join(s.Folder, "images"), most: s.Images}}
	out, err := c.call(ctx, "info", "--format=json")
	if err == nil {
		err = json.Unmarshal([]byte(out), &c.machine)
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not answer as Podman does: %w", path, err)
	}
	if err := c.machine.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(s.Folder, "trial-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Remove(ctx, folder) }()
	if c.control, err = c.emptyImage(ctx, folder); err != nil {
		return nil, err
	}
	j, err := c.trialJob(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = j.Folders[1].Root.Close() }()
	if err := c.trial(ctx, j); err != nil {
		return nil, fmt.Errorf("no container can be run with its limits: %w", err)
	}
	if c.builder != "" {
		if err := c.checkBuilder(ctx, j); err != nil {
			return nil, fmt.Errorf("-builds: %w", err)
		}
	}
	c.collect(ctx)
	return c, nil
}

// Path is where the program of Podman is.
func (c *Container) Path() string { return c.podman }

// trialJob is a job over an empty input and an output of the promised size.
func (c *Container) trialJob(ctx context.Context, folder string) (*Job, error) {
	input, output := filepath.Join(folder, "input"), filepath.Join(folder, "output")
	if err := os.Mkdir(input, 0o755); err != nil { //nolint:gosec // programs in containers are other users
		return nil, err
	}
	root, err := c.Output(ctx, output, c.limits.Disk)
	if err != nil {
		return nil, err
	}
	return &Job{
		Name: "assay-" + filepath.Base(folder), Owner: folder, Limits: c.limits, Stdout: io.Discard, Stderr: io.Discard,
		Folders: []Folder{{Path: input, Mount: inputMount}, {Path: output, Mount: outputMount, Writable: true, Root: root}},
	}, nil
}

// trial starts a container of an empty image where a job's did not start. Podman finds no program in it, after it has set up
// everything else; any other refusal is the machine's.
func (c *Container) trial(ctx context.Context, j *Job) error {
	empty := *j
	empty.Name, empty.Program, empty.Command, empty.build = j.Name+"-trial", &Program{image: c.control}, "true", false
	_, err := c.attempt(ctx, &empty)
	var refused *notStarted
	if errors.As(err, &refused) && strings.Contains(strings.ToLower(refused.said), "/bin/sh") && ctx.Err() == nil {
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
	if err := os.WriteFile(archive, make([]byte, 1024), 0o600); err != nil { // the end of a tar archive
		return "", err
	}
	id, err := c.call(ctx, "import", "--quiet", archive, name)
	if err != nil {
		return "", fmt.Errorf("no image can be stored: %w", err)
	}
	return id, nil
}

// Output implements Sandbox. As root it mounts a file system of the size: what a program deletes and keeps open, or hides in
// folders, is bounded by it. Without root the size is counted.
func (c *Container) Output(ctx context.Context, path string, size Bytes) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	if !c.machine.Host.Security.Rootless {
		if err := mountFixed(ctx, path, size); err != nil {
			return nil, fmt.Errorf("no file system of a fixed size can be mounted: %w", err)
		}
	}
	if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // the folder above it is the worker's alone
		return nil, err
	}
	return os.OpenRoot(path)
}

// mountFixed mounts a file system that is a little larger than the size, since its own tables take some.
func mountFixed(ctx context.Context, path string, size Bytes) error {
	file := path + ".ext4"
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(int64(size+size/16+4<<20)), f.Close()); err != nil {
		return err
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", file}, {"mount", "-o", "loop,nosuid,nodev", file, path}} {
		if said, err := groupCommand(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, said)
		}
	}
	return os.Remove(filepath.Join(path, "lost+found"))
}

// unmountBelow unmounts what is mounted below the folder.
func unmountBelow(ctx context.Context, folder string) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var failed error
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(strings.ReplaceAll(line, `\040`, "\x00"))
		if len(fields) < 2 {
			continue
		}
		if path := strings.ReplaceAll(fields[1], "\x00", " "); within(path, folder) {
			failed = errors.Join(failed, groupCommand(ctx, "umount", "--lazy", path).Run())
		}
	}
	return failed
}

// Tidy implements Sandbox.
func (c *Container) Tidy(ctx context.Context, folder string) error {
	return errors.Join(c.Clear(ctx, folder), c.Remove(ctx, folder))
}

// Clear removes the containers of the worker of the folder.
func (c *Container) Clear(ctx context.Context, folder string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	containers, err := c.call(ctx, "ps", "--all", "--quiet", "--filter=label="+ownerLabel+"="+folder)
	if ids := strings.Fields(containers); err == nil && len(ids) > 0 {
		_, err = c.call(ctx, slices.Concat([]string{"rm", "--force", "--ignore", "--volumes", "--time=0"}, ids)...)
	}
	return err
}

// Owners are the folders of the workers that have containers on this machine.
func (c *Container) Owners(ctx context.Context) ([]string, error) {
	out, err := c.call(ctx, "ps", "--all", "--filter=label="+ownerLabel, `--format={{ index .Labels "`+ownerLabel+`" }}`)
	owners := strings.Split(out, "\n")
	slices.Sort(owners)
	return slices.Compact(owners), err
}

// Guard starts a process that outlives the worker, however it ends, and then removes its containers at once.
func (c *Container) Guard(folder string) (release func(), err error) {
	const wait = `cat >/dev/null; ids=$("$0" ps --all --quiet --filter "label=$1"); [ -z "$ids" ] || exec "$0" rm --force --ignore --volumes --time=0 $ids`
	cmd := exec.Command("sh", "-c", wait, c.podman, ownerLabel+"="+folder) //nolint:gosec,noctx // it is to outlive the worker
	cmd.Env, cmd.SysProcAttr = environment(), &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe() // nobody writes into it: it ends with the worker
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	if c.machine.Host.Security.Rootless {
		// The users of containers are other users here, for whom Podman may act.
		_, err := c.call(ctx, "unshare", "rm", "-rf", "--", folder)
		return err
	}
	if err := unmountBelow(ctx, folder); err != nil {
		c.log.Warn("a file system of a job cannot be unmounted", "folder", folder, "error", err)
		return err
	}
	return os.RemoveAll(folder)
}

// own gives the files that a job left to the worker, which without root could not read all of them.
func (c *Container) own(ctx context.Context, j *Job) error {
	for _, f := range j.Folders {
		if c.machine.Host.Security.Rootless && f.Writable && f.Mount != "" {
			if _, err := c.call(ctx, "unshare", "sh", "-c", `chown -R -h 0:0 "$0" && chmod -R u+rwX "$0"`, f.Path); err != nil {
				return fmt.Errorf("the output cannot be given to the worker: %w", err)
			}
		}
	}
	return nil
}
