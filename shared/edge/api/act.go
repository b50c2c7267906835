package api

import (
	"context"
	"net/http"
	"reflect"
)

// Act declares a POST that performs the action its path names on a resource. handle adds the writes to c.Tx. The answer is the view of
// the changed resource, and browsers get it as a page. The request body, such as that of an HTML form, is not read.
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
