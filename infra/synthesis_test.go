package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/functions"

	"github.com/aws/jsii-runtime-go"
)

// template is the synthesized template of a stage.
type template struct {
	folder    string // contains the assets that are deployed with it
	text      []byte
	Resources map[string]resource
}

type resource struct {
	Type, DeletionPolicy string
	Properties           map[string]any
}

// Templates of the stages, of prod synthesized again, of prod's first deployment, of a stage with all settings, and of prod with the
// gRPC server.
var dev, prod, prodAgain, first, special, withServer template

var binaries, images string // folders with a placeholder for each binary

func TestMain(m *testing.M) {
	code, err := test(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		code = 1
	}
	os.Exit(code)
}

func test(m *testing.M) (int, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return 0, fmt.Errorf("the AWS CDK runs on Node.js, which is not there: install version 22 or newer (https://nodejs.org) so that "+
			"\"node\" is found: %w", err)
	}
	defer jsii.Close() // ends Node.js and removes its unpacked files
	folder, err := os.MkdirTemp("", "infra")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binaries = filepath.Join(folder, "lambda")
	images = filepath.Join(folder, "images")
	if err := errors.Join(writeBinaries(binaries), writeImages(images)); err != nil {
		return 0, err
	}
	for i, s := range []struct {
		into    *template
		context map[string]any
	}{
		{&dev, map[string]any{}},
		{&prod, map[string]any{"stage": "prod", "alarmEmail": "ada@lab.example"}},
		{&prodAgain, map[string]any{"stage": "prod", "alarmEmail": "ada@lab.example"}},
		{&first, map[string]any{"stage": "prod", "alarmEmail": "ada@lab.example", "protect": "false"}},
		{&special, map[string]any{
			"stage": "prod", "issuer": "https://login.example", "audience": "assay", "clientId": "pages",
			"issuerVerifiesEmail": "true",
			"tracing":             "true", "alarmEmail": "none",
			"domain": "api.lab.example", "certificate": "arn:aws:acm:eu-central-1:123456789012:certificate/one",
			"origins": "https://a.example,https://b.example",
			"table":   "assay-restored", "tableStream": "arn:aws:dynamodb:eu-central-1:123456789012:table/assay-restored/stream/one",
		}},
		{&withServer, map[string]any{
			"stage": "prod", "alarmEmail": "ada@lab.example", "budget": "120", "grpc": "on",
			"grpcCertificate": "arn:aws:acm:eu-central-1:123456789012:certificate/two", "grpcCount": "2",
		}},
	} {
		if err := synthesize(filepath.Join(folder, fmt.Sprint("out", i)), s.context, s.into); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// writeBinaries writes a placeholder for the binary of each function.
func writeBinaries(folder string) (err error) {
	for _, d := range functions.Deployments() {
		err = errors.Join(err, writeFile(filepath.Join(folder, d.Name, "bootstrap"), []byte(d.Name)))
	}
	return err
}

// writeImages creates a folder like the root of the repository. It contains the files for images, with placeholders for binaries, and
// files that must not be in images.
func writeImages(folder string) (err error) {
	for path, content := range map[string]string{
		"bin/container/arm64/assay-grpc": "server", "bin/container/amd64/assay-grpc": "server", "bin/container/arm64/assay-server": "application",
		"bin/container/data/none": "data", "local/Dockerfile": "FROM scratch", "data/key": "secret", "grpc/main.go": "package main",
		"infra/node_modules/a/index.js": "module",
	} {
		err = errors.Join(err, writeFile(filepath.Join(folder, path), []byte(content)))
	}
	for _, path := range []string{".dockerignore", "LICENSE", dockerfile} {
		content, readErr := os.ReadFile(filepath.Join("..", path))
		err = errors.Join(err, readErr, writeFile(filepath.Join(folder, path), content))
	}
	return err
}

func writeFile(path string, content []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755))
}

func synthesize(folder string, context map[string]any, into *template) error {
	context["binaries"] = binaries
	context["images"] = images
	into.folder = folder
	s, err := readSettings(func(key string) any { return context[key] })
	if err != nil {
		return err
	}
	app := newApp(&folder)
	if err := newStack(app, s); err != nil {
		return err
	}
	app.Synth(nil)
	if into.text, err = os.ReadFile(filepath.Join(folder, "assay-"+s.Name+".template.json")); err != nil {
		return err
	}
	return json.Unmarshal(into.text, into)
}

func (tpl template) all(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range tpl.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// one returns the only resource of a type.
func (tpl template) one(t *testing.T, kind string) resource {
	t.Helper()
	found := tpl.all(kind)
	if len(found) != 1 {
		t.Fatalf("there are %d of %s", len(found), kind)
	}
	for _, r := range found {
		return r
	}
	panic("unreachable")
}

// at returns the value at a path as compact JSON. Numbers in the path are indexes of arrays.
func (r resource) at(path string) string {
	var v any = r.Properties
	for part := range strings.SplitSeq(path, ".") {
		switch now := v.(type) {
		case map[string]any:
			v = now[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(now) {
				return "null"
			}
			v = now[i]
		default:
			return "null"
		}
	}
	return compact(v)
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

func TestTemplates_AreReproducible(t *testing.T) {
	if !bytes.Equal(prod.text, prodAgain.text) {
		t.Error("two syntheses differ, so that cdk diff would never be empty")
	}
}

func TestNewStack_NamesMissingBinaries(t *testing.T) {
	s := settings{Binaries: t.TempDir()}
	err := newStack(nil, s)
	if err == nil || !strings.Contains(err.Error(), filepath.Join("background", "bootstrap")) ||
		!strings.Contains(err.Error(), "make lambda") {
		t.Errorf("%v", err)
	}
	if err := writeBinaries(s.Binaries); err != nil {
		t.Fatal(err)
	}
	s.GRPC = grpcSettings{On: true, Images: t.TempDir()}
	if err := newStack(nil, s); err == nil || !strings.Contains(err.Error(), "assay-grpc") ||
		!strings.Contains(err.Error(), "make containers") {
		t.Errorf("%v", err)
	}
}

func TestReadSettings_RefusesInvalidContext(t *testing.T) {
	for _, c := range []struct{ context, why string }{
		{"stage=test", "dev or prod"},
		{"issuer=https://login.example", "both issuer and audience"},
		{"issuer=login.example audience=a", "https URL"},
		{"clientId=a", "give issuer and audience too"},
		{"issuerVerifiesEmail=true", "give issuer and audience too"},
		{"domain=api.example", "both domain and certificate"},
		{"domain=api.example certificate=one", "ARN"},
		{"table=restored", "both table and tableStream"},
		{"tracing=yes", "true or false"},
		{"origins=https://a.example/", "origins such as"},
		{"origins=a.example", "origins such as"},
		{"signInReturns=http://a.example/", "https URLs"},
		{"alarmEmail=ada", "e-mail"},
		{"stage=prod", "-c alarmEmail=none"},
		{"mailFrom=a@lab.example", "both mailFrom and mailIdentity"},
		{"mailFrom=lab mailIdentity=arn:aws:ses:one", "e-mail"},
		{"mailFrom=a@lab.example mailIdentity=lab.example", "Amazon SES"},
		{"budget=0", "US dollars"},
		{"budget=5$", "US dollars"},
		{"protect=no", "false or true"},
		{"grpc=yes", "on or off"},
		{"grpc=on", "give grpcCertificate too"},
		{"grpc=on grpcCertificate=two", "ARN"},
		{"grpc=on grpcCertificate=arn:aws:acm:two grpcCount=0", "from 1 to 100"},
	} {
		values := map[string]any{}
		for _, pair := range strings.Fields(c.context) {
			key, value, _ := strings.Cut(pair, "=")
			values[key] = value
		}
		if _, err := readSettings(func(key string) any { return values[key] }); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.context, err, c.why)
		}
	}
	noTexts := map[string]any{"origins": []any{"*"}, "budget": 60.0}
	if _, err := readSettings(func(key string) any { return noTexts[key] }); err == nil ||
		!strings.Contains(err.Error(), "context origins: give a text, in cdk.json in quotes") ||
		!strings.Contains(err.Error(), "context budget: give a text") {
		t.Errorf("a list and a number for texts: %v", err)
	}
}

// TestTemplates_CostNothingAtRest lists every type of resource in the templates. None of them costs money while nobody calls, except for
// storage. Check the price of a new type before adding it.
func TestTemplates_CostNothingAtRest(t *testing.T) {
	free := []string{
		"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::Integration",
		"AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage",
		"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", // free up to ten and three: see the tests of alarms and dashboard
		"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain", "AWS::Cognito::UserPoolGroup",
		"AWS::Budgets::Budget", // only reports costs
		"AWS::DynamoDB::Table", "AWS::IAM::Role", "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Function",
		"AWS::Lambda::Permission", "AWS::Logs::LogGroup",
		"AWS::Logs::MetricFilter", // free up to ten metrics
		"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::SNS::Subscription", "AWS::SNS::Topic",
		"AWS::SQS::Queue", "AWS::Scheduler::ScheduleGroup",
	}
	for _, tpl := range []template{dev, prod, special} {
		for id, r := range tpl.Resources {
			if !slices.Contains(free, r.Type) {
				t.Errorf("%s is a %s", id, r.Type)
			}
			if c, set := r.Properties["ProvisionedConcurrencyConfig"]; set {
				t.Errorf("%s keeps instances: %v", id, c)
			}
		}
	}
}

func TestTemplates_FitOneStack(t *testing.T) {
	for _, tpl := range []template{dev, prod, special, withServer} {
		if n := len(tpl.Resources); n > 450 {
			t.Errorf("%d resources of the 500 that a stack may have", n)
		}
		if n := len(tpl.text); n > 900_000 {
			t.Errorf("%d bytes of the million that a template may have", n)
		}
	}
}

func TestPortsOut_HaveThatOfTheIssuer(t *testing.T) {
	for issuer, want := range map[string][]float64{
		"": {443}, "https://login.example": {443}, "https://login.example:443/": {443}, "https://login.example:8443/realm": {443, 8443},
	} {
		st := &stack{settings: settings{Issuer: issuer}}
		if got := st.portsOut(); !slices.Equal(got, want) {
			t.Errorf("an issuer at %q is reached through %v", issuer, got)
		}
	}
}
