package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/shared/language/problem"
)

// Preconditions are evaluated for resources that exist, after every other check and before anything is done (RFC 9110,
// section 13.2). No resource has a modification date, so preconditions on dates are ignored.

// checkReadPreconditions evaluates the preconditions of a GET. If the caller already has the answer, it answers 304 and reports done.
// etags are the tags of the answer under the codings that the caller accepts, the likely one first. For an answer without a tag they are
// missing or empty, and only * matches.
func (c *Call) checkReadPreconditions(etags ...string) (done bool, err error) {
	if c.op.Method != http.MethodGet {
		return false, nil
	}
	matched := 0
	matches := func(tag string) bool {
		matched = max(slices.Index(etags, tag), 0)
		return tag != "" && slices.Contains(etags, tag)
	}
	if !c.matchesHeader("If-Match", matches, true) {
		return false, preconditionFailed()
	}
	if !c.matchesHeader("If-None-Match", func(tag string) bool { return matches(strings.TrimPrefix(tag, "W/")) }, false) {
		return false, nil
	}
	c.setCaching()
	if len(etags) > 0 && etags[matched] != "" {
		c.w.Header().Set("ETag", etags[matched])
	}
	c.w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// checkWritePreconditions evaluates the preconditions of a change. A tag matches the target if it begins with the target's revision,
// whichever members and coding the caller was shown. If-Match accepts no weak tag. The target of a POST is a parent or a tool, which has
// no tag here.
func (c *Call) checkWritePreconditions(t Target) error {
	n, ok := revision(t)
	prefix := `"` + strconv.FormatInt(n, 10) + "-"
	matches := func(tag string) bool {
		return ok && c.op.Method != http.MethodPost && strings.HasPrefix(tag, prefix) && strings.HasSuffix(tag, `"`)
	}
	if !c.matchesHeader("If-Match", matches, true) {
		return preconditionFailed()
	}
	if c.matchesHeader("If-None-Match", func(tag string) bool { return matches(strings.TrimPrefix(tag, "W/")) }, false) {
		return problem.PreconditionFailed.New("The resource is there, or still has an entity tag that If-None-Match names. Leave that header " +
			"out to change it all the same.")
	}
	return nil
}

func preconditionFailed() error {
	return problem.PreconditionFailed.New("The resource is no longer as If-Match says. Get it again, look at what changed, and send its new " +
		"ETag.")
}

// matchesHeader reports whether a header contains * or an accepted entity tag. Without the header it returns absent. It may split at
// commas because no tag of this service contains one.
func (c *Call) matchesHeader(header string, accept func(tag string) bool, absent bool) bool {
	lists := c.request.Header[header]
	if strings.Join(lists, "") == "" {
		return absent
	}
	for _, list := range lists {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || accept(tag) {
				return true
			}
		}
	}
	return false
}
