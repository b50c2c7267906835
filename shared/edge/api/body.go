package api

import (
	"context"
	"errors"
	"iter"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"assay/shared/edge/jsoncheck"
	"assay/shared/language/problem"
)

// MaxBodyBytes is the greatest length of a request body, both as sent and decoded.
const MaxBodyBytes = 5 << 20

const (
	mediaJSON = "application/json"
	mediaCSV  = "text/csv"
	mediaHTML = "text/html"
	mediaText = "text/plain"
)

// readBody reads and checks the whole body. It returns the media type of the body, which must be one of mediaTypes.
func (c *Call) readBody(ctx context.Context, mediaTypes []string) (string, error) {
	// Two Content-Type headers are invalid. Joining them, as API Gateway does, makes the parser refuse them.
	mediaType, parameters, err := mime.ParseMediaType(strings.Join(c.request.Header.Values("Content-Type"), ","))
	if err != nil || !slices.Contains(mediaTypes, mediaType) || !jsoncheck.Charset(parameters) {
		allowed := strings.Join(mediaTypes, ", ")
		name := "Accept-Post"
		if c.op.Method == http.MethodPatch {
			name = "Accept-Patch"
		}
		c.w.Header().Set(name, allowed)
		return "", problem.UnsupportedMedia.New("Send the body in UTF-8 with the Content-Type %s.", strings.Join(mediaTypes, " or "))
	}
	body, err := c.decodedBody()
	if err == nil {
		c.body, err = c.readAll(ctx, body)
	}
	var refused *problem.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &refused):
		return "", err
	case errors.As(err, &tooLarge) && c.op.safe:
		return "", problem.TooLarge.New("The body is longer than %s. Submit large runs to a task and name them by {runId}, or pack files "+
			"with gzip.", problem.Size(MaxBodyBytes))
	case errors.As(err, &tooLarge):
		return "", problem.TooLarge.New("The body is longer than %s. Send large files without {content}, with {size} and {sha256}, and upload "+
			"them to the address in the answer.", problem.Size(MaxBodyBytes))
	case err != nil:
		return "", problem.BadRequest.Wrap(err,
			"The body could not be read to its end, or is not coded as its Content-Encoding says. Send it again.")
	case len(c.body) == 0:
		return "", problem.BadRequest.New("A body is needed.")
	}
	return mediaType, c.decode(ctx, c.body, func() error { return jsoncheck.Check(ctx, c.body) })
}

// fieldNames lists the JSON members of a struct in the order of its fields.
func fieldNames(t reflect.Type) []string {
	var names []string
	for name := range members(t) {
		names = append(names, name)
	}
	return names
}

// members yields the JSON members of a struct in the order of its fields.
func members(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return func(yield func(string, reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || f.Tag.Get("hidden") == "true":
			case f.Anonymous && name == "":
				for name, f := range members(f.Type) {
					if !yield(name, f) {
						return
					}
				}
			case f.IsExported() && name != "" && !yield(name, f):
				return
			}
		}
	}
}

// enumOf lists the values that the schema of a struct allows for a member.
func enumOf(t reflect.Type, member string) []string {
	for name, f := range members(t) {
		if name == member && f.Tag.Get("enum") != "" {
			return expand(strings.Split(f.Tag.Get("enum"), ","))
		}
	}
	panic("the schema of " + t.String() + " gives no values for " + member)
}
