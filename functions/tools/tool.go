package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/a-h/templ"
)

// metadata describes a tool.
type metadata struct {
	name        string
	kind        string // a value of the enumeration of Tool.Kind
	summary     string // one line
	description string // Markdown
	problems    []*problem.Kind
}

// tool is a function that the service computes for a caller.
type tool struct {
	metadata
	input, output reflect.Type
	example       any // an example input
	shownAs       []representation
	invoke        func(context.Context, *api.Call) error
}

// media returns the media types of answers other than JSON.
func (t tool) media() []string { return mediaTypes(t.shownAs) }

// Scope says that everyone may read the description of a tool. The inputs of a tool have their own rights.
func (tool) Scope() access.Scope { return api.PublicTarget{}.Scope() }

// Problems of several tools: truthProblems for tools that read a truth, valueProblems for tools that read the values of runs,
// fileProblems for tools that write a file, which may be too large for an answer.
var (
	truthProblems = []*problem.Kind{problem.Forbidden}
	valueProblems = append(truthProblems, problem.Conflict)
	fileProblems  = append(api.Quotas, problem.Unauthorized)
)

// compute works out an answer. It runs only if the caller does not have the answer yet.
type compute[O any] func(context.Context) (O, error)

// define makes a tool. prepare checks the input and gathers the resources that it names, as far as the caller may read them. It
// returns the computation of the output. The methods of the output type decide in which media types it can be shown.
func define[I, O any](a metadata, example I, prepare func(context.Context, *inputs.Resolver, I) (compute[O], error)) tool {
	t := tool{metadata: a, input: reflect.TypeFor[I](), output: reflect.TypeFor[O](), example: example}
	var none O
	for _, r := range representations {
		if r.has(none) {
			t.shownAs = append(t.shownAs, r)
		}
	}
	t.invoke = func(ctx context.Context, c *api.Call) error {
		if _, err := c.Negotiate(append([]string{mediaJSON}, t.media()...)...); err != nil {
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

// resultURL returns the address of a tool's answer to an input. It is empty if the input is too long for an address.
func resultURL(tool string, input any) string {
	text, err := json.Marshal(input)
	if err != nil {
		return "" // cannot happen: inputs come from JSON
	}
	return api.InputAddress(metadata{name: tool}.resultPath(), text)
}

// hasPage is an output that a browser can show as a page.
type hasPage interface {
	page() (title string, main templ.Component)
}

// hasChart is an output with a chart.
type hasChart interface{ chart() chart.Chart } //nolint:revive // a method hides no package

// hasFile is an output that is a file.
type hasFile interface{ file() *FileResult }

// FileResult is a file that a tool has written.
type FileResult struct {
	Name      string          `json:"name" example:"fused.txt"`
	MediaType string          `json:"mediaType" example:"text/plain; charset=utf-8"`
	Size      int64           `json:"size" doc:"bytes"`
	SHA256    string          `json:"sha256" doc:"SHA-256 of the bytes in lower-case hexadecimal"`
	Content   []byte          `json:"content,omitempty" doc:"the bytes in base64, up to 3 MiB"`
	URL       string          `json:"url,omitempty" format:"uri" doc:"instead of content: the address of the bytes, until expiresAt"`
	ExpiresAt *record.Instant `json:"expiresAt,omitempty" doc:"when the url expires"`
	temp      *api.TempFile
}

// writeFile calls write and returns the file that it writes. The caller closes temp of the file.
func writeFile(resolver *inputs.Resolver, name, mediaType string, write func(io.Writer) error) (*FileResult, error) {
	f, err := resolver.WriteTempFile(name, mediaType, write)
	if err != nil {
		return nil, err
	}
	return &FileResult{Name: f.Name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256, temp: f}, nil
}

const (
	mediaJSON = "application/json"
	mediaSVG  = chart.MediaType
	mediaText = "text/plain"
	mediaCSV  = "text/csv"
	mediaTSV  = "text/tab-separated-values"
	charset   = "; charset=utf-8" // without it, some programs read text as Latin-1
)

// representation is a format of outputs other than JSON.
type representation struct {
	mediaType string
	name      string // for people
	ending    string // of a file name
	has       func(output any) bool
}

// representations are the formats, in order of preference.
var representations = []representation{
	{webpage.MediaType, "a page", ".html", is[hasPage]},
	{mediaSVG, "a chart", ".svg", is[hasChart]},
	{mediaText, "a file", ".txt", is[hasFile]},
	{mediaCSV, "CSV", ".csv", is[ConverterOutput]},
	{mediaTSV, "TSV", ".tsv", is[ConverterOutput]},
}

func is[T any](output any) bool {
	_, ok := output.(T)
	return ok
}

func mediaTypes(all []representation) []string {
	return lists.Map(all, func(r representation) string { return r.mediaType })
}

// render encodes the output in the negotiated media type. address is the address of the answer, or empty if it has none.
func render(ctx context.Context, c *api.Call, a metadata, address string, output any) (api.Computed, error) {
	accepted := c.Accepted()
	shown, isPage := output.(hasPage)
	drawn, isChart := output.(hasChart)
	if f, ok := output.(hasFile); ok {
		if !(isPage && accepted == webpage.MediaType || isChart && accepted == mediaSVG) {
			return renderFile(ctx, c, f)
		}
		defer f.file().temp.Close()
	}
	switch {
	case accepted == webpage.MediaType && isPage:
		title, main := shown.page()
		p, err := webpage.Page{Title: title, Here: toolsPath, Style: chart.Style, Base: c.BaseURL(),
			Main: resultPage(a, c.BaseURL(), address, title, main)}.Render(ctx)
		if err != nil {
			return api.Computed{}, err
		}
		c.SetContentPolicy(p.Policy)
		return boundedAnswer(webpage.MediaType+charset, p.HTML)
	case accepted == mediaSVG:
		c.SetHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		var body bytes.Buffer
		if err := drawn.chart().Document().Render(ctx, &body); err != nil {
			return api.Computed{}, err
		}
		return boundedAnswer(mediaSVG, body.Bytes())
	default:
		body, err := api.Encode(output)
		if err != nil {
			return api.Computed{}, err
		}
		return boundedAnswer(mediaJSON, body)
	}
}

// maxAnswerBytes bounds the body of an answer. A function can still send such a body if all of it has to be escaped.
const maxAnswerBytes = 4 << 20

// boundedAnswer returns the answer with this body. It refuses bodies of more than maxAnswerBytes.
func boundedAnswer(mediaType string, body []byte) (api.Computed, error) {
	if len(body) > maxAnswerBytes {
		return api.Computed{}, problem.Invalid.New("The answer would have %s, more than the limit of %s. Ask for fewer runs, measures or "+
			"topics, or for a smaller {limit} or {depth}.", problem.Size(len(body)), problem.Size(maxAnswerBytes))
	}
	return api.Computed{MediaType: mediaType, Body: body}, nil
}

// renderFile answers with the bytes of a file, or with a link to them if they are too many for an answer.
func renderFile(ctx context.Context, c *api.Call, f hasFile) (api.Computed, error) {
	file := f.file()
	defer file.temp.Close()
	own, _, _ := strings.Cut(file.MediaType, ";")
	accepted, err := c.Negotiate(slices.Compact([]string{mediaJSON, own, mediaText})...) // every file is text
	if err != nil {
		return api.Computed{}, err
	}
	asFile := accepted != mediaJSON
	mediaType := file.MediaType
	if accepted == mediaText || accepted == webpage.MediaType { // browsers show plain text, and only download other types
		mediaType = mediaText + charset
	}
	if file.Size <= record.MaxInlineBytes {
		content, err := file.temp.Reader()
		if err != nil {
			return api.Computed{}, err
		}
		body, err := io.ReadAll(content)
		switch {
		case err != nil:
			return api.Computed{}, err
		case asFile:
			return api.Computed{MediaType: mediaType, Body: body}, nil
		}
		file.Content = body
		body, err = api.Encode(f)
		return api.Computed{MediaType: mediaJSON, Body: body}, err
	}
	link, err := c.StoreResult(ctx, file.temp, mediaType)
	if err != nil {
		return api.Computed{}, err
	}
	if asFile {
		return api.Computed{Location: link.URL}, nil
	}
	file.URL, file.ExpiresAt = link.URL, new(record.At(link.ExpiresAt))
	body, err := api.Encode(f)
	return api.Computed{MediaType: mediaJSON, Body: body, Ephemeral: true}, err
}
