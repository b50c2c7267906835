// Package problem describes errors for callers. A problem is a Kind with a sentence. The API servers (REST, gRPC) convert it to their
// protocols.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is a class of problems. kinds.go declares all kinds, and both servers convert them.
type Kind struct {
	Slug   string // names the kind in `type`: urn:assay:problem:<slug>
	Title  string // equal for all problems of the kind
	Status int    // HTTP status
}

// Field describes a fault of one member of a request body.
type Field struct {
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) to the member of the body"`
	Count   int    `json:"count,omitempty" minimum:"2" doc:"number of lines of the file with this fault; absent for one"`
	Text
}

// Faults returns the number of faults that the fields stand for.
func Faults(fields []Field) (n int) {
	for _, f := range fields {
		n += max(1, f.Count)
	}
	return n
}

// NewField returns a fault of the member at the pointer. Sentence describes the format.
func NewField(pointer, format string, args ...any) Field {
	return Field{Pointer: pointer, Text: Sentence(format, args...)}
}

// Nothing is the text about resources that do not exist, and about resources whose existence the caller may not know. Clients without
// addresses say it in their own words.
const Nothing = "There is nothing here, or nothing that you may see. Check the address; if it is private, log in as somebody " +
	"who may see it."

// NothingNamed is the text about a request with ids of such resources. Its faults have the ids.
const NothingNamed = "The input names something that does not exist, or that you may not see; `errors` says where and what. Check the " +
	"ids; if it is private or not published yet, log in as somebody who may see it."

// Unset is the advice for a member that conflicts with others.
const Unset = "leave it out; a merge patch keeps it unless it sets it to null"

// Fields is a list of faults of a request body.
type Fields []Field

// Add adds a fault of the member at the pointer.
func (f *Fields) Add(pointer, format string, args ...any) {
	*f = append(*f, NewField(pointer, format, args...))
}

// AddIf adds a fault if wrong is true.
func (f *Fields) AddIf(wrong bool, pointer, format string, args ...any) {
	if wrong {
		f.Add(pointer, format, args...)
	}
}

// Error is one problem. The caller reads the Text, which says what to do next and contains nothing that the caller may not see. Only the
// log shows the cause.
type Error struct {
	Kind *Kind
	Text
	Fields     []Field
	RetryAfter time.Duration // positive: the caller may try again after it
	cause      error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Kind.Slug, e.Detail, e.cause)
	}
	return e.Kind.Slug + ": " + e.Detail
}

func (e *Error) Unwrap() error { return e.cause }

// MaxFields is the greatest number of faults in a problem, and maxText the greatest length in bytes of each of its texts. They keep
// answers from repeating long inputs.
const (
	MaxFields = 100
	maxText   = 1 << 10
)

// Clip shortens a text to at most the number of bytes, followed by an ellipsis. Shorter texts remain unchanged.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// New returns a problem of kind k with a Sentence for the caller.
func (k *Kind) New(format string, args ...any) *Error {
	return &Error{Kind: k, Text: Sentence(format, args...).clip(maxText)}
}

// Wrap returns a problem of kind k with a cause for the log.
func (k *Kind) Wrap(cause error, format string, args ...any) *Error {
	e := k.New(format, args...)
	e.cause = cause
	return e
}

// After sets RetryAfter and returns e.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// With adds faults of the body, up to MaxFields.
func (e *Error) With(fields ...Field) *Error {
	for _, f := range fields[:min(len(fields), MaxFields-len(e.Fields))] {
		e.Fields = append(e.Fields, Field{Pointer: Clip(f.Pointer, maxText), Count: f.Count, Text: f.Text.clip(maxText)})
	}
	return e
}

// Is reports whether err is a problem of kind k.
func (k *Kind) Is(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}

// Check returns a problem that names the first MaxFields faults; nil if there are no faults. With MaxFields faults there may be more,
// because readers of files stop at that number.
func Check(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	detail := "The body has a fault; `errors` says where and what."
	n := Faults(fields[:min(len(fields), MaxFields)])
	switch {
	case len(fields) >= MaxFields:
		detail = fmt.Sprintf("The body has %d faults or more; `errors` says where and what of the first %d. Correct them, and send it again to "+
			"get the others.", n, n)
	case n > 1:
		detail = fmt.Sprintf("The body has %d faults; `errors` says where and what.", n)
	}
	return Invalid.New("%s", detail).With(fields...)
}

// InvalidMember returns the problem of a body with one invalid member.
func InvalidMember(pointer, format string, args ...any) error {
	return Check([]Field{NewField(pointer, format, args...)})
}

// Within converts a problem with a part of a body to a problem with the body. pointer leads to the part. Other errors remain unchanged.
func Within(pointer string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	within := *e
	within.Fields = nil
	for _, f := range e.Fields {
		within.Fields = append(within.Fields, Field{Pointer: pointer + f.Pointer, Count: f.Count, Text: f.Text})
	}
	return &within
}

// MediaType is the media type of a Document.
const MediaType = "application/problem+json"

// Document is a problem document of RFC 9457.
type Document struct {
	Type   string `json:"type" format:"uri-reference" doc:"URI of the kind of problem: urn:assay:problem:<slug>" example:"urn:assay:problem:not-found"`
	Title  string `json:"title" doc:"the kind of problem in words" example:"Not found"`
	Status int    `json:"status" doc:"HTTP status" example:"404"`
	Text
	Instance  string  `json:"instance" format:"uri-reference" doc:"path of the request" example:"/v1/tasks/01JZ0000000000000000000000"`
	RequestID string  `json:"requestId" doc:"identifies the request in the server's log"`
	Errors    []Field `json:"errors,omitempty" maxItems:"100" doc:"faults of single members of the body; at most 100"`
}

// Document returns the problem document for a request with the path instance and the id.
func (e *Error) Document(instance, requestID string) Document {
	return Document{
		Type: e.Kind.Type(), Title: e.Kind.Title, Status: e.Kind.Status,
		Text: e.Text, Instance: instance, RequestID: requestID, Errors: e.Fields,
	}
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer returns the JSON Pointer (RFC 6901) with the tokens, which are names of members and indexes of arrays.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(token))
	}
	return b.String()
}

// PointerTokens returns the tokens of a JSON Pointer. ok is false if it is invalid.
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
