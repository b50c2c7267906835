package functions

import (
	"net/http"
	"strings"

	"assay/functions/service"
	"assay/shared/api"
)

// DefaultRoute is the key of the route that takes what no other route takes.
const DefaultRoute = "$default"

// Route leads requests of a method and a path to a function, in the words of API Gateway.
type Route struct {
	ID  string // unique among all routes: letters
	Key string // such as "GET /v1/tasks/{taskId}"
}

// Routes are those of the function's operations: wherever there is GET there is HEAD. The service answers for all the rest,
// such as a path that is not there, a method that is not possible, or OPTIONS.
func (d Deployment) Routes() []Route {
	var all []Route
	for _, o := range d.Operations {
		all = append(all, routeOf(o, o.Method, ""))
		if o.Method == http.MethodGet {
			all = append(all, routeOf(o, http.MethodHead, "Head"))
		}
	}
	if d.Name == service.Name {
		all = append(all, Route{"Default", DefaultRoute})
	}
	return all
}

// routeOf says a pattern of net/http in API Gateway's words, which differ only at the end of the root.
func routeOf(o api.Operation, method, suffix string) Route {
	return Route{strings.ToUpper(o.ID[:1]) + o.ID[1:] + suffix, method + " " + strings.TrimSuffix(o.Path, "{$}")}
}
