// Package lambdatest emulates, for tests, the AWS services that invoke the functions of a deployment: Lambda with its Runtime API, API
// Gateway HTTP APIs, event source mappings of DynamoDB streams, and EventBridge Scheduler.
package lambdatest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// DefaultRoute is the key of the route for requests without another route.
const DefaultRoute = "$default"

// HTTPAPI is an HTTP API. It passes each request to the function of its route as an event of payload format 2.0, and answers with the
// result of the function.
type HTTPAPI struct {
	routes   *http.ServeMux
	fallback *Function
	requests atomic.Int64
}

// NewHTTPAPI returns an API with the routes, by route keys such as "ANY /v1/tasks/{taskId}".
func NewHTTPAPI(routes map[string]*Function) *HTTPAPI {
	f := &HTTPAPI{routes: http.NewServeMux(), fallback: routes[DefaultRoute]}
	for key, function := range routes {
		if key == DefaultRoute {
			continue
		}
		pattern := strings.TrimPrefix(key, "ANY ")
		if pattern == "/" {
			pattern += "{$}"
		}
		f.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, key, function) })
	}
	return f
}

// ServeHTTP implements http.Handler.
func (f *HTTPAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The mux would redirect a path such as /v1//tasks, for which API Gateway has no route.
	if h, pattern := f.routes.Handler(r); pattern != "" && path.Clean(r.URL.Path) == r.URL.Path {
		h.ServeHTTP(w, r)
		return
	}
	f.serve(w, r, DefaultRoute, f.fallback)
}

func (f *HTTPAPI) serve(w http.ResponseWriter, r *http.Request, route string, function *Function) {
	event, err := f.event(r, route)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	payload, err := json.Marshal(event)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer, err := function.Invoke(r.Context(), payload)
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"message":"Internal Server Error","cause":%q}`, err), http.StatusInternalServerError)
		return
	}
	var out events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(answer, &out); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	write(w, &out)
}

func write(w http.ResponseWriter, out *events.APIGatewayV2HTTPResponse) {
	body := []byte(out.Body)
	if out.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(out.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	for name, value := range out.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range out.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(out.StatusCode)
	_, _ = w.Write(body)
}

// event converts a request like API Gateway: header names in lower case, repeated values joined by commas, and binary bodies in base64.
func (f *HTTPAPI) event(r *http.Request, route string) (*events.APIGatewayV2HTTPRequest, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	e := &events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: route, RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery,
		Headers: map[string]string{"host": r.Host},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: route, AccountID: "000000000000", Stage: "$default", RequestID: fmt.Sprintf("front-%d", f.requests.Add(1)),
			APIID: "api", DomainName: r.Host, Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.EscapedPath(), Protocol: r.Proto, SourceIP: host, UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range r.Header {
		if name == "Cookie" {
			e.Cookies = strings.Split(strings.Join(values, "; "), "; ")
			continue
		}
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	if r.URL.RawQuery != "" {
		e.QueryStringParameters = map[string]string{}
		for name, values := range r.URL.Query() {
			e.QueryStringParameters[name] = strings.Join(values, ",")
		}
	}
	if utf8.Valid(body) {
		e.Body = string(body)
	} else {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e, nil
}
