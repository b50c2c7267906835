// Package inputs resolves the inputs of a tool, as far as its caller may read them. A tool names runs, truths and texts;
// which of them a caller may read is decided here, by the rules that decide it for the resources themselves:
//
//   - the files of a run, as the links that GET of the run has: its owner and the organizers, others once its review shows it;
//   - the values of a run, as GET of its evaluation;
//   - a truth, as the links that GET of the dataset has: organizers and workers. Judgments are nothing else than a truth. Who may
//     not read it gets the values that an evaluation has, and of what is computed from it again for samples of examples no more than
//     package evaluation says;
//   - texts, as the inputs of a dataset.
//
// Hidden resources get the same answer as missing ones, after the same reads. The dependencies of an answer are recorded, so that
// it has an entity tag before it is computed.
package inputs

import (
	"context"
	"fmt"
	"io"

	"assay/shared/api"
	"assay/shared/compute"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

const (
	// MaxStoredBytes is how large the stored files may be that one invocation reads.
	MaxStoredBytes = 256 << 20
)

// Resolver resolves the inputs of one invocation.
type Resolver struct {
	call          *api.Call
	dependencies  []string
	inlineBytes   int64            // bytes that came along
	unpackedBytes int64            // as many once they are unpacked
	storedBytes   int64            // bytes of stored files
	valueBytes    int64            // about as many bytes that values per topic take
	heldFiles     []evaluator.File // stored files of runs and truths, whose lines are held in memory
}

// NewResolver returns a resolver for the call.
func NewResolver(c *api.Call) *Resolver { return &Resolver{call: c} }

// WriteTempFile is that of the call.
func (resolver *Resolver) WriteTempFile(name, mediaType string, write func(io.Writer) error) (*api.TempFile, error) {
	return resolver.call.WriteTempFile(name, mediaType, write)
}

// Dependencies identify all that was resolved; two invocations with the same input and dependencies have the same answer.
func (resolver *Resolver) Dependencies() []string { return resolver.dependencies }

func (resolver *Resolver) addDependency(format string, args ...any) {
	resolver.dependencies = append(resolver.dependencies, fmt.Sprintf(format, args...))
}

// Compute runs do, which takes processor time, and memory in proportion to the inputs, once the caller's share has room for it.
func (resolver *Resolver) Compute(ctx context.Context, do func(context.Context) error) error {
	slot, err := compute.Process.Acquire(ctx, resolver.call.PoolCaller())
	if err != nil {
		return err
	}
	defer slot.Release()
	text, err := resolver.heldUnpackedBytes(ctx)
	if err != nil {
		return err
	}
	if err := slot.Memory(ctx, resolver.storedBytes+resolver.unpackedBytes+resolver.valueBytes+text); err != nil {
		return err
	}
	return do(ctx)
}

// storedFiles are the files of a holder. They count against the bounds of the request.
func (resolver *Resolver) storedFiles(ctx context.Context, h record.Holder, id string, files []record.File) ([]evaluator.File, error) {
	list := make([]evaluator.File, len(files))
	for i, f := range files {
		resolver.addDependency("%s %s %s", h, f.Name, f.SHA256)
		if resolver.storedBytes += f.Size; resolver.storedBytes > MaxStoredBytes {
			return nil, problem.TooLarge.New("The stored files that this would read have more than %d bytes together. Name fewer runs, or get the "+
				"files by their links and use a tool of your own.", MaxStoredBytes)
		}
		list[i] = evaluator.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
			return resolver.call.Files.Open(ctx, record.ObjectKey(h, id, f.SHA256))
		}}
	}
	if h != record.HolderInputs {
		resolver.heldFiles = append(resolver.heldFiles, list...)
	}
	return list, nil
}

// notFound is the problem of naming what is missing, or may not be seen.
func notFound(fields ...problem.Field) error {
	return problem.NotFound.New("The input names something that does not exist, or that you may not see; `errors` says where and what. " +
		"Check the ids; if it is private or not published yet, log in as somebody who may see it.").With(fields...)
}
