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

	"assay/shared/problem"

	"github.com/klauspost/compress/gzip"
)

// gzip is the one content coding (RFC 9110, section 8.4.1) that answers have and requests may have. Clients that know zstd
// know gzip too, JSON has a tenth less bytes with it, and a decoder of zstd reserves a window of a size that the sender chooses.
const (
	codingGzip     = "gzip"
	codingIdentity = "identity"
)

const (
	// minCoded is how many bytes an answer has at least that is coded.
	minCoded = 1 << 10
	// encoderWait is how long an answer waits for an encoder before it is sent as it is.
	encoderWait = 50 * time.Millisecond
)

// encoders are those of the process, of which each has a megabyte once it was needed: one for every other processor, so that
// callers who ask for much that is coded leave room for the others.
var encoders = func() chan *gzip.Writer {
	n := max(1, runtime.GOMAXPROCS(0)/2)
	all := make(chan *gzip.Writer, n)
	for range n {
		all <- nil // made when it is first taken
	}
	return all
}()

// codings are those that the caller accepts: gzip only where it is not wanted less than no coding at all.
type codings struct{ gzip, identity bool }

// acceptedCodings reads Accept-Encoding as RFC 9110, section 12.5.3, has it.
func acceptedCodings(header []string) codings {
	if len(header) == 0 {
		return codings{identity: true}
	}
	accept := strings.ReplaceAll(strings.ToLower(strings.Join(header, ",")), "x-gzip", codingGzip)
	coded, _ := quality(accept, codingGzip, "*")
	plain, by := quality(accept, codingIdentity, "*")
	return codings{gzip: coded > 0 && (by != codingIdentity || coded >= plain), identity: by == "" || plain > 0}
}

// tags are the entity tags that an answer with the tag has under the codings, the likely one first.
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

// codedTag is the entity tag of what has the tag when it is coded: its bytes are others.
func codedTag(etag string) string {
	if etag == "" {
		return ""
	}
	return strings.TrimSuffix(etag, `"`) + "-" + codingGzip + `"`
}

// compressible reports whether the media type is one of text. What is compressed already has others.
func compressible(mediaType string) bool {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "json") || strings.HasSuffix(name, "xml") ||
		strings.HasSuffix(name, "yaml")
}

// codable reports whether the answer is to be coded: when it is long and of text, or the caller takes nothing else.
func (a answer) codable(accepted codings) bool {
	return accepted.gzip && (!accepted.identity || len(a.body) >= minCoded && compressible(a.mediaType))
}

// encode returns the answer under the coding that the caller wants, if it is smaller by more than a quarter: on its way
// through Lambda it has a third more bytes again, in base64. When no encoder is free for too long the answer stays as it is.
func (a answer) encode(ctx context.Context, accepted codings) (_ answer, coded bool) {
	if !a.codable(accepted) {
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
	} else if packed, coded = pack(ctx, a.body); !coded {
		return a, false
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
	w.Reset(nil) // the answer is not kept with the encoder
	encoders <- w
	return out.Bytes(), true
}

// decodedBody returns the content of the request, decoded. Neither what arrives nor what it decodes to is longer than
// MaxBodyBytes; http.MaxBytesError is the error of what is. A client that waits for 100 Continue is refused a
// length that is too large before it sends. The body of one that is sending already is read, or it would lose the answer.
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
		decoded, err := stdgzip.NewReader(sent) // net/http links it already, and it is as fast
		if err != nil {
			return nil, err
		}
		return http.MaxBytesReader(c.w, decoded, MaxBodyBytes), nil
	default:
		return nil, unsupportedCoding(c.w.Header(), codingGzip)
	}
}

// contentCoding is the coding of a request's content.
func contentCoding(r *http.Request) string {
	return strings.ToLower(cmp.Or(strings.Join(r.Header["Content-Encoding"], ","), codingIdentity))
}

// unsupportedCoding says which coding a request may have.
func unsupportedCoding(h http.Header, accepted string) error {
	h.Set("Accept-Encoding", accepted)
	return problem.UnsupportedMedia.New("The body has a Content-Encoding that is not accepted here. Send it without one, or with that of "+
		"the header Accept-Encoding (%s).", accepted)
}

// negotiate chooses the media type of the answer: of those that the caller wants most, the first that is offered.
func (c *Call) negotiate() error {
	if accepted := c.state.codings; !accepted.gzip && !accepted.identity {
		return problem.NotAcceptable.New("The answer can be coded with %s or not at all. Say so in Accept-Encoding, or leave it out.", codingGzip)
	}
	offers := c.op.Media
	if c.op.Result != nil {
		offers = append([]string{mediaJSON}, offers...)
	}
	if len(offers) == 0 || c.op.computes() { // what each variant offers, it chooses from itself
		return nil
	}
	_, err := c.Negotiate(offers...)
	return err
}

// Negotiate chooses the media type of the answer among the offers, whatever it was before. A GET of what is JSON has a page too,
// and so has what was computed.
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

// mediaQuality is how much an Accept header wants a media type.
func mediaQuality(accept, mediaType string) float64 {
	if strings.TrimSpace(accept) == "" {
		return 1
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	q, _ := quality(accept, mediaType, kind+"/*", "*/*")
	return q
}

// quality is how much a list of elements with weights wants what has the names, of which the first means it most closely: from 0, not at
// all, to 1. The element that means it most closely decides (RFC 9110, section 12.5.1), and quality returns its name, or none. What is not
// well-formed says nothing.
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
