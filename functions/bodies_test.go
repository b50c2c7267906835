package functions_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/functions/datasets"
	"assay/functions/organizers"
	"assay/functions/tasks"
	"assay/functions/tools"
	"assay/shared/domain/patch"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"

	"github.com/danielgtaylor/huma/v2"
)

// Every item, member and text of a body has a bound. Otherwise only the length of the body would bound the data to validate and
// store.
func TestSchemas_BoundBodies(t *testing.T) {
	doc := api.OpenAPI(functions.Families())
	bodies := 0
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Post, item.Patch} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			for _, content := range op.RequestBody.Content {
				bodies++
				checkBounds(t, doc.Components.Schemas, content.Schema, op.Method+" "+path, map[string]bool{})
			}
		}
	}
	for _, op := range functions.Operations() {
		if op.Body != nil { // the result of a patch
			bodies++
			checkBounds(t, doc.Components.Schemas, doc.Components.Schemas.Schema(op.Body, false, ""), op.ID, map[string]bool{})
		}
	}
	if bodies < 15 {
		t.Errorf("%d bodies were looked at", bodies)
	}
}

func checkBounds(t *testing.T, r huma.Registry, s *huma.Schema, at string, seen map[string]bool) {
	t.Helper()
	if s.Ref != "" {
		if seen[s.Ref] {
			return
		}
		seen[s.Ref] = true
		s = r.SchemaFromRef(s.Ref)
	}
	switch {
	case s.Type == huma.TypeArray && s.MaxItems == nil:
		t.Errorf("%s: the array has no maxItems", at)
	case s.Type == huma.TypeString && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "":
		t.Errorf("%s: the string has no maxLength", at)
	}
	if s.Items != nil {
		checkBounds(t, r, s.Items, at+"[]", seen)
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		checkBounds(t, r, one, at, seen)
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		if s.MaxProperties == nil {
			t.Errorf("%s: the object has no maxProperties", at)
		}
		if more.Type != huma.TypeString { // a tag cannot bound strings in a map
			checkBounds(t, r, more, at+".*", seen)
		}
	}
	for name, member := range s.Properties {
		checkBounds(t, r, member, at+"."+name, seen)
	}
}

// The server checks the forms of texts that the document requires, for ids and for URLs that pages show.
func TestSchemas_CheckFormsOfTexts(t *testing.T) {
	s := servertest.New(t, slices.Concat(datasets.Operations, organizers.Operations, tasks.Operations, tools.Operations)...)
	organizer := strings.TrimPrefix(s.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"}), "/v1/organizers/")
	for _, website := range []string{"https://example.org", "http://[::1]:8080/a%20b?c=d#e", "https://example.org:443?q"} {
		s.Create("olga", "/v1/tasks", map[string]any{"organizerId": organizer, "name": "Lakes", "website": website})
	}
	for pointer, c := range map[string]struct {
		says  string
		wrong []string
	}{
		"/website": {"an absolute http or https URL", []string{
			"", "javascript:alert(1)", "ftp://example.org", "//example.org", "/lakes", "example.org", "https://", "https:///lakes",
			"https://user@example.org",
			"https://user:password@example.org", "https://example.org/\u202e", "https://example.org/a b", "https://example.org/\"onclick=",
		}},
		"/organizerId": {"an id of 26 characters", []string{"", "x", strings.ToLower(organizer)}},
	} {
		for _, text := range c.wrong {
			draft := map[string]any{"organizerId": organizer, "name": "Lakes"}
			draft[pointer[1:]] = text
			var p problem.Document
			s.Want(http.StatusUnprocessableEntity, &p, "olga", http.MethodPost, "/v1/tasks", draft)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer || !strings.Contains(p.Errors[0].Detail, c.says) {
				t.Errorf("%s as %s: %+v", text, pointer, p.Errors)
			}
		}
	}
	var p problem.Document
	s.Want(http.StatusUnprocessableEntity, &p, "olga", http.MethodPost, "/v1/datasets", map[string]any{
		"taskId": organizer, "name": "Lakes", "split": "test", "pool": "GPU", "runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	})
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/pool" {
		t.Errorf("a pool of another form: %+v", p.Errors)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/tasks", map[string]any{
		"organizerId": organizer, "name": "Lakes", "submissions": map[string]any{"types": []string{"fax"}},
	})
	s.Want(http.StatusUnprocessableEntity, nil, "", http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": ""})
	var tool struct {
		Input struct {
			Properties map[string]struct{ Pattern string }
		}
	}
	s.Want(http.StatusOK, &tool, "", http.MethodGet, "/v1/tools/leaderboard", nil)
	if tool.Input.Properties["datasetId"].Pattern == "" {
		t.Errorf("the schema of a tool has no form of an id: %+v", tool)
	}
}

// A patch that sets members to their present values, or unset members to null, is no change: version and entity tag stay the
// same.
func TestPatch_WithoutChangeKeepsTheVersion(t *testing.T) {
	s := newServer(t)
	b := s.Records()
	task := b.Task()
	registration := task.Register("rita")
	d := task.Dataset(recordtest.Labels("Accuracy"), b.Truths("truth.csv", "id,label\n1,a\n"))
	run := d.Run("rita", recordtest.Public, recordtest.Published)
	tried := 0
	for path, draft := range map[string]any{
		"/v1/organizers/" + task.OrganizerID: record.OrganizerDraft{},
		task.Path():                          record.TaskDraft{},
		d.Path():                             record.DatasetDraft{},
		task.Path() + "/registrations/" + registration.ID: record.RegistrationDraft{},
		task.Path() + "/submissions/" + run.SubmissionID:  record.SubmissionDraft{},
		"/v1/runs/" + run.ID:                              record.Run{},
		"/v1/runs/" + run.ID + "/review":                  record.Review{},
	} {
		for i := range reflect.TypeOf(draft).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(draft).Field(i).Tag.Get("json"), ",")
			shown := map[string]any{}
			tag := s.Want(http.StatusOK, &shown, "olga", http.MethodGet, path, nil).Header.Get("ETag")
			for _, value := range []any{shown[name], nil} {
				if value == nil && !slices.Contains([]string{"<nil>", "", "false", "[]"}, fmt.Sprint(shown[name])) {
					continue // null would be a change or an error
				}
				a := s.Do("olga", http.MethodPatch, path, map[string]any{name: value}, "Content-Type", patch.MergePatch)
				if a.Status != http.StatusOK {
					continue
				}
				tried++
				if got := a.Header.Get("ETag"); got != tag {
					t.Errorf("%s of %s: %v set to %v gives %s, was %s", name, path, shown[name], value, got, tag)
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d patches were tried", tried)
	}
}
