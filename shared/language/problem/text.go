package problem

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/shared/language/plural"
)

// Text is a sentence for callers. Detail is the sentence in the words of the API. Parts divide Detail, so that other programs can use their
// own words: the local time of an instant, the label of a member's field, the command for an operation.
type Text struct {
	Detail string `json:"detail" doc:"what callers are told, such as what is wrong and what to do next, in the words of the API"`
	Parts  []Part `json:"parts,omitempty" doc:"the parts of detail, in order; their values together equal detail. Missing if all of it is plain text"`
}

// PartType says what a Part stands for.
type PartType string

// The types of parts.
const (
	PlainText     PartType = "text"
	InstantPart   PartType = "instant"
	SizePart      PartType = "size"
	MemberPart    PartType = "member"
	ChoicePart    PartType = "choice"
	ParameterPart PartType = "parameter"
	OperationPart PartType = "operation"
	ResourcePart  PartType = "resource"
)

// Part is a part of a Text. Which members it has follows from its type.
type Part struct {
	Type       PartType          `json:"type" enum:"text,instant,size,member,choice,parameter,operation,resource" doc:"what the part stands for"`
	Value      string            `json:"value" doc:"the words of the API: an instant in RFC 3339, a number of bytes, the name of a member or a JSON Pointer to it, a value of its enumeration, the name of a query parameter, a request, or the name and the id of a resource"`
	Bytes      *int64            `json:"bytes,omitempty" doc:"of a size: the number of bytes"`
	Operation  string            `json:"operation,omitempty" doc:"of an operation: its operationId in the OpenAPI document" example:"createRegistration"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"of an operation: values of its path and query parameters"`
	Body       string            `json:"body,omitempty" doc:"of an operation: its body in JSON"`
	Resource   string            `json:"resource,omitempty" doc:"of a resource: its kind" example:"run"`
	ID         string            `json:"id,omitempty" doc:"of a resource: its id"`
	Name       string            `json:"name,omitempty" doc:"of a resource: its name, if it has one"`
}

// String returns the part in the words of the API.
func (p Part) String() string { return p.Value }

// Size is a number of bytes. As an argument of a format it becomes a part.
type Size int64

// String returns the size with its unit.
func (s Size) String() string { return plural.Count(int64(s), "byte") }

// Member returns the part for a member of a body. name is its name or a JSON Pointer to it. A format has constant names in braces instead.
func Member(name string) Part { return Part{Type: MemberPart, Value: name} }

// Choice returns the part for a value of a member that has an enumeration.
func Choice[T ~string](value T) Part { return Part{Type: ChoicePart, Value: string(value)} }

// Parameter returns the part for a query parameter. A format has constant names in braces instead.
func Parameter(name string) Part { return Part{Type: ParameterPart, Value: name} }

// Resource returns the part for a resource of a kind, such as "run".
func Resource(kind, id string) Part {
	return Part{Type: ResourcePart, Value: id, Resource: kind, ID: id}
}

// Named returns the part for the resource with its name.
func (p Part) Named(name string) Part {
	p.Name, p.Value = name, fmt.Sprintf("%s (%s)", name, p.ID)
	return p
}

const instantLayout = "2006-01-02T15:04:05.000Z" // of all instants of the API

// partsOf returns the parts for an argument of a format. ok is false for an argument that is plain text.
func partsOf(arg any) (parts []Part, ok bool) {
	switch a := arg.(type) {
	case Part:
		return []Part{a}, true
	case []Part:
		for i, part := range a {
			if i > 0 {
				parts = append(parts, Part{Type: PlainText, Value: ", "})
			}
			parts = append(parts, part)
		}
		return parts, true
	case Text:
		return a.all(), true
	case Size:
		return []Part{{Type: SizePart, Value: a.String(), Bytes: new(int64(a))}}, true
	case interface{ UTC() time.Time }:
		return []Part{{Type: InstantPart, Value: a.UTC().Format(instantLayout)}}, true
	}
	return nil, false
}

var (
	// boundary encloses the number of an argument in a formatted sentence. It is random, so that no value of a caller contains it.
	boundary = rand.Text()
	// named matches the names of members and query parameters in a format.
	named = regexp.MustCompile(`\{(\??)([A-Za-z][A-Za-z0-9.]*(?:\[[A-Za-z]+\])?|(?:/[A-Za-z0-9]+)+)\}`)
)

// Sentence returns a Text. In the format, {name} is a member of a body, {/name/0} is a JSON Pointer to a member, and {?name} is a query
// parameter. An argument becomes a part if it is an instant, a Size or a Part. A []Part becomes a list with commas, and a Text its parts.
func Sentence(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // makes vet check the arguments
	}
	var of [][]Part // by number in the formatted sentence
	number := func(parts ...Part) string {
		of = append(of, parts)
		return boundary + strconv.Itoa(len(of)-1) + boundary
	}
	format = named.ReplaceAllStringFunc(format, func(name string) string {
		name = strings.Trim(name, "{}")
		if parameter, ok := strings.CutPrefix(name, "?"); ok {
			return number(Parameter(parameter))
		}
		return number(Member(name))
	})
	numbered := make([]any, len(args))
	for i, arg := range args {
		numbered[i] = arg
		if parts, ok := partsOf(arg); ok {
			numbered[i] = number(parts...)
		}
	}
	var parts []Part
	for i, piece := range strings.Split(fmt.Sprintf(format, numbered...), boundary) { // plain texts and numbers in turn
		if i%2 == 0 {
			parts = append(parts, Part{Type: PlainText, Value: piece})
		} else {
			n, _ := strconv.Atoi(piece)
			parts = append(parts, of[n]...)
		}
	}
	return join(parts)
}

// all returns the parts of the text, also if all of it is plain text.
func (t Text) all() []Part {
	if t.Parts == nil {
		return []Part{{Type: PlainText, Value: t.Detail}}
	}
	return t.Parts
}

// join returns the Text of the parts. It leaves out empty texts and joins neighbouring ones.
func join(parts []Part) (t Text) {
	var typed bool
	for _, p := range parts {
		t.Detail += p.Value
		typed = typed || p.Type != PlainText
		last := len(t.Parts) - 1
		switch {
		case p.Type == PlainText && p.Value == "":
		case p.Type == PlainText && last >= 0 && t.Parts[last].Type == PlainText:
			t.Parts[last].Value += p.Value
		default:
			t.Parts = append(t.Parts, p)
		}
	}
	if !typed {
		t.Parts = nil
	}
	return t
}

// Append adds another sentence.
func (t *Text) Append(more Text) { *t = join(append(slices.Clone(t.all()), more.all()...)) }

// Replace returns the text with words replaced in the plain text.
func (t Text) Replace(r *strings.Replacer) Text {
	parts := slices.Clone(t.all())
	for i, p := range parts {
		if p.Type == PlainText {
			parts[i].Value = r.Replace(p.Value)
		}
	}
	return join(parts)
}

// clip shortens the text like Clip. A part that does not fit becomes plain text.
func (t Text) clip(most int) Text {
	if len(t.Detail) <= most {
		return t
	}
	parts := slices.Clone(t.all())
	for i, p := range parts {
		if len(p.Value) > most {
			return join(append(parts[:i], Part{Type: PlainText, Value: Clip(p.Value, most)}))
		}
		most -= len(p.Value)
	}
	return t
}
