package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/jsoncheck"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
)

// inputParam is the query parameter of a GET that holds the body of the equivalent POST.
const inputParam = "input"

// Variant is one of the computations of an operation.
type Variant struct {
	Name, Summary string       // the name is unique
	Input, Output reflect.Type // JSON documents that it takes and answers
	Example       any          // of the input
	Media         []string     // types of its answers other than JSON
	Problems      []*problem.Kind
}

// Compute declares a POST that computes an answer from its body and changes nothing. A parameter of the path names the variant. media
// lists media types of answers other than JSON. handle reads the body with ReadInput and answers with WriteComputed.
func Compute[T Target](s Spec, load Loader[T], variants []Variant, media []string, handle func(context.Context, *Call, T) error) Operation {
	return Operation{
		Spec: s, Method: http.MethodPost, Status: http.StatusOK, Media: append([]string{mediaJSON}, media...),
		variants: variants, safe: true, load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error { return handle(ctx, c, c.target.(T)) },
	}
}

// ComputeGet declares the GET that answers like the Compute with the same variants. Its input is in the query, so that the answer has an
// address that can be linked to and cached.
func ComputeGet[T Target](s Spec, load Loader[T], variants []Variant, media []string,
	handle func(context.Context, *Call, T) error) Operation {
	op := Compute(s, load, variants, media, handle)
	op.Method = http.MethodGet
	op.safe = false
	op.Query = page.Spec{Custom: []string{inputParam}}
	return op
}

// TokenScope returns the scopes that permit the operation to an access token. The token must have one of them.
func (op *Operation) TokenScope() access.TokenScope {
	switch {
	case op.Token != 0:
		return op.Token
	case op.Changes():
		return access.SignedIn
	default:
		return access.ScopeReading
	}
}

// Changes reports whether the operation can change anything that is stored in the table.
func (op *Operation) Changes() bool { return op.Method != http.MethodGet && !op.safe }

// class returns the class of rate limits for the operation; empty: ordinary reads, which have no limit.
func (op *Operation) class() ratelimit.Class {
	switch {
	case op.computes(), op.Large:
		return ratelimit.Tool
	case op.Changes():
		return ratelimit.Write
	default:
		return ""
	}
}

// computes reports whether the operation is a Compute or a ComputeGet.
func (op *Operation) computes() bool { return op.variants != nil }

// ReadInput returns the input of a computation: the body of a POST, or the input parameter of a GET.
func ReadInput[D any](ctx context.Context, c *Call) (input D, err error) {
	if c.op.Method == http.MethodPost {
		return readDraft[D](ctx, c)
	}
	c.body = []byte(c.Page.Value(inputParam))
	if len(c.body) == 0 {
		return input, problem.InvalidParameter.New("What to compute from is missing: give it as JSON in the parameter %s.",
			problem.Parameter(inputParam))
	}
	if err := jsoncheck.Check(ctx, c.body); err != nil {
		return input, inParameter(err)
	}
	input, err = DecodeDraft[D](ctx, c.body)
	return input, inParameter(err)
}

// inParameter rewrites a problem with the body as a problem with the input parameter.
func inParameter(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	renamed := *p
	renamed.Text = p.Replace(strings.NewReplacer("The body", "The parameter "+inputParam, "of the body", "of the parameter "+inputParam))
	return &renamed
}

// Input returns the bytes that ReadInput read.
func (c *Call) Input() []byte { return c.body }

// InputAddress returns the address of a GET that computes from the input at the path. It is empty if the input is too long for a query.
func InputAddress(path string, input []byte) string {
	if len(input) > page.MaxQuery {
		return ""
	}
	query := url.Values{inputParam: {string(input)}}.Encode()
	if len(query) > page.MaxQuery {
		return ""
	}
	return path + "?" + query
}

// LinkInput adds, to the answer to a POST, the address of a GET with the same answer (RFC 9110, section 8.7). It returns that address,
// which is empty if the input is too long for a query.
func (c *Call) LinkInput(path string) string {
	address := InputAddress(path, c.body)
	if c.op.Method == http.MethodPost && address != "" {
		c.w.Header().Set("Content-Location", address)
	}
	return address
}

// Accepted returns the negotiated media type of the answer.
func (c *Call) Accepted() string { return c.accepted }

// Computed is an answer that was computed.
// Computed is the answer of a computation.
type Computed struct {
	MediaType string
	Body      []byte
	Location  string // temporary address of the answer, only for the caller; set instead of MediaType and Body
	// Ephemeral says that the body contains temporary addresses. Such an answer is not cached, and it has no entity tag, because a 304
	// would say that the addresses still work.
	Ephemeral bool
}

// WriteComputed answers with the result of compute. The answer must depend on nothing but parts. If the caller already has the answer,
// WriteComputed answers 304 and does not call compute.
func (c *Call) WriteComputed(ctx context.Context, parts []string, compute func() (Computed, error)) error {
	digest := digestOf(append(parts, c.accepted, c.Info.Version, c.Info.Commit, c.Info.Build))
	tag := `"` + hex.EncodeToString(digest[:16]) + `"`
	if c.op.Method == http.MethodPost {
		if err := c.checkWritePreconditions(c.target); err != nil {
			return err
		}
	}
	if done, err := c.checkReadPreconditions(c.state.codings.tags(tag)...); done || err != nil {
		return err
	}
	computed, err := compute()
	if err != nil {
		return err
	}
	a := answer{status: http.StatusOK, mediaType: computed.MediaType, etag: tag, body: computed.Body}
	if c.accepted == mediaHTML && a.mediaType == mediaJSON {
		if a.body, err = c.renderHTML(ctx, a.body); err != nil {
			return err
		}
		a.mediaType = mediaPage
	}
	if computed.Location != "" {
		c.WriteSeeOther(computed.Location)
		return nil
	}
	c.setCaching()
	if computed.Ephemeral {
		c.w.Header().Set("Cache-Control", "no-store")
		a.etag = ""
	}
	return c.send(a)
}

// digestOf returns a digest of a list of texts.
func digestOf(parts []string) []byte {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p)) // a fixed length for each text, so that different lists never concatenate to equal bytes
		h.Write(sum[:])
	}
	return h.Sum(nil)
}
