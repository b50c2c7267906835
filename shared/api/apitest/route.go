package apitest

import (
	"net/url"
	"strings"
)

// route is a path of the document with its operations.
type route struct {
	segments   []string // a parameter stands as {name}
	operations map[string]*operation
}

func (c *Contract) add(path, method string, o *operation) {
	segments := strings.Split(path, "/")
	for i := range c.routes {
		if strings.Join(c.routes[i].segments, "/") == path {
			c.routes[i].operations[method] = o
			return
		}
	}
	c.routes = append(c.routes, route{segments, map[string]*operation{method: o}})
}

// route finds the path that an escaped path of a URL belongs to, with the values of its parameters. Where several
// fit, the one that is literal at the first segment in which they differ is meant, as OpenAPI has it.
func (c *Contract) route(escapedPath string) (*route, map[string]string) {
	asked := strings.Split(escapedPath, "/")
	var best *route
	for i := range c.routes {
		if r := &c.routes[i]; r.fits(asked) && (best == nil || r.moreLiteral(best)) {
			best = r
		}
	}
	if best == nil {
		return nil, nil
	}
	values := map[string]string{}
	for i, segment := range best.segments {
		if name, ok := parameterName(segment); ok {
			value, err := url.PathUnescape(asked[i])
			if err != nil {
				value = asked[i]
			}
			values[name] = value
		}
	}
	return best, values
}

func (r *route) fits(asked []string) bool {
	if len(asked) != len(r.segments) {
		return false
	}
	for i, segment := range r.segments {
		_, parameter := parameterName(segment)
		if parameter && asked[i] == "" || !parameter && asked[i] != segment {
			return false
		}
	}
	return true
}

func (r *route) moreLiteral(other *route) bool {
	for i := range r.segments {
		_, mine := parameterName(r.segments[i])
		_, theirs := parameterName(other.segments[i])
		if mine != theirs {
			return theirs
		}
	}
	return false
}

func parameterName(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
