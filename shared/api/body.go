package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"assay/shared/problem"
	"assay/shared/record"

	"github.com/danielgtaylor/huma/v2"
)

// MaxBodyBytes is how long a request's body may be.
const MaxBodyBytes = 5 << 20

const (
	mediaJSON = "application/json"
	mediaCSV  = "text/csv"
)

// readBody reads the whole body, which must have one of the media types, and returns which.
func (c *Call) readBody(mediaTypes []string) (string, error) {
	mediaType, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(mediaTypes, mediaType) {
		allowed := strings.Join(mediaTypes, ", ")
		name := "Accept-Post"
		if c.op.patch {
			name = "Accept-Patch"
		}
		c.w.Header().Set(name, allowed)
		return "", problem.UnsupportedMedia.New("Send the body with the Content-Type %s.", strings.Join(mediaTypes, " or "))
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(c.w, c.request.Body, MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return "", problem.TooLarge.New("The body is longer than %d bytes. Send large files without content, with size and sha256, and upload them to the address in the answer.", MaxBodyBytes)
	case err != nil:
		return "", problem.BadRequest.Wrap(err, "The body could not be read to its end. Send it again.")
	case len(c.body) == 0:
		return "", problem.BadRequest.New("A body is needed.")
	case !utf8.Valid(c.body):
		return "", problem.BadRequest.New("The body is not UTF-8, which JSON must be.")
	}
	return mediaType, nil
}

// schemaSet makes the schemas of Go types and validates documents against them.
type schemaSet struct {
	mu       sync.Mutex
	registry huma.Registry
	byType   map[reflect.Type]*huma.Schema
}

var schemas = newSchemaSet()

func newSchemaSet() *schemaSet {
	huma.ValidateStrictCasing = true // JSON member names differ by case
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[time.Time]())
	return &schemaSet{registry: r, byType: map[reflect.Type]*huma.Schema{}}
}

// of returns the schema of a type, a reference for a named struct.
func (s *schemaSet) of(t reflect.Type) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byType[t] == nil {
		s.byType[t] = s.registry.Schema(t, true, t.Name())
	}
	return s.byType[t]
}

// validate reports, as one problem, everything in which a JSON document is not of the type.
func (s *schemaSet) validate(t reflect.Type, document []byte) error {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	res := &huma.ValidateResult{}
	huma.Validate(s.registry, s.of(t), huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, res)
	var fields []problem.Field
	for _, err := range res.Errors {
		f := problem.Field{Detail: err.Error()}
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			f = problem.Field{Pointer: toPointer(d.Location), Detail: d.Message}
		}
		fields = append(fields, f)
	}
	return problem.Check(fields)
}

// toPointer turns huma's location of a value (files[0].name) into a JSON Pointer (/files/0/name).
func toPointer(location string) string {
	if location == "" {
		return ""
	}
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "[", "/", "]", "", ".", "/").Replace(location)
	return "/" + strings.TrimPrefix(escaped, "/")
}

// fieldNames lists the JSON members of a struct, in their order.
func fieldNames(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			names = append(names, fieldNames(f.Type)...)
		case f.IsExported() && name != "":
			names = append(names, name)
		}
	}
	return names
}
