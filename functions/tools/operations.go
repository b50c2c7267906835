// Package tools serves computations that change nothing. Tools evaluate, check, compare, show, fuse and convert runs. The
// platform stores the runs, or the request contains them.
//
// Each tool is an entry of allTools and has a file of its own. The file declares the types of its input and output, which also
// are its JSON Schemas and its documentation. A tool gets its data from package inputs, which checks the rights: a tool shows
// nothing that the caller could not read from the resources. If an input is short enough, its answer has an address: GET returns
// the same answer as POST of the input. Results can therefore be linked to, opened in a browser and cached. Large files that a
// tool writes stay in the object store for an hour, or on S3 for two days. They count in the quota of their caller during that
// time.
package tools

import (
	"context"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// allTools are the tools, in the order in which they are listed.
var allTools = []tool{evaluatorTool, validatorTool, diffirTool, serpTool, leaderboardTool, significanceTool, topicsTool, poolTool,
	fusionTool, converterTool}

const (
	toolsPath = "/v1/tools"
	cacheFor  = 300 // seconds, like all answers that only a new version of the program changes
)

// Operations of the family.
var Operations = []api.Operation{
	api.WithHTML(api.List(api.Spec{
		ID: "listTools", Path: toolsPath, May: access.Anyone, CacheFor: cacheFor,
		Summary:     "List tools",
		Description: "Lists the computations that the server offers, with the JSON Schemas of input and output, and an example of an input.",
		Query:       page.Spec{Named: true, Filters: []page.Filter{{Name: "kind", Type: page.Enum}}},
	}, api.NoTarget, list, nil), listPage),
	api.WithHTML(api.Get(api.Spec{
		ID: "getTool", Path: "/v1/tools/{tool}", May: access.Anyone, CacheFor: cacheFor,
		Summary: "Return a tool",
		Description: "The answer has the JSON Schemas of the tool's input and output, and an example of an input. A browser gets a page on " +
			"which to try the tool.",
	}, findTool, show), showPage),
	api.Compute(api.Spec{
		ID: "invokeTool", Path: "/v1/tools/{tool}", May: access.Anyone,
		Summary: "Invoke a tool",
		Description: "Computes the output of the tool for the input in the body, and changes nothing. The answer is JSON or, if the tool " +
			"supports it, a page, a chart or a file, chosen by `Accept`. A result that is too large for an answer counts as stored by its caller " +
			"until it is deleted. The caller must be allowed to see all resources that the input names.",
	}, findTool, variants(), mediaTypes(representations), invoke),
	api.ComputeGet(api.Spec{
		ID: "getToolResult", Path: "/v1/tools/{tool}/result", May: access.Anyone,
		Summary: "Return what a tool computes from an input",
		Description: "Returns the same answer as a POST of the input, at an address that can be linked to and opened in a browser. The entity " +
			"tag stays the same as long as the input and all resources that it names stay the same.",
	}, findTool, variants(), mediaTypes(representations), invoke),
}

// variants returns the tools in the form that the OpenAPI document needs.
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
