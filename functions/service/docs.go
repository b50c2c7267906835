package service

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/shared/api"

	"github.com/danielgtaylor/huma/v2"
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
	mediaHTML = "text/html"
)

// document is the API's description in its three forms, each made when it is first asked for.
type document struct {
	groups         []api.Group
	asJSON, asYAML func() ([]byte, error)
	page           func() ([]byte, error)
	prepare        sync.Once
}

func (d *document) once() {
	d.prepare.Do(func() {
		d.asJSON = sync.OnceValues(func() ([]byte, error) { return api.DocumentJSON(d.groups) })
		d.asYAML = sync.OnceValues(func() ([]byte, error) { return api.DocumentYAML(d.groups) })
		d.page = sync.OnceValues(func() ([]byte, error) { return renderPage(api.Document(d.groups)) })
	})
}

func (d *document) writeJSON(_ context.Context, c *api.Call) error {
	d.once()
	return send(c, mediaJSON, d.asJSON)
}

func (d *document) writeYAML(_ context.Context, c *api.Call) error {
	d.once()
	return send(c, mediaYAML, d.asYAML)
}

func (d *document) writePage(_ context.Context, c *api.Call) error {
	d.once()
	c.SetHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return send(c, mediaHTML+"; charset=utf-8", d.page)
}

func send(c *api.Call, mediaType string, render func() ([]byte, error)) error {
	body, err := render()
	if err != nil {
		return err
	}
	return c.WriteBytes(mediaType, body)
}

//go:embed docs.html
var pages embed.FS

var docs = template.Must(template.New("docs.html").Funcs(template.FuncMap{
	"schema": func(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") },
	"type":   typeOf,
	"text":   markUp,
	"has":    slices.Contains[[]string],
}).ParseFS(pages, "docs.html"))

var spans = regexp.MustCompile("`([^`]+)`")

// markUp shows what stands between backticks as code; everything else is plain text.
func markUp(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	return template.HTML(spans.ReplaceAllString(escaped, "<code>$1</code>")) //nolint:gosec // escaped above
}

// section is the operations of one tag, in the order of the declaration.
type section struct {
	Name, About string
	Operations  []*huma.Operation
}

func renderPage(doc *huma.OpenAPI) ([]byte, error) {
	byTag := map[string]*section{}
	var sections []*section
	for _, t := range doc.Tags {
		s := &section{Name: t.Name, About: t.Description}
		byTag[t.Name] = s
		sections = append(sections, s)
	}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Patch, item.Delete} {
			if op != nil {
				s := byTag[op.Tags[0]]
				s.Operations = append(s.Operations, op)
			}
		}
	}
	order := map[string]int{"GET": 0, "POST": 1, "PATCH": 2, "DELETE": 3}
	for _, s := range sections {
		slices.SortFunc(s.Operations, func(a, b *huma.Operation) int {
			if c := strings.Compare(a.Path, b.Path); c != 0 {
				return c
			}
			return order[a.Method] - order[b.Method]
		})
	}
	var out bytes.Buffer
	err := docs.Execute(&out, map[string]any{"Info": doc.Info, "Sections": sections, "Schemas": doc.Components.Schemas.Map()})
	return out.Bytes(), err
}

// typeOf says in a word what a schema is.
func typeOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return "any"
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/components/schemas/")
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	case s.Type == "":
		return "any"
	default:
		return s.Type
	}
}
