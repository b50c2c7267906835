package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
)

// Local runs commands as processes of this machine, with all rights of the worker: no isolation at all. It is for tests, and
// for labs that trust everyone who submits.
type Local struct {
	Log    *slog.Logger // of the worker
	outage outage
}

// Image implements Sandbox. There is nothing to get: the command alone is run.
func (*Local) Image(_ context.Context, reference string, log *output.Log) (*Program, error) {
	log.Say("This worker uses no containers. The command runs on the worker's own machine, not in the image %s.", reference)
	return &Program{Version: "without a container"}, nil
}

// Repository implements Sandbox. Nothing is built: the command runs in the checkout.
func (l *Local) Repository(ctx context.Context, url, ref, folder, _ string, log *output.Log) (*Program, error) {
	g := git{folder: folder, log: l.Log, outage: &l.outage}
	commit, err := g.clone(ctx, url, ref, log)
	if err != nil {
		return nil, err
	}
	log.Say("This worker uses no containers. The command runs on the worker's own machine, in the checkout.")
	return &Program{Version: commit, folder: folder}, nil
}

// Output implements Sandbox. Its size is counted.
func (*Local) Output(_ context.Context, path string, _ Bytes) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// Guard implements Sandbox. Processes end with the one that started them by themselves, on Linux.
func (*Local) Guard(string) (release func(), err error) { return func() {}, nil }

// Tidy implements Sandbox.
func (l *Local) Tidy(ctx context.Context, folder string) error { return l.Remove(ctx, folder) }

// Remove implements Sandbox.
func (*Local) Remove(_ context.Context, folder string) error { return os.RemoveAll(folder) }

func (*Local) run(ctx context.Context, j *Job) (*ending, error) {
	if j.Command == "" {
		return nil, failure.New("There is no command, and this worker runs nothing else: it uses no containers. Name a command in the submission.")
	}
	cmd := groupCommand(ctx, "sh", "-c", j.Command)
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
	return ended(runGroup(cmd))
}

// ended turns what running a command returned into how its program ended, or into the error that kept it from running.
func ended(err error) (*ending, error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &ending{code: exitCode(exit)}, nil
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it left processes behind that held its output open; they are gone
		return &ending{}, nil
	}
	return nil, err
}

// CommandVersion tells one command from every other, where no image does.
func CommandVersion(command string) string {
	sum := sha256.Sum256([]byte(command))
	return "command sha256:" + hex.EncodeToString(sum[:])
}

// patience is how long to wait for the output of processes that outlive their program.
const patience = 2 * time.Second
