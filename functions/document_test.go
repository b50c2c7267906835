package functions_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage/resource"
	"assay/shared/language/problem"
	"assay/shared/service/files"
)

func document(t *testing.T) []byte {
	t.Helper()
	b, err := api.DocumentJSON(functions.Families())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDocument_SaysHowLongLinksWork checks each description of a link for upload or download: it must state the lifetime of
// links.
func TestDocument_SaysHowLongLinksWork(t *testing.T) {
	content := document(t)
	said := regexp.MustCompile(`\d+ to \d+ minutes`).FindAllString(string(content), -1)
	if len(said) < 5 || slices.ContainsFunc(said, func(life string) bool { return life != files.LinkLife }) {
		t.Errorf("links are said to work for %q, want %q", said, files.LinkLife)
	}
	for _, op := range functions.Operations() {
		links := slices.Contains([]string{"createSubmission", "createDataset", "getDataset", "getRun"}, op.ID)
		if links && !strings.Contains(op.Description, files.LinkLife) {
			t.Errorf("%s does not say how long links work", op.ID)
		}
	}
}

// TestOperations_OfProblemsAreDeclared compares the operations that texts of problems name with the declared ones.
func TestOperations_OfProblemsAreDeclared(t *testing.T) {
	declared := map[string]string{}
	for _, op := range functions.Operations() {
		declared[op.ID] = op.Method + " " + strings.TrimSuffix(op.Path, "{$}")
	}
	for _, named := range problem.Operations {
		if route := named.Method + " " + named.Path; declared[named.ID] != route {
			t.Errorf("%s is %q in problem/operations.go, and declared as %q", named.ID, route, declared[named.ID])
		}
	}
	if len(problem.Operations) == 0 {
		t.Error("there are no operations")
	}
}

// Generators of clients need these parts of the document. Without them, people would have to add code to the generated clients.
func TestDocument_HasWhatClientsNeed(t *testing.T) {
	content := document(t)
	var doc struct {
		Info  struct{ Contact struct{ Name string } }
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type, Default   any
					ReadOnly        bool
					Pattern, Format string
				}
				OneOf    []any
				Required []string
			}
			Parameters, Headers, Responses map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Contact.Name == "" {
		t.Error("the document has no contact")
	}
	if at := regexp.MustCompile(`"content":\s*\{\s*"application/json-patch`).FindIndex(content); at != nil {
		t.Error("a JSON Patch stands before the merge patch")
	}
	for path, item := range doc.Paths {
		if patched, ok := item["patch"]; ok {
			for mediaType, c := range patched.RequestBody.Content {
				name := strings.TrimPrefix(c.Schema.Ref, "#/components/schemas/")
				if wrong := (name == "JsonPatch") != (mediaType == "application/json-patch+json"); wrong || !strings.HasSuffix(name, "Patch") {
					t.Errorf("PATCH %s takes %s as %q", path, mediaType, name)
				}
			}
		}
	}
	tools := []string{"evaluator", "validator", "converter", "fusion", "pool", "diffir", "serp", "leaderboard", "significance", "topics"}
	for _, tool := range tools {
		want := "#/components/schemas/" + strings.ToUpper(tool[:1]) + tool[1:] + "Input"
		if got := doc.Paths["/v1/tools/"+tool]["post"].RequestBody.Content["application/json"].Schema.Ref; got != want {
			t.Errorf("the tool %s takes %q", tool, got)
		}
	}
	for name, s := range doc.Components.Schemas {
		for member, p := range s.Properties {
			if p.ReadOnly && name != "File" && name != "RunFile" {
				t.Errorf("%s.%s is read-only: clients would have it as a pointer", name, member)
			}
			if p.Default != nil {
				t.Errorf("%s.%s has a default: clients in TypeScript would have to send it", name, member)
			}
			if regexp.MustCompile("^(website|.*[uU]rl|next|issuer|instance)$").MatchString(member) && !strings.HasPrefix(p.Format, "uri") {
				t.Errorf("%s.%s is a URL without its format", name, member)
			}
			if strings.HasSuffix(member, "Id") && member != "requestId" && p.Type == "string" && p.Pattern == "" {
				t.Errorf("%s.%s is an id without its form", name, member)
			}
		}
	}
	for operation, needs := range map[string]string{"JsonPatchValue": "op value path", "JsonPatchMove": "op from path",
		"JsonPatchRemove": "op path"} {
		if got := strings.Join(doc.Components.Schemas[operation].Required, " "); got != needs {
			t.Errorf("%s needs %q, want %q", operation, got, needs)
		}
	}
	types := map[string]string{} // generators name types after components
	var components map[string]map[string]json.RawMessage
	if err := json.Unmarshal(content, &struct{ Components any }{&components}); err != nil {
		t.Fatal(err)
	}
	for kind, all := range components {
		for name := range all {
			typed := strings.ToLower(strings.ReplaceAll(name, "-", ""))
			if kind != "headers" && types[typed] != "" {
				t.Errorf("%s/%s has the name of one of the %s", kind, name, types[typed])
			}
			if kind != "headers" {
				types[typed] = kind
			}
		}
	}
	for _, header := range []string{"Accept-Patch", "Idempotent-Replay", "Retry-After", "WWW-Authenticate"} {
		if doc.Components.Headers[header] == nil {
			t.Errorf("the header %s is not described", header)
		}
	}
	for _, response := range []string{"not-found", "get-no-content", "get-not-modified"} {
		if doc.Components.Responses[response] == nil {
			t.Errorf("there is no component for the response %s", response)
		}
	}
}

// Pages render as Markdown all members that are Markdown by the document.
func TestDocument_PagesRenderMarkdown(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(document(t), &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	for schema, s := range doc.Components.Schemas {
		for name, p := range s.Properties {
			if !strings.Contains(p.Description, "Markdown") {
				continue
			}
			found++
			body, _, err := resource.Render(t.Context(), api.JSONDocument{JSON: []byte(`{"` + name + `":"a **strong** word"}`)})
			if err != nil || !strings.Contains(string(body), "<strong>strong</strong>") {
				t.Errorf("the page of %s shows its %s as plain text: %v", schema, name, err)
			}
		}
	}
	if found < 6 {
		t.Errorf("%d members are Markdown", found)
	}
}
