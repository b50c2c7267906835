package api

import (
	"context"
	"net/http"
	"strings"

	"assay/shared/problem"
)

// mediaPage is the Content-Type of pages.
const mediaPage = mediaHTML + "; charset=utf-8"

// JSONDocument is a JSON document that a page shows.
type JSONDocument struct {
	Title string // what it is, in words
	Path  string // of the request
	JSON  []byte
}

// renderHTML renders a document, and sets the headers of its page.
func (e *Env) renderHTML(ctx context.Context, h http.Header, s JSONDocument) ([]byte, error) {
	body, policy, err := e.RenderHTML(ctx, s)
	if err == nil {
		setContentPolicy(h, policy)
	}
	return body, err
}

// renderHTML renders what would be the answer, and sets the headers of its page.
func (c *Call) renderHTML(ctx context.Context, document []byte) ([]byte, error) {
	return c.Env.renderHTML(ctx, c.w.Header(), JSONDocument{c.op.Summary, c.request.URL.EscapedPath(), document})
}

// writeHTML answers with the page of a document.
func (c *Call) writeHTML(ctx context.Context, document []byte) error {
	body, err := c.renderHTML(ctx, document)
	if err != nil {
		return err
	}
	return c.WriteDocument(mediaPage, body)
}

// SetContentPolicy sets the headers that hold a page to its Content-Security-Policy.
func (c *Call) SetContentPolicy(policy string) { setContentPolicy(c.w.Header(), policy) }

func setContentPolicy(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
}

// prefersPage reports whether a problem is to be shown as a page.
func (s *Server) prefersPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return s.env.RenderHTML != nil && mediaQuality(accept, mediaHTML) > max(mediaQuality(accept, problem.MediaType),
		mediaQuality(accept, mediaJSON))
}
