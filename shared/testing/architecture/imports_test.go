// Package architecture tests rules for the whole tree that no compiler knows: which package may import which, how files are sized and
// named, how statements are written, and which words no file keeps. Each rule is data with its reason. A test that fails therefore says
// why the rule exists, and where to change the rule when its reason is gone.
package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestImports_KeepTheRules(t *testing.T) {
	files := goFiles(t)
	all := allRules(families(files))
	for _, f := range files {
		for _, to := range f.imports {
			for _, r := range all {
				if (r.tests || !f.test) && r.refuses(edge{f.importPath(), to}) {
					t.Errorf("%s imports %s, but %s", f.path, to, r.reason)
				}
			}
		}
	}
}

// TestImports_EveryRuleRefusesItsExample guards the rules themselves: a mistyped pattern binds nothing and is always kept.
func TestImports_EveryRuleRefusesItsExample(t *testing.T) {
	for _, r := range allRules([]string{"runs", "tasks"}) {
		if !r.refuses(r.example) {
			t.Errorf("%s may import %s, although %s", r.example.from, r.example.to, r.reason)
		}
	}
}

func (r rule) refuses(e edge) bool {
	binds := (r.packages == nil || matches(r.packages, e.from)) && !matches(r.except, e.from)
	return binds && matches(r.forbidden, e.to) && !matches(r.allowed, e.to)
}

func matches(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return compiled(pattern).MatchString(importPath)
	})
}

var expressions = map[string]*regexp.Regexp{}

// compiled turns a pattern into a regular expression, once: each is tried on thousands of imports.
func compiled(pattern string) *regexp.Regexp {
	if known, ok := expressions[pattern]; ok {
		return known
	}
	stem, below := strings.CutSuffix(pattern, "/...")
	expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(stem), `\*`, `[^/]*`)
	if below {
		expression += "(/.*)?"
	}
	expressions[pattern] = regexp.MustCompile(expression + "$")
	return expressions[pattern]
}

func TestMatches_Patterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"assay/local", "assay/local", true},
		{"assay/local", "assay/local/demo", false},
		{"assay/local/...", "assay/local", true},
		{"assay/local/...", "assay/local/demo/data", true},
		{"assay/local/...", "assay/localities", false},
		{"assay/functions/*/lambda", "assay/functions/runs/lambda", true},
		{"assay/functions/*/lambda", "assay/functions/runs/deep/lambda", false},
		{"assay/shared/*/*/*test/...", "assay/shared/storage/store/storetest", true},
		{"assay/shared/*/*/*test/...", "assay/shared/storage/store/embedded", false},
		{"*.*/...", "go.etcd.io/bbolt", true},
		{"*.*/...", "net/http", false},
		{"net", "net/url", false},
	} {
		if got := matches([]string{c.pattern}, c.path); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

// families lists the folders under functions that hold Go files.
func families(files []goFile) []string {
	var out []string
	for _, f := range files {
		if rest, ok := strings.CutPrefix(path.Dir(f.path), "functions/"); ok {
			family, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(out, family) {
				out = append(out, family)
			}
		}
	}
	return out
}

// rule forbids some packages some imports, and says why.
//
// Packages are named by patterns over import paths: * stands for any part of one
// segment, a final /... for the package itself and all below it.
type rule struct {
	packages  []string // that the rule binds; none: all
	except    []string // packages that it does not bind
	forbidden []string // packages that they may not import
	allowed   []string // forbidden packages that they may import
	tests     bool     // whether _test.go files are bound too
	reason    string
	example   edge // one import that the rule exists to refuse
}

// edge is an import of one package by another.
type edge struct{ from, to string }

// core is the part of Assay that is independent of technologies: the contracts of the stores, and the packages that know no store.
var core = []string{
	"assay/shared/domain/...", "assay/shared/computation/...", "assay/shared/language/...", "assay/shared/storage/blob",
	"assay/shared/storage/store",
}

// testSupport are the packages that exist for tests to import.
var testSupport = []string{
	"assay/shared/testing/...", "assay/shared/*/*/*test/...", "assay/shared/*/*/*/*test/...", "assay/functions/testing/...",
}

var rules = []rule{
	{
		packages:  core,
		except:    testSupport,
		forbidden: []string{"*.*/..."},
		allowed: []string{"github.com/agnivade/levenshtein", "github.com/go-json-experiment/json/...", "github.com/oklog/ulid/v2",
			"github.com/yuin/goldmark/util", "golang.org/x/text/...", "gonum.org/v1/gonum/..."},
		reason:  "resources, errors, pages, measures and the contracts of the stores know no technology: they outlive it",
		example: edge{"assay/shared/domain/record", "go.etcd.io/bbolt"},
	},
	{
		except:    []string{"assay/functions/tools/significance"},
		forbidden: []string{"gonum.org/v1/gonum/..."},
		tests:     true,
		reason:    "gonum is mathematics and no technology, but large: one package asks it for the distributions that tests of significance need",
		example:   edge{"assay/shared/computation/measure/retrieval", "gonum.org/v1/gonum/stat/distuv"},
	},
	{
		packages:  core,
		except:    testSupport,
		forbidden: []string{"database/sql/...", "net", "net/http/...", "net/rpc/...", "os/...", "syscall"},
		reason:    "what decides does no input or output of its own, so that it runs alike in a function, a server and a test",
		example:   edge{"assay/shared/computation/measure/retrieval", "os"},
	},
	{
		packages:  []string{"assay/shared/..."},
		forbidden: []string{"assay/functions/...", "assay/grpc/...", "assay/infra/...", "assay/local/..."},
		tests:     true,
		reason:    "what families share knows no family and nothing that serves or deploys them",
		example:   edge{"assay/shared/edge/auth", "assay/functions/users"},
	},
	{
		packages:  []string{"assay/grpc/..."},
		forbidden: []string{"assay/functions/..."},
		reason:    "gRPC is an edge as HTTP is: what both show or change lies in shared",
		example:   edge{"assay/grpc/server", "assay/functions/runs"},
	},
	{
		packages:  []string{"assay/functions/..."},
		forbidden: []string{"assay/grpc/...", "assay/infra/...", "assay/local/..."},
		tests:     true,
		reason:    "a family is served by several programs and depends on none of them",
		example:   edge{"assay/functions/runs", "assay/local"},
	},
	{
		except: []string{
			"assay/functions/*/lambda", "assay/grpc", "assay/infra", "assay/local",
			"assay/shared/edge/gateway", "assay/shared/edge/gateway/schedule", // serve functions, which have no other table than DynamoDB's
			"assay/shared/edge/api/servertest", "assay/shared/domain/record/recordtest", "assay/shared/storage/blob/*/...",
			"assay/shared/storage/store/*/...",
		},
		forbidden: []string{"assay/shared/storage/blob/*/...", "assay/shared/storage/store/*/..."},
		allowed:   []string{"assay/shared/storage/blob/blobtest", "assay/shared/storage/store/storetest"},
		reason:    "only a program chooses its drivers; everything else takes the interface it is given",
		example:   edge{"assay/functions/tasks", "assay/shared/storage/store/embedded"},
	},
	{
		except:    []string{"assay/shared/storage/store/embedded/..."},
		forbidden: []string{"go.etcd.io/bbolt/..."},
		tests:     true,
		reason:    "one driver speaks bbolt, so that its promises are kept in one place",
		example:   edge{"assay/local", "go.etcd.io/bbolt"},
	},
	{
		except: []string{
			"assay/grpc/...", "assay/local", "assay/shared/storage/blob/s3/...",
			"assay/shared/edge/awsconfig", "assay/shared/edge/gateway/lambdatest", "assay/shared/edge/gateway/schedule",
			"assay/shared/edge/mail/ses",
			"assay/shared/storage/store/dynamo/...",
		},
		forbidden: []string{"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/..."},
		tests:     true,
		reason:    "only drivers and programs speak to AWS; the SDK costs start-up time and tens of packages wherever it is linked",
		example:   edge{"assay/functions/runs/lambda", "github.com/aws/aws-sdk-go-v2/config"},
	},
	{
		except:    []string{"assay/functions/*/lambda", "assay/shared/edge/gateway/..."},
		forbidden: []string{"github.com/aws/aws-lambda-go/...", "github.com/awslabs/aws-lambda-go-api-proxy/..."},
		reason:    "a handler is bound to net/http and not to gateway events, or it could run on Lambda alone",
		example:   edge{"assay/functions/tasks", "github.com/aws/aws-lambda-go/events"},
	},
	{
		except:    []string{"assay/grpc/...", "assay/local"},
		forbidden: []string{"github.com/aws/aws-sdk-go-v2/config/..."},
		tests:     true,
		reason:    "the SDK's config package costs milliseconds of each cold start; functions read shared/edge/awsconfig",
		example:   edge{"assay/shared/edge/awsconfig", "github.com/aws/aws-sdk-go-v2/config"},
	},
	{
		except:    []string{"assay/infra/..."},
		forbidden: []string{"github.com/aws/aws-cdk-go/...", "github.com/aws/constructs-go/...", "github.com/aws/jsii-runtime-go/..."},
		tests:     true,
		reason:    "deployment is described in infra alone; the CDK starts a Node.js process when it is used",
		example:   edge{"assay/functions", "github.com/aws/aws-cdk-go/awscdk/v2"},
	},
	{
		except:    []string{"assay/grpc/...", "assay/local/..."},
		forbidden: []string{"google.golang.org/..."},
		tests:     true,
		reason:    "gRPC is one way in: the rules behind it are reached over HTTP as well",
		example:   edge{"assay/functions/background/evaluator", "google.golang.org/grpc/status"},
	},
	{
		except: testSupport,
		forbidden: append([]string{"github.com/chromedp/...", "github.com/emersion/go-smtp/...",
			"github.com/santhosh-tekuri/jsonschema/v6/...", "mvdan.cc/sh/v3/...",
			"pgregory.net/rapid/...", "testing/..."}, testSupport...),
		reason:  "what only tests need stays out of the programs",
		example: edge{"assay/local", "assay/shared/edge/api/apitest"},
	},
	{
		except:    []string{"assay/grpc", "assay/grpc/ops", "assay/local"},
		forbidden: []string{"assay/grpc/ops", "github.com/prometheus/...", "net/http/pprof"},
		tests:     true,
		reason:    "metrics are declared in shared/language/metrics; what serves them to Prometheus is large, and for servers",
		example:   edge{"assay/functions/service/lambda", "github.com/prometheus/client_golang/prometheus"},
	},
	{
		except:    []string{"assay/functions/notifier/...", "assay/local", "assay/shared/edge/mail/..."},
		forbidden: []string{"assay/shared/edge/mail/...", "github.com/wneessen/go-mail/..."},
		reason:    "e-mails are sent by the notifier alone, from the outbox: a request neither waits for a server of mail nor links its protocol",
		example:   edge{"assay/functions/runs", "assay/shared/edge/mail"},
	},
	{
		packages:  []string{"assay/functions/*/lambda"},
		forbidden: []string{"assay/functions"},
		reason:    "it links every family: 4 MB more in a function, which are loaded in each cold start",
		example:   edge{"assay/functions/service/lambda", "assay/functions"},
	},
	{
		forbidden: []string{"html/template/...", "text/template/..."},
		reason:    "templates that call methods by name make the linker keep every method of everything: 3 MB more in a function",
		example:   edge{"assay/functions/service", "html/template"},
	},
}

// siblingRules keeps every family under functions apart from the others, however many there are.
func siblingRules(families []string) []rule {
	var out []rule
	for _, family := range families {
		own := "assay/functions/" + family + "/..."
		out = append(out, rule{
			packages:  []string{own},
			forbidden: []string{"assay/functions/*/..."},
			allowed:   []string{own},
			tests:     true,
			reason:    "a family is deployed, granted its rights and understood by itself; what two of them need lies in shared",
			example:   edge{"assay/functions/" + family, "assay/functions/another"},
		})
	}
	return out
}

// allRules are the rules of this file, the order of the layers of shared, and the families' distance from each other.
func allRules(families []string) []rule {
	return slices.Concat(rules, layerRules(), siblingRules(families))
}
