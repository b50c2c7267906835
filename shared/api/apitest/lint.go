package apitest

import (
	"cmp"
	"fmt"
	"slices"
)

// check is one thing that every document must have. It reports each place where that is missing.
type check struct {
	reason string // why a reader or a generator of clients needs it
	run    func(d *document, report reporter)
}

// reporter takes the place of a fault and what is wrong there.
type reporter func(at node, format string, args ...any)

// checks are all that Lint looks at. A document without a fault is valid OpenAPI 3.1 and can be read as a manual.
var checks = []check{
	{"it must be OpenAPI 3.1, or no tool can read it", standardConformance},
	{"a schema that does not compile checks nothing", compilation},
	{"readers want to know what they look at, and under which terms", information},
	{"clients name their functions after operationId", operationIDs},
	{"summaries, descriptions and tags are the manual", operationTexts},
	{"a caller must know what to expect when it works and when it does not", responses},
	{"every error is a problem document (RFC 9457)", problemResponses},
	{"a GET or DELETE has no body that a cache, a proxy or a server would have to look at (RFC 9110, section 9.3)", requestBodies},
	{"a parameter without description and schema cannot be used", parameterTexts},
	{"a path and its parameters must agree", pathParameters},
	{"paths are in kebab case, so that they can be guessed", pathNames},
	{"two paths that fit the same URL are a riddle", ambiguousPaths},
	{"a security requirement must name a scheme", securitySchemes},
	{"a value of unknown type cannot be read by a typed client", schemaTypes},
	{"members are in lower camel case, so that they can be guessed", memberNames},
	{"an example that is not valid misleads", examples},
	{"a component that nothing uses is left over", unusedComponents},
	{"a reference that leads nowhere hides what it stood for", references},
}

// Lint returns what is wrong with an OpenAPI document in JSON, each fault with the place where it is; nothing when all is well.
func Lint(content []byte) []string {
	d, err := parse(content)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, c := range checks {
		c.run(d, func(at node, format string, args ...any) {
			faults = append(faults, fmt.Sprintf("#%s: %s: %s", at.pointer, fmt.Sprintf(format, args...), c.reason))
		})
	}
	slices.SortStableFunc(faults, cmp.Compare[string])
	return slices.Compact(faults)
}
