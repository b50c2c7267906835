package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &declared{folder: filepath.Dir(path)}
	if err := yaml.UnmarshalWithOptions(content, d, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	names, faults := map[string]bool{"": true}, []error(nil)
	for i, of := range d.Datasets {
		name, _ := of["name"].(string)
		if names[name] {
			faults = append(faults, fmt.Errorf("%s: /datasets/%d/name is missing, no text, or that of another dataset", path, i))
		}
		names[name] = true
	}
	if name, _ := d.Task["name"].(string); name == "" {
		faults = append(faults, fmt.Errorf("%s: /task/name is missing, or no text", path))
	}
	text, err := json.Marshal(d) // for the types that JSON has, which lacks some values, such as .nan
	if err = cmp.Or(err, json.Unmarshal(text, d)); err != nil {
		faults = append(faults, fmt.Errorf("%s: %w", path, err))
	}
	return d, errors.Join(faults...)
}

// difference returns the members of wanted that a resource has otherwise, as a merge patch (RFC 7396); empty: it has them all.
func difference(wanted, has map[string]any) map[string]any {
	patch := map[string]any{}
	for name, value := range wanted {
		of, isObject := value.(map[string]any)
		had, _ := has[name].(map[string]any)
		if isObject && had != nil {
			inner := difference(of, had)
			if len(inner) == 0 {
				continue
			}
			value = inner
		} else if same(value, has[name]) {
			continue
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
