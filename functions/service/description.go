package service

import (
	"bytes"
	_ "embed"

	"assay/functions/service/reference"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"

	"github.com/danielgtaylor/huma/v2/yaml"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate
//go:generate go test -run TestDescription_IsGenerated -update

// The OpenAPI document is generated from the declared operations of all packages. So this package need not import them.
var (
	//go:embed openapi.json
	openAPI []byte
	//go:embed search.js
	search string
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"

	// hideEmpty hides sections in which the search finds nothing, and the links to them.
	hideEmpty = "section:not(:has([data-entry]:not([hidden]))):has([data-entry]), " +
		".side li:has(ul):not(:has(li:not([hidden]))) { display: none; }"
)

var (
	documentJSON = api.NewStatic(mediaJSON, func() ([]byte, error) { return openAPI, nil })
	documentYAML = api.NewStatic(mediaYAML, func() ([]byte, error) {
		var b bytes.Buffer
		err := yaml.Convert(&b, bytes.NewReader(openAPI))
		return b.Bytes(), err
	})
	docs = webpage.Page{Title: "API", Here: "/docs", Script: search, Style: hideEmpty, Main: reference.Page(openAPI)}.Static()
)
