package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/shared/language/problem"
)

// Preconditions are evaluated for resources that exist, after every other check and before anything is done (RFC 9110,
// section 13.2). No resource has a modification date, so preconditions on dates are ignored.

// anyTag stands for every entity tag in If-Match and If-None-Match.
const anyTag = "*"

// checkReadPreconditions evaluates the preconditions of a GET. If the caller already has the answer, it answers 304 and reports done.
// etags are the tags of the answer under the codings that the caller accepts, the likely one first. For an answer without a tag they are
// missing or empty, and only * matches.
func (c *Call) checkReadPreconditions(etags ...string) (done bool, err error) {
	if c.op.Method != http.MethodGet {
		return false, nil
	}
	isCurrent := func(tag string) bool { return tag != "" && slices.Contains(etags, tag) }
	if !c.ifMatchHolds(isCurrent) {
		return false, preconditionFailed()
	}
	tag, matched := c.ifNoneMatch(isCurrent)
	if !matched {
		return false, nil
	}
	if tag == anyTag {
		tag = likelyTag(etags)
	}
	c.setCaching()
	if tag != "" {
		c.w.Header().Set("ETag", tag)
	}
	c.w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// likelyTag returns the first tag, or "" for an answer without a tag.
func likelyTag(etags []string) string {
	if len(etags) == 0 {
		return ""
	}
	return etags[0]
}

// checkWritePreconditions evaluates the preconditions of a change. A tag matches the target if it begins with the target's revision,
// whichever members and coding the caller was shown. If-Match accepts no weak tag. The target of a POST is a parent or a tool, which has
// no tag here.
func (c *Call) checkWritePreconditions(t Target) error {
	number, ok := revision(t)
	hasTag := ok && c.op.Method != http.MethodPost
	prefix := fmt.Sprintf(`"%d-`, number)
	isCurrent := func(tag string) bool { return hasTag && strings.HasPrefix(tag, prefix) && strings.HasSuffix(tag, `"`) }
	if !c.ifMatchHolds(isCurrent) {
		return preconditionFailed()
	}
	if _, matched := c.ifNoneMatch(isCurrent); matched {
		return problem.PreconditionFailed.New("The resource exists, or still has an entity tag that If-None-Match names. Leave this header " +
			"out to change the resource nevertheless.")
	}
	return nil
}

func preconditionFailed() error {
	return problem.PreconditionFailed.New("If-Match names no current entity tag of the resource. Get the resource again, look at what " +
		"changed, and send its new ETag.")
}

// ifMatchHolds reports whether the request has no If-Match, or If-Match lists * or a current tag.
func (c *Call) ifMatchHolds(isCurrent func(tag string) bool) bool {
	tags, sent := c.entityTags("If-Match")
	return !sent || slices.Contains(tags, anyTag) || slices.ContainsFunc(tags, isCurrent)
}

// ifNoneMatch returns the first element of If-None-Match that is * or a current tag. It compares weakly, and returns strong tags.
func (c *Call) ifNoneMatch(isCurrent func(tag string) bool) (tag string, matched bool) {
	tags, _ := c.entityTags("If-None-Match")
	for _, tag := range tags {
		strong := strings.TrimPrefix(tag, "W/")
		if tag == anyTag || isCurrent(strong) {
			return strong, true
		}
	}
	return "", false
}

// entityTags returns the elements of a header. sent is false if the header is absent or empty. It may split at commas because no tag of
// this service contains one.
func (c *Call) entityTags(header string) (tags []string, sent bool) {
	for _, list := range c.request.Header[header] {
		sent = sent || list != ""
		for tag := range strings.SplitSeq(list, ",") {
			tags = append(tags, strings.TrimSpace(tag))
		}
	}
	return tags, sent
}
