package apitest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestLint_AcceptsGoodDocument(t *testing.T) {
	for _, fault := range Lint(t, tasksDocument(t))[0] {
		t.Error(fault)
	}
}

// edit changes the document at the path of members. A nil value removes the member.
type edit struct {
	at    []string
	value any
}

func at(place string) []string { return strings.Split(place, " ") }

func (e edit) apply(t *testing.T, document any) {
	t.Helper()
	parent := document
	for _, member := range e.at[:len(e.at)-1] {
		switch v := parent.(type) {
		case map[string]any:
			parent = v[member]
		case []any:
			parent = v[member[0]-'0']
		}
	}
	object, ok := parent.(map[string]any)
	if !ok {
		t.Fatalf("nothing to edit at %v", e.at)
	}
	last := e.at[len(e.at)-1]
	if e.value == nil {
		if _, ok := object[last]; !ok {
			t.Fatalf("nothing to remove at %v", e.at)
		}
		delete(object, last)
		return
	}
	object[last] = e.value
}

func TestLint_FindsFaults(t *testing.T) {
	list := "paths /v1/tasks get "
	task := "components schemas Task "
	ok := map[string]any{"200": map[string]any{"description": "Fine."}, "default": map[string]any{"$ref": "#/components/responses/Problem"}}
	operation := func(id string) map[string]any {
		return map[string]any{"operationId": id, "summary": "s", "description": "d", "tags": []any{"tasks"}, "responses": ok}
	}
	cases := []struct {
		name, want string
		edits      []edit
	}{
		{"another version", "struct", []edit{{at("openapi"), "3.0.3"}}},
		{"unknown member", "struct", []edit{{at(list + "opId"), "x"}}},
		{"unknown type", "struct", []edit{{at(task + "type"), "obect"}}},
		{"discriminator of wrong shape", "struct", []edit{{at(task + "discriminator"), "kind"}}},
		{"no description of the API", "rule/api-text", []edit{{at("info description"), nil}}},
		{"no licence", "info-license", []edit{{at("info license"), nil}}},
		{"no operationId", "operation-operationId", []edit{{at(list + "operationId"), nil}}},
		{"operationId twice", "operation-operationId-unique", []edit{{at("paths /v1/tasks post operationId"), "listTasks"}}},
		{"operationId not in camel", "rule/operation-id", []edit{{at(list + "operationId"), "list-tasks"}}},
		{"no summary", "rule/operation-text", []edit{{at(list + "summary"), " "}}},
		{"no description", "rule/operation-text", []edit{{at(list + "description"), nil}}},
		{"no tags", "rule/operation-tags", []edit{{at(list + "tags"), nil}}},
		{"undescribed tag", "operation-tag-defined", []edit{{at(list + "tags"), []any{"other"}}}},
		{"tag without description", "rule/tag-text", []edit{{at("tags 0 description"), nil}}},
		{"unused tag", "no operation has the tag \"x\"", []edit{
			{at("tags"), []any{map[string]any{"name": "tasks", "description": "d"}, map[string]any{"name": "x", "description": "d"}}}}},
		{"undescribed response", "rule/response-text", []edit{{at(list + "responses 204 description"), " "}}},
		{"undescribed header", "rule/header-text", []edit{{at(list + "responses 200 headers X-Total description"), nil}}},
		{"204 with content", "rule/no-content", []edit{{at(list + "responses 204 content"), map[string]any{"text/plain": map[string]any{}}}}},
		{"no success", "operation-2xx-response", []edit{{at("paths /v1/tasks/{taskId} get responses 200"), nil}}},
		{"no error", "rule/error-declared", []edit{{at("paths /v1/tasks/{taskId} get responses 404"), nil}}},
		{"error in JSON", "rule/error-type", []edit{
			{at("components responses Problem content"), map[string]any{
				"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}}}}},
		{"GET with a body", "rule/no-body", []edit{
			{at(list + "requestBody"), map[string]any{
				"content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "string"}}}}}}},
		{"body without schema", "rule/body-schema", []edit{{at("paths /v1/tasks post requestBody content application/json schema"), nil}}},
		{"undescribed parameter", "rule/parameter-text", []edit{{at(list + "parameters 0 description"), nil}}},
		{"parameter without schema", "rule/parameter-schema", []edit{{at(list + "parameters 0 schema"), nil}}},
		{"parameter not in camel", "rule/parameter-name", []edit{{at(list + "parameters 0 name"), "page_size"}}},
		{"parameter not in the path", "path-parameters-defined", []edit{{at("paths /v1/tasks/{taskId} parameters 0 name"), "id"}}},
		{"path without its parameter", "path-parameters-defined", []edit{{at("paths /v1/tasks/{taskId} parameters"), nil}}},
		{"path not in kebab", "rule/path-name", []edit{{at("paths /v1/open_tasks"), map[string]any{"get": operation("x")}}}},
		{"path with a final slash", "no-path-trailing-slash", []edit{{at("paths /v1/open/"), map[string]any{"get": operation("x")}}}},
		{"ambiguous path", "no-ambiguous-paths", []edit{{at("paths /v1/tasks/{name}"), map[string]any{"get": operation("x")}}}},
		{"unknown security scheme", "security-defined", []edit{{at("paths /v1/tasks post security"), []any{map[string]any{"basic": []any{}}}}}},
		{"schema without type", "rule/schema-type", []edit{{at(task + "properties extra description"), nil}}},
		{"nested schema without type", "rule/schema-type", []edit{
			{at("components schemas TaskList properties data items"), map[string]any{"title": "x"}}}},
		{"header schema without type", "rule/schema-type", []edit{{at(list + "responses 200 headers X-Total schema type"), nil}}},
		{"array without items", "rule/array-items", []edit{{at("components schemas TaskList properties data items"), nil}}},
		{"member not in camel", "rule/member-name", []edit{{at(task + "properties created_at"), map[string]any{"type": "string"}}}},
		{"invalid example of a body", "no-invalid-media-type-examples", []edit{
			{at("paths /v1/tasks post requestBody content application/json example name"), 3}}},
		{"invalid named example", "no-invalid-media-type-examples", []edit{
			{at("paths /v1/tasks post requestBody content application/json example"), nil},
			{at("paths /v1/tasks post requestBody content application/json examples"), map[string]any{
				"one": map[string]any{"value": map[string]any{}}}}}},
		{"invalid example of a schema", "no-invalid-schema-examples", []edit{
			{at("components schemas NewTask properties name examples"), []any{""}}}},
		{"invalid default", "schema/default: at /: minimum", []edit{{at(list + "parameters 0 schema default"), 0}}},
		{"unused schema", "no-unused-components", []edit{{at("components schemas Spare"), map[string]any{"type": "string"}}}},
		{"unused response", "no-unused-components", []edit{{at("components responses Spare"), map[string]any{"description": "x"}}}},
		{"reference to nothing", "no-unresolved-refs", []edit{{at(list + "responses default $ref"), "#/components/responses/Gone"}}},
	}
	documents := make([][]byte, len(cases))
	for i, c := range cases {
		var document any
		if err := json.Unmarshal(tasksDocument(t), &document); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.edits {
			e.apply(t, document)
		}
		var err error
		if documents[i], err = json.Marshal(document); err != nil {
			t.Fatal(err)
		}
	}
	for i, faults := range Lint(t, documents...) {
		c := cases[i]
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: no fault has %s\nfaults:\n%s", c.name, c.want, strings.Join(faults, "\n"))
		}
	}
}
