// Package problem is the one language in which Assay says that something went wrong. Inside, an error is a Kind
// with a sentence; only an edge (REST, gRPC) turns it into a document of its protocol.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is a class of problems. The kinds are declared once, in kinds.go; both edges map them from there.
type Kind struct {
	Slug   string // names the kind in `type`: urn:assay:problem:<slug>
	Title  string // the same for every problem of the kind
	Status int    // HTTP status
}

// Field says what is wrong with one member of a request's body.
type Field struct {
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) to the member of the body"`
	Detail  string `json:"detail" doc:"what is wrong with it and what was expected"`
}

// Unset says what to do with a member that does not go with others.
const Unset = "leave it out; a merge patch keeps it unless it sets it to null"

// Fields is what is wrong with members of a request's body.
type Fields []Field

// Add adds what is wrong with the member at the pointer.
func (f *Fields) Add(pointer, format string, args ...any) {
	*f = append(*f, Field{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

// AddIf is Add where the member is wrong.
func (f *Fields) AddIf(wrong bool, pointer, format string, args ...any) {
	if wrong {
		f.Add(pointer, format, args...)
	}
}

// Error is one problem. Detail is read by the caller: it tells what to do next, and holds nothing that the caller
// may not see. The cause is for the log alone.
type Error struct {
	Kind       *Kind
	Detail     string
	Fields     []Field
	RetryAfter time.Duration // when positive, trying again after it may succeed
	cause      error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Kind.Slug, e.Detail, e.cause)
	}
	return e.Kind.Slug + ": " + e.Detail
}

func (e *Error) Unwrap() error { return e.cause }

// MaxFields is how many faults of a body one problem names, and maxText how many bytes each of its texts has, so that no
// answer repeats at length what a request sent.
const (
	MaxFields = 100
	maxText   = 1 << 10
)

// Clip returns a text of at most so many bytes, and an ellipsis where it was longer.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// New makes a problem of kind k with a sentence for the caller.
func (k *Kind) New(format string, args ...any) *Error {
	return &Error{Kind: k, Detail: Clip(fmt.Sprintf(format, args...), maxText)}
}

// Wrap makes a problem of kind k that keeps its cause for the log.
func (k *Kind) Wrap(cause error, format string, args ...any) *Error {
	e := k.New(format, args...)
	e.cause = cause
	return e
}

// After says how long to wait before trying again.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// With adds what is wrong with members of the body, as long as there is room for it.
func (e *Error) With(fields ...Field) *Error {
	for _, f := range fields[:min(len(fields), MaxFields-len(e.Fields))] {
		e.Fields = append(e.Fields, Field{Clip(f.Pointer, maxText), Clip(f.Detail, maxText)})
	}
	return e
}

// Is reports whether err is a problem of kind k.
func (k *Kind) Is(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}

// Check returns nil when there are no fields, and otherwise the problem of an invalid body that names the first MaxFields. Where there
// are as many there may be more: readers of files stop then.
func Check(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	detail := "The body has a fault; `errors` says where and what."
	if n := len(fields); n >= MaxFields {
		detail = fmt.Sprintf("The body has %d faults or more; `errors` says where and what of the first %d. Correct them, and send it again to "+
			"get the others.", MaxFields, MaxFields)
	} else if n > 1 {
		detail = fmt.Sprintf("The body has %d faults; `errors` says where and what.", n)
	}
	return Invalid.New("%s", detail).With(fields...)
}

// InvalidMember is the problem of an invalid body of which one member is wrong.
func InvalidMember(pointer, format string, args ...any) error {
	return Check([]Field{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}})
}

// Within returns the problem of a part of a body as that of the body, in which the part is at the pointer; other errors as they are.
func Within(pointer string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	within := *e
	within.Fields = nil
	for _, f := range e.Fields {
		within.Fields = append(within.Fields, Field{pointer + f.Pointer, f.Detail})
	}
	return &within
}

// MediaType is the content type of a Document.
const MediaType = "application/problem+json"

// Document is the problem document of RFC 9457 that callers read.
type Document struct {
	Type      string  `json:"type" format:"uri-reference" doc:"URI of the kind of problem: urn:assay:problem:<slug>" example:"urn:assay:problem:not-found"`
	Title     string  `json:"title" doc:"the kind of problem in words" example:"Not found"`
	Status    int     `json:"status" doc:"HTTP status" example:"404"`
	Detail    string  `json:"detail" doc:"what happened and what to do next"`
	Instance  string  `json:"instance" format:"uri-reference" doc:"path that was asked for" example:"/v1/tasks/01JZ0000000000000000000000"`
	RequestID string  `json:"requestId" doc:"identifies the request in the server's log"`
	Errors    []Field `json:"errors,omitempty" maxItems:"100" doc:"what is wrong with single members of the body; at most 100 faults"`
}

// Document renders the problem for the request with the given path and id.
func (e *Error) Document(instance, requestID string) Document {
	return Document{
		Type: e.Kind.Type(), Title: e.Kind.Title, Status: e.Kind.Status,
		Detail: e.Detail, Instance: instance, RequestID: requestID, Errors: e.Fields,
	}
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer is the JSON Pointer (RFC 6901) with the tokens, which are names of members and positions in arrays.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(token))
	}
	return b.String()
}

// PointerTokens returns the tokens of a JSON Pointer, and whether it is one.
func PointerTokens(pointer string) (tokens []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(pointer[1:], "/")
	for i := range tokens {
		tokens[i] = pointerUnescaper.Replace(tokens[i])
	}
	return tokens, true
}
