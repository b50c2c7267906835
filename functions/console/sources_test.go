package console

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

var imported = regexp.MustCompile(`(?:from |import\(|import )"(\.[^"]*)"`)

// TestSources_AreImported finds files that no other file imports, such as a screen that is missing in the table of screen.tsx. They would
// not be in dist.zip, and no other check reports them.
func TestSources_AreImported(t *testing.T) {
	used := map[string]bool{"src/main": true}
	var all []string
	err := filepath.WalkDir("src", func(name string, entry os.DirEntry, err error) error {
		ext := filepath.Ext(name)
		source := (ext == ".ts" || ext == ".tsx") && !strings.HasSuffix(name, ".d.ts") && !strings.HasSuffix(name, "_test.ts")
		if err != nil || entry.IsDir() || !source {
			return err
		}
		name = filepath.ToSlash(name)
		all = append(all, name)
		content, err := os.ReadFile(name)
		for _, found := range imported.FindAllSubmatch(content, -1) {
			used[path.Join(path.Dir(name), string(found[1]))] = true
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("src has %d sources: %v", len(all), err)
	}
	for _, name := range all {
		if !used[strings.TrimSuffix(name, path.Ext(name))] {
			t.Errorf("no file imports %s: a screen needs a line in the table of src/screen.tsx", name)
		}
	}
}

// schema is a schema of the OpenAPI document, as far as the names of members need it.
type schema struct {
	Ref        string            `json:"$ref"`
	AllOf      []schema          `json:"allOf"`
	Properties map[string]schema `json:"properties"`
}

// members returns the paths of the members of a schema, such as submissions/perDay. Each begins with prefix.
func (s schema) members(all map[string]schema, prefix string) (paths []string) {
	if len(s.AllOf) == 1 {
		s = s.AllOf[0]
	}
	if s.Ref != "" {
		s = all[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	for name, member := range s.Properties {
		below := member.members(all, prefix+name+"/")
		if len(below) == 0 {
			below = []string{prefix + name}
		}
		paths = append(paths, below...)
	}
	return paths
}

// TestAudit_HasLabelsOfEveryMember finds members of audit entries that the audit trail would show under the names of the API.
func TestAudit_HasLabelsOfEveryMember(t *testing.T) {
	source, err := os.ReadFile("src/audit_changes.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, audited := range []reflect.Type{reflect.TypeFor[record.AuditedDataset](), reflect.TypeFor[record.AuditedOrganizer](),
		reflect.TypeFor[record.AuditedReview](), reflect.TypeFor[record.AuditedRun](), reflect.TypeFor[record.AuditedSubmission](),
		reflect.TypeFor[record.AuditedTask]()} {
		for _, field := range reflect.VisibleFields(audited) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			labelled := regexp.MustCompile(`\b` + name + `: |under\("` + name + `"|"` + name + `"`)
			if !field.Anonymous && !labelled.Match(source) && !reviewFlag(t, name) {
				t.Errorf("src/audit_changes.ts has no label for %s of %s", name, audited)
			}
		}
	}
}

// reviewFlag reports whether the member is a flag of reviews, whose labels the form of reviews shares.
func reviewFlag(t *testing.T, name string) bool {
	source, err := os.ReadFile("src/review_changes.ts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(source), "  "+name+": \"")
}

// TestForms_HaveEveryMember finds members of tasks and datasets that no form has. Organizers could set them only over the API.
func TestForms_HaveEveryMember(t *testing.T) {
	content, err := os.ReadFile("../service/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("src/*/*.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(content)
	}
	withoutField := []string{"terms/version"} // the server numbers terms
	for _, draft := range []string{"TaskDraft", "DatasetDraft"} {
		all := document.Components.Schemas[draft].members(document.Components.Schemas, "")
		if len(all) == 0 {
			t.Errorf("openapi.json has no members of %s", draft)
		}
		for _, m := range all {
			// Windows, for example, have fields with names such as `${of}/opensAt`.
			if !slices.Contains(withoutField, m) && !strings.Contains(sources.String(), `"`+m+`"`) &&
				!strings.Contains(sources.String(), "}/"+path.Base(m)+"`") {
				t.Errorf("no form has a field for %s of %s", m, draft)
			}
		}
	}
}
