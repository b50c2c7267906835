// Package api is the edge over HTTP. An Operation declares once, as data, its method and path, who may call it, what it
// takes and what it answers; routing, authentication, access, decoding, validation, problem documents, paging, patches,
// conditional and idempotent requests, CORS and the OpenAPI document follow from the declaration.
//
// A request goes through the same steps in the same order, whatever the operation: route, authenticate, find what it is
// about, decide, read query and body, handle, render. What a caller may not see is decided before anything that
// the caller sent is looked at, which is why the steps stand here; schemas, validation and the OpenAPI model are huma's.
package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"assay/shared/access"
	"assay/shared/page"
	"assay/shared/problem"
)

// Spec is what every operation declares.
type Spec struct {
	ID          string // operationId, unique
	Path        string // pattern of net/http's ServeMux
	Summary     string // one line
	Description string // what a caller must know beyond it; Markdown
	May         access.Role
	Token       access.TokenScope // what an access token must have one of; 0: what reading takes, or for a change SignedIn
	Query       page.Spec
	Large       bool            // it can be too long for an answer, which then leads to it
	CacheFor    int             // seconds that anybody may keep the answer to a GET; 0: always ask again
	Problems    []*problem.Kind // that it can answer with, beyond those that follow from the rest
	Example     any             // of the body, where the one that its schema would make is refused
}

// Operation is a declared operation. Make it with Get, List, Document, Compute, ComputeGet, Create, CreateIn, Patch or Delete.
type Operation struct {
	Spec
	Method string
	Status int          // of success
	Body   reflect.Type // of the request's JSON body; nil: none
	Result reflect.Type // of the answer's JSON body; nil: none
	Media  []string     // other media types that the answer may have, by Accept

	safe         bool         // a POST that changes nothing
	variants     []Variant    // what it computes; none: it computes nothing
	patch        bool         // the body is a patch that results in Body
	widest       access.Scope // of what it can be about, the scope that most callers see
	targetInBody bool         // what it is about is known only from the body
	load         targetLoader
	serve        func(ctx context.Context, c *Call) error
}

// Target is what an operation is about. Its scope decides who may call the operation on it.
type Target interface{ Scope() access.Scope }

// targetLoader finds the target of a request, as a Loader does.
type targetLoader = func(ctx context.Context, c *Call) (Target, error)

// Loader finds the target of a request, or returns visibility.Missing.
type Loader[T Target] func(ctx context.Context, c *Call) (T, error)

// PublicTarget is the target of operations that are about nothing in particular.
type PublicTarget struct{}

// Scope says that everyone may know of it.
func (PublicTarget) Scope() access.Scope { return access.Scope{Audience: access.Everyone} }

// NoTarget is the Loader of operations that are about nothing in particular.
func NoTarget(context.Context, *Call) (PublicTarget, error) { return PublicTarget{}, nil }

// WidestScope returns, of the scopes that a T can have, the one that most callers see: that of WidestScope, or else of its zero value.
func WidestScope[T Target]() access.Scope {
	t := reflect.New(reflect.TypeFor[T]()).Elem()
	if t.Kind() == reflect.Pointer {
		t.Set(reflect.New(t.Type().Elem()))
	}
	if w, ok := t.Interface().(interface{ WidestScope() access.Scope }); ok {
		return w.WidestScope()
	}
	return t.Interface().(T).Scope()
}

func (l Loader[T]) target(ctx context.Context, c *Call) (Target, error) { return l(ctx, c) }

// Get declares an operation that returns one resource.
func Get[T Target, R any](s Spec, load Loader[T], handle func(context.Context, *Call, T) (R, error)) Operation {
	s.Query.Fields = fieldNames(reflect.TypeFor[R]())
	return Operation{
		Spec: s, Method: http.MethodGet, Status: http.StatusOK, Result: reflect.TypeFor[R](), load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error {
			r, err := handle(ctx, c, c.target.(T))
			if err != nil {
				return err
			}
			return c.writeResource(ctx, r)
		},
	}
}

// List declares an operation that returns a page of resources. When table is not nil, it is also what the page is as a
// table of text, first the header, for callers who accept text/csv.
func List[T Target, R any](s Spec, load Loader[T], handle func(context.Context, *Call, T) (page.Page[R], error),
	table func([]R) [][]string) Operation {
	s.Query.List = true
	s.Query.Fields = fieldNames(reflect.TypeFor[R]())
	s.Query.Filters = slices.Clone(s.Query.Filters)
	for i := range s.Query.Filters {
		if f := &s.Query.Filters[i]; f.Type == page.Enum && f.Values == nil {
			f.Values = enumOf(reflect.TypeFor[R](), f.Name)
		}
	}
	op := Operation{
		Spec: s, Method: http.MethodGet, Status: http.StatusOK, Result: reflect.TypeFor[page.Page[R]](), load: load.target,
		widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error {
			var p page.Page[R]
			if !c.Page.PastEnd() {
				var err error
				if p, err = handle(ctx, c, c.target.(T)); err != nil {
					return err
				}
			}
			if err := resolvePeopleOf(ctx, c, &p); err != nil {
				return err
			}
			p.Link(c.request.URL.EscapedPath(), c.request.URL.RawQuery, c.Page)
			if p.Links.Next != "" {
				c.w.Header().Add("Link", "<"+p.Links.Next+`>; rel="next"`)
			}
			if len(p.Data) == 0 && c.accepted != mediaHTML { // a 204 would leave a browser where it was
				return c.writeNothing()
			}
			if c.accepted == mediaCSV {
				if len(c.Page.Fields) > 0 {
					return problem.InvalidParameter.New("`fields` chooses members of JSON, and a table of text has all of its columns. Leave it out.")
				}
				return c.writeCSV(table(p.Data))
			}
			body, err := p.JSON(func(resource []byte) ([]byte, error) { return selectFields(resource, c.Page.Fields) })
			switch {
			case err != nil:
				return err
			case c.accepted == mediaHTML:
				return c.writeHTML(ctx, body)
			}
			return c.writeBytes(mediaJSON, body)
		},
	}
	if table != nil {
		op.Media = []string{mediaCSV}
	}
	return op
}

// Document declares an operation that answers a GET with other media types than JSON: handle writes with WriteDocument,
// or is the Answer of a Static.
func Document(s Spec, media []string, handle func(context.Context, *Call) error) Operation {
	return DocumentOf(s, media, NoTarget, func(ctx context.Context, c *Call, _ PublicTarget) error { return handle(ctx, c) })
}

// DocumentOf is Document for what is about a target.
func DocumentOf[T Target](s Spec, media []string, load Loader[T], handle func(context.Context, *Call, T) error) Operation {
	return Operation{Spec: s, Method: http.MethodGet, Status: http.StatusOK, Media: media, load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error { return handle(ctx, c, c.target.(T)) }}
}

// WithHTML adds a page to an operation that answers a GET: callers who prefer text/html, as browsers do, get what page writes.
func WithHTML[T Target](op Operation, page func(context.Context, *Call, T) error) Operation {
	data := op.serve
	op.Media = append(slices.Clone(op.Media), mediaHTML)
	op.serve = func(ctx context.Context, c *Call) error {
		if c.accepted == mediaHTML {
			return page(ctx, c, c.target.(T))
		}
		return data(ctx, c)
	}
	return op
}

// Delete declares an operation that deletes a resource: handle adds the writes to c.Tx.
func Delete[T Target](s Spec, load Loader[T], handle func(context.Context, *Call, T) error) Operation {
	return Operation{
		Spec: s, Method: http.MethodDelete, Status: http.StatusNoContent, load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error {
			if err := c.retryOnConflict(ctx, load.target, func(t Target) error { return handle(ctx, c, t.(T)) }); err != nil {
				return err
			}
			return c.writeNothing()
		},
	}
}
