// Package console serves the console: a browser application over the public API, for participants, organizers and administrators.
//
// It is static. The server keeps no session for it, and it has no right that a script with the same token would not have. Its sources are
// TypeScript, in src; go generate bundles them into dist.zip, which is built into the program, so that a build needs no Node.js.
package console

import (
	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
)

const (
	mediaScript = "text/javascript"
	mediaStyle  = "text/css"

	// immutable is the time for which a file may be cached, in seconds. The name of a file has a digest of its content.
	immutable = 365 * 24 * 60 * 60
)

// Operations of the family.
var Operations = []api.Operation{
	api.Document(api.Spec{
		ID: "getConsole", Path: "/console", May: access.Anyone, Query: page.Spec{Ignored: true},
		Summary: "Use Assay in a browser",
		Description: "The browser application for participants and organizers. It uses only this API, with the rights of its user. The issuer " +
			"that `/info` names returns to this address.",
	}, []string{webpage.MediaType}, shell),
	api.Document(api.Spec{
		ID: "getConsoleFile", Path: "/console/{file}", May: access.Anyone, CacheFor: immutable,
		Summary:     "Read a file of the console",
		Description: "Scripts and styles that `/console` names. The name of a file changes with its content.",
	}, []string{mediaScript, mediaStyle}, file),
}
