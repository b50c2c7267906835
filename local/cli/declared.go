package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/goccy/go-yaml"
)

// schema is the JSON Schema of a declared file. The tests make it of the document that servers have at /openapi.json.
//
//go:embed schema.json
var schema []byte

// declared is a task in a file of YAML or JSON, with the members of the API's TaskDraft and DatasetDraft. Truths and inputs are paths,
// relative to the file.
type declared struct {
	Schema    string           `yaml:"$schema"` // for editors
	Organizer string           `yaml:"organizer"`
	Task      map[string]any   `yaml:"task"`
	Datasets  []map[string]any `yaml:"datasets"`
	folder    string
}

// readDeclared reads a file; its folder is where the paths in it begin.
func readDeclared(path string) (*declared, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	d := &declared{folder: filepath.Dir(path)}
	if err := yaml.NewDecoder(io.LimitReader(in, 4<<20), yaml.Strict()).Decode(d); err != nil {
		return nil, fmt.Errorf("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	names, faults := map[any]bool{nil: true, "": true}, []error(nil)
	for i, of := range d.Datasets {
		if names[of["name"]] {
			faults = append(faults, fmt.Errorf("%s: /datasets/%d/name is missing, or that of another dataset", path, i))
		}
		names[of["name"]] = true
	}
	if d.Task["name"] == nil {
		faults = append(faults, fmt.Errorf("%s: /task/name is missing", path))
	}
	return d, errors.Join(faults...)
}

// difference returns the members of wanted that a resource has otherwise, as a merge patch (RFC 7396); nil: it has them all.
func difference(wanted, has map[string]any) map[string]any {
	var patch map[string]any
	for name, value := range wanted {
		of, isObject := value.(map[string]any)
		had, _ := has[name].(map[string]any)
		if isObject && had != nil {
			inner := difference(of, had)
			if inner == nil {
				continue
			}
			value = inner
		} else if same(value, has[name]) {
			continue
		}
		if patch == nil {
			patch = map[string]any{}
		}
		patch[name] = value
	}
	return patch
}

// same reports whether two values of JSON mean the same: an instant does in any writing (RFC 3339).
func same(a, b any) bool {
	one, _ := a.(string)
	other, _ := b.(string)
	x, err := time.Parse(time.RFC3339, one)
	y, otherErr := time.Parse(time.RFC3339, other)
	return err == nil && otherErr == nil && x.Equal(y) || reflect.DeepEqual(a, b)
}
