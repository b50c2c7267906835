// Package rightstest limits a function, or the gRPC server, in tests to the rights of its Deployment. On AWS, its role is made
// from the same Deployment. The servers that tests run have no roles.
package rightstest

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/service/files"
)

// Guard starts proxies for DynamoDB and S3 and returns their URLs. They forward the calls that the deployment may make. Any other
// call fails the test.
func Guard(t testing.TB, of functions.Deployment, dynamoDB, s3 string) (guardedDynamoDB, guardedS3 string) {
	t.Helper()
	r := &rights{t, of}
	return r.inFrontOf(dynamoDB, r.table, nil), r.inFrontOf(s3, r.bucket, r.concealMissing)
}

// rights decides about the calls of one deployment.
type rights struct {
	t  testing.TB
	of functions.Deployment
}

func (g *rights) inFrontOf(server string, allowed func(*http.Request) bool, answer func(*http.Response) error) string {
	g.t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		g.t.Fatal(err)
	}
	next := &httputil.ReverseProxy{ModifyResponse: answer, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // the host is part of the signature
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }} // the client is gone
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

// concealMissing answers like S3 if a caller without s3:ListBucket names a missing key.
func (g *rights) concealMissing(r *http.Response) error {
	if g.of.ListsFiles || r.StatusCode != http.StatusNotFound {
		return nil
	}
	const denied = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`
	if err := r.Body.Close(); err != nil {
		return err
	}
	body := ""
	if r.Request.Method != http.MethodHead {
		body = denied
	}
	r.StatusCode, r.Status = http.StatusForbidden, "403 Forbidden"
	r.Body = io.NopCloser(strings.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header = http.Header{"Content-Type": {"application/xml"}, "Content-Length": {strconv.Itoa(len(body))}}
	return nil
}

// table reports whether the function may make this call of DynamoDB.
func (g *rights) table(r *http.Request) bool {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch call {
	case "GetItem", "BatchGetItem", "Query":
		return true
	case "TransactWriteItems":
		return g.of.Writes()
	default:
		return false
	}
}

// bucket reports whether the function may make this call of S3, or sign it for somebody else.
func (g *rights) bucket(r *http.Request) bool {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodPost && r.URL.Query().Has("delete"):
		return g.deletes(r)
	case key == files.ClaimKey:
		return r.Method == http.MethodGet && g.of.ReadsClaim
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

// deletes reports whether the function may delete every key of a DeleteObjects call.
func (g *rights) deletes(r *http.Request) bool {
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

func (g *rights) may(key string, right func(functions.FileRights) bool) bool {
	holder, _, _, ok := record.ParseObjectKey(key)
	return ok && slices.ContainsFunc(g.of.Files, func(f functions.FileRights) bool { return f.Holder == holder && right(f) })
}
