// Package patch applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396) documents to a resource as a client sees
// it, whole or not at all, and refuses what touches a member that only the service writes.
package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"assay/shared/problem"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// The media types of patches.
const (
	JSONPatch  = "application/json-patch+json"
	MergePatch = "application/merge-patch+json"
)

// MediaTypes lists both, as the header Accept-Patch does.
var MediaTypes = []string{JSONPatch, MergePatch}

// maxOperations and maxCopied bound the work that one JSON Patch can ask for.
const (
	maxOperations = 1000
	maxCopied     = 5 << 20 // bytes that `copy` operations add
)

// Apply returns the document that the patch makes of the resource. Of its members only those that are writable may
// differ; the others are left out of the result. Both the resource and the result are JSON objects.
func Apply(mediaType string, patch, resource []byte, writable []string) ([]byte, error) {
	var patched []byte
	var err error
	if mediaType == MergePatch {
		patched, err = merge(patch, resource)
	} else {
		patched, err = apply(patch, resource)
	}
	if err != nil {
		return nil, err
	}
	return onlyWritable(resource, patched, writable)
}

func merge(patch, resource []byte) ([]byte, error) {
	if first := bytes.TrimLeft(patch, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return nil, problem.BadRequest.New("A merge patch of a resource is a JSON object with the members to change (RFC 7396).")
	}
	out, err := jsonpatch.MergePatch(resource, patch)
	if err != nil {
		return nil, problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	return out, nil
}

func apply(patch, resource []byte) ([]byte, error) {
	p, err := decode(patch)
	if err != nil {
		return nil, err
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.AccumulatedCopySizeLimit = maxCopied
	out, err := p.ApplyWithOptions(resource, options)
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return nil, problem.PatchFailed.New("A test operation of the patch does not hold: %v. Nothing was changed; get the resource again and decide anew.", err)
	case err != nil:
		return nil, problem.PatchFailed.New("The patch does not apply to the resource as it is now: %v. Nothing was changed.", err)
	}
	return out, nil
}

var operations = []string{"add", "remove", "replace", "move", "copy", "test"}

// decode reads a JSON Patch, and says which operation of it is none.
func decode(patch []byte) (jsonpatch.Patch, error) {
	var ops []map[string]json.RawMessage
	err := json.Unmarshal(patch, &ops)
	if err == nil && ops == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, problem.BadRequest.New("A JSON Patch is an array of operations, each an object with op, path and value (RFC 6902): %v.", err)
	}
	if len(ops) > maxOperations {
		return nil, problem.Invalid.New("The patch has %d operations; at most %d are allowed.", len(ops), maxOperations)
	}
	for i, op := range ops {
		if fault := check(op); fault != "" {
			return nil, problem.BadRequest.New("Operation %d of the patch: %s.", i, fault)
		}
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, problem.BadRequest.New("The patch cannot be read: %v.", err)
	}
	return p, nil
}

// check says what is wrong with an operation; nothing when it is one.
func check(op map[string]json.RawMessage) string {
	var name string
	if json.Unmarshal(op["op"], &name) != nil || !slices.Contains(operations, name) {
		return "op must be one of " + strings.Join(operations, ", ")
	}
	if !isPointer(op["path"]) {
		return "path must be a JSON Pointer such as /name"
	}
	switch name {
	case "move", "copy":
		if !isPointer(op["from"]) {
			return name + " needs from, a JSON Pointer such as /name"
		}
	case "add", "replace", "test":
		if _, ok := op["value"]; !ok {
			return name + " needs a value"
		}
	}
	return ""
}

func isPointer(raw json.RawMessage) bool {
	var s *string
	return json.Unmarshal(raw, &s) == nil && s != nil && (*s == "" || strings.HasPrefix(*s, "/"))
}

// onlyWritable refuses a patched resource in which a member that is not writable differs, and drops those members.
func onlyWritable(before, after []byte, writable []string) ([]byte, error) {
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(before, &was); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &is); err != nil || is == nil {
		return nil, problem.Invalid.New("The patch makes something of the resource that is no JSON object.")
	}
	var fields []problem.Field
	for name, value := range was {
		if slices.Contains(writable, name) {
			continue
		}
		if now, ok := is[name]; !ok || !jsonpatch.Equal(value, now) {
			fields = append(fields, problem.Field{Pointer: pointer(name), Detail: "is made by the service and cannot be changed"})
		}
		delete(is, name)
	}
	slices.SortFunc(fields, func(a, b problem.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return json.Marshal(is)
}

func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
