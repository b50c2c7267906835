package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/sandbox"
)

// errTruthChanged means that the result is against an outdated truth.
var errTruthChanged = errors.New("the truth has changed: the run waits to be evaluated against the new one")

// task is the work under one lease.
type task struct {
	*Worker
	*lease
	work        *assayv1.Work
	folder      string
	workerFault bool // the failure is the worker's
}

// do does the work and reports its result to the server. It returns false when it failed because of the worker.
func (w *Worker) do(working context.Context, work *assayv1.Work) bool {
	began := time.Now()
	// The lease outlives working, so that the work can be given back.
	t := &task{Worker: w, lease: newLease(context.WithoutCancel(working), w.Client, work, w.RetryFor), work: work}
	log := w.Log.With("run", work.GetRunId(), "lease", work.GetLeaseId(), "kind", work.GetKind())
	log.Info("work begins", "attempt", work.GetAttempt(), "task", work.GetTaskId(), "dataset", work.GetDatasetId())
	var heartbeats sync.WaitGroup
	heartbeats.Go(t.sendHeartbeats)
	doing, stop := context.WithCancelCause(t.lease.ctx)
	unlink := context.AfterFunc(working, func() { stop(context.Cause(working)) })
	err := t.perform(doing)
	if cause := context.Cause(doing); err != nil && cause != nil {
		err = cause
	}
	unlink()
	stop(nil)
	if err != nil {
		err = t.reportFailure(err)
	}
	t.lease.end(nil)
	heartbeats.Wait()
	if removal := w.Sandbox.Remove(working, t.folder); removal != nil {
		log.Warn("the folder of the work cannot be removed", "error", removal)
	}
	took := time.Since(began).Round(time.Millisecond)
	if err != nil {
		log.Warn("work ends without a result", "error", err, "took", took)
		return !t.workerFault
	}
	log.Info("work ends", "took", took)
	return true
}

func (t *task) perform(ctx context.Context) error {
	t.folder = filepath.Join(t.Folder.Path, strings.ToLower(t.leaseID))
	if err := os.Mkdir(t.folder, 0o700); err != nil {
		return err
	}
	switch t.work.GetKind() {
	case assayv1.WorkKind_WORK_KIND_IMAGE, assayv1.WorkKind_WORK_KIND_REPOSITORY:
		return t.execute(ctx)
	case assayv1.WorkKind_WORK_KIND_EVALUATION:
		return t.evaluate(ctx)
	}
	return fmt.Errorf("this worker is too old for work of the kind %s", t.work.GetKind())
}

// reportFailure reports to the server that there is no result, and why, unless the server has ended the lease.
func (t *task) reportFailure(err error) error {
	if t.lease.ctx.Err() != nil || errors.Is(err, errLeaseLost) || errors.Is(err, errTruthChanged) {
		return err
	}
	request := &assayv1.FailRunRequest{RunId: t.runID, LeaseId: t.leaseID}
	var ofRun *failure.RunError
	switch {
	case errors.Is(err, errStopping):
		request.Fault = assayv1.FailRunRequest_FAULT_NONE
		t.log.Printf("The worker stops, and gives the run back.")
	case errors.As(err, &ofRun):
		request.Fault, request.Diagnostics = assayv1.FailRunRequest_FAULT_RUN, ofRun.Diagnostics
		for _, d := range ofRun.Diagnostics {
			if d.GetDiscreet() {
				t.log.Printf("%s", d.GetMessage())
			}
		}
	default:
		request.Fault = assayv1.FailRunRequest_FAULT_WORKER
		t.workerFault = true
		// The error may reveal the worker's network or the truth, so only the worker's own log has it.
		request.Diagnostics = []*assayv1.Diagnostic{
			failure.Diagnostic(fmt.Sprintf("The worker %s could not do this. Its operators find the reason in its log.", t.Name), true)}
		t.log.Printf("%s", request.GetDiagnostics()[0].GetMessage())
	}
	t.drain()
	if _, failed := callWithRetry(t.lease, t.Client.FailRun, request); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// program prepares the program of the work.
func (t *task) program(ctx context.Context) (*sandbox.Program, error) {
	if t.work.GetKind() != assayv1.WorkKind_WORK_KIND_REPOSITORY {
		return t.Sandbox.Image(ctx, t.work.GetImage(), t.log)
	}
	folder, err := t.newFolder("repository")
	if err != nil {
		return nil, err
	}
	return t.Sandbox.Repository(ctx, t.work.GetRepositoryUrl(), t.work.GetRepositoryRef(), folder, strings.ToLower(t.leaseID), t.log)
}

// run runs a program with the folders and an empty home.
func (t *task) run(ctx context.Context, p *sandbox.Program, folders ...sandbox.Folder) error {
	home, err := t.newFolder("home")
	if err != nil {
		return err
	}
	homeRoot, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = homeRoot.Close() }()
	stdout, stderr := t.log.Writer(assayv1.Stream_STREAM_STDOUT), t.log.Writer(assayv1.Stream_STREAM_STDERR)
	began := time.Now()
	t.log.Printf("The program begins: %s", t.Limits)
	err = sandbox.Run(ctx, t.Sandbox, &sandbox.Job{
		Name: "assay-" + strings.ToLower(t.leaseID), Owner: t.Folder.Path, Program: p, Command: t.work.GetCommand(), Limits: t.Limits,
		Folders: append(folders, sandbox.Folder{Path: home, Variables: []string{"HOME", "TMPDIR"}, Writable: true, Root: homeRoot}),
		Stdout:  stdout, Stderr: stderr,
	})
	stdout.Close()
	stderr.Close()
	t.log.Close()
	if err == nil {
		t.log.Printf("The program ended with exit code 0 after %s.", time.Since(began).Round(time.Millisecond))
	}
	return err
}
