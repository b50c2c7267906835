package api

import (
	"context"
	"net/http"
	"reflect"

	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// Batch declares an operation that changes several resources under a target. handle makes each change with Call.Each, in a transaction
// of its own, and answers with the outcome of each. Clients may repeat the request.
func Batch[T Target, D, R any](s Spec, load Loader[T], handle func(context.Context, *Call, T, D) (R, error)) Operation {
	return Operation{
		Spec: s, Method: http.MethodPatch, Status: http.StatusOK, Body: reflect.TypeFor[D](), Result: reflect.TypeFor[R](),
		load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error {
			if err := c.checkWritePreconditions(c.target); err != nil {
				return err
			}
			draft, err := readDraft[D](ctx, c)
			if err != nil {
				return err
			}
			r, err := handle(ctx, c, c.target.(T), draft)
			if err != nil {
				return err
			}
			return c.writeResource(ctx, r)
		},
	}
}

// Each commits one of the changes of a request in a transaction of its own. change adds the writes to c.Tx. After a conflict Each calls
// change again.
func (c *Call) Each(ctx context.Context, change func() error) error {
	return c.finish(ctx, records.Retry(ctx, func() error {
		err := c.transact(ctx, change)
		if err != nil {
			c.Forget()
		}
		return err
	}))
}

// Problem returns the problem document for the resource at the path.
func (c *Call) Problem(p *problem.Error, path string) problem.Document {
	return p.Document(path, c.state.requestID)
}
