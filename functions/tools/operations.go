// Package tools serves what computes something for a caller and changes nothing: it evaluates, checks, compares, shows, fuses
// and converts runs, which the platform holds or which come with the request.
//
// Each tool is a line of the list below and a file of its own, with the types of its input and its output, which are also
// its schemas and its documentation. What a tool works on it gets from package inputs, which checks the rights: no tool
// shows anybody what the resources would not. An input that is short enough has an address, at which a GET has the same
// answer as the POST, so that results can be linked to, opened in a browser and kept. Large files that tools write stay in
// the object store for an hour, or on S3 two days, and count in the quota of their caller meanwhile.
package tools

import (
	"context"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/page"
	"assay/shared/problem"
)

// allTools are the tools, in the order in which they are listed.
var allTools = []tool{evaluatorTool, validatorTool, diffirTool, serpTool, leaderboardTool, significanceTool, topicsTool, poolTool,
	fusionTool, converterTool}

const (
	toolsPath = "/v1/tools"
	cacheFor  = 300 // seconds, as of all that changes only with the program
)

// Operations of the family.
var Operations = []api.Operation{
	api.WithHTML(api.List(api.Spec{
		ID: "listTools", Path: toolsPath, May: access.Anyone, CacheFor: cacheFor,
		Summary:     "List tools",
		Description: "What the server computes for its callers, with the JSON Schemas of input and output, and an example of an input.",
		Query:       page.Spec{Named: true, Filters: []page.Filter{{Name: "kind", Type: page.Enum}}},
	}, api.NoTarget, list, nil), listPage),
	api.WithHTML(api.Get(api.Spec{
		ID: "getTool", Path: "/v1/tools/{tool}", May: access.Anyone, CacheFor: cacheFor,
		Summary:     "Return a tool",
		Description: "With the JSON Schemas of its input and output, and an example of an input. A browser gets a page on which to try it.",
	}, findTool, show), showPage),
	api.Compute(api.Spec{
		ID: "invokeTool", Path: "/v1/tools/{tool}", May: access.Anyone,
		Summary: "Invoke a tool",
		Description: "Computes from the body, which is an input of the tool, and changes nothing. The answer is JSON or, as the tool has it, " +
			"a page, a chart or a file, by `Accept`. A result that is too large for an answer counts as stored by its caller until it is " +
			"deleted. What the input names, the caller must be allowed to see.",
	}, findTool, variants(), mediaTypes(representations), invoke),
	api.ComputeGet(api.Spec{
		ID: "getToolResult", Path: "/v1/tools/{tool}/result", May: access.Anyone,
		Summary: "Return what a tool computes from an input",
		Description: "The answer that the tool gives to a POST of the input, at an address of its own, which can be linked to and opened in " +
			"a browser. The entity tag stays the same as long as the input and all that it refers to do.",
	}, findTool, variants(), mediaTypes(representations), invoke),
}

// variants are the tools as the API's document describes them.
func variants() []api.Variant {
	return lists.Map(allTools, func(t tool) api.Variant {
		return api.Variant{Name: t.name, Summary: t.summary, Input: t.input, Output: t.output, Example: t.example, Media: t.media(),
			Problems: t.problems}
	})
}

func findTool(_ context.Context, c *api.Call) (tool, error) {
	for _, t := range allTools {
		if t.name == c.Param("tool") {
			return t, nil
		}
	}
	names := lists.Map(allTools, func(t tool) string { return t.name })
	return tool{}, problem.NotFound.New("There is no tool of this name. There are: %s.", strings.Join(names, ", "))
}

func invoke(ctx context.Context, c *api.Call, t tool) error { return t.invoke(ctx, c) }
