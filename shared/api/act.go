package api

import (
	"context"
	"net/http"
	"reflect"
)

// Act declares an operation that does to a resource what the address says: handle adds the writes to c.Tx, and view shows the resource
// then, to browsers as a page. The body of the request, which forms have, is not read.
func Act[T Target, R any](s Spec, load Loader[T], view func(context.Context, *Call, T) (R, error),
	handle func(context.Context, *Call, T) error) Operation {
	return Operation{
		Spec: s, Method: http.MethodPost, Status: http.StatusOK, Result: reflect.TypeFor[R](), load: load.target, widest: WidestScope[T](),
		Media: []string{mediaHTML},
		serve: func(ctx context.Context, c *Call) error {
			if err := c.retryOnConflict(ctx, load.target, func(t Target) error {
				c.target = t
				return handle(ctx, c, t.(T))
			}); err != nil {
				return err
			}
			r, err := view(ctx, c, c.target.(T))
			if err != nil {
				return err
			}
			return c.writeResource(ctx, r)
		},
	}
}
