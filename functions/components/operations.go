// Package components serves the catalogue of components that people build with: formats, measures, evaluators, clients and
// recipes. Each has snippets that run unchanged against the server.
//
// The catalogue is data in the folder catalogue. Each component has a folder with component.json and its snippets curl.sh,
// python.py and main.go, so that editors and checkers treat them as code. The program contains the catalogue: its entries are Go
// code that is generated from the folder. The catalogue changes only with the program. Its answers need no store, and everybody
// may cache them.
package components

import (
	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/api"
)

const (
	mediaText = "text/plain"
	cacheFor  = 300 // seconds, like all answers that only a new version of the program changes
)

var language = page.Filter{Name: "language", Type: page.Enum, Values: languages(), Standalone: true}

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listComponents", Path: "/v1/platform/components", May: access.Anyone, CacheFor: cacheFor,
		Summary: "List components",
		Description: "The building blocks of the platform, the newest first, each with links to its snippets. Evaluators have the definitions, " +
			"conventions and limits of their measures.",
		Query: page.Spec{Filters: []page.Filter{{Name: "kind", Type: page.Enum}, {Name: "name"}}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getComponent", Path: "/v1/platform/components/{componentId}", May: access.Anyone, CacheFor: cacheFor,
		Summary:     "Return a component",
		Description: "With links to its snippets, and the ids of the components that go with it.",
	}, api.NoTarget, show),
	api.Document(api.Spec{
		ID: "getSnippet", Path: "/v1/platform/components/{componentId}/snippet", May: access.Anyone, CacheFor: cacheFor,
		Summary: "Return a component's snippet",
		Description: "A program that shows the component at work: for `language=curl` a script for any POSIX shell with curl 7.84 or newer, " +
			"for `python` one for Python 3.9 or newer with only its standard library, for `go` a program of one file. Without `language` it is " +
			"the first of these that the component has; 404 when it has none in the language.\n\n" +
			"It runs as it stands, and takes what it needs from the environment: `ASSAY_URL`, the address of the server without a slash at its " +
			"end, such as `http://127.0.0.1:8080`; `ASSAY_TOKEN`, a token of the issuer that `GET /info` names; and, where it speaks gRPC, " +
			"`ASSAY_GRPC`, host and port. What it makes belongs to the user of the token, and tasks that it makes are private: give it a user " +
			"for trying things out. What it prints at last is in `prints` of the component.",
		Query: page.Spec{Filters: []page.Filter{language}},
	}, []string{mediaText}, snippet),
}
