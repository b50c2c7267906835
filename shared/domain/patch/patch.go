// Package patch applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396) documents to a resource as a client sees it. A patch
// applies completely or not at all. Patches that change members which only the service writes are refused.
//
// Patch and resource are decoded once and changed in memory, so that a patch takes a few times its length. The library
// evanphx/json-patch decodes and encodes the document again at each level, and escapes < as \u003c. With it, a patch of 4 MB for a
// resource of 3 levels allocates 9 to 19 times its length, or 34 to 77 times if it consists of <. With 8 levels it allocates 22 to 35
// times, or 28 to 115 times. MaxOperations, MaxPointer and maxCopied bound how much a small patch can multiply. The patch itself has
// passed package jsoncheck.
package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/shared/language/problem"
)

// Media types of patches.
const (
	JSONPatch  = "application/json-patch+json"
	MergePatch = "application/merge-patch+json"
)

// MediaTypes lists the media types in the order of the header Accept-Patch.
var MediaTypes = []string{JSONPatch, MergePatch}

// Limits of a JSON Patch.
const (
	MaxOperations = 1000
	MaxPointer    = 200       // characters of a path
	maxCopied     = 256 << 10 // bytes of JSON that copy operations add
)

// Apply returns the resource after the patch, reduced to its writable members. It returns a problem if another member would change. The
// resource and the result are JSON objects.
func Apply(mediaType string, patch, resource []byte, writable []string) ([]byte, error) {
	var before map[string]any
	var changed, change any
	if err := json.Unmarshal(resource, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(resource, &changed); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return nil, problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	if mediaType == MergePatch {
		members, ok := change.(map[string]any)
		if !ok {
			return nil, problem.BadRequest.New("A merge patch of a resource is a JSON object with the members to change (RFC 7396).")
		}
		merged := merge(changed, change).(map[string]any) // an object, because the patch is one
		for name, value := range members {
			if _, known := before[name]; value == nil && !known && !slices.Contains(writable, name) {
				merged[name] = nil // kept so that the schema of the resource refuses the unknown member
			}
		}
		return onlyWritable(before, merged, writable)
	}
	operations, err := decode(change)
	if err != nil {
		return nil, err
	}
	if changed, err = apply(operations, changed); err != nil {
		return nil, err
	}
	return onlyWritable(before, changed, writable)
}

// merge implements the algorithm of RFC 7396, section 2.
func merge(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := target.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range members {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = merge(merged[name], value)
		}
	}
	return merged
}

// onlyWritable returns the writable members of a patched resource. It returns a problem if another member differs.
func onlyWritable(before map[string]any, after any, writable []string) ([]byte, error) {
	patched, ok := after.(map[string]any)
	if !ok {
		return nil, problem.Invalid.New("The patch makes something of the resource that is no JSON object.")
	}
	var fields []problem.Field
	for name, value := range before {
		if slices.Contains(writable, name) {
			continue
		}
		if now, ok := patched[name]; !ok || !reflect.DeepEqual(value, now) {
			fields = append(fields, problem.NewField(problem.Pointer(name), "is made by the service and cannot be changed"))
		}
		delete(patched, name)
	}
	slices.SortFunc(fields, func(a, b problem.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return encode(patched)
}

func encode(v any) ([]byte, error) {
	var document bytes.Buffer
	e := json.NewEncoder(&document)
	e.SetEscapeHTML(false) // escaping would make a text of < six times as long
	err := e.Encode(v)
	return document.Bytes(), err
}

// operation is one operation of a JSON Patch.
type operation struct {
	name       string
	path, from []string // tokens of the pointers, after an empty token that leads to the resource
	value      any
}

var operations = []string{"add", "remove", "replace", "move", "copy", "test"}

// decode parses a JSON Patch. Its problem names the invalid operation.
func decode(patch any) ([]operation, error) {
	list, ok := patch.([]any)
	if !ok {
		return nil, problem.BadRequest.New("A JSON Patch is an array of operations, each an object with op, path and value (RFC 6902).")
	}
	if len(list) > MaxOperations {
		return nil, problem.Invalid.New("The patch has %d operations; at most %d are allowed.", len(list), MaxOperations)
	}
	decoded := make([]operation, len(list))
	for i, one := range list {
		var fault string
		if decoded[i], fault = decodeOperation(one); fault != "" {
			return nil, problem.BadRequest.New("Operation %d of the patch: %s.", i, fault)
		}
	}
	return decoded, nil
}

// decodeOperation parses an operation, or returns its fault.
func decodeOperation(one any) (op operation, fault string) {
	members, ok := one.(map[string]any)
	if !ok {
		return op, "it must be an object with op, path and value"
	}
	op.name, _ = members["op"].(string)
	if !slices.Contains(operations, op.name) {
		return op, "op must be one of " + strings.Join(operations, ", ")
	}
	op.path = tokens(members["path"])
	if op.path == nil {
		return op, "path must be a JSON Pointer such as /name"
	}
	switch op.name {
	case "move", "copy":
		op.from = tokens(members["from"])
		if op.from == nil {
			return op, op.name + " needs from, a JSON Pointer such as /name"
		}
	case "add", "replace", "test":
		if op.value, ok = members["value"]; !ok {
			return op, op.name + " needs a value"
		}
	}
	return op, ""
}

// tokens returns an empty token and the tokens of a JSON Pointer. It returns nil if the pointer is invalid or longer than MaxPointer.
func tokens(pointer any) []string {
	text, isText := pointer.(string)
	below, isPointer := problem.PointerTokens(text)
	if !isText || !isPointer || utf8.RuneCountInString(text) > MaxPointer {
		return nil
	}
	return append([]string{""}, below...)
}

// apply returns the resource after the operations.
func apply(operations []operation, resource any) (any, error) {
	var root any = map[string]any{"": resource} // the first token of every pointer is empty and leads to the resource
	copied := 0
	for i, op := range operations {
		var err error
		value, source := op.value, op.path
		if op.from != nil {
			source = op.from
			value, err = find(root, source)
		}
		switch {
		case err != nil:
		case op.name == "test":
			if value, err = find(root, op.path); err == nil && !reflect.DeepEqual(value, op.value) {
				return nil, problem.PatchFailed.New("A test operation of the patch does not hold: operation %d. Nothing was changed; get the "+
					"resource again and decide again.", i)
			}
		case op.name == "copy":
			value, err = clone(value, &copied)
		case op.name == "move" && len(op.path) > len(source) && slices.Equal(op.path[:len(source)], source):
			err = errors.New("a value cannot be moved into itself")
		case op.name != "add":
			root, err = edit(root, source, remove)
		}
		if err == nil && op.name != "test" && op.name != "remove" {
			root, err = edit(root, op.path, func(container any, token string) (any, error) { return add(container, token, value) })
		}
		if err != nil {
			return nil, problem.PatchFailed.New("The patch does not apply to the resource as it is now: operation %d, %s: %v. Nothing was changed.",
				i, op.name, err)
		}
	}
	return root.(map[string]any)[""], nil
}

// edit applies change to the container of the value at the tokens, and returns the changed v. An array whose length changes is replaced.
func edit(v any, tokens []string, change func(container any, token string) (any, error)) (any, error) {
	if len(tokens) == 1 {
		return change(v, tokens[0])
	}
	child, err := get(v, tokens[0])
	if err == nil {
		child, err = edit(child, tokens[1:], change)
	}
	if err != nil {
		return nil, err
	}
	switch c := v.(type) {
	case map[string]any:
		c[tokens[0]] = child
	case []any:
		i, _ := index(tokens[0], len(c)-1)
		c[i] = child
	}
	return v, nil
}

func find(v any, tokens []string) (_ any, err error) {
	for _, token := range tokens {
		if v, err = get(v, token); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func get(container any, token string) (any, error) {
	switch c := container.(type) {
	case map[string]any:
		if v, ok := c[token]; ok {
			return v, nil
		}
	case []any:
		if i, ok := index(token, len(c)-1); ok {
			return c[i], nil
		}
	}
	return nil, fmt.Errorf("there is no %.100q where the pointer leads", token)
}

func add(container any, token string, v any) (any, error) {
	switch c := container.(type) {
	case map[string]any:
		c[token] = v
		return c, nil
	case []any:
		if token == "-" {
			return append(c, v), nil
		}
		if i, ok := index(token, len(c)); ok {
			return slices.Insert(c, i, v), nil
		}
	}
	return nil, fmt.Errorf("nothing can be added at %.100q where the pointer leads", token)
}

func remove(container any, token string) (any, error) {
	if _, err := get(container, token); err != nil {
		return nil, err
	}
	if c, ok := container.([]any); ok {
		i, _ := index(token, len(c)-1)
		return slices.Delete(c, i, i+1), nil
	}
	delete(container.(map[string]any), token)
	return container, nil
}

// index parses a token as the index of an item, from 0 to last.
func index(token string, last int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i <= last && token == strconv.Itoa(i)
}

// clone copies a value, and adds the length of its JSON to copied.
func clone(v any, copied *int) (c any, err error) {
	document, err := encode(v)
	if err != nil {
		return nil, err
	}
	*copied += len(document)
	if *copied > maxCopied {
		return nil, fmt.Errorf("the copy operations of a patch may add %d bytes together", maxCopied)
	}
	err = json.Unmarshal(document, &c)
	return c, err
}
