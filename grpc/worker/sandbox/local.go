package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
)

// Local runs commands as processes of this machine, with all rights of the worker and without any isolation. It is for tests, and for
// labs that trust everyone who submits.
type Local struct {
	Log    *slog.Logger // of the worker
	outage outage
}

// Image implements Sandbox. It pulls nothing, because only the command is run.
func (*Local) Image(_ context.Context, reference string, log *output.Log) (*Program, error) {
	log.Printf("This worker uses no containers. The command runs on the worker's own machine, not in the image %s.", reference)
	return &Program{Version: "without a container"}, nil
}

// Repository implements Sandbox. It builds nothing. The command runs in the checkout.
func (l *Local) Repository(ctx context.Context, url, ref, folder, _ string, log *output.Log) (*Program, error) {
	g := git{folder: folder, log: l.Log, outage: &l.outage}
	commit, err := g.clone(ctx, url, ref, log)
	if err != nil {
		return nil, err
	}
	log.Printf("This worker uses no containers. The command runs on the worker's own machine, in the checkout.")
	return &Program{Version: commit, folder: folder}, nil
}

// Output implements Sandbox. watchDisk enforces the size.
func (*Local) Output(_ context.Context, path string, _ Bytes) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// StartWatchdog implements Sandbox. It does nothing, because on Linux and Windows the processes end with the worker.
func (*Local) StartWatchdog(string) (stop func(), err error) { return func() {}, nil }

// CleanUp implements Sandbox.
func (l *Local) CleanUp(ctx context.Context, folder string) error { return l.Remove(ctx, folder) }

// Remove implements Sandbox.
func (*Local) Remove(_ context.Context, folder string) error { return os.RemoveAll(folder) }

func (*Local) run(ctx context.Context, j *Job) (*exitStatus, error) {
	if j.Command == "" {
		return nil, failure.New("There is no command, and this worker runs nothing else: it uses no containers. Name a command in the " +
			"submission.")
	}
	cmd := shellCommand(ctx, j.Command)
	cmd.Dir = j.Program.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	for _, f := range j.Folders {
		for _, v := range f.Variables {
			cmd.Env = append(cmd.Env, v+"="+f.Path)
			if v == "HOME" && cmd.Dir == "" {
				cmd.Dir = f.Path
			}
		}
	}
	cmd.Stdout, cmd.Stderr = j.Stdout, j.Stderr
	return exitStatusOf(runGroup(cmd))
}

// exitStatusOf returns the exit status of a command that returned err. It returns other errors unchanged.
func exitStatusOf(err error) (*exitStatus, error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &exitStatus{code: exitCode(exit)}, nil
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // child processes held the output open, and were killed
		return &exitStatus{}, nil
	}
	return nil, err
}

// CommandVersion returns the version of a command that runs without an image.
func CommandVersion(command string) string {
	return fmt.Sprintf("command sha256:%x", sha256.Sum256([]byte(command)))
}

// outputWaitDelay bounds the wait for the output of child processes that outlive their program.
const outputWaitDelay = 2 * time.Second

// groupCommand returns a command for runGroup.
func groupCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // running programs of others is the purpose of this package
	cmd.SysProcAttr = groupAttributes()
	cmd.WaitDelay = outputWaitDelay
	cmd.Env = environment()
	return cmd
}

// runGroup runs a command of groupCommand with all processes that it starts. It kills the remaining processes when the command or its
// context ends.
func runGroup(cmd *exec.Cmd) error {
	// The process must end with the worker. Linux ends it with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kill, err := startGroup(cmd)
	if err != nil {
		return err
	}
	return errors.Join(cmd.Wait(), kill())
}

// headBuffer keeps the first bytes that are written.
type headBuffer struct {
	kept []byte
	each func(b []byte) // called with all written bytes; may be nil
}

const maxHead = 2000

func (s *headBuffer) Write(b []byte) (int, error) {
	if s.each != nil {
		s.each(b)
	}
	s.kept = append(s.kept, b[:min(len(b), maxHead-len(s.kept))]...)
	return len(b), nil
}

// String returns the kept bytes.
func (s *headBuffer) String() string { return string(s.kept) }
