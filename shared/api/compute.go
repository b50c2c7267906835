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

	"assay/shared/access"
	"assay/shared/jsoncheck"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/ratelimit"
)

// inputParam is the parameter that has, in a GET, what would be the body of a POST.
const inputParam = "input"

// Variant is one of the computations of an operation.
type Variant struct {
	Name, Summary string       // the name is unique
	Input, Output reflect.Type // what it takes, and what it answers as JSON
	Example       any          // of the input
	Media         []string     // types of its answers other than JSON
	Problems      []*problem.Kind
}

// Compute declares a POST that changes nothing: it computes an answer from its body. The path says by a parameter which of
// the variants is meant; media are the types of answers other than JSON. handle reads the body by ReadInput and answers by
// WriteComputed.
func Compute[T Target](s Spec, load Loader[T], variants []Variant, media []string, handle func(context.Context, *Call, T) error) Operation {
	return Operation{
		Spec: s, Method: http.MethodPost, Status: http.StatusOK, Media: append([]string{mediaJSON}, media...),
		variants: variants, safe: true, load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error { return handle(ctx, c, c.target.(T)) },
	}
}

// ComputeGet declares the GET that answers as the Compute of the same variants does: what would be the body stands in the query,
// so that the answer has an address that can be linked to and cached.
func ComputeGet[T Target](s Spec, load Loader[T], variants []Variant, media []string,
	handle func(context.Context, *Call, T) error) Operation {
	op := Compute(s, load, variants, media, handle)
	op.Method = http.MethodGet
	op.safe = false
	op.Query = page.Spec{Custom: []string{inputParam}}
	return op
}

// TokenScope is what an access token must have one of.
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

// class is that of the limits which the operation falls under; ordinary reads have none.
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

// ReadInput returns what is to be computed from: the body of a POST, or of a GET the parameter that stands for it.
func ReadInput[D any](ctx context.Context, c *Call) (input D, err error) {
	if c.op.Method == http.MethodPost {
		return readDraft[D](ctx, c)
	}
	c.body = []byte(c.Page.Value(inputParam))
	if len(c.body) == 0 {
		return input, problem.InvalidParameter.New("What to compute from is missing: give it as JSON in the parameter %s.", inputParam)
	}
	if err := jsoncheck.Check(ctx, c.body); err != nil {
		return input, inParameter(err)
	}
	input, err = DecodeDraft[D](ctx, c.body)
	return input, inParameter(err)
}

// inParameter makes a problem of a body one of the parameter that stands for it.
func inParameter(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	renamed := *p
	renamed.Detail = strings.NewReplacer("The body", "The parameter "+inputParam, "of the body", "of the parameter "+
		inputParam).Replace(p.Detail)
	return &renamed
}

// Input is what ReadInput read, as it was sent.
func (c *Call) Input() []byte { return c.body }

// InputAddress is where a GET has what is computed from the input at the path; empty when the input is too long for that.
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

// LinkInput says, in the answer to a POST, where a GET would have the same answer (RFC 9110, section 8.7), and returns
// that address; empty when what was sent is too long for one.
func (c *Call) LinkInput(path string) string {
	address := InputAddress(path, c.body)
	if c.op.Method == http.MethodPost && address != "" {
		c.w.Header().Set("Content-Location", address)
	}
	return address
}

// Accepted is the media type that the answer is to have.
func (c *Call) Accepted() string { return c.accepted }

// Computed is an answer that was computed.
type Computed struct {
	MediaType string
	Body      []byte
	Location  string // instead of both: the address, for the caller alone, where the answer is
	// Ephemeral says that the body has such an address, which works for a while: nobody may keep the answer, and since it has no
	// entity tag, no 304 says that it is still good.
	Ephemeral bool
}

// WriteComputed answers with what compute returns. The parts are all that it depends on, so that it is computed only for
// callers who do not have it yet.
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
		sum := sha256.Sum256([]byte(p)) // so that no two lists run together
		h.Write(sum[:])
	}
	return h.Sum(nil)
}
