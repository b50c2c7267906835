// Package service describes the server: indexes of links, health, version and limits, and the OpenAPI document. Browsers get a landing page
// and a page of the API's documentation.
//
// The OpenAPI document is generated from the declared operations of all packages. The first request for its page renders the page.
package service

import (
	"assay/shared/domain/access"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
)

// Operations of the family.
var Operations = []api.Operation{
	api.WithHTML(api.Get(api.Spec{
		ID: "getIndex", Path: "/{$}", May: access.Anyone, CacheFor: 60,
		Summary:     "List the links of the server",
		Description: "A browser gets a page with the public tasks and their leaderboards, and with instructions for participants.",
	}, api.NoTarget, root), landing),
	api.Get(api.Spec{
		ID: "getVersionIndex", Path: "/v1", May: access.Anyone, CacheFor: 300,
		Summary:     "List the collections",
		Description: "Links to the collections of version 1 of the API.",
	}, api.NoTarget, version1),
	api.Get(api.Spec{
		ID: "getPlatformIndex", Path: "/v1/platform", May: access.Anyone, CacheFor: 300,
		Summary:     "List the links about the platform",
		Description: "Links to components, queues and storage.",
	}, api.NoTarget, platform),
	api.Get(api.Spec{
		ID: "getHealth", Path: "/health", May: access.Anyone,
		Summary: "Check that the service is up",
		Description: "If the store does not answer, the status is 503: the service is not ready for requests. If the object store does not " +
			"answer, or a disk is almost full, the status is 200 with `warn`, because records can still be read. Warnings are at most ten " +
			"seconds old. A service on AWS checks only its store.",
	}, api.NoTarget, health),
	api.Get(api.Spec{
		ID: "getLiveness", Path: "/health/live", May: access.Anyone,
		Summary:     "Check that the process answers",
		Description: "It does not ask the store, so that an outage of the store does not restart servers.",
	}, api.NoTarget, liveness),
	api.Get(api.Spec{
		ID: "getInfo", Path: "/info", May: access.Anyone,
		Summary:     "Describe the server",
		Description: "Name, version, limits, run formats, measures, and the address to sign in." + describeMeasures(),
	}, api.NoTarget, info),
	api.Document(api.Spec{
		ID: "getOpenapiJson", Path: "/openapi.json", May: access.Anyone, CacheFor: 300,
		Summary:     "Return the OpenAPI document as JSON",
		Description: "OpenAPI 3.1. It describes exactly the operations of this server.",
	}, []string{mediaJSON}, documentJSON.Answer),
	api.Document(api.Spec{
		ID: "getOpenapiYaml", Path: "/openapi.yaml", May: access.Anyone, CacheFor: 300,
		Summary:     "Return the OpenAPI document as YAML",
		Description: "OpenAPI 3.1. It describes exactly the operations of this server.",
	}, []string{mediaYAML}, documentYAML.Answer),
	api.Document(api.Spec{
		ID: "getDocs", Path: "/docs", May: access.Anyone, CacheFor: 300,
		Summary: "Return the API's documentation as a page",
		Description: "All operations with their parameters, bodies, examples and problems, and a search. The page loads nothing from other " +
			"servers.",
	}, []string{webpage.MediaType}, docs),
}
