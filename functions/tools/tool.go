package tools

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"

	"github.com/a-h/templ"
)

// metadata is what a tool says of itself.
type metadata struct {
	name        string
	kind        string // as the enumeration of Tool has them
	summary     string // one line
	description string // Markdown
	problems    []*problem.Kind
}

// tool is a function that the service computes for a caller.
type tool struct {
	metadata
	input, output reflect.Type
	example       any      // an input
	media         []string // what it can answer with besides JSON
	invoke        func(context.Context, *api.Call) error
}

// Scope says that everyone may know of a tool. What it is to work on has rights of its own.
func (tool) Scope() access.Scope { return api.PublicTarget{}.Scope() }

// Problems that some tools can answer with: those of a truth that only organizers may use, of values of runs that the platform
// evaluates, and of files that may be too large for an answer.
var (
	truthProblems = []*problem.Kind{problem.Forbidden}
	valueProblems = append(truthProblems, problem.Conflict)
	fileProblems  = append(api.Quotas, problem.Unauthorized)
)

// compute works out an answer, once the caller turned out not to have it.
type compute[O any] func(context.Context) (O, error)

// define makes a tool. prepare gathers what the input refers to, as far as the caller may have it; what it returns computes
// from that. The output says by its methods what it can be shown as.
func define[I, O any](a metadata, example I, prepare func(context.Context, *inputs.Resolver, I) (compute[O], error)) tool {
	t := tool{metadata: a, input: reflect.TypeFor[I](), output: reflect.TypeFor[O](), example: example}
	var none O
	for _, f := range representations {
		if f.has(none) {
			t.media = append(t.media, f.mediaType)
		}
	}
	t.invoke = func(ctx context.Context, c *api.Call) error {
		if _, err := c.Negotiate(append([]string{mediaJSON}, t.media...)...); err != nil {
			return err
		}
		in, err := api.ReadInput[I](ctx, c)
		if err != nil {
			return err
		}
		resolver := inputs.NewResolver(c)
		work, err := prepare(ctx, resolver, in)
		if err != nil {
			return err
		}
		parts := append(slices.Clone(resolver.Dependencies()), t.name, string(c.Input()), c.BaseURL())
		address := c.LinkInput(t.resultPath())
		return c.WriteComputed(ctx, parts, func() (answer api.Computed, err error) {
			err = resolver.Compute(ctx, func(ctx context.Context) error {
				out, err := work(ctx)
				if err == nil {
					answer, err = render(ctx, c, t.metadata, address, out)
				}
				return err
			})
			return answer, err
		})
	}
	return t
}

func (a metadata) path() string       { return "/v1/tools/" + a.name }
func (a metadata) resultPath() string { return a.path() + "/result" }

// resultURL is where the answer of a tool to an input is, empty when that is too long for an address.
func resultURL(tool string, input any) string {
	text, err := json.Marshal(input)
	if err != nil {
		return "" // there is nothing in it that JSON could not say
	}
	return api.InputAddress(metadata{name: tool}.resultPath(), text)
}

// hasPage is an output that a browser can show as a page.
type hasPage interface {
	page() (title string, main templ.Component)
}

// hasChart is an output that is a chart.
type hasChart interface{ chart() chart.Chart }

// hasFile is an output that is a file.
type hasFile interface{ file() *tempFile }
