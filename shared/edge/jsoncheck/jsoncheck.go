// Package jsoncheck checks JSON documents of clients before they are decoded. encoding/json allocates memory for each level and each
// value, so a small document can take much more memory than its length. RFC 8259 does not define the meaning of duplicate names. Check
// bounds levels and values, and refuses duplicate names. It reads the document once with package jsontext, which allocates only the
// names of open objects.
package jsoncheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"assay/shared/language/problem"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a document. The deepest body of the API has 6 levels, and the largest about 5,000 values.
const (
	MaxDepth  = 32     // nested objects and arrays
	MaxValues = 10_000 // of every kind, at every level
	MaxNumber = 100    // characters of a number
)

// Charset reports whether a JSON media type with the parameters is in UTF-8. That is the default.
func Charset(parameters map[string]string) bool {
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// Check returns a problem if the document is not JSON in UTF-8, exceeds a limit, or has duplicate names in an object. It returns
// ctx.Err() when the context ends.
func Check(ctx context.Context, document []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(document))
	values := 0
	for {
		if values%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start := d.InputOffset()
		token, err := d.ReadToken()
		fault, _ := errors.AsType[*jsontext.SyntacticError](err)
		switch {
		case errors.Is(err, io.EOF) && values > 0:
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return problem.BadRequest.New("An object of the body has two members with the name %.100q: keep one of them.",
				fault.JSONPointer.LastToken())
		case fault != nil:
			return problem.BadRequest.New("The body is not a JSON document in UTF-8: %v at byte %d.", fault.Err, fault.ByteOffset+1)
		case err != nil:
			return problem.BadRequest.New("The body is not a JSON document: it has nothing but white space.")
		}
		if _, documents := d.StackIndex(0); documents > 1 {
			return problem.BadRequest.New("The body is more than one JSON document.")
		}
		kind := token.Kind()
		container, inside := d.StackIndex(d.StackDepth()) // for an object, inside counts names and values
		if name := kind == '"' && container == '{' && inside%2 == 1; !name && kind != '}' && kind != ']' {
			values++
		}
		var number []byte
		if kind == '0' {
			number = bytes.TrimLeft(document[start:d.InputOffset()], " \t\r\n,:")
		}
		if err := checkBounds(d.StackDepth(), values, number); err != nil {
			return err
		}
	}
}

// Deep reports whether a document has more than MaxDepth levels. It stops at the first syntax error.
func Deep(document []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(document), jsontext.AllowDuplicateNames(true))
	for d.StackDepth() <= MaxDepth {
		if _, err := d.ReadToken(); err != nil {
			return false
		}
	}
	return true
}

// checkBounds returns a problem if the document so far exceeds a limit. number is the last token if that is a number, and otherwise nil.
func checkBounds(depth, values int, number []byte) error {
	switch {
	case depth > MaxDepth:
		return problem.BadRequest.New("The body has more than %d levels of objects and arrays in each other. Nothing here needs as many: "+
			"compare it with %s.", MaxDepth, problem.GetOpenAPI.With())
	case values > MaxValues:
		return problem.BadRequest.New("The body has more than %d values. Send it in several requests, or put large data into files.", MaxValues)
	case len(number) > MaxNumber:
		return problem.BadRequest.New("A number of the body has %d characters; %d are allowed. Round it.", len(number), MaxNumber)
	case bytes.ContainsAny(number, "eE"):
		if _, err := strconv.ParseFloat(string(number), 64); errors.Is(err, strconv.ErrRange) {
			return problem.BadRequest.New("The number %s of the body is beyond what 64 bits hold as a floating-point number (IEEE 754), about "+
				"1.8e308.", number)
		}
	}
	return nil
}
