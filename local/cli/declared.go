package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"assay/shared/computation/measure/scoring"
	"assay/shared/language/problem"

	"go.yaml.in/yaml/v3"
)

// schema is the JSON Schema of a declared file. A test generates it from the OpenAPI document.
//
//go:embed schema.json
var schema []byte

// declared is a task in a file of YAML or JSON, with the members of the API's TaskDraft and DatasetDraft. Truths and inputs are paths,
// relative to the file.
type declared struct {
	Schema    string           `json:"$schema"` // Only editors use it.
	Organizer string           `json:"organizer"`
	Task      map[string]any   `json:"task"`
	Datasets  []map[string]any `json:"datasets"`
	path      string
	document  *yaml.Node
}

// mostText is the largest size of a file, in bytes. Bodies of requests to the API have the same bound.
const mostText = 5 << 20

// jsonOf converts a YAML document to JSON. Timestamps keep their text.
func jsonOf(content []byte) ([]byte, error) {
	text, _, err := parsed(content)
	return text, err
}

// parsed returns a YAML document, and the document converted to JSON. Timestamps keep their text.
func parsed(content []byte) (text []byte, _ *yaml.Node, _ error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, nil, err
	}
	var keep func(*yaml.Node)
	keep = func(n *yaml.Node) {
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, below := range n.Content {
			keep(below)
		}
	}
	keep(&document)
	var value any
	if err := document.Decode(&value); err != nil { // for example for aliases that multiply each other
		return nil, nil, err
	}
	text, err := json.Marshal(value) // JSON has no form for some values, such as .nan.
	return text, &document, err
}

// place returns the line and the path of the member at a JSON Pointer into the file, such as task.yaml:3: task.name. A missing
// member has the line of the object that lacks it.
func (d *declared) place(pointer string) string {
	tokens, _ := problem.PointerTokens(pointer)
	at := d.document
	line, known := 1, 0
	if len(at.Content) > 0 {
		at = at.Content[0]
	}
	for at != nil && known < len(tokens) {
		next := member(at, tokens[known])
		if next == nil {
			break
		}
		line = next.Line
		at = next
		if next.Kind == yaml.AliasNode {
			at = next.Alias
		}
		known++
	}
	if at != nil && at.Tag == "!!str" {
		tokens = tokens[:known] // An organizer is only a name in the file.
	}
	if len(tokens) == 0 {
		return d.path
	}
	return fmt.Sprintf("%s:%d: %s", d.path, line, dotted(problem.Pointer(tokens...)))
}

// yamlLine is the line in the text of an error of package yaml.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// misread returns the error of a file that is no declared file, with its line and the name that the user may have meant.
func (d *declared) misread(err error) error {
	_, unknown, _ := strings.Cut(err.Error(), "json: unknown field ")
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch name, _ := strconv.Unquote(unknown); {
	case name != "":
		return fmt.Errorf("%s: is no member of the file.%s", d.place(problem.Pointer(name)),
			closest(name, []string{"organizer", "task", "datasets"}))
	case isType:
		return fmt.Errorf("%s: must not be a value of the kind %s", d.place(problem.Pointer(strings.Split(wrong.Field, ".")...)), wrong.Value)
	}
	text := err.Error()
	line := yamlLine.FindStringSubmatch(text)
	if len(line) > 1 && line[1] != "" {
		return fmt.Errorf("%s: near line %s: %s", d.path, line[1], strings.TrimPrefix(text, line[0])) // The package counts some lines one short.
	}
	return fmt.Errorf("%s: %s", d.path, text)
}

// member returns the value of a member of an object, or of an item of a list; nil if it is missing.
func member(of *yaml.Node, token string) *yaml.Node {
	i, err := strconv.Atoi(token)
	switch {
	case of.Kind == yaml.SequenceNode && err == nil && i < len(of.Content):
		return of.Content[i]
	case of.Kind == yaml.MappingNode:
		for n := 0; n+1 < len(of.Content); n += 2 {
			if of.Content[n].Value == token {
				return of.Content[n+1]
			}
		}
	}
	return nil
}

// readDeclared reads a declared file. Paths in the file are relative to its folder, or to the current folder for standard input.
func readDeclared(file scoring.File) (*declared, error) {
	path := file.Name
	f, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, mostText+1))
	if err != nil || len(content) > mostText {
		return nil, cmp.Or(err, fmt.Errorf("%s has more than %d MiB", path, mostText>>20))
	}
	d := &declared{path: path}
	text, document, err := parsed(content)
	if err == nil {
		d.document = document
		of := json.NewDecoder(bytes.NewReader(text))
		of.DisallowUnknownFields()
		err = of.Decode(d)
	}
	if err != nil {
		return nil, d.misread(err)
	}
	names, faults := map[string]bool{"": true}, []error(nil)
	for i, of := range d.Datasets {
		name, _ := of["name"].(string)
		if names[name] {
			faults = append(faults, fmt.Errorf("%s: is missing, no text, or the name of another dataset",
				d.place(fmt.Sprintf("/datasets/%d/name", i))))
		}
		names[name] = true
	}
	if name, _ := d.Task["name"].(string); name == "" {
		faults = append(faults, fmt.Errorf("%s: is missing, or no text", d.place("/task/name")))
	}
	return d, errors.Join(faults...)
}

// difference returns the merge patch (RFC 7396) that gives a resource the wanted members. It is empty if the resource has them already.
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

// same reports whether two JSON values are equal. Instants are equal in every notation of RFC 3339.
func same(a, b any) bool {
	one, _ := a.(string)
	other, _ := b.(string)
	x, err := time.Parse(time.RFC3339, one)
	y, otherErr := time.Parse(time.RFC3339, other)
	return err == nil && otherErr == nil && x.Equal(y) || reflect.DeepEqual(a, b)
}

// filesOf returns the files of a member of a resource.
func filesOf(of object, member string) []sent { return memberAs[[]sent](of, member) }
