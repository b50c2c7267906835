package architecture

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sharing are the packages whose callers share a process: the servers and the functions. Of them, otherPrograms are run by one user.
var (
	sharing       = []string{"assay/functions/...", "assay/grpc/...", "assay/local", "assay/shared/..."}
	otherPrograms = []string{"assay/functions/components/catalogue/...", "assay/grpc/worker/..."}
)

// limiters are functions and types with which code divides, keeps or counts something for several goroutines, by the path of their package.
var limiters = map[string][]string{
	"assay/shared/edge/compute":                    {"NewPool"},
	"assay/shared/edge/ratelimit":                  {"New"},
	"github.com/hashicorp/golang-lru/v2":           {"New", "NewWithEvict"},
	"github.com/hashicorp/golang-lru/v2/expirable": {"NewLRU"},
	"github.com/hashicorp/golang-lru/v2/simplelru": {"NewLRU"},
	"golang.org/x/net/netutil":                     {"LimitListener"},
	"golang.org/x/sync/semaphore":                  {"NewWeighted"},
	"golang.org/x/sync/singleflight":               {"Group"},
	"golang.org/x/time/rate":                       {"NewLimiter"},
	"google.golang.org/grpc":                       {"MaxConcurrentStreams"},
	"net/http":                                     {"Server"},
	"sync":                                         {"Map", "Mutex", "Pool", "RWMutex"},
	"sync/atomic":                                  {"Int32", "Int64", "Uint32", "Uint64"},
}

// notShared are files that use a limiter for something that callers do not share, or that nobody can use up.
var notShared = map[string]string{
	"functions/background/reevaluate.go":      "the runs of one pass",
	"functions/tools/inputs/results.go":       "one computation",
	"functions/tools/significance_compare.go": "one computation",
	"grpc/main.go":                                             "makes the limits of shared/edge/ratelimit",
	"grpc/ops/ops.go":                                          "the server of metrics, for who runs the platform",
	"local/backup.go":                                          "backups, for who runs the server",
	"shared/edge/api/schema.go":                                "the schemas of types, of which the code has a fixed number",
	"shared/storage/blob/directory/backup.go":                  "backups, for who runs the server",
	"shared/storage/blob/directory/directory.go":               "the time of the last cleaning",
	"shared/edge/compute/frugal.go":                            "the count of works under way, which end by themselves",
	"shared/service/health/health.go":                          "one check at a time, however many ask",
	"shared/edge/compute/pool.go":                              "the type of the pools that other files make",
	"shared/edge/gateway/gateway.go":                           "makes the limits of shared/edge/ratelimit",
	"shared/edge/gateway/schedule/function.go":                 "the work of one schedule",
	"shared/computation/measure/retrieval/diagnostics.go":      "one computation",
	"shared/computation/measure/retrieval/judged_documents.go": "one computation",
	"shared/computation/measure/retrieval/rank.go":             "one computation",
	"shared/computation/measure/retrieval/run.go":              "one computation",
	"shared/computation/measure/steps/steps.go":                "the steps of one computation",
	"shared/domain/page/links.go":                              "memory to use again; without it, a page allocates its own",
	"shared/service/records/merge.go":                          "the reads of one request",
	"shared/storage/store/store.go":                            "the calls of one request",
	"shared/service/records/task_count.go":                     "the numbers of parts, which do not run out",
}

// otherLimits lists files of the table that use no limiter. Records or a number of goroutines limit what callers share there.
var otherLimits = []string{
	"functions/background/evaluator/lane.go", "functions/background/evaluator/places.go", "functions/background/pending.go",
	"functions/notifier/mail.go", "functions/notifier/shares.go", "functions/submissions/create.go", "shared/service/due/line.go",
}

// TestThreatModel_HasWhatCallersShare compares the table of what callers share with the files that use a limiter. Each file stands in
// notShared, or in a row for each pool and cache that it makes. Each row names such files, and a test.
func TestThreatModel_HasWhatCallersShare(t *testing.T) {
	inTable := map[string]int{} // in how many rows
	for _, row := range sharedRows(t) {
		names := goFileName.FindAllStringSubmatch(row.where, -1)
		if len(names) == 0 {
			t.Errorf("the row of %s names no Go file in its second column: name the file that makes what callers share", row.what)
		}
		for _, name := range names {
			inTable[name[1]]++
		}
		if !citedTest.MatchString(row.tests) {
			t.Errorf("the row of %s names no test in its last column: name one that fails when a caller takes more than the share", row.what)
		}
	}
	inCode := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test || f.generated || !matches(sharing, f.importPath()) || matches(otherPrograms, f.importPath()) ||
			matches(testSupport, f.importPath()) {
			continue
		}
		parsed, err := parseWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		found := limitersIn(parsed)
		if len(found) == 0 {
			continue
		}
		inCode[f.path] = true
		excepted := notShared[f.path] != ""
		switch rows := inTable[f.path]; {
		case excepted && rows > 0:
			t.Errorf("%s is in the table of what callers share and in notShared: remove one", f.path)
		case !excepted && rows == 0:
			t.Errorf("%s uses %s, and no row of \"What callers share\" in %s names it: add a row with the share of one caller and its test; or, if "+
				"callers do not share it, a line of notShared in pools_test.go", f.path, list(found), threatModel)
		case !excepted && rows < poolsIn(found):
			t.Errorf("%s makes %d pools or caches, and %d rows of \"What callers share\" in %s name it: add a row with the share of one "+
				"caller and its test", f.path, poolsIn(found), rows, threatModel)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inTable)) {
		if inCode[name] == slices.Contains(otherLimits, name) {
			t.Errorf("%s names %s among what callers share: name a file that uses a limiter, or give one with limits of another kind a line of "+
				"otherLimits in pools_test.go", threatModel, name)
		}
	}
	for _, name := range otherLimits {
		if inTable[name] == 0 {
			t.Errorf("otherLimits names %s, which is not in the table: remove the line", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(notShared)) {
		if !inCode[name] {
			t.Errorf("notShared names %s, which uses no limiter: remove the line", name)
		}
	}
}

// sharedRow is a row of the table of shared resources.
type sharedRow struct{ what, where, tests string }

var goFileName = regexp.MustCompile("`([a-z0-9_/]+[.]go)`")

func sharedRows(t *testing.T) (rows []sharedRow) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, threatModel))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(content), "\n## What callers share\n")
	section, _, closed := strings.Cut(section, "\n## ")
	if !found || !closed {
		t.Fatalf("%s has no section What callers share that another section follows", threatModel)
	}
	for _, row := range threatRow.FindAllString(section, -1) {
		columns := strings.Split(strings.Trim(row, "|"), "|")
		if strings.HasPrefix(row, "|---") || strings.HasPrefix(row, "| what |") {
			continue
		}
		if len(columns) != 5 {
			t.Fatalf("this row has %d columns, want 5: %s", len(columns), row)
		}
		rows = append(rows, sharedRow{strings.TrimSpace(columns[0]), columns[1], columns[4]})
	}
	return rows
}

// limitersIn lists the limiters that the file uses: names in limiters, limits of groups of goroutines, channels with a named size, and
// limits of connections.
func limitersIn(f *parsedFile) (found []string) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if slices.Contains(limiters[f.imported(n.X)], n.Sel.Name) || n.Sel.Name == "SetLimit" {
				found = append(found, types.ExprString(n))
			}
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			if ok && (slices.Contains(limiters[f.importPath()], name.Name) || name.Name == "make" && hasNamedSize(n)) {
				found = append(found, name.Name)
			}
		case *ast.KeyValueExpr:
			name, ok := n.Key.(*ast.Ident)
			if ok && slices.Contains(connectionLimits, name.Name) {
				found = append(found, name.Name)
			}
		}
		return true
	})
	return found
}

// list joins the names without duplicates.
func list(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// poolsIn counts the limiters that make a pool or a cache.
func poolsIn(limiters []string) (n int) {
	for _, name := range limiters {
		switch name[strings.LastIndex(name, ".")+1:] {
		case "New", "NewLRU", "NewPool", "NewWeighted", "NewWithEvict":
			n++
		}
	}
	return n
}

// connectionLimits are the fields of http.Transport that bound connections.
var connectionLimits = []string{"MaxConnsPerHost", "MaxIdleConns", "MaxIdleConnsPerHost"}

// hasNamedSize reports whether a call of make creates a channel whose size is not a literal number.
func hasNamedSize(call *ast.CallExpr) bool {
	if _, ok := call.Args[0].(*ast.ChanType); !ok || len(call.Args) < 2 {
		return false
	}
	_, plain := call.Args[1].(*ast.BasicLit)
	return !plain
}

func TestLimitersIn_TellsWhatIsLimited(t *testing.T) {
	for source, want := range map[string]bool{
		`import "assay/shared/edge/compute"; var p = compute.NewPool(s)`:               true,
		`import lru "github.com/hashicorp/golang-lru/v2"; var c, _ = lru.New[K, V](n)`: true,
		`import "net/http"; var s = &http.Server{}`:                                    true,
		`import "net/http"; var t = &http.Transport{MaxConnsPerHost: 2}`:               true,
		`import "sync"; type t struct { m map[string]int; sync.Mutex }`:                true,
		`import "sync/atomic"; var n atomic.Int64`:                                     true,
		"func f() { group.SetLimit(n) }":                                               true,
		"var c = make(chan int, n)":                                                    true,
		"var c = make(chan int, 2*n)":                                                  true,
		"var c = make(chan int, 1)":                                                    false,
		"var c = make(chan int)":                                                       false,
		"var m = make(map[string]int, n)":                                              false,
		`import "sync"; var once sync.Once`:                                            false,
		`import "net/http"; var t = &http.Transport{DisableKeepAlives: true}`:          false,
	} {
		f := parsedStatement(t, "shared/own/a.go", "package own; "+source)
		if found := limitersIn(f); len(found) > 0 != want {
			t.Errorf("%s: found %q", source, found)
		}
	}
	if found := limitersIn(parsedStatement(t, "shared/edge/compute/a.go", "package compute; var p = NewPool(s)")); len(found) == 0 {
		t.Error("a pool of its own package is not found")
	}
}
