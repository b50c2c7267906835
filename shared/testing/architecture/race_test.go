package architecture

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// racePackages lists the packages that `make race` tests with the race detector. Tests of all other packages run once, without it: the
// detector makes them five to ten times as slow, and has nothing to find where nothing runs at the same time.
const racePackages = "testdata/race.golden"

// wholeSystems are packages whose tests run many parts of Assay at the same time. They guard the packages that the detector leaves out.
var wholeSystems = []string{"assay/functions", "assay/grpc/worker", "assay/local", "assay/local/cli"}

// concurrentNames are names that start or wake goroutines, apart from those of package sync.
var concurrentNames = []string{"time.AfterFunc", "context.AfterFunc", "wait.Signal"}

// TestRace_RunsWherePartsRunAtTheSameTime derives the list from the sources: a package belongs to it if its code starts goroutines, also
// by a timer or the end of a context, or uses channels, locks, signals or errgroup. Values that are computed once (sync.Once and its kin)
// need no detector.
func TestRace_RunsWherePartsRunAtTheSameTime(t *testing.T) {
	concurrent, tested := map[string]bool{}, map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			tested[f.importPath()] = true
		} else if !f.generated && !matches(testSupport, f.importPath()) && isConcurrent(t, f) {
			concurrent[f.importPath()] = true
		}
	}
	for _, p := range wholeSystems {
		concurrent[p] = true
	}
	var lines []string
	for p := range concurrent {
		if tested[p] {
			lines = append(lines, "./"+strings.TrimPrefix(p, "assay/")+"\n")
		}
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(racePackages, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(racePackages)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s lists other packages than those with concurrent code; run go test ./shared/testing/architecture -update. It should be\n%s",
			path.Join("shared/testing/architecture", racePackages), want)
	}
}

// isConcurrent reports whether the file starts goroutines or coordinates them.
func isConcurrent(t *testing.T, f goFile) bool {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), f.path, f.content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := slices.Contains(f.imports, "sync/atomic") || slices.Contains(f.imports, "golang.org/x/sync/errgroup")
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType:
			found = true
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				lock := pkg.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once")
				found = found || lock || slices.Contains(concurrentNames, pkg.Name+"."+n.Sel.Name)
			}
		}
		return !found
	})
	return found
}

func TestIsConcurrent_TellsGoroutinesFromValuesThatAreComputedOnce(t *testing.T) {
	for source, want := range map[string]bool{
		"func f() { go f() }":                                       true,
		"var c chan int":                                            true,
		`import "sync"; var m sync.Mutex`:                           true,
		`import "sync/atomic"; var n atomic.Int64`:                  true,
		`import "golang.org/x/sync/errgroup"; var g errgroup.Group`: true,
		`import "time"; var t = time.AfterFunc(1, f)`:               true,
		`import "context"; var f = context.AfterFunc(c, g)`:         true,
		`import "assay/shared/language/wait"; var s wait.Signal`:    true,
		`import "sync"; var f = sync.OnceValue(g)`:                  false,
		`import "time"; var t = time.NewTimer(1)`:                   false,
		"func f() { f() }":                                          false,
	} {
		f, err := parseGo(textFile{path: "a.go", content: []byte("package a; " + source)})
		if err != nil {
			t.Fatal(err)
		}
		if got := isConcurrent(t, f); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
	}
}
