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
	"assay/shared/measure/lines"
	"assay/shared/problem"
	"assay/shared/record"
)

const (
	// MaxStoredBytes is how large the stored files may be that one invocation reads.
	MaxStoredBytes = 256 << 20
	// MaxTextBytes is how large the stored runs and truths that one invocation reads may be together once they are unpacked: their lines
	// are held in memory.
	MaxTextBytes = compute.LargeBytes
	// MaxUnpackedBytes is how large all the files that come along may be once they are unpacked.
	MaxUnpackedBytes = 64 << 20
)

// Resolver resolves the inputs of one invocation.
type Resolver struct {
	call         *api.Call
	dependencies []string
	inlineBytes  int64              // bytes that came along
	storedBytes  int64              // bytes of stored files
	valueBytes   int64              // about as many bytes that values per topic take
	inline       readFiles          // that came along
	stored       readFiles          // whose lines are held in memory
	reads        evaluator.Settings // how files are read; zero: as rankings
}

// readFiles are files whose text is read: those of truths, and all others.
type readFiles struct{ truths, others []evaluator.File }

// add adds files of the holder.
func (f *readFiles) add(h record.Holder, list []evaluator.File) {
	if h == record.HolderTruths {
		f.truths = append(f.truths, list...)
	} else {
		f.others = append(f.others, list...)
	}
}

// count returns how much text there is. It stops beyond the most bytes.
func (f *readFiles) count(ctx context.Context, most int64) (truths, others lines.Size, err error) {
	if truths, err = evaluator.CountText(ctx, f.truths, most); err == nil {
		others, err = evaluator.CountText(ctx, f.others, most-truths.Bytes)
	}
	return truths, others, err
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

// ReadAs says how the tool reads the files, which decides how much memory they take.
func (resolver *Resolver) ReadAs(s evaluator.Settings) { resolver.reads = s }

// Compute runs do, which takes processor time, and memory in proportion to the inputs, in slots of the caller's shares.
func (resolver *Resolver) Compute(ctx context.Context, do func(context.Context) error) error {
	return compute.Process.Run(ctx, compute.Work{Caller: resolver.call.PoolCaller(), Memory: resolver.memory, Do: do})
}

// memory returns about how much memory the inputs take when they are read.
func (resolver *Resolver) memory(ctx context.Context) (int64, error) {
	truths, others, err := resolver.inline.count(ctx, MaxUnpackedBytes)
	if err != nil {
		return 0, err
	}
	if truths.Bytes+others.Bytes > MaxUnpackedBytes {
		return 0, problem.TooLarge.New("The files in the request unpack to more than %d bytes together. Submit larger runs to a task and "+
			"name them by runId.", MaxUnpackedBytes)
	}
	storedTruths, storedOthers, err := resolver.stored.count(ctx, MaxTextBytes)
	if err != nil {
		return 0, err
	}
	if storedTruths.Bytes+storedOthers.Bytes > MaxTextBytes {
		return 0, problem.TooLarge.New("The stored files that this would read have more than %d bytes of text together. Name fewer runs, or get "+
			"the files by their links and use a tool of your own.", MaxTextBytes)
	}
	ofTruths := resolver.reads.MemoryOfTruth(truths.Plus(storedTruths))
	ofOthers := resolver.reads.Memory(others.Plus(storedOthers))
	return ofTruths + ofOthers + resolver.inlineBytes + resolver.valueBytes, nil
}

// heldFilesOf returns the files of a holder, whose lines the tool holds in memory. They count against the bounds of the request.
func (resolver *Resolver) heldFilesOf(ctx context.Context, h record.Holder, id string, files []record.File) ([]evaluator.File, error) {
	list, err := resolver.storedFiles(ctx, h, id, files)
	resolver.stored.add(h, list)
	return list, err
}

// storedFiles returns the files of a holder. They count against the bounds of the request.
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
	return list, nil
}

// notFound is the problem of naming what is missing, or may not be seen.
func notFound(fields ...problem.Field) error {
	return problem.NotFound.New("The input names something that does not exist, or that you may not see; `errors` says where and what. " +
		"Check the ids; if it is private or not published yet, log in as somebody who may see it.").With(fields...)
}
