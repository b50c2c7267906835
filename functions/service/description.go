package service

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"io"
	"strings"
	"sync"

	"assay/shared/api"
	"assay/shared/webpage"

	"github.com/a-h/templ"
	"github.com/danielgtaylor/huma/v2/yaml"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate
//go:generate go test -run TestDescription_IsGenerated -update

// The API's description is generated from the declared operations of all families, which the function of this one does not link.
var (
	//go:embed openapi.json.gz
	openAPI string
	//go:embed reference.html.gz
	operationsHTML string
	//go:embed search.js
	search string
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"

	// hideEmpty hides sections in which the search finds nothing, and what leads to them.
	hideEmpty = "section:not(:has([data-entry]:not([hidden]))):has([data-entry]), " +
		".side li:has(ul):not(:has(li:not([hidden]))) { display: none; }"
)

var documentJSON = sync.OnceValues(func() ([]byte, error) { return unpack(openAPI) })

var documentYAML = sync.OnceValues(func() ([]byte, error) {
	text, err := documentJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = yaml.Convert(&b, bytes.NewReader(text))
	return b.Bytes(), err
})

var reference = sync.OnceValues(func() (webpage.Rendered, error) {
	operations, err := unpack(operationsHTML)
	if err != nil {
		return webpage.Rendered{}, err
	}
	page := webpage.Page{Title: "API", Here: "/docs", Script: search, Style: hideEmpty, Main: templ.Raw(string(operations))}
	return page.Render(context.Background())
})

func unpack(file string) ([]byte, error) {
	r, err := gzip.NewReader(strings.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// document answers with a form of the API's description.
func document(mediaType string, form func() ([]byte, error)) func(context.Context, *api.Call) error {
	return func(_ context.Context, c *api.Call) error {
		body, err := form()
		if err != nil {
			return err
		}
		return c.WriteDocument(mediaType, body)
	}
}

func docs(_ context.Context, c *api.Call) error {
	page, err := reference()
	if err != nil {
		return err
	}
	return page.Write(c)
}
