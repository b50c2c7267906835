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

// document answers with a form of the API's description, which is made from the families when it is first asked for.
func document(families *[]api.Family, mediaType string, render func([]api.Family) ([]byte, error)) func(context.Context, *api.Call) error {
	rendered := sync.OnceValues(func() ([]byte, error) { return render(*families) })
	return func(_ context.Context, c *api.Call) error {
		body, err := rendered()
		if err != nil {
			return err
		}
		return c.WriteDocument(mediaType, body)
	}
}

// referenceOf answers with the description as a page, which is made in the same way.
func referenceOf(families *[]api.Family) func(context.Context, *api.Call) error {
	rendered := sync.OnceValues(func() (webpage.Rendered, error) { return renderReference(api.OpenAPI(*families)) })
	return func(_ context.Context, c *api.Call) error {
		page, err := rendered()
		if err != nil {
			return err
		}
		return page.Write(c)
	}
}
