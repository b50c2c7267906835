package functions

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
)

func TestDeployments_HaveEachFamily(t *testing.T) {
	names := lists.Map(Deployments(), func(d Deployment) string { return d.Name })
	want := append(lists.Map(Families(), func(f api.Family) string { return f.Name }), Background, Uploads, Notifier)
	if !slices.Equal(names, want) {
		t.Errorf("deployed are %v, want %v", names, want)
	}
	for name := range files {
		if !slices.Contains(names, name) {
			t.Errorf("%s has rights on files and is not deployed", name)
		}
	}
	for name := range memory {
		if !slices.Contains(names, name) {
			t.Errorf("%s has memory and is not deployed", name)
		}
	}
}

// TestDeployments_TimeOutBeforeTheGateway checks the order of the limits: the operation's own limit, the shutdown after it, the
// limit of the function, and the limit of API Gateway.
func TestDeployments_TimeOutBeforeTheGateway(t *testing.T) {
	const shutdown, gateway = 3 * time.Second, 30 * time.Second
	compared := 0
	for _, d := range Deployments() {
		if len(d.Operations) == 0 {
			continue
		}
		compared++
		if d.Timeout < api.RequestTime+shutdown || d.Timeout >= gateway {
			t.Errorf("%s has %v", d.Name, d.Timeout)
		}
	}
	if compared == 0 {
		t.Error("no function serves requests")
	}
}

var holders = regexp.MustCompile(`record\.Holder([A-Z]\w+)`)

// TestDeployments_MayAccessFilesThatTheirCodeNames finds a family whose code uses files of a holder to which it has no rights.
// Such code would work locally and be refused on AWS.
func TestDeployments_MayAccessFilesThatTheirCodeNames(t *testing.T) {
	named := 0
	server := GRPC()
	for _, d := range append(Deployments(), server) {
		folder := d.Name
		if d.Name == server.Name {
			folder = filepath.Join("..", d.Name, "server")
		}
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		switch {
		case err != nil:
		case d.Name == Uploads: // it has only its program
			paths, err = filepath.Glob(filepath.Join(folder, "lambda", "*.go"))
		case d.Name == Background:
			var evaluator []string
			evaluator, err = filepath.Glob(filepath.Join(folder, "evaluator", "*.go"))
			paths = append(paths, evaluator...)
		}
		if err != nil || len(paths) == 0 {
			t.Fatalf("the code of %s was not found: %v", d.Name, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range holders.FindAllStringSubmatch(string(code), -1) {
				named++
				h := record.Holder(strings.ToLower(m[1]))
				if !slices.ContainsFunc(d.Files, func(f FileRights) bool { return f.Holder == h }) {
					t.Errorf("%s names files of %s, on which %s has no rights", path, h, d.Name)
				}
			}
		}
	}
	if named == 0 {
		t.Error("no code names files: the expression finds nothing any more")
	}
}
