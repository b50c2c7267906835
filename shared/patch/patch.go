// Package patch applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396) documents to a resource as a client sees
// it, whole or not at all, and refuses what touches a member that only the service writes.
//
// Patch and resource are decoded once and changed in memory, so that a patch costs a few times its size. The library
// evanphx/json-patch decodes and encodes the document again at each level, and writes < as \u003c: a patch of 4 MB that is 3
// levels deep, which resources need, allocates 9 to 19 times its size there, or 34 to 77 times if it is all <; at 8 levels 22
// to 35, or 28 to 115. What an operation can multiply is bounded by MaxOperations, MaxPointer and maxCopied. The patch itself
// has passed package jsoncheck.
package patch

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"assay/shared/problem"
)

// The media types of patches.
const (
	JSONPatch  = "application/json-patch+json"
	MergePatch = "application/merge-patch+json"
)

// MediaTypes lists both, as the header Accept-Patch does.
var MediaTypes = []string{JSONPatch, MergePatch}

// Bounds of one JSON Patch.
const (
	MaxOperations = 1000
	MaxPointer    = 200       // characters of a path
	maxCopied     = 256 << 10 // bytes of JSON that copy operations add
)

// Apply returns the document that the patch makes of the resource. Of its members only those that are writable may
// differ; the others are left out of the result. Both the resource and the result are JSON objects.
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
		merged := merge(changed, change).(map[string]any) // the patch is an object
		for name, value := range members {
			if _, known := before[name]; value == nil && !known && !slices.Contains(writable, name) {
				merged[name] = nil // the schema of the resource refuses it
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

// merge is the algorithm of RFC 7396, section 2.
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

// onlyWritable refuses a patched resource in which a member that is not writable differs, and drops those members.
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
			fields = append(fields, problem.Field{Pointer: problem.Pointer(name), Detail: "is made by the service and cannot be changed"})
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
	e.SetEscapeHTML(false) // which would make a text of < six times as long
	err := e.Encode(v)
	return document.Bytes(), err
}
