package api

import (
	"context"
	"net/http"
	"strings"

	"assay/shared/problem"
)

// mediaPage is the Content-Type of pages.
const mediaPage = mediaHTML + "; charset=utf-8"

// Shown is a JSON document that a page shows.
type Shown struct {
	Title string // what it is, in words
	Path  string // of the request
	JSON  []byte
}

// render renders a document, and sets the headers of its page.
func (e *Env) render(ctx context.Context, h http.Header, s Shown) ([]byte, error) {
	body, policy, err := e.Page(ctx, s)
	if err == nil {
		protect(h, policy)
	}
	return body, err
}

// page renders what would be the answer.
func (c *Call) page(ctx context.Context, document []byte) ([]byte, error) {
	return c.render(ctx, c.w.Header(), Shown{c.op.Summary, c.request.URL.EscapedPath(), document})
}

// writeShown answers with the page of a document.
func (c *Call) writeShown(ctx context.Context, document []byte) error {
	body, err := c.page(ctx, document)
	if err != nil {
		return err
	}
	return c.WriteDocument(mediaPage, body)
}

// Protect sets the headers that hold a page to its Content-Security-Policy.
func (c *Call) Protect(policy string) { protect(c.w.Header(), policy) }

func protect(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
}

// prefersPage reports whether a problem is to be shown as a page.
func (s *Server) prefersPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return s.env.Page != nil && mediaQuality(accept, mediaHTML) > max(mediaQuality(accept, problem.MediaType), mediaQuality(accept, mediaJSON))
}
