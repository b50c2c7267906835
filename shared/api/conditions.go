package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/shared/problem"
)

// Conditions of a request hold for a resource that is there, after all else that a request can be refused for and before
// anything is done (RFC 9110, section 13.2). No resource has a date of its change, so those about dates are ignored.

// checkReadPreconditions holds the answer to a GET against the conditions. It answers 304 when the caller has the answer already, and
// reports whether it did. The tags are those that the answer has under the codings that the caller accepts, the one that it
// would get first; an answer without a tag has none, or an empty one, and is matched by * alone.
func (c *Call) checkReadPreconditions(own ...string) (done bool, err error) {
	if c.op.Method != http.MethodGet {
		return false, nil
	}
	at := 0
	is := func(tag string) bool {
		at = max(slices.Index(own, tag), 0)
		return tag != "" && slices.Contains(own, tag)
	}
	if !c.matchesHeader("If-Match", is, true) {
		return false, preconditionFailed()
	}
	if !c.matchesHeader("If-None-Match", func(tag string) bool { return is(strings.TrimPrefix(tag, "W/")) }, false) {
		return false, nil
	}
	c.setCaching()
	if len(own) > 0 && own[at] != "" {
		c.w.Header().Set("ETag", own[at])
	}
	c.w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// checkWritePreconditions holds the target of a change against the conditions: a tag is of the target as it is when it begins with its
// revision, whatever members of it the caller was shown under whatever coding. A weak tag never is for If-Match. The target
// of a POST is what it adds to, or a tool, of which no tag is known here.
func (c *Call) checkWritePreconditions(t Target) error {
	n, ok := revision(t)
	prefix := `"` + strconv.FormatInt(n, 10) + "-"
	own := func(tag string) bool {
		return ok && c.op.Method != http.MethodPost && strings.HasPrefix(tag, prefix) && strings.HasSuffix(tag, `"`)
	}
	if !c.matchesHeader("If-Match", own, true) {
		return preconditionFailed()
	}
	if c.matchesHeader("If-None-Match", func(tag string) bool { return own(strings.TrimPrefix(tag, "W/")) }, false) {
		return problem.PreconditionFailed.New("The resource is there, or still has an entity tag that If-None-Match names. Leave that header out to change it all the same.")
	}
	return nil
}

func preconditionFailed() error {
	return problem.PreconditionFailed.New("The resource is no longer as If-Match says. Get it again, look at what changed, and send its new ETag.")
}

// matchesHeader reports whether a header's lists of entity tags have one that is accepted, or *, and absent when there is no header.
// No tag of this service has a comma in it.
func (c *Call) matchesHeader(header string, accept func(tag string) bool, absent bool) bool {
	lists := c.request.Header[header]
	if strings.Join(lists, "") == "" {
		return absent
	}
	for _, list := range lists {
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.TrimSpace(tag); tag == "*" || accept(tag) {
				return true
			}
		}
	}
	return false
}
