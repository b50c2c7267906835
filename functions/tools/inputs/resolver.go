// Package inputs resolves the inputs of a tool. A tool names runs, truths (ground truth: qrels or labels) and texts. This package
// decides which of them the caller may read, by the same rules as the resources themselves:
//
//   - The files of a run follow the links in GET of the run: the owner and the organizers may read them. Other callers may read them once
//     the review of the run shows them.
//   - The values of a run follow GET of its evaluation.
//   - A truth follows the links in GET of the dataset: organizers and workers may read it. Judgments are a truth like any other. Other
//     callers get the values that an evaluation stores. From values that are computed again for samples of examples they get no more
//     than package evaluation allows.
//   - Texts follow the inputs of a dataset.
//
// Hidden resources get the same answer as missing ones, after the same reads. The resolver records the dependencies of an answer,
// so that the answer has an entity tag before it is computed.
package inputs

import (
	"context"
	"fmt"
	"io"

	"assay/functions/tools/detection"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
)

const (
	// MaxStoredBytes bounds the total size of the stored files that one invocation reads.
	MaxStoredBytes = 256 << 20
	// MaxTextBytes bounds the unpacked size of all stored runs and truths that one invocation reads. Their lines are held in
	// memory.
	MaxTextBytes = compute.LargeBytes
	// MaxUnpackedBytes bounds the unpacked size of all files that the request contains.
	MaxUnpackedBytes = 64 << 20
)

// Resolver resolves the inputs of one invocation.
type Resolver struct {
	call         *api.Call
	dependencies []string
	inlineBytes  int64            // size of the files in the request
	storedBytes  int64            // size of the stored files
	valueBytes   int64            // estimated memory of the values per topic
	inline       readFiles        // files in the request
	stored       readFiles        // stored files whose lines are held in memory
	reads        scoring.Settings // how the files are read; zero: as rankings
}

// readFiles holds the files whose text is read: those of truths, and all others.
type readFiles struct{ truths, others []scoring.File }

// add adds files of the holder.
func (f *readFiles) add(h record.Holder, list []scoring.File) {
	if h == record.HolderTruths {
		f.truths = append(f.truths, list...)
	} else {
		f.others = append(f.others, list...)
	}
}

// count returns the size of the text of the files. It stops counting when the sum exceeds most bytes.
func (f *readFiles) count(ctx context.Context, most int64) (truths, others lines.Size, err error) {
	if truths, err = scoring.CountText(ctx, f.truths, most); err == nil {
		others, err = scoring.CountText(ctx, f.others, most-truths.Bytes)
	}
	return truths, others, err
}

// NewResolver returns a resolver for the call.
func NewResolver(c *api.Call) *Resolver { return &Resolver{call: c} }

// WriteTempFile calls the method of the call.
func (resolver *Resolver) WriteTempFile(name, mediaType string, write func(io.Writer) error) (*api.TempFile, error) {
	return resolver.call.WriteTempFile(name, mediaType, write)
}

// Dependencies identify all resolved inputs. Two invocations with the same input and the same dependencies have the same answer.
func (resolver *Resolver) Dependencies() []string { return resolver.dependencies }

func (resolver *Resolver) addDependency(format string, args ...any) {
	resolver.dependencies = append(resolver.dependencies, fmt.Sprintf(format, args...))
}

// ReadAs tells the resolver how the tool reads the files. This decides how much memory they take.
func (resolver *Resolver) ReadAs(s scoring.Settings) { resolver.reads = s }

// Compute runs do in slots of the caller's shares of processor time and of memory. The memory grows with the inputs.
func (resolver *Resolver) Compute(ctx context.Context, do func(context.Context) error) error {
	return compute.Process.Run(ctx, compute.Work{Caller: resolver.call.PoolCaller(), Memory: resolver.memory, Do: do})
}

// Guess runs do, which guesses the format of the file by its beginning, in slots of the caller's shares. The first line of a small packed
// file can be long.
func (resolver *Resolver) Guess(ctx context.Context, file scoring.File, do func() error) error {
	return compute.Process.Run(ctx, compute.Work{
		Caller: resolver.call.PoolCaller(),
		Memory: func(context.Context) (int64, error) {
			head, err := detection.Head(file)
			return detection.MemoryPerByte * int64(len(head)), err
		},
		Do: func(context.Context) error { return do() },
	})
}

// memory estimates the memory that the inputs take once they are read. It refuses files that unpack to too many bytes.
func (resolver *Resolver) memory(ctx context.Context) (int64, error) {
	truths, others, err := resolver.inline.count(ctx, MaxUnpackedBytes)
	if err != nil {
		return 0, err
	}
	if truths.Bytes+others.Bytes > MaxUnpackedBytes {
		return 0, problem.TooLarge.New("The files in the request unpack to more than %s together. Submit larger runs to a task and "+
			"name them by {runId}.", problem.Size(MaxUnpackedBytes))
	}
	storedTruths, storedOthers, err := resolver.stored.count(ctx, MaxTextBytes)
	if err != nil {
		return 0, err
	}
	if storedTruths.Bytes+storedOthers.Bytes > MaxTextBytes {
		return 0, problem.TooLarge.New("The stored files that this would read have more than %s of text together. Name fewer runs, or get "+
			"the files by their links and use a tool of your own.", problem.Size(MaxTextBytes))
	}
	ofTruths := resolver.reads.MemoryOfTruth(truths.Plus(storedTruths))
	ofOthers := resolver.reads.Memory(others.Plus(storedOthers))
	return ofTruths + ofOthers + resolver.inlineBytes + resolver.valueBytes, nil
}

// heldFilesOf returns the files of a holder whose lines the tool holds in memory. They count against the bounds of the request.
func (resolver *Resolver) heldFilesOf(ctx context.Context, h record.Holder, id string, files []record.File) ([]scoring.File, error) {
	list, err := resolver.storedFiles(ctx, h, id, files)
	resolver.stored.add(h, list)
	return list, err
}

// storedFiles returns the files of a holder. They count against the bounds of the request.
func (resolver *Resolver) storedFiles(ctx context.Context, h record.Holder, id string, files []record.File) ([]scoring.File, error) {
	list := make([]scoring.File, len(files))
	for i, f := range files {
		resolver.addDependency("%s %s %s", h, f.Name, f.SHA256)
		resolver.storedBytes += f.Size
		if resolver.storedBytes > MaxStoredBytes {
			return nil, problem.TooLarge.New("The stored files that this would read have more than %s together. Name fewer runs, or get the "+
				"files by their links and use a tool of your own.", problem.Size(MaxStoredBytes))
		}
		list[i] = scoring.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
			return resolver.call.Files.Open(ctx, record.ObjectKey(h, id, f.SHA256))
		}}
	}
	return list, nil
}

// notFound returns the problem for an input that names something that does not exist or that the caller may not see.
func notFound(fields ...problem.Field) error {
	return problem.NotFound.New(problem.NothingNamed).With(fields...)
}
