package service

import (
	"context"
	"sync"

	"assay/shared/api"
	"assay/shared/webpage"
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// document is the API's description in its three forms, each made when it is first asked for.
type document struct {
	groups         []api.Group
	asJSON, asYAML func() ([]byte, error)
	page           func() (webpage.Rendered, error)
	prepare        sync.Once
}

func (d *document) once() {
	d.prepare.Do(func() {
		d.asJSON = sync.OnceValues(func() ([]byte, error) { return api.DocumentJSON(d.groups) })
		d.asYAML = sync.OnceValues(func() ([]byte, error) { return api.DocumentYAML(d.groups) })
		d.page = sync.OnceValues(func() (webpage.Rendered, error) { return renderReference(api.Document(d.groups)) })
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
	page, err := d.page()
	if err != nil {
		return err
	}
	return page.Write(c)
}

func send(c *api.Call, mediaType string, render func() ([]byte, error)) error {
	body, err := render()
	if err != nil {
		return err
	}
	return c.WriteDocument(mediaType, body)
}
