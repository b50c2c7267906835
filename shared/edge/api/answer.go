package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// answer is the response to a request.
type answer struct {
	status    int
	mediaType string
	location  string
	etag      string
	body      []byte
	packed    func() []byte // returns the cached gzip of the body; nil: each request compresses the body itself
}

// Encode renders a resource as JSON.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// newAnswer renders one resource. Fields select its members; no fields select all. The entity tag is the resource's revision, if it has
// one, followed by a digest of the body. So callers who see different bodies get different tags.
func newAnswer(status int, resource any, fields []string) (answer, error) {
	body, err := Encode(resource)
	if err != nil {
		return answer{}, err
	}
	if body, err = selectFields(body, fields); err != nil {
		return answer{}, err
	}
	tag := digest(body)
	if n, ok := revision(resource); ok {
		tag = strconv.FormatInt(n, 10) + "-" + tag
	}
	return answer{status: status, mediaType: mediaJSON, etag: `"` + tag + `"`, body: body}, nil
}

// digest returns an entity tag that tells the bodies at one address apart.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// versioned is a resource with a revision.
type versioned = interface{ Revision() int64 }

func revision(v any) (int64, bool) {
	r, ok := v.(versioned)
	if !ok {
		return 0, false
	}
	return r.Revision(), true
}

// writeResource answers with one resource, or 304 if the caller already has it.
func (c *Call) writeResource(ctx context.Context, resource any) error {
	if c.preview != nil {
		return c.writePreview(ctx, http.StatusOK, resource)
	}
	if err := c.resolvePeople(ctx, resource); err != nil {
		return err
	}
	a, err := newAnswer(http.StatusOK, resource, c.Page.Fields)
	if err != nil {
		return err
	}
	if c.accepted == mediaHTML {
		return c.writeHTML(ctx, a.body)
	}
	return c.write(a)
}

func (c *Call) write(a answer) error {
	c.setCaching()
	if a.location != "" {
		c.w.Header().Set("Location", a.location)
	}
	tag := knownTag{etag: a.etag, long: a.long()}
	if c.inputs != nil && tag.keepHeaders(c.w.Header()) {
		c.server.tags.Add(*c.inputs, tag)
	}
	if done, err := c.checkReadPreconditions(tag.under(c.state.codings)...); done || err != nil {
		return err
	}
	return c.send(a)
}

// send sends the answer under the content coding that the caller prefers.
func (c *Call) send(a answer) error {
	ctx := c.request.Context()
	a, coded := a.encode(ctx, c.state.codings)
	memory, err := c.acquireAnswer(ctx, a)
	if err != nil {
		return err
	}
	defer memory.Release()
	c.release()
	a.send(c.w, coded)
	return nil
}

func (a answer) send(w http.ResponseWriter, coded bool) {
	h := w.Header()
	if a.etag != "" {
		h.Set("ETag", a.etag)
	}
	if coded {
		h.Set("Content-Encoding", codingGzip)
	}
	h.Set("Content-Type", a.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // fails only when the connection is closed
}

// WriteDocument answers with a body of the media type and its entity tag, or 304 if the caller already has it.
func (c *Call) WriteDocument(mediaType string, body []byte) error {
	return c.write(documentAnswer(mediaType, body))
}

func documentAnswer(mediaType string, body []byte) answer {
	return answer{status: http.StatusOK, mediaType: mediaType, etag: `"` + digest(body) + `"`, body: body}
}

// writeBytes answers with a body of the media type. It adds an entity tag if the operation has one.
func (c *Call) writeBytes(mediaType string, body []byte) error {
	a := answer{status: http.StatusOK, mediaType: mediaType, body: body}
	if c.op.hasETag() {
		a.etag = `"` + digest(body) + `"`
	}
	return c.write(a)
}

// WriteSeeOther redirects to a temporary address that only the caller may know.
func (c *Call) WriteSeeOther(location string) {
	c.setCaching()
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.Header().Set("Location", location)
	c.w.WriteHeader(http.StatusSeeOther)
}

// writeNothing answers 204.
func (c *Call) writeNothing() error {
	c.setCaching()
	if done, err := c.checkReadPreconditions(); done || err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// writeCSV answers with rows as CSV.
func (c *Call) writeCSV(rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		if err := WriteRow(w, row); err != nil {
			return err
		}
	}
	w.Flush()
	return c.writeBytes(mediaCSV+"; charset=utf-8; header=present", b.Bytes())
}

// WriteRow writes a row as CSV. It escapes the cells of row in place.
func WriteRow(w *csv.Writer, row []string) error {
	for i, cell := range row {
		row[i] = escapeFormula(cell)
	}
	return w.Write(row)
}

// escapeFormula puts an apostrophe before a cell that a spreadsheet would run as a formula. Numbers remain unchanged.
func escapeFormula(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if !strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

// vary lists the request headers that answers depend on.
const vary = "Origin, Authorization, Accept, Accept-Encoding"

// KeepUntil makes caches keep the answer no longer than until the first of the instants after now, because the answer changes then. now is
// the time at which the caller computed the answer, so that an instant which has passed since also counts.
func (c *Call) KeepUntil(now time.Time, instants ...*record.Instant) {
	for _, at := range instants {
		if at != nil && at.After(now) && (c.keepUntil == nil || at.Before(c.keepUntil.Time)) {
			c.keepUntil = at
		}
	}
}

// cacheFor returns for how many seconds any cache may keep the answer.
func (c *Call) cacheFor() int {
	if c.keepUntil == nil {
		return c.op.CacheFor
	}
	return min(c.op.CacheFor, max(0, int(c.keepUntil.Sub(c.Now())/time.Second)))
}

// setCaching sets Cache-Control. By default caches must revalidate an answer, which its entity tag makes cheap.
func (c *Call) setCaching() {
	h := c.w.Header()
	h.Set("Vary", vary)
	switch {
	case c.op.Method != http.MethodGet && !c.op.safe:
		h.Set("Cache-Control", "no-store")
	case c.op.CacheFor > 0:
		h.Set("Cache-Control", "public, max-age="+strconv.Itoa(c.cacheFor()))
	case c.Caller.Anonymous():
		h.Set("Cache-Control", "no-cache")
	default:
		h.Set("Cache-Control", "private, no-cache")
	}
}

// selectFields returns the named members of a JSON object in the order of fields. Without fields it returns the object.
func selectFields(object []byte, fields []string) ([]byte, error) {
	if len(fields) == 0 {
		return object, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for _, f := range fields {
		if v, ok := members[f]; ok {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = strconv.AppendQuote(out, f)
			out = append(append(out, ':'), v...)
		}
	}
	return append(out, '}'), nil
}

// mediaPage is the Content-Type of HTML pages.
const mediaPage = mediaHTML + "; charset=utf-8"

// JSONDocument is a JSON document that is shown as an HTML page.
type JSONDocument struct {
	Title string // heading of the page
	Path  string // of the request
	JSON  []byte
}

// renderHTML renders the page of a document, and sets its Content-Security-Policy.
func (e *Env) renderHTML(ctx context.Context, h http.Header, s JSONDocument) ([]byte, error) {
	body, policy, err := e.RenderHTML(ctx, s)
	if err == nil {
		setContentPolicy(h, policy)
	}
	return body, err
}

// renderHTML renders the page of the call's JSON answer, and sets its Content-Security-Policy.
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

// SetContentPolicy sets the Content-Security-Policy of a page and its Referrer-Policy.
func (c *Call) SetContentPolicy(policy string) { setContentPolicy(c.w.Header(), policy) }

func setContentPolicy(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
}

// prefersPage reports whether the caller prefers a problem as an HTML page.
func (s *Server) prefersPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return s.env.RenderHTML != nil && mediaQuality(accept, mediaHTML) > max(mediaQuality(accept, problem.MediaType),
		mediaQuality(accept, mediaJSON))
}
