package api

import (
	"bytes"
	"cmp"
	stdgzip "compress/gzip"
	"context"
	"io"
	"mime"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/shared/language/problem"

	"github.com/klauspost/compress/gzip"
)

// gzip is the only content coding (RFC 9110, section 8.4.1) of requests and answers. Clients that support zstd support gzip too. zstd
// makes JSON only a tenth smaller, and its decoder reserves a window whose size the sender chooses.
const (
	codingGzip     = "gzip"
	codingIdentity = "identity"
)

const (
	// minCoded is the least length in bytes of an answer that is compressed.
	minCoded = 1 << 10
	// encoderWait is how long an answer waits for an encoder. Afterwards it is sent without compression.
	encoderWait = 50 * time.Millisecond
)

// encoders is the process's pool of encoders. It has one for every two processors, so that callers who request many compressed answers
// leave time for others. An encoder takes a megabyte from its first use on.
var encoders = func() chan *gzip.Writer {
	n := max(1, runtime.GOMAXPROCS(0)/2)
	all := make(chan *gzip.Writer, n)
	for range n {
		all <- nil // created at its first use
	}
	return all
}()

// codings are the content codings that the caller accepts. gzip is set only if the caller prefers it at least as much as no coding.
type codings struct{ gzip, identity bool }

// acceptedCodings reads Accept-Encoding as RFC 9110, section 12.5.3, defines it.
func acceptedCodings(header []string) codings {
	if len(header) == 0 {
		return codings{identity: true}
	}
	accept := strings.ReplaceAll(strings.ToLower(strings.Join(header, ",")), "x-gzip", codingGzip)
	coded, _ := quality(accept, codingGzip, "*")
	plain, by := quality(accept, codingIdentity, "*")
	return codings{gzip: coded > 0 && (by != codingIdentity || coded >= plain), identity: by == "" || plain > 0}
}

// tags returns the entity tags that an answer with the tag may have under the codings, the likely one first.
func (c codings) tags(etag string) []string {
	switch {
	case !c.gzip:
		return []string{etag}
	case !c.identity:
		return []string{codedTag(etag)}
	default:
		return []string{codedTag(etag), etag}
	}
}

// codedTag returns the entity tag of the compressed form. It differs because the bytes differ.
func codedTag(etag string) string {
	if etag == "" {
		return ""
	}
	return strings.TrimSuffix(etag, `"`) + "-" + codingGzip + `"`
}

// compressible reports whether bodies of the media type are text. Other media types are compressed already.
func compressible(mediaType string) bool {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "json") || strings.HasSuffix(name, "xml") ||
		strings.HasSuffix(name, "yaml")
}

// long reports whether the answer is a long text, which is worth compressing.
func (a answer) long() bool { return len(a.body) >= minCoded && compressible(a.mediaType) }

// codes reports whether an answer should be compressed: it is a long text, or the caller accepts only gzip.
func (c codings) codes(long bool) bool { return c.gzip && (!c.identity || long) }

// encode returns the answer under the coding that the caller wants. It compresses only if that saves more than a quarter, because Lambda
// encodes compressed bodies in base64, which adds a third. If no encoder is free in time, the answer remains unchanged.
func (a answer) encode(ctx context.Context, accepted codings) (_ answer, coded bool) {
	if !accepted.codes(a.long()) {
		return a, false
	}
	if accepted.identity {
		patient, cancel := context.WithTimeout(ctx, encoderWait)
		defer cancel()
		ctx = patient
	}
	var packed []byte
	if a.packed != nil {
		packed = a.packed()
	} else {
		packed, coded = pack(ctx, a.body)
		if !coded {
			return a, false
		}
	}
	if accepted.identity && len(packed) > len(a.body)/4*3 {
		return a, false
	}
	a.body, a.etag = packed, codedTag(a.etag)
	return a, true
}

// pack returns the gzip of a body. It reports false when the context ends before an encoder is free.
func pack(ctx context.Context, body []byte) ([]byte, bool) {
	var w *gzip.Writer
	select {
	case w = <-encoders:
	case <-ctx.Done():
		return nil, false
	}
	out := bytes.NewBuffer(make([]byte, 0, len(body)/4+bytes.MinRead))
	if w == nil {
		w = gzip.NewWriter(out)
	}
	w.Reset(out)
	_, _ = w.Write(body) // into memory
	_ = w.Close()
	w.Reset(nil) // do not keep the answer in memory with the encoder
	encoders <- w
	return out.Bytes(), true
}

// decodedBody returns the decoded content of the request. Both the sent and the decoded bytes may have at most MaxBodyBytes; longer
// content fails with http.MaxBytesError. A client that waits for 100 Continue learns about a too large Content-Length before it sends the
// body. From other clients the body is read first, because a client that is still sending would not see the answer.
func (c *Call) decodedBody() (io.Reader, error) {
	sent := http.MaxBytesReader(c.w, c.request.Body, MaxBodyBytes)
	if c.request.ContentLength > MaxBodyBytes {
		if c.request.Header.Get("Expect") == "" {
			_, _ = io.Copy(io.Discard, sent)
		}
		return nil, &http.MaxBytesError{Limit: MaxBodyBytes}
	}
	switch contentCoding(c.request) {
	case codingIdentity:
		return sent, nil
	case codingGzip, "x-gzip":
		decoded, err := stdgzip.NewReader(sent) // net/http links compress/gzip anyway, and it decodes as fast
		if err != nil {
			return nil, err
		}
		return http.MaxBytesReader(c.w, decoded, MaxBodyBytes), nil
	default:
		return nil, unsupportedCoding(c.w.Header(), codingGzip)
	}
}

// contentCoding returns the content coding of a request body.
func contentCoding(r *http.Request) string {
	return strings.ToLower(cmp.Or(strings.Join(r.Header["Content-Encoding"], ","), codingIdentity))
}

// unsupportedCoding returns a problem that names the accepted coding.
func unsupportedCoding(h http.Header, accepted string) error {
	h.Set("Accept-Encoding", accepted)
	return problem.UnsupportedMedia.New("The body has a Content-Encoding that is not accepted here. Send it without one, or with that of "+
		"the header Accept-Encoding (%s).", accepted)
}

// negotiate chooses the media type of the answer. Among offers that the caller prefers equally, the first wins.
func (c *Call) negotiate() error {
	if accepted := c.state.codings; !accepted.gzip && !accepted.identity {
		return problem.NotAcceptable.New("The answer can be coded with %s or not at all. Say so in Accept-Encoding, or leave it out.", codingGzip)
	}
	offers := c.op.Media
	if c.op.Result != nil {
		offers = append([]string{mediaJSON}, offers...)
	}
	if len(offers) == 0 || c.op.computes() { // handlers of computations negotiate the offers of their variant
		return nil
	}
	_, err := c.Negotiate(offers...)
	return err
}

// Negotiate chooses the media type of the answer among the offers. It replaces an earlier choice. A GET with a JSON answer and every
// computation also offer HTML.
func (c *Call) Negotiate(offers ...string) (string, error) {
	if (c.op.Method == http.MethodGet && c.op.Result != nil || c.op.computes()) && c.Env.RenderHTML != nil &&
		!slices.Contains(offers, mediaHTML) {
		offers = append(slices.Clone(offers), mediaHTML)
	}
	accept := strings.Join(c.request.Header.Values("Accept"), ",")
	best := 0.0
	c.accepted = ""
	for _, offer := range offers {
		if q := mediaQuality(accept, offer); q > best {
			c.accepted, best = offer, q
		}
	}
	if best == 0 {
		return "", problem.NotAcceptable.New("The answer can be %s. Say so in Accept, or leave Accept out.", strings.Join(offers, " or "))
	}
	return c.accepted, nil
}

// mediaQuality returns the weight that an Accept header gives a media type, from 0 to 1.
func mediaQuality(accept, mediaType string) float64 {
	if strings.TrimSpace(accept) == "" {
		return 1
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	q, _ := quality(accept, mediaType, kind+"/*", "*/*")
	return q
}

// quality returns the weight, from 0 to 1, that a header's list gives a representation. names are the names that match the representation,
// the most specific first. The most specific element of the list decides (RFC 9110, section 12.5.1); quality returns its name, or "" if
// none matches. Malformed elements are ignored.
func quality(list string, names ...string) (wanted float64, by string) {
	for element := range strings.SplitSeq(list, ",") {
		name, parameters, err := mime.ParseMediaType(element)
		closely := slices.Index(names, name)
		if err != nil || closely < 0 {
			continue
		}
		q := 1.0
		if text, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		wanted = q
		by = name
		names = names[:closely]
	}
	return wanted, by
}
