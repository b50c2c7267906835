//go:build s3

package functions_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/api/acceptancetest"
	"assay/shared/record"
)

// TestRights tells the whole story to functions that can do what their deployment facts allow, and nothing else: their roles
// are made of the same facts.
func TestRights(t *testing.T) {
	d := deploy(t, build(t), true)
	s := d.setup()
	s.Client = http.DefaultClient
	acceptancetest.Story(t, s)
}

// roleRights stand between one function and a server, and let through what its deployment facts allow.
type roleRights struct {
	t  *testing.T
	of functions.Deployment
}

// guard returns the endpoints of the function, with guards in front of DynamoDB and S3.
func guard(t *testing.T, of functions.Deployment, dynamoDB, s3 string) []string {
	r := &roleRights{t, of}
	return []string{"AWS_ENDPOINT_URL_DYNAMODB=" + r.inFrontOf(dynamoDB, r.table), "AWS_ENDPOINT_URL_S3=" + r.inFrontOf(s3, r.bucket)}
}

func (g *roleRights) inFrontOf(server string, allowed func(*http.Request) bool) string {
	g.t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		g.t.Fatal(err)
	}
	next := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // which is signed
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }} // whose client is gone
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowed(r) {
			g.t.Errorf("%s may not do what it did: %s %s %s", g.of.Name, r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"))
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}))
	g.t.Cleanup(s.Close)
	return s.URL
}

// table reports whether the function may make the call of DynamoDB.
func (g *roleRights) table(r *http.Request) bool {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch call {
	case "GetItem", "BatchGetItem", "Query":
		return g.of.ReadsTable
	case "TransactWriteItems":
		return g.of.Writes()
	default:
		return false
	}
}

// bucket reports whether the function may make the call of S3, or sign it for somebody else.
func (g *roleRights) bucket(r *http.Request) bool {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodPost && r.URL.Query().Has("delete"):
		return g.deletes(r)
	case key == "":
		return r.Method == http.MethodGet && g.of.ListsFiles
	default:
		return g.may(key, func(f functions.FileRights) bool {
			switch r.Method {
			case http.MethodGet, http.MethodHead:
				return f.Get
			case http.MethodPut:
				return f.Put
			default:
				return r.Method == http.MethodDelete && f.Delete
			}
		})
	}
}

// deletes looks at every key of a DeleteObjects.
func (g *roleRights) deletes(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var in struct {
		Object []struct{ Key string }
	}
	if err := xml.Unmarshal(body, &in); err != nil || len(in.Object) == 0 {
		g.t.Errorf("a DeleteObjects that cannot be read: %v\n%s", err, body)
		return false
	}
	for _, o := range in.Object {
		if !g.may(o.Key, func(f functions.FileRights) bool { return f.Delete }) {
			return false
		}
	}
	return true
}

func (g *roleRights) may(key string, right func(functions.FileRights) bool) bool {
	holder, _, _, ok := record.ParseObjectKey(key)
	return ok && slices.ContainsFunc(g.of.Files, func(f functions.FileRights) bool { return f.Holder == holder && right(f) })
}
