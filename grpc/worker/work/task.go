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
	"assay/grpc/worker/measures"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/transfer"
	"assay/shared/language/wait"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errTruthChanged means that the result was computed against an outdated ground truth.
var errTruthChanged = errors.New("the truth has changed: the run waits to be evaluated against the new one")

// task is the work under one lease.
type task struct {
	*Worker
	*lease
	work        *assayv1.Work
	folder      string
	workerFault bool // the worker caused the failure
}

// do does the work and reports its result to the server. It returns false if the worker caused a failure.
func (w *Worker) do(working context.Context, work *assayv1.Work) bool {
	began := time.Now()
	// The lease outlives the context working, so that the run can be returned.
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

// reportFailure reports the failure to the server, unless the server has ended the lease. It returns err, joined with an error of the
// report.
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
		request.Fault = assayv1.FailRunRequest_FAULT_RUN
		request.Diagnostics = ofRun.Diagnostics
		for _, d := range ofRun.Diagnostics {
			if d.GetDiscreet() {
				t.log.Printf("%s", d.GetMessage())
			}
		}
	default:
		request.Fault = assayv1.FailRunRequest_FAULT_WORKER
		t.workerFault = true
		// The error may reveal the worker's network or the ground truth, so only the worker's own log shows it.
		request.Diagnostics = []*assayv1.Diagnostic{
			failure.Diagnostic(fmt.Sprintf("The worker %s could not do this. Its operators find the reason in its log.", t.Name), true)}
		t.log.Printf("%s", request.GetDiagnostics()[0].GetMessage())
	}
	t.flush()
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

// run runs a program with the folders and an empty home folder.
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
	stdout := t.log.Writer(assayv1.Stream_STREAM_STDOUT)
	stderr := t.log.Writer(assayv1.Stream_STREAM_STDERR)
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

// execute runs an image or a repository over the inputs, and uploads its output.
func (t *task) execute(ctx context.Context) error {
	input, err := t.files(ctx, "input", t.work.GetInputs(), "ASSAY_INPUT", "inputDataset", "inputRun")
	if err != nil {
		return err
	}
	program, err := t.program(ctx)
	if err != nil {
		return err
	}
	output, err := t.output(ctx, "outputDir")
	if err != nil {
		return err
	}
	defer func() { _ = output.Root.Close() }()
	if err := t.run(ctx, program, input, output); err != nil {
		if ofRun, ok := errors.AsType[*failure.RunError](err); ok {
			return ofRun.With("Its last lines on standard error:\n", t.log.Tail(assayv1.Stream_STREAM_STDERR)).
				With("Its last lines on standard output:\n", t.log.Tail(assayv1.Stream_STREAM_STDOUT))
		}
		return err
	}
	files, folders, err := transfer.Collect(output.Root)
	if err != nil {
		return err
	}
	if len(folders) > 0 {
		t.log.Printf("Only files at the top of the output folder are taken. These folders are not: %s", strings.Join(folders, ", "))
	}
	for _, f := range files {
		t.log.Printf("Output: %s, %s, SHA-256 %s", f.GetName(), sandbox.Bytes(f.GetSize()), f.GetSha256())
	}
	t.flush()
	return t.uploadOutput(ctx, files, output.Root)
}

// files downloads files into a folder that programs can only read.
func (t *task) files(ctx context.Context, name string, files []*assayv1.File, variables ...string) (sandbox.Folder, error) {
	f := sandbox.Folder{Path: filepath.Join(t.folder, name), Mount: "/assay/" + name, Variables: variables}
	var size int64
	for _, file := range files {
		size += file.GetSize()
	}
	t.log.Printf("Getting the files for %s: %d, %s", f.Mount, len(files), sandbox.Bytes(size))
	return f, t.Files.Download(ctx, files, f.Path)
}

// newFolder creates an empty folder.
func (t *task) newFolder(name string) (string, error) {
	path := filepath.Join(t.folder, name)
	return path, os.Mkdir(path, 0o700)
}

// output creates the folder that programs write to. The caller closes its root.
func (t *task) output(ctx context.Context, variables ...string) (sandbox.Folder, error) {
	f := sandbox.Folder{Path: filepath.Join(t.folder, "output"), Mount: "/assay/output", Variables: append(variables, "ASSAY_OUTPUT"),
		Writable: true}
	var err error
	f.Root, err = t.Sandbox.Output(ctx, f.Path, t.Limits.Disk)
	return f, err
}

// uploadRounds bounds the rounds in which missing files are uploaded.
const uploadRounds = 4

// uploadOutput declares the output and uploads missing files until the server has all files.
func (t *task) uploadOutput(ctx context.Context, files []*assayv1.File, folder *os.Root) error {
	request := &assayv1.CompleteRunRequest{RunId: t.runID, LeaseId: t.leaseID, Files: files}
	var failed error
	for round := 1; round <= uploadRounds; round++ {
		answer, err := callWithRetry(t.lease, t.Client.CompleteRun, request)
		if status.Code(err) == codes.InvalidArgument {
			return failure.New("The output cannot be taken. %s", explain(err))
		}
		if err != nil || len(answer.GetUploads()) == 0 {
			return err
		}
		failed = nil
		for _, to := range answer.GetUploads() {
			failed = errors.Join(failed, t.Files.Upload(ctx, to, folder))
		}
		if failed != nil && !wait.Sleep(ctx, wait.Backoff(round, maxRetryDelay)) {
			return context.Cause(ctx)
		}
	}
	return errors.Join(errors.New("the file store does not take the output"), failed)
}

// evaluate runs an organizer's image over a run and the ground truth, and reports the measures. The image reads the truth, so its output
// appears only in the evaluation's log, which only organizers can read.
func (t *task) evaluate(ctx context.Context) error {
	folders := make([]sandbox.Folder, 0, 4)
	for _, of := range []struct {
		name     string
		files    []*assayv1.File
		variable string
	}{
		{"run", t.work.GetRunFiles(), "ASSAY_RUN"},
		{"truth", t.work.GetTruths(), "ASSAY_TRUTH"},
		{"input", t.work.GetInputs(), "ASSAY_INPUT"},
	} {
		f, err := t.files(ctx, of.name, of.files, of.variable)
		if err != nil {
			return err
		}
		folders = append(folders, f)
	}
	program, err := t.program(ctx)
	if err != nil {
		return asEvaluatorFailure(err)
	}
	output, err := t.output(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = output.Root.Close() }()
	if err := t.run(ctx, program, append(folders, output)...); err != nil {
		return asEvaluatorFailure(err)
	}
	found, err := measures.Read(output.Root, t.work.GetMeasures())
	if err != nil {
		return err
	}
	t.flush()
	return t.report(found, program.Version)
}

// asEvaluatorFailure attributes a failure of the program to the evaluator.
func asEvaluatorFailure(err error) error {
	if ofRun, ok := errors.AsType[*failure.RunError](err); ok {
		return ofRun.Behind("The evaluator of the dataset failed; its organizers find more in the log of the evaluation.")
	}
	return err
}

func (t *task) report(found *measures.Reported, version string) error {
	if t.Local {
		version = sandbox.CommandVersion(t.work.GetCommand())
	}
	request := &assayv1.ReportEvaluationRequest{
		RunId: t.runID, LeaseId: t.leaseID, TruthVersion: t.work.GetTruthVersion(), Measures: found.Measures,
		EvaluatorVersion: version[max(len(version)-maxVersion, 0):],
	}
	if len(found.Topics) > 0 {
		request.Topics = make(map[string]*assayv1.TopicMeasures, len(found.Topics))
		for topic, values := range found.Topics {
			request.Topics[topic] = &assayv1.TopicMeasures{Measures: values}
		}
	}
	_, err := callWithRetry(t.lease, t.Client.ReportEvaluation, request)
	switch {
	case status.Code(err) == codes.Aborted && reason(err) == truthChanged:
		return errTruthChanged
	case status.Code(err) == codes.InvalidArgument, status.Code(err) == codes.ResourceExhausted:
		t.log.Printf("The measures cannot be taken. %s", explain(err))
		return failure.New("The measures of the evaluator cannot be taken; its organizers find why in the log of the evaluation.")
	}
	return err
}

// maxVersion bounds the version of an evaluator. report keeps the end, which contains the digest.
const maxVersion = 200
