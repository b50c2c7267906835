package functions_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"assay/functions"
	"assay/shared/domain/access"
	"assay/shared/edge/api"
)

var update = flag.Bool("update", false, "write the golden file")

// goldenFile returns the content of the file. When golden files are updated, it first writes got to the file.
func goldenFile(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

const golden = "testdata/access.golden"

// TestRights_AreThoseOfTheGoldenFile makes every change of the rights visible in a review. The golden file is the table of
// operations and roles.
func TestRights_AreThoseOfTheGoldenFile(t *testing.T) {
	got := rights(functions.Operations())
	want := goldenFile(t, golden, got)
	if bytes.Equal(got, want) {
		return
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("new:  %s", line)
		}
	}
	t.Errorf("%s is stale. If the change is meant: go test ./functions -run TestRights_AreThoseOfTheGoldenFile -update", golden)
}

func rights(operations []api.Operation) []byte {
	operations = slices.Clone(operations)
	slices.SortFunc(operations, func(a, b api.Operation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	var b bytes.Buffer
	b.WriteString("Who may call an operation on what they can see. An admin may do all that a member of the organizer may.\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, op := range operations {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\taccess tokens: %s\n", op.Method, op.Path, op.ID, op.May, op.TokenScope())
	}
	_ = w.Flush()
	return b.Bytes()
}

var lowerCamelCase = regexp.MustCompile(`^[a-z][a-z0-9]*([A-Z][a-z0-9]*)*$`)

func TestOperations_AreDeclaredInFull(t *testing.T) {
	ids, places := map[string]string{}, map[string]bool{}
	for _, op := range functions.Operations() {
		place := op.Method + " " + op.Path
		if op.May == 0 {
			t.Errorf("%s: nobody may call it; its May is missing", place)
		}
		if !lowerCamelCase.MatchString(op.ID) {
			t.Errorf("%s: the id %q is not in lower camel case", place, op.ID)
		}
		if other := ids[op.ID]; other != "" {
			t.Errorf("%s: the id %q is that of %s", place, op.ID, other)
		}
		ids[op.ID] = place
		if places[place] {
			t.Errorf("%s is declared twice", place)
		}
		places[place] = true
		if strings.TrimSpace(op.Summary) == "" || strings.ContainsAny(op.Summary, "\n") {
			t.Errorf("%s: the summary %q is not one line", place, op.Summary)
		}
		if strings.TrimSpace(op.Description) == "" {
			t.Errorf("%s has no description", place)
		}
	}
}

var (
	kebab     = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	parameter = regexp.MustCompile(`^\{([a-z]+Id|tool)\}$`)
	// resources that exist once for their parent or caller, and names that are not resources
	single = []string{"user", "review", "snippet", "result", "leaderboard", "platform", "storage"}
	// elements holds the parameters of collections whose name differs from that of the parameter
	elements = map[string]string{"members": "{userId}", "deliveries": "{deliveryId}"}
	// about lists the addresses of the service itself, whose names are conventional
	about = []string{"/{$}", "/health", "/health/live", "/info", "/docs", "/console", "/console/{file}", "/openapi.json", "/openapi.yaml"}
)

// The rules of the specification: names are in lower kebab case. Nouns are plural, unless the resource exists only once. A
// collection is followed by the id of its element.
func TestPaths_NameResources(t *testing.T) {
	for _, op := range functions.Operations() {
		for _, fault := range pathFaults(op.Path) {
			t.Errorf("%s %s: %s", op.Method, op.Path, fault)
		}
		for _, name := range op.Query.Params() {
			name = strings.TrimSuffix(strings.TrimPrefix(name, "filter["), "]")
			if !lowerCamelCase.MatchString(name) {
				t.Errorf("%s %s: the parameter %q is not in lower camel case", op.Method, op.Path, name)
			}
		}
	}
}

func pathFaults(path string) []string {
	if slices.Contains(about, path) {
		return nil
	}
	var faults []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if segments[0] != "v1" {
		faults = append(faults, "resources stand under /v1")
	}
	last := ""
	for _, s := range segments[1:] {
		switch {
		case parameter.MatchString(s):
			if s != elements[last] && !strings.HasPrefix(last, strings.TrimSuffix(s[1:len(s)-1], "Id")) {
				faults = append(faults, fmt.Sprintf("%s does not stand behind its collection", s))
			}
		case !kebab.MatchString(s):
			faults = append(faults, fmt.Sprintf("%q is not in lower kebab case", s))
		case !slices.Contains(single, s) && last != "tools" && !strings.HasSuffix(s, "s"): // a tool has a name instead of an id
			faults = append(faults, fmt.Sprintf("%q is not in the plural", s))
		}
		last = s
	}
	return faults
}

func TestPaths_FaultsAreFound(t *testing.T) {
	for path, faults := range map[string]int{
		"/v1/tasks/{taskId}/audit-entries": 0,
		"/v1/runs/{runId}/review":          0,
		"/tasks":                           1,
		"/v1/{taskId}":                     1,
		"/v1/task":                         1,
		"/v1/audit_entries":                1,
		"/v1/runs/{taskId}":                1,
		"/v1/tasks/{task_id}":              1,
	} {
		if got := pathFaults(path); len(got) != faults {
			t.Errorf("%s: %d faults, want %d: %q", path, len(got), faults, got)
		}
	}
}

// TestOperations_ThatChangeAnythingNeedALogin is the one rule that no table of roles may break. Two kinds of operations are
// exempt: tools change nothing, and requests to stop e-mails contain a secret.
func TestOperations_ThatChangeAnythingNeedALogin(t *testing.T) {
	for _, op := range functions.Operations() {
		if !strings.HasPrefix(op.Path, "/v1/tools/") && op.ID != "unsubscribe" && op.Method != http.MethodGet && op.May&access.Anyone != 0 {
			t.Errorf("%s %s is open to everyone", op.Method, op.Path)
		}
	}
}
