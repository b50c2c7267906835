// Package api serves the HTTP API. An Operation declares as data its method and path, who may call it, its input and its answers.
// Routing, authentication, access, decoding, validation, problem documents, paging, patches, conditional and idempotent requests,
// CORS and the OpenAPI document follow from the declaration.
//
// Every request goes through the same steps in the same order: route, authenticate, find the target, authorize, read query and body,
// handle, render. Authorization comes before validation, so that the answer to invalid input does not reveal a hidden target. The order of
// these steps is why this package is not built on huma's router; huma provides the schemas, the validation and the OpenAPI model.
package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/language/problem"
)

// Spec is the part of a declaration that all kinds of operations share.
type Spec struct {
	ID          string // operationId, unique
	Path        string // pattern of net/http's ServeMux
	Summary     string // one line
	Description string // further information for callers, in Markdown
	May         access.Role
	Token       access.TokenScope // scopes that permit it to an access token, any of them; 0: ScopeReading, or SignedIn for a change
	Query       page.Spec
	Large       bool            // the result can be too long for an answer; then the answer redirects to it
	CacheFor    int             // seconds for which any cache may keep the answer to a GET; 0: caches must revalidate
	Problems    []*problem.Kind // that it can answer with, beyond the kinds that the declaration implies
	Repeated    string          // when a creation answers 200 with a resource that exists already; empty: never
	Example     any             // of the body; needed if the server would refuse an example generated from the schema
}

// Operation is a declared operation. Make it with Get, List, Document, Compute, ComputeGet, Create, CreateIn, Patch, Act, Batch or Delete.
type Operation struct {
	Spec
	Method string
	Status int          // of success
	Body   reflect.Type // of the request's JSON body; nil: none
	Result reflect.Type // of the answer's JSON body; nil: none
	Media  []string     // other media types of the answer, chosen by Accept

	safe         bool         // a POST that changes nothing
	variants     []Variant    // of a computation; nil: the operation is no computation
	patch        bool         // the body is a patch that results in Body
	widest       access.Scope // scope, among those that targets can have, that most callers see
	targetInBody bool         // the body names the target
	load         targetLoader
	serve        func(ctx context.Context, c *Call) error
}

// Target is the resource that an operation concerns. Its scope decides who may call the operation on it.
type Target interface{ Scope() access.Scope }

// targetLoader finds the target of a request like a Loader, without its type.
type targetLoader = func(ctx context.Context, c *Call) (Target, error)

// Loader finds the target of a request, or returns visibility.Missing.
type Loader[T Target] func(ctx context.Context, c *Call) (T, error)

// PublicTarget is the target of operations that concern no resource.
type PublicTarget struct{}

// Scope returns a scope that everyone sees.
func (PublicTarget) Scope() access.Scope { return access.Scope{Audience: access.Everyone} }

// NoTarget is the Loader of operations that concern no resource.
func NoTarget(context.Context, *Call) (PublicTarget, error) { return PublicTarget{}, nil }

// WidestScope returns the scope, among those that a T can have, that most callers see. A method WidestScope of T returns it; without the
// method it is the scope of the zero value.
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

// List declares an operation that returns a page of resources. If table is not nil, it renders the page as rows of text for callers who
// accept text/csv. The first row is the header.
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
				if p, err = handle(ctx, c, c.target.(T)); err != nil || c.answered {
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
			if len(p.Data) == 0 && c.accepted != mediaHTML { // after a 204 a browser would stay on its current page
				return c.writeNothing()
			}
			if c.accepted == mediaCSV {
				if len(c.Page.Fields) > 0 {
					return problem.InvalidParameter.New("{?fields} chooses members of JSON, and a table of text has all of its columns. Leave it out.")
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

// Document declares a GET that answers with media types other than JSON. handle writes with WriteDocument, or is the Answer of a Static.
func Document(s Spec, media []string, handle func(context.Context, *Call) error) Operation {
	return DocumentOf(s, media, NoTarget, func(ctx context.Context, c *Call, _ PublicTarget) error { return handle(ctx, c) })
}

// DocumentOf is like Document, for documents about a target.
func DocumentOf[T Target](s Spec, media []string, load Loader[T], handle func(context.Context, *Call, T) error) Operation {
	return Operation{Spec: s, Method: http.MethodGet, Status: http.StatusOK, Media: media, load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error { return handle(ctx, c, c.target.(T)) }}
}

// WithHTML adds a page to a GET. Callers who prefer text/html, such as browsers, get the output of writePage.
func WithHTML[T Target](op Operation, writePage func(context.Context, *Call, T) error) Operation {
	data := op.serve
	op.Media = append(slices.Clone(op.Media), mediaHTML)
	op.serve = func(ctx context.Context, c *Call) error {
		if c.accepted == mediaHTML {
			return writePage(ctx, c, c.target.(T))
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
