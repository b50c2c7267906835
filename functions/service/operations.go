// Package service serves what the server says of itself: where everything is, whether it is up, what it can do, and the
// OpenAPI document of exactly what is served. Browsers get pages of it: the landing page, and one to read the API.
//
// The document is generated from the declared operations of all families. Its page is made of the document when somebody first asks for it.
package service

import (
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/webpage"
)

// Operations of the family.
var Operations = []api.Operation{
	api.WithHTML(api.Get(api.Spec{
		ID: "getIndex", Path: "/{$}", May: access.Anyone, CacheFor: 60,
		Summary:     "Find everything",
		Description: "Links to what this server has. A browser gets a page: the public tasks with their leaderboards, and how to take part.",
	}, api.NoTarget, root), landing),
	api.Get(api.Spec{
		ID: "getVersionIndex", Path: "/v1", May: access.Anyone, CacheFor: 300,
		Summary:     "Find all collections",
		Description: "Links to the collections of version 1 of the API.",
	}, api.NoTarget, version1),
	api.Get(api.Spec{
		ID: "getPlatformIndex", Path: "/v1/platform", May: access.Anyone, CacheFor: 300,
		Summary:     "Find what there is about the platform",
		Description: "Links to what the platform is made of.",
	}, api.NoTarget, platform),
	api.Get(api.Spec{
		ID: "getHealth", Path: "/health", May: access.Anyone,
		Summary:     "Check that the service is up",
		Description: "Asks the store. When it does not answer, the status is 503: the service is not ready for requests.",
	}, api.NoTarget, health),
	api.Get(api.Spec{
		ID: "getLiveness", Path: "/health/live", May: access.Anyone,
		Summary:     "Check that the process answers",
		Description: "Asks no store, so that its outage restarts no server.",
	}, api.NoTarget, liveness),
	api.Get(api.Spec{
		ID: "getInfo", Path: "/info", May: access.Anyone,
		Summary:     "Learn about the server",
		Description: "Name, version, limits, what runs and measures it reads, and where to sign in.",
	}, api.NoTarget, info),
	api.Document(api.Spec{
		ID: "getOpenapiJson", Path: "/openapi.json", May: access.Anyone, CacheFor: 300,
		Summary:     "Read the API's description as JSON",
		Description: "OpenAPI 3.1 of exactly what is served.",
	}, []string{mediaJSON}, documentJSON.Answer),
	api.Document(api.Spec{
		ID: "getOpenapiYaml", Path: "/openapi.yaml", May: access.Anyone, CacheFor: 300,
		Summary:     "Read the API's description as YAML",
		Description: "OpenAPI 3.1 of exactly what is served.",
	}, []string{mediaYAML}, documentYAML.Answer),
	api.Document(api.Spec{
		ID: "getDocs", Path: "/docs", May: access.Anyone, CacheFor: 300,
		Summary: "Read the API's description as a page",
		Description: "All operations with their parameters, bodies, examples and problems, and a search among them. The page needs nothing " +
			"from elsewhere.",
	}, []string{webpage.MediaType}, docs),
}
