//go:build browser

package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/edge/webpage/browsertest"
	"assay/shared/testing/waittest"
)

// TestConsole_PollsByConditionalRequests watches a run that does not change. Each further request must be conditional, and answered without
// a body.
func TestConsole_PollsByConditionalRequests(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	dataset := s.dataset(t, owner, task, "1 0 lake 1\n", nil)
	var made struct{ RunIDs []string }
	s.call(t, owner, http.MethodPost, task+"/submissions", map[string]any{"type": "image", "image": "lab/ranker:1", "baseline": true,
		"datasetIds": []string{dataset}}, &made)
	run := "/v1/runs/" + made.RunIDs[0]
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var whole, same atomic.Int32
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // The policy of the page names this host.
	}, ModifyResponse: func(a *http.Response) error {
		if a.Request.URL.Path != run {
			return nil
		}
		if a.StatusCode == http.StatusNotModified {
			same.Add(1)
		} else {
			whole.Add(1)
		}
		return nil
	}}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	p := &consolePage{browsertest.Open(t, front.URL+"/console#/sign-in", browsertest.DeskLight), s, t}
	p.adopt(owner, strings.TrimPrefix(run, "/v1"))
	p.Sees("queued")
	waittest.Until(t, "the console asked twice for the unchanged run", func() bool { return same.Load() >= 2 })
	if whole.Load() > 1 {
		t.Errorf("the run was sent %d times", whole.Load())
	}
}
