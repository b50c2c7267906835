package files

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"assay/shared/language/metrics"
	"assay/shared/storage/blob"
)

// Observed is an object store whose failures are counted. Missing files, bytes that differ from their declaration, faults of the reader of
// a Put and cancelled calls are no failures of the store.
type Observed struct {
	blob.Store
	Metrics metrics.Recorder
}

func (o Observed) count(ctx context.Context, operation string, err error) {
	if err == nil || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrMismatch) || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	o.Metrics.Record(metrics.FilesFailures, 1, operation)
}

// Put implements blob.Store.
func (o Observed) Put(ctx context.Context, object blob.Object, r io.Reader) error {
	source := &faultReader{Reader: r}
	err := o.Store.Put(ctx, object, source)
	if source.fault == nil {
		o.count(ctx, "put", err)
	}
	return err
}

// faultReader remembers the error of a reader.
type faultReader struct {
	io.Reader
	fault error
}

// Read implements io.Reader.
func (f *faultReader) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.fault = err
	}
	return n, err
}

// Open implements blob.Store.
func (o Observed) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := o.Store.Open(ctx, key)
	o.count(ctx, "open", err)
	if err != nil {
		return nil, err
	}
	return &observedReader{r, func(err error) { o.count(ctx, "read", err) }}, nil
}

// observedReader is a file whose failures are counted.
type observedReader struct {
	io.ReadCloser
	count func(error)
}

// Read implements io.Reader.
func (r *observedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.count(err)
	}
	return n, err
}

// Stat implements blob.Store.
func (o Observed) Stat(ctx context.Context, key string) (blob.Object, error) {
	object, err := o.Store.Stat(ctx, key)
	o.count(ctx, "stat", err)
	return object, err
}

// Delete implements blob.Store.
func (o Observed) Delete(ctx context.Context, keys ...string) error {
	err := o.Store.Delete(ctx, keys...)
	o.count(ctx, "delete", err)
	return err
}

// List implements blob.Store.
func (o Observed) List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for key, err := range o.Store.List(ctx, prefix, after, before) {
			o.count(ctx, "list", err)
			if !yield(key, err) {
				return
			}
		}
	}
}
