// Package inputs gathers what a tool is to work on, as far as its caller may have it. A tool names runs, truths and texts;
// which of them a caller may read is decided here, by the rules that decide it for the resources themselves:
//
//   - the files of a run, as the links that GET of the run has: its owner and the organizers, others once its review shows it;
//   - the values of a run, as GET of its evaluation;
//   - a truth, as the links that GET of the dataset has: organizers and workers. Judgments are nothing else than a truth. Who may
//     not read it gets the values that an evaluation has, and never a new one computed from it;
//   - texts, as the inputs of a dataset.
//
// What is hidden is answered as what is missing, after the same reads. Everything that an answer depends on is noted, so that
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

// Resolver is where one invocation gathers its material.
type Resolver struct {
	c        *api.Call
	parts    []string
	inline   int64            // bytes that came along
	unpacked int64            // as many once they are unpacked
	stored   int64            // bytes of stored files
	values   int64            // about as many bytes that values per topic take
	held     []evaluator.File // stored files of runs and truths, whose lines are held in memory
}

// NewDesk returns an empty desk for the call.
func NewDesk(c *api.Call) *Resolver { return &Resolver{c: c} }

// Anonymous reports whether the caller is not logged in.
func (d *Resolver) Anonymous() bool { return d.c.Caller.Anonymous() }

// Dependencies identify all that was gathered; two invocations with the same input and parts have the same answer.
func (d *Resolver) Dependencies() []string { return d.parts }

// addDependency adds to the parts.
func (d *Resolver) addDependency(format string, args ...any) {
	d.parts = append(d.parts, fmt.Sprintf(format, args...))
}

// Work does what takes processor time, and memory in proportion to the material, as soon as the caller's share has room for it.
func (d *Resolver) Work(ctx context.Context, do func(context.Context) error) error {
	slot, err := compute.Process.Acquire(ctx, d.c.Computing())
	if err != nil {
		return err
	}
	defer slot.Release()
	text, err := d.unpackedText(ctx)
	if err != nil {
		return err
	}
	if err := slot.Memory(ctx, d.stored+d.unpacked+d.values+text); err != nil {
		return err
	}
	return do(ctx)
}

// storedFiles are the files of a holder. They count against the bounds of the request.
func (d *Resolver) storedFiles(ctx context.Context, h record.Holder, id string, files []record.File) ([]evaluator.File, error) {
	list := make([]evaluator.File, len(files))
	for i, f := range files {
		d.addDependency("%s %s %s", h, f.Name, f.SHA256)
		if d.stored += f.Size; d.stored > MaxStoredBytes {
			return nil, problem.TooLarge.New("The stored files that this would read have more than %d bytes together. Name fewer runs, or get the files by their links and use a tool of your own.", MaxStoredBytes)
		}
		list[i] = evaluator.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
			return d.c.Files.Open(ctx, record.ObjectKey(h, id, f.SHA256))
		}}
	}
	if h != record.HolderInputs {
		d.held = append(d.held, list...)
	}
	return list, nil
}

// unseen is the problem of naming what is missing, or may not be seen.
func unseen(fields ...problem.Field) error {
	return problem.NotFound.New("The input names something that does not exist, or that you may not see; `errors` says where and what. " +
		"Check the ids; if it is private or not published yet, log in as somebody who may see it.").With(fields...)
}

func invalid(pointer, format string, args ...any) error {
	return problem.Check([]problem.Field{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}})
}
