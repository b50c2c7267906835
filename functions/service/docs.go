package service

import (
	"bytes"
	"context"
	"fmt"
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
	return c.WriteDocument(mediaType, body)
}

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// piece is a part of a text: code, or plain.
type piece struct {
	text string
	code bool
}

// pieces divides a text at its backticks. One that has no partner stands for itself.
func pieces(text string) []piece {
	var all []piece
	for {
		before, rest, opened := strings.Cut(text, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !opened || !closed || code == "" {
			return append(all, piece{text: text})
		}
		all = append(all, piece{text: before}, piece{text: code, code: true})
		text = after
	}
}

// remark is what the page says of a member.
func remark(s *huma.Schema) string {
	text := s.Description
	if s.ReadOnly {
		text += " Made by the service."
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("`%v`", v))
		}
		text += " One of " + strings.Join(values, ", ") + "."
	}
	return text
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
	err := docsPage(doc, sections).Render(context.Background(), &out)
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
