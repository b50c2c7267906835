//go:build s3 && emulator

// Tests of the functions compiled for Lambda in AWS's own runtime interface emulator, which make test-lambda installs.

package functions_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/testing/acceptancetest"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/gateway/lambdatest"
	"assay/shared/language/problem"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"

	"github.com/aws/aws-lambda-go/events"
)

func emulate(f *lambdatest.Function) { f.EmulateWith(os.Getenv("ASSAY_LAMBDA_RIE")) }

// TestEmulator_RunsEveryFunction runs the scenario against the functions, with requests, changes of the table, uploaded files and
// schedules. The answers must equal those of the handlers in this process, also when they are encoded in base64.
func TestEmulator_RunsEveryFunction(t *testing.T) {
	d := deploy(t, build(t), false, emulate)
	acceptancetest.Scenario(t, d.setup())
	for _, path := range []string{"/v1/platform/components", "/console"} {
		d.ask("ada", http.MethodGet, path, nil, http.StatusOK)
	}
	background := d.functions[functions.Background]
	for _, wake := range []string{`{"Wake":"due"}`, `{"Wake":"clean"}`} {
		if _, err := background.Invoke(t.Context(), []byte(wake)); err != nil {
			t.Errorf("%s: %v", wake, err)
		}
	}
	d.report()
	for name, f := range d.functions {
		if f.Invocations.Load() == 0 {
			t.Errorf("%s was never invoked", name)
		}
		if !strings.Contains(f.Log(), "REPORT RequestId") {
			t.Errorf("%s did not run in the emulator", name)
		}
	}
	if answer, err := background.Invoke(t.Context(), []byte(`{"Records":[{"eventSource":"aws:sqs"}]}`)); err == nil ||
		!strings.Contains(err.Error(), "unknown") {
		t.Errorf("an event of no known source: %s, %v", answer, err)
	}
	d.checkLargeAnswer()
}

// checkLargeAnswer checks that an answer too large for Lambda becomes a problem that says so. A compressed answer that fits must
// arrive.
func (d *deployment) checkLargeAnswer() {
	d.t.Helper()
	line := "1 Q0 " + strings.Repeat("<", 250) + "%d 1 1.0 x\n"
	var run bytes.Buffer
	for i := range 10_000 {
		run.WriteString(strings.Replace(line, "%d", strings.Repeat("a", i%40)+string(rune('a'+i/40%26))+string(rune('a'+i/1040)), 1))
	}
	body, err := json.Marshal(map[string]any{"to": "trec-run", "run": map[string]any{"files": []any{
		map[string]any{"name": "run.txt", "content": run.Bytes()}}}})
	if err != nil {
		d.t.Fatal(err)
	}
	token, err := d.issuer.Token(devissuer.User{User: "olga"})
	if err != nil {
		d.t.Fatal(err)
	}
	for coding, want := range map[string]int{"identity": http.StatusBadRequest, "gzip": http.StatusOK} {
		e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: "/v1/tools/converter", Body: string(body), Headers: map[string]string{
			"host": "api.example.org", "content-type": "application/json", "accept": "text/plain", "accept-encoding": coding,
			"authorization": "Bearer " + token}}
		e.RequestContext.HTTP.Method = http.MethodPost
		e.RequestContext.Stage = "$default"
		payload, err := json.Marshal(e)
		if err != nil {
			d.t.Fatal(err)
		}
		answer, err := d.functions["tools"].Invoke(d.t.Context(), payload)
		var out events.APIGatewayV2HTTPResponse
		if err != nil || json.Unmarshal(answer, &out) != nil || out.StatusCode != want || out.IsBase64Encoded != (coding == "gzip") {
			d.t.Errorf("%d bytes as %s: %d, %v, %.300s", run.Len(), coding, out.StatusCode, err, answer)
		}
	}
}

// TestEmulator_OutageOfTheTable: a function answers before Lambda ends it, and works again as soon as the table does.
func TestEmulator_OutageOfTheTable(t *testing.T) {
	db, table := dynamotest.Start(t), dynamotest.TableName()
	if err := dynamo.New(db, table).CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	backend, err := url.Parse(*db.BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	silence := make(chan struct{}) // the table does not answer until the channel is closed
	proxy := httputil.NewSingleHostReverseProxy(backend)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-silence
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	folder := build(t)
	start := func(name string, timeout time.Duration) *lambdatest.Function {
		return lambdatest.NewFunction(t, name, filepath.Join(folder, name), timeout, "AWS_ENDPOINT_URL_DYNAMODB="+front.URL,
			config.TableVariable+"="+table, config.BucketVariable+"=none", config.IssuerVariable+"=https://issuer.example.org",
			config.AudienceVariable+"=assay", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		).EmulateWith(os.Getenv("ASSAY_LAMBDA_RIE"))
	}
	get := func(f *lambdatest.Function, path string) (out events.APIGatewayV2HTTPResponse, err error) {
		e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, Headers: map[string]string{"host": "api.example.org"}}
		e.RequestContext.HTTP.Method = http.MethodGet
		e.RequestContext.Stage = "$default"
		payload, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := f.Invoke(t.Context(), payload)
		if err == nil {
			err = json.Unmarshal(answer, &out)
		}
		return out, err
	}
	service, tasks := start("service", 5*time.Second), start("tasks", 2*time.Second)
	for path, f := range map[string]*lambdatest.Function{"/health": service, "/v1/tasks": tasks} {
		if out, err := get(f, path); err != nil || out.StatusCode != http.StatusServiceUnavailable ||
			out.Headers["Content-Type"] != problem.MediaType || out.Headers["Retry-After"] == "" {
			t.Errorf("%s while the table is silent: %v, %v", path, out, err)
		}
	}
	if out, err := get(service, "/health/live"); err != nil || out.StatusCode != http.StatusOK {
		t.Errorf("while the table is silent: %v, %v", out, err)
	}
	close(silence)
	if out, err := get(tasks, "/v1/tasks"); err != nil || out.StatusCode != http.StatusNoContent {
		t.Errorf("when the table answers again: %v, %v", out, err)
	}
}
