package resource

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/testing/programtest"
)

// Texts from users link only to http and https URLs. Addresses of the service lead nowhere else.
func TestAddress_LeadsToKnownPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"/v1/tasks/1": "/v1/tasks/1", "https://example.org/": "https://example.org/", "//example.org": "", "javascript:alert(1)": "",
		"data:text/html,x": "",
	} {
		v := value{name: "url", text: text, literal: true}
		if got := v.address(&value{}); got != want {
			t.Errorf("%s leads to %q, want %q", text, got, want)
		}
	}
}

// TestAddress_LeadsToNoUser: only a user and administrators see a user, with a token.
func TestAddress_LeadsToNoUser(t *testing.T) {
	for name, want := range map[string]string{"userId": "", "runId": "/v1/runs/1"} {
		v := value{name: name, text: "1", literal: true}
		if got := v.address(&value{}); got != want {
			t.Errorf("%s leads to %q, want %q", name, got, want)
		}
	}
}

// TestRender_LeadsFromAProblemBackToTheTask renders problems of resources of a task, of a task and of another resource.
func TestRender_LeadsFromAProblemBackToTheTask(t *testing.T) {
	const task = "/v1/tasks/01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	for path, want := range map[string]bool{
		task + "/evaluations": true, task + "/submissions/01JZ3V7Q0D8T5RZ0S6R1W9C4XK": true, task: false, "/v1/tasks/x/evaluations": false,
		"/v1/runs": false,
	} {
		body, _, err := Render(t.Context(), api.JSONDocument{Title: "Error", Path: path,
			JSON: []byte(`{"type":"urn:assay:problem:invalid-parameter","status":400,"detail":"The dataset takes no final runs."}`)})
		if got := strings.Contains(string(body), `<a href="`+task+`">Back to the task</a>`); err != nil || got != want {
			t.Errorf("%s has a link to the task: %v, want %v (%v)", path, got, want, err)
		}
	}
}

// Only the shown part of a large document is kept in memory.
func TestParse_KeepsTheFirstEntries(t *testing.T) {
	text := `{"name":"large","perTopic":[` + strings.Repeat("1,", 9_999) + `1]}`
	v, err := parse(json.NewDecoder(strings.NewReader(text)), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if all := v.find("perTopic"); len(all.entries) > 2*maxEntries || all.count != 10_000 || len(all.members()) != maxEntries {
		t.Errorf("%d entries of %d, %d of them shown", len(all.entries), all.count, len(all.members()))
	}
	body, _, err := Render(t.Context(), api.JSONDocument{Title: "Return an evaluation", Path: "/v1/evaluations/1", JSON: []byte(text)})
	if err != nil || !strings.Contains(string(body), "9800 more are in the JSON.") {
		t.Errorf("%v: %s", err, body)
	}
}

// A page shows each member once, including those of nested objects, and explains its literals.
func TestRender_ShowsEachMember(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"/v1/runs", "{\"type\":\"urn:assay:problem:invalid\",\"detail\":\"A fault; `errors` says where.\",\"errors\":[]}",
			"A fault; <code>errors</code> says where."},
		{"/v1/runs", "{\"type\":\"urn:assay:problem:invalid\",\"detail\":\"A fault.\"," +
			"\"errors\":[{\"pointer\":\"/runs\",\"detail\":\"at least `1`\"}]}", "at least <code>1</code>"},
		{"/v1/tasks/1", `{"type":"urn:assay:problem:forbidden","detail":"x","parts":[` +
			`{"type":"text","value":"Closed at "},{"type":"instant","value":"2026-11-29T12:30:00.000Z"},` +
			`{"type":"text","value":". Set "},{"type":"member","value":"closesAt"},{"type":"text","value":"."}]}`,
			`Closed at <time datetime="2026-11-29T12:30:00.000Z">29 November 2026, 12:30 UTC</time>. Set <code>closesAt</code>.`},
		{"/v1/tasks/1", `{"errors":[{"pointer":"/a","detail":"leave b out","parts":[{"type":"text","value":"leave "},` +
			`{"type":"member","value":"b"},{"type":"text","value":" out"}]}]}`, `leave <code>b</code> out</bdi></dd></dl>`},
		{"/v1/tasks/1/announcements", `{"data":[{"id":"1","title":"Rules","body":"See the **new** [rules](https://a.example)."}]}`,
			"See the new rules."},
		{"/v1/runs/1", `{"job":{"links":{"docs":"/docs"}}}`, "/docs"},
		{"/v1/tasks/1", `{"submissions":{"perDay":0,"total":0}}`,
			"Per day</dt><dd><bdi>no limit</bdi></dd><dt>Total</dt><dd><bdi>no limit</bdi>"},
		{"/v1/registrations/1", `{"quota":{"remainingToday":0}}`, "<bdi>0</bdi>"},
		{"/v1/tasks/1/audit-entries", `{"data":[{"id":"1","action":"task.created","actor":{"id":"2","name":"Olivia"}}]}`, "Actor: Olivia"},
		{"/v1/tasks/1/audit-entries", `{"data":[{"id":"1","action":"task.created","actor":{"id":"2"}}]}`, "Action: task.created</p>"},
		{"/v1/tasks", `{"data":[{"id":"1","name":"Lakes","createdAt":"2026-11-30T03:41:58.346Z","organizerId":"2"}]}`,
			"Created at: 30 November 2026, 03:41:58 UTC</p>"},
		{"/v1/tasks/1", `{"createdAt":"2026-11-30T03:41:58.346Z"}`,
			`<time datetime="2026-11-30T03:41:58.346Z">30 November 2026, 03:41:58 UTC</time>`},
		{"/v1/evaluations", `{"data":[{"id":"1","runId":"2"}]}`, `<a href="/v1/evaluations/1"><bdi>No. 1</bdi></a>`},
		{"/v1/tasks/1/audit-entries", `{"data":[{"id":"1","action":"task.created"}]}`, "<h2><bdi>task.created</bdi></h2>"},
		{"/v1/runs", `{"data":[{"id":"1","team":"Heron","label":"BM25"}]}`, "<bdi>BM25</bdi></a></h2>"},
		{"/v1/runs", `{"data":[{"id":"1","datasetId":"2","runTag":"bm25"}]}`, "Run tag: bm25"},
		{"/v1/runs", `{"data":[{"id":"1","datasetId":"2"}]}`, `<a href="/v1/datasets/2">Dataset</a>`},
		{"/v1/evaluations/1", `{"measures":{"nDCG@10":1},"columns":["AP"]}`, "<dt>nDCG@10</dt>"},
		{"/v1/evaluations/1", `{"perTopic":{"mtDoc":{"AP":1}}}`, "<dt>mtDoc</dt><dd><dl class=\"members\"><dt>AP</dt>"},
		{"/v1/tools/evaluator", `{"runs":[{"intervals":{"nDCG@10":{"low":0,"high":1}}}]}`,
			"<dt>nDCG@10</dt><dd><dl class=\"members\"><dt>Low</dt>"},
		{"/v1/evaluations/1", `{"perTopic":{"measures":{"nDCG@10":1}}}`, "<dt>measures</dt><dd><dl class=\"members\"><dt>nDCG@10</dt>"},
		{"/v1/tools/topics", `{"errors":[{"pointer":"","detail":"is none"}]}`, "<bdi>the body as a whole</bdi>"},
	} {
		body, _, err := Render(t.Context(), api.JSONDocument{Title: "Title", Path: c.path, JSON: []byte(c.text)})
		_, main, _ := strings.Cut(string(body), "<main")
		if err != nil || !strings.Contains(main, c.want) || strings.Count(main, "A fault") > 1 {
			t.Errorf("%s lacks %s: %v %s", c.text, c.want, err, main)
		}
	}
}

// TestRender_SaysHowToGoOn shows problems to people. Pages name no HTTP methods, and tell the id of the request only if those who run the
// server can do something about the problem.
func TestRender_SaysHowToGoOn(t *testing.T) {
	for _, c := range []struct {
		kind   *problem.Kind
		path   string
		has    []string
		hasNot []string
	}{
		{problem.NotFound, "/v1/tasks/01JZ3V7Q0D8T5RZ0S6R1W9C4XK", []string{
			`<a href="/console#/sign-in?to=%2Ftasks%2F01JZ3V7Q0D8T5RZ0S6R1W9C4XK">`,
			`<a href="/">list of tasks</a>`}, []string{"req_1"}},
		{problem.Forbidden, "/v1/nowhere", []string{`<a href="/console#/sign-in">`}, []string{"req_1"}},
		{problem.Unauthorized, "/v1/user", []string{"Only users who are signed in see this.", `<a href="/console#/sign-in">`},
			[]string{"req_1", "See "}},
		{problem.Internal, "/v1/tasks", []string{"If this persists", "<code>req_1</code>"}, []string{"Sign in"}},
		{problem.Invalid, "/v1/tasks", nil, []string{"Sign in", "req_1"}},
	} {
		for _, o := range problem.Operations {
			document, err := json.Marshal(c.kind.New("See %s.", o.With()).Document(c.path, "req_1"))
			if err != nil {
				t.Fatal(err)
			}
			body, _, err := Render(t.Context(), api.JSONDocument{Title: c.kind.Title, Path: c.path, JSON: document})
			_, main, _ := strings.Cut(string(body), "<main")
			if err != nil || strings.Contains(main, o.Method+" ") || strings.Contains(main, problem.TypePrefix) {
				t.Errorf("%s: %v: the page is for programs: %s", o.ID, err, main)
			}
			for _, text := range c.has {
				if !strings.Contains(main, text) {
					t.Errorf("%s lacks %s: %s", c.kind.Slug, text, main)
				}
			}
			for _, text := range c.hasNot {
				if strings.Contains(main, text) {
					t.Errorf("%s has %s: %s", c.kind.Slug, text, main)
				}
			}
		}
	}
}

// Keys of maps are never split into words. The members of the OpenAPI document that are maps have the levels of keyedMembers, unless the
// API itself declares the keys.
func TestKeyedMembers_AreTheMapsOfTheAPI(t *testing.T) {
	declared := []string{"links", "perDay"} // self and next; kinds of usage
	content, err := os.ReadFile(filepath.Join(programtest.Root(t), "functions", "service", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	maps := 0
	var walk func(name string, of map[string]any)
	walk = func(name string, of map[string]any) {
		levels := 0
		for inner := of; inner["additionalProperties"] != nil; levels++ {
			inner, _ = inner["additionalProperties"].(map[string]any)
		}
		if levels > 0 && !slices.Contains(declared, name) {
			maps++
			if keyedMembers[name] != levels {
				t.Errorf("%s has %d levels of keys, and is shown with %d", name, levels, keyedMembers[name])
			}
		}
		if items, ok := of["items"].(map[string]any); ok {
			walk(name, items)
		}
		properties, _ := of["properties"].(map[string]any)
		for name, p := range properties {
			walk(name, p.(map[string]any))
		}
	}
	for _, schema := range document.Components.Schemas {
		if closed, ok := schema["additionalProperties"].(bool); ok && !closed {
			delete(schema, "additionalProperties")
		}
		walk("", schema)
	}
	if maps == 0 {
		t.Error("no member is a map")
	}
}
