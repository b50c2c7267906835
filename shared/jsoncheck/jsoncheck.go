// Package jsoncheck checks a JSON document of a client before anything decodes it. encoding/json decodes each level and
// each value of a document into memory of its own, so a small document can cost much more than its size; and RFC 8259
// leaves open what two members of one name mean. Check bounds the first and refuses the second, in one pass of
// package jsontext, which allocates nothing but the names of the objects that are open.
package jsoncheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"assay/shared/problem"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a document. The deepest body of the service has 6 levels, the largest about 5,000 values.
const (
	MaxDepth  = 32     // objects and arrays in each other
	MaxValues = 10_000 // of every kind, at every level
	MaxNumber = 100    // characters of a number
)

// Charset reports whether a media type with the parameters is in UTF-8, which JSON is when it does not say.
func Charset(parameters map[string]string) bool {
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// Check returns the problem of a document that is not JSON in UTF-8, exceeds a bound, or has two members of one name in
// an object; or the error of a context that has ended.
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
		container, inside := d.StackIndex(d.StackDepth()) // of an object, names and values
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

// Deep reports whether a document has more than MaxDepth levels, as far as it is JSON.
func Deep(document []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(document), jsontext.AllowDuplicateNames(true))
	for d.StackDepth() <= MaxDepth {
		if _, err := d.ReadToken(); err != nil {
			return false
		}
	}
	return true
}

// checkBounds returns the problem of a document with so many levels and values so far, and the number last, if that is one.
func checkBounds(depth, values int, number []byte) error {
	switch {
	case depth > MaxDepth:
		return problem.BadRequest.New("The body has more than %d levels of objects and arrays in each other. Nothing here needs as many: "+
			"compare it with /openapi.json.", MaxDepth)
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
