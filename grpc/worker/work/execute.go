package work

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/transfer"
	"assay/shared/wait"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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
	var ofRun *failure.RunError
	if err = t.run(ctx, program, input, output); errors.As(err, &ofRun) {
		if tail := t.log.Tail(assayv1.Stream_STREAM_STDERR); tail != "" {
			ofRun = ofRun.With("Its last lines on standard error:\n" + tail)
		}
		if tail := t.log.Tail(assayv1.Stream_STREAM_STDOUT); tail != "" {
			ofRun = ofRun.With("Its last lines on standard output:\n" + tail)
		}
		return ofRun
	}
	if err != nil {
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
	t.drain()
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

// newFolder makes an empty folder.
func (t *task) newFolder(name string) (string, error) {
	path := filepath.Join(t.folder, name)
	return path, os.Mkdir(path, 0o700)
}

// output makes the folder that programs write to. The caller closes its root.
func (t *task) output(ctx context.Context, variables ...string) (sandbox.Folder, error) {
	f := sandbox.Folder{Path: filepath.Join(t.folder, "output"), Mount: "/assay/output", Variables: append(variables, "ASSAY_OUTPUT"),
		Writable: true}
	var err error
	f.Root, err = t.Sandbox.Output(ctx, f.Path, t.Limits.Disk)
	return f, err
}

// uploadRounds is how often missing files are uploaded.
const uploadRounds = 4

// uploadOutput declares the output and uploads what the server misses, until it has all.
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
