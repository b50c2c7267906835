package apitest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestLintFindsNothingInAGoodDocument(t *testing.T) {
	for _, fault := range Lint(tasksDocument(t)) {
		t.Error(fault)
	}
}

// edit changes the document at a place, given as the members on the way there; nil removes it.
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

func TestLintFindsWhatIsWrong(t *testing.T) {
	list := "paths /v1/tasks get "
	task := "components schemas Task "
	ok := map[string]any{"200": map[string]any{"description": "Fine."}, "default": map[string]any{"$ref": "#/components/responses/Problem"}}
	operation := func(id string) map[string]any {
		return map[string]any{"operationId": id, "summary": "s", "description": "d", "tags": []any{"tasks"}, "responses": ok}
	}
	for name, c := range map[string]struct {
		edits []edit
		want  string // the start of the fault: its place and what is wrong
	}{
		"another version":              {[]edit{{at("openapi"), "3.0.3"}}, `#: at /openapi: '3.0.3' does not match pattern`},
		"unknown member":               {[]edit{{at(list + "opId"), "x"}}, `#: at /paths/~1v1~1tasks/get/opId: `},
		"unknown type":                 {[]edit{{at(task + "type"), "obect"}}, `#: at /components/schemas/Task/type: `},
		"discriminator of wrong shape": {[]edit{{at(task + "discriminator"), "kind"}}, `#: at /components/schemas/Task/discriminator: `},
		"schema that cannot compile":   {[]edit{{at(task + "properties name pattern"), "("}}, `#/components/schemas/Task/properties/name: `},
		"no description of the API":    {[]edit{{at("info description"), nil}}, `#/info: description is missing`},
		"no licence":                   {[]edit{{at("info license"), nil}}, `#/info: license.name is missing`},
		"no operationId":               {[]edit{{at(list + "operationId"), nil}}, `#/paths/~1v1~1tasks/get: operationId is missing`},
		"operationId twice":            {[]edit{{at("paths /v1/tasks post operationId"), "listTasks"}}, `#/paths/~1v1~1tasks/post: operationId "listTasks" is taken by GET /v1/tasks`},
		"operationId not in camel":     {[]edit{{at(list + "operationId"), "list-tasks"}}, `#/paths/~1v1~1tasks/get: operationId "list-tasks" is not`},
		"no summary":                   {[]edit{{at(list + "summary"), " "}}, `#/paths/~1v1~1tasks/get: summary is missing`},
		"no description":               {[]edit{{at(list + "description"), nil}}, `#/paths/~1v1~1tasks/get: description is missing`},
		"no tags":                      {[]edit{{at(list + "tags"), nil}}, `#/paths/~1v1~1tasks/get: tags are missing`},
		"undescribed tag":              {[]edit{{at(list + "tags"), []any{"other"}}}, `#/paths/~1v1~1tasks/get/tags/0: tag "other" is not described`},
		"tag without description":      {[]edit{{at("tags 0 description"), nil}}, `#/tags/0: tag "tasks" has no description`},
		"unused tag":                   {[]edit{{at("tags"), []any{map[string]any{"name": "tasks", "description": "d"}, map[string]any{"name": "x", "description": "d"}}}}, `#/tags/1: no operation has the tag "x"`},
		"undescribed response":         {[]edit{{at(list + "responses 204 description"), " "}}, `#/paths/~1v1~1tasks/get/responses/204: the description is missing`},
		"undescribed header":           {[]edit{{at(list + "responses 200 headers X-Total description"), nil}}, `#/paths/~1v1~1tasks/get/responses/200/headers/X-Total: header "X-Total" needs`},
		"204 with content":             {[]edit{{at(list + "responses 204 content"), map[string]any{"text/plain": map[string]any{}}}}, `#/paths/~1v1~1tasks/get/responses/204: 204 has no body`},
		"no success":                   {[]edit{{at("paths /v1/tasks/{taskId} get responses 200"), nil}}, `#/paths/~1v1~1tasks~1{taskId}/get/responses: no success`},
		"no error":                     {[]edit{{at("paths /v1/tasks/{taskId} get responses 404"), nil}}, `#/paths/~1v1~1tasks~1{taskId}/get/responses: no error`},
		"error in JSON":                {[]edit{{at("components responses Problem content"), map[string]any{"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}}}}, `#/paths/~1v1~1tasks/get/responses/default: an error must not be of application/json`},
		"GET with a body":              {[]edit{{at(list + "requestBody"), map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "string"}}}}}}, `#/paths/~1v1~1tasks/get/requestBody: GET takes no body`},
		"body without schema":          {[]edit{{at("paths /v1/tasks post requestBody content application/json schema"), nil}}, `#/paths/~1v1~1tasks/post/requestBody/content/application~1json: application/json has no schema`},
		"undescribed parameter":        {[]edit{{at(list + "parameters 0 description"), nil}}, `#/paths/~1v1~1tasks/get/parameters/0: limit of GET /v1/tasks has no description`},
		"parameter without schema":     {[]edit{{at(list + "parameters 0 schema"), nil}}, `#/paths/~1v1~1tasks/get/parameters/0: limit of GET /v1/tasks has no schema`},
		"parameter not in camel":       {[]edit{{at(list + "parameters 0 name"), "page_size"}}, `#/paths/~1v1~1tasks/get/parameters/0: page_size of`},
		"parameter not in the path":    {[]edit{{at("paths /v1/tasks/{taskId} parameters 0 name"), "id"}}, `#/paths/~1v1~1tasks~1{taskId}/parameters/0: id is not in the path`},
		"path without its parameter":   {[]edit{{at("paths /v1/tasks/{taskId} parameters"), nil}}, `#/paths/~1v1~1tasks~1{taskId}/get: {taskId} is not declared`},
		"path not in kebab":            {[]edit{{at("paths /v1/open_tasks"), map[string]any{"get": operation("x")}}}, `#/paths/~1v1~1open_tasks: segment "open_tasks"`},
		"path with a final slash":      {[]edit{{at("paths /v1/open/"), map[string]any{"get": operation("x")}}}, `#/paths/~1v1~1open~1: segment ""`},
		"ambiguous path":               {[]edit{{at("paths /v1/tasks/{name}"), map[string]any{"get": operation("x")}}}, `#/paths/~1v1~1tasks~1{taskId}: it fits the same URLs as /v1/tasks/{name}`},
		"unknown security scheme":      {[]edit{{at("paths /v1/tasks post security"), []any{map[string]any{"basic": []any{}}}}}, `#/paths/~1v1~1tasks/post/security/0: there is no security scheme "basic"`},
		"schema without type":          {[]edit{{at(task + "properties extra description"), nil}}, `#/components/schemas/Task/properties/extra: it has no type`},
		"nested schema without type":   {[]edit{{at("components schemas TaskList properties data items"), map[string]any{"title": "x"}}}, `#/components/schemas/TaskList/properties/data/items: it has no type`},
		"header schema without type":   {[]edit{{at(list + "responses 200 headers X-Total schema type"), nil}}, `#/paths/~1v1~1tasks/get/responses/200/headers/X-Total/schema: it has no type`},
		"array without items":          {[]edit{{at("components schemas TaskList properties data items"), nil}}, `#/components/schemas/TaskList/properties/data: the array has no items`},
		"member not in camel":          {[]edit{{at(task + "properties created_at"), map[string]any{"type": "string"}}}, `#/components/schemas/Task: member "created_at"`},
		"invalid example of a body":    {[]edit{{at("paths /v1/tasks post requestBody content application/json example name"), 3}}, `#/paths/~1v1~1tasks/post/requestBody/content/application~1json/example: at /name: got number`},
		"invalid named example":        {[]edit{{at("paths /v1/tasks post requestBody content application/json example"), nil}, {at("paths /v1/tasks post requestBody content application/json examples"), map[string]any{"one": map[string]any{"value": map[string]any{}}}}}, `#/paths/~1v1~1tasks/post/requestBody/content/application~1json/examples/one/value: at /: missing`},
		"invalid example of a schema":  {[]edit{{at("components schemas NewTask properties name examples"), []any{""}}}, `#/components/schemas/NewTask/properties/name/examples/0: at /: minLength`},
		"invalid default":              {[]edit{{at(list + "parameters 0 schema default"), 0}}, `#/paths/~1v1~1tasks/get/parameters/0/schema/default: at /: minimum`},
		"unused schema":                {[]edit{{at("components schemas Spare"), map[string]any{"type": "string"}}}, `#/components/schemas/Spare: nothing refers to it`},
		"schema used by itself alone":  {[]edit{{at("components schemas Tree"), map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/Tree"}}}}, `#/components/schemas/Tree: nothing refers to it`},
		"unused response":              {[]edit{{at("components responses Spare"), map[string]any{"description": "x"}}}, `#/components/responses/Spare: nothing refers to it`},
		"reference to nothing":         {[]edit{{at(list + "responses default $ref"), "#/components/responses/Gone"}}, `#/paths/~1v1~1tasks/get/responses/default: $ref "#/components/responses/Gone" leads nowhere`},
		"reference to elsewhere":       {[]edit{{at(list + "responses default $ref"), "https://example.com/problem.json"}}, `#/paths/~1v1~1tasks/get/responses/default: $ref "https://example.com/problem.json" leads nowhere`},
		"reference in a circle":        {[]edit{{at("components responses Problem"), map[string]any{"$ref": "#/components/responses/Problem"}}}, `#/paths/~1v1~1tasks/get/responses/default: an error must have content`},
	} {
		t.Run(name, func(t *testing.T) {
			var document any
			if err := json.Unmarshal(tasksDocument(t), &document); err != nil {
				t.Fatal(err)
			}
			for _, e := range c.edits {
				e.apply(t, document)
			}
			content, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			faults := Lint(content)
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, c.want) }) {
				t.Errorf("no fault begins with %s\nfaults:\n%s", c.want, strings.Join(faults, "\n"))
			}
		})
	}
}

func TestLintOfWhatIsNoDocument(t *testing.T) {
	for _, content := range []string{
		"", "{", "[]", "{}", `"openapi"`,
		`{"paths": 3, "components": {"schemas": []}}`,
		`{"paths": {"x": {"get": {"tags": 1, "parameters": {"a": []}, "responses": {"": 4}}}}}`,
	} {
		if len(Lint([]byte(content))) == 0 {
			t.Errorf("%q passes", content)
		}
	}
}
