package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/shared/testing/programtest"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write schema.json")

// TestSchema_IsThatOfTheDocument generates the schema of declared files from the OpenAPI document. A task and datasets have the members of
// the API without the ids of organizer and task, and files are paths.
func TestSchema_IsThatOfTheDocument(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(programtest.Root(t), "functions", "service", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.ReplaceAll(content, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var document struct {
		Components struct{ Schemas map[string]object }
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	defs := map[string]object{}
	var add func(name string)
	add = func(name string) {
		if defs[name] != nil {
			return
		}
		of := document.Components.Schemas[name]
		defs[name] = of
		properties, _ := of["properties"].(map[string]any)
		for member := range properties {
			switch member {
			case "organizerId", "taskId":
				delete(properties, member)
			case "truths", "inputs":
				properties[member] = object{"type": "array", "items": object{"type": "string"}, "description": "paths, relative to this file"}
			}
		}
		required, _ := of["required"].([]any)
		of["required"] = slices.DeleteFunc(append([]any{}, required...), func(name any) bool { return properties[name.(string)] == nil })
		text, _ := json.Marshal(of)
		for _, part := range strings.Split(string(text), "#/$defs/")[1:] {
			inner, _, _ := strings.Cut(part, `"`)
			add(inner)
		}
	}
	add("TaskDraft")
	add("DatasetDraft")
	delete(defs, "File") // Files are paths in declared files.
	want, err := json.MarshalIndent(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A task and its datasets, as assay apply takes them",
		"type": "object", "required": []string{"task"}, "additionalProperties": false, "$defs": defs, "properties": object{
			"$schema": object{"type": "string"},
			"organizer": object{"type": "string",
				"description": "name or id of the organizer; the only one of yours unless given; made where there is none"},
			"task":     object{"$ref": "#/$defs/TaskDraft"},
			"datasets": object{"type": "array", "items": object{"$ref": "#/$defs/DatasetDraft"}},
		},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(schema, want) {
		t.Error("schema.json is stale: go test ./local/cli -run Schema -update")
	}
}

func TestSchema_TakesWhatIsApplied(t *testing.T) {
	var document any
	if err := json.Unmarshal(schema, &document); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		taskFile: true, strings.Replace(taskFile, "split:", "splid:", 1): false,
		strings.Replace(taskFile, "[qrels.txt]", "[{name: q}]", 1): false,
		"task: {name: Lakes}\n": true, "datasets: []\n": false,
	} {
		content, err := jsonOf([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != want {
			t.Errorf("%s\n%v", text, err)
		}
	}
}
