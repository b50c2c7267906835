//go:build s3

// Tests of the deployment with all functions compiled for Lambda. They need an S3-compatible server that enforces signatures and
// is slow to build. make test-s3 runs them.

package functions_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/testing/acceptancetest"
	"assay/functions/testing/rightstest"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/edge/gateway/lambdatest"
	"assay/shared/edge/ratelimit"
	"assay/shared/edge/webpage/resource"
	"assay/shared/language/metrics"
	"assay/shared/service/config"
	"assay/shared/service/quota"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/blob/s3/s3test"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/nightlytest"
	"assay/shared/testing/programtest"

	"github.com/aws/aws-lambda-go/events"
)

// TestDeployed_AnswersAsHandlers runs the acceptance tests against compiled functions behind an API Gateway, with DynamoDB and
// S3. It compares the answers with those of the handlers in this process. For each change, TestEmulator_RunsEveryFunction runs
// the scenario and also compares.
func TestDeployed_AnswersAsHandlers(t *testing.T) {
	folder := build(t)
	suites := map[string]func(*testing.T, acceptancetest.Setup){"HiddenIsMissing": acceptancetest.HiddenIsMissing}
	if nightlytest.Enabled {
		suites = acceptancetest.Suites()
	}
	for name, test := range suites {
		t.Run(name, func(t *testing.T) {
			d := deploy(t, folder, false)
			test(t, d.setup())
			d.report()
		})
	}
}

// TestDeployed_NeedsNoOtherRights runs the whole scenario against functions with only the rights of their Deployment. Their roles
// on AWS are made from the same Deployment.
func TestDeployed_NeedsNoOtherRights(t *testing.T) {
	d := deploy(t, build(t), true)
	s := d.setup()
	s.Client = http.DefaultClient
	acceptancetest.Scenario(t, s)
	for name, m := range map[string]*metrics.Metric{"submissions": metrics.QuotaRefusals, functions.Background: metrics.RunsEnded} {
		if !strings.Contains(d.functions[name].Log(), fmt.Sprintf("%q:1", m.CloudWatch)) {
			t.Errorf("%s has not recorded %s in its log", name, m.CloudWatch)
		}
	}
}

// build compiles the functions when the first test needs them and returns their folder. Each file has the name of its function.
// Linking takes longer than many tests.
func build(t *testing.T) string {
	t.Helper()
	folder, err := compileBootstraps()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

var compileBootstraps = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "assay-bootstraps")
	if err != nil {
		return "", err
	}
	programtest.AtEnd(func() error { return os.RemoveAll(folder) })
	names := []string{functions.Background, functions.Uploads, functions.Notifier}
	for _, g := range functions.Families() {
		names = append(names, g.Name)
	}
	for _, name := range names {
		cmd := exec.CommandContext(context.Background(), "go", append(slices.Clip(buildFunction), "-buildvcs=false", "-ldflags", "-s -w",
			"-o", filepath.Join(folder, name), "./"+name+"/lambda")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return folder, nil
})

// deployment is all functions with the services around them.
type deployment struct {
	t   *testing.T
	url string

	filesOrigin string
	issuer      *issuertest.Issuer
	mirror      *mirror
	table       *dynamo.Store
	functions   map[string]*lambdatest.Function
	stream      *lambdatest.Stream
	schedules   *lambdatest.Scheduler
	mails       chan sentMail
}

const deployedAudience = "assay"

// deploy deploys all functions. With guards, each function has only its rights. prepare changes each function before its start.
func deploy(t *testing.T, folder string, guards bool, prepare ...func(*lambdatest.Function)) *deployment {
	d := &deployment{t: t, issuer: issuertest.Start(t, deployedAudience), functions: map[string]*lambdatest.Function{}}
	db, table := dynamotest.Start(t), dynamotest.TableName()
	t.Cleanup(func() {
		for name, f := range d.functions {
			if t.Failed() {
				t.Logf("%s logged:\n%s", name, f.Log())
			}
		}
	})
	d.table = dynamo.New(db, table)
	if err := d.table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.schedules = lambdatest.NewScheduler(t)
	files, bucket := s3test.StartNotifying(t, d.arrived)
	env := []string{
		config.TableVariable + "=" + table, config.BucketVariable + "=" + bucket, config.IssuerVariable + "=" + d.issuer.URL,
		config.AudienceVariable + "=" + deployedAudience,
		"AWS_ENDPOINT_URL_SCHEDULER=" + d.schedules.URL,
		config.ScheduleGroupVariable + "=assay", config.ScheduleRoleVariable + "=arn:aws:iam::000000000000:role/schedules",
		config.DeadLettersVariable + "=none", config.URLVariable + "=https://assay.example",
		config.MailFromVariable + "=Assay <assay@lab.example>",
		"AWS_ENDPOINT_URL_SESV2=" + d.receiveMails(),
	}
	d.filesOrigin = *files.BaseEndpoint
	env = append(env, config.FilesOriginVariable+"="+d.filesOrigin)
	who, err := files.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "AWS_REGION="+files.Region, "AWS_ACCESS_KEY_ID="+who.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+who.SecretAccessKey)
	routes := map[string]*lambdatest.Function{}
	for _, dep := range functions.Deployments() {
		endpoints := []string{"AWS_ENDPOINT_URL_DYNAMODB=" + *db.BaseEndpoint, "AWS_ENDPOINT_URL_S3=" + *files.BaseEndpoint}
		if guards {
			guardedDB, guardedS3 := rightstest.Guard(t, dep, *db.BaseEndpoint, *files.BaseEndpoint)
			endpoints = []string{"AWS_ENDPOINT_URL_DYNAMODB=" + guardedDB, "AWS_ENDPOINT_URL_S3=" + guardedS3}
		}
		endpoints = append(endpoints, config.ScheduleTargetVariable+"="+arnOf(cmp.Or(scheduleTargets[dep.Name], functions.Background)))
		f := lambdatest.NewFunction(t, dep.Name, filepath.Join(folder, dep.Name), dep.Timeout, append(endpoints, env...)...)
		for _, do := range prepare {
			do(f)
		}
		d.functions[dep.Name] = f
		for _, r := range dep.Routes() {
			routes[r] = f
		}
	}
	for _, name := range []string{functions.Background, functions.Notifier} {
		d.schedules.Target(arnOf(name), d.functions[name])
	}
	d.stream = lambdatest.MapEventSource(t, db, table, d.functions[functions.Background], streamed)
	lambdatest.MapEventSource(t, db, table, d.functions[functions.Notifier], outboxed)
	front := httptest.NewServer(lambdatest.NewHTTPAPI(routes))
	t.Cleanup(front.Close)
	d.url = front.URL
	verifier, err := auth.New(auth.Config{Issuer: d.issuer.URL, Audience: deployedAudience})
	if err != nil {
		t.Fatal(err)
	}
	info := api.BuildInfo(d.issuer.URL)
	info.FilesOrigin = d.filesOrigin
	info.Mail = true
	d.mirror = &mirror{t: t, handler: api.New(&api.Env{
		Quotas: quota.New(record.DefaultQuotas(), d.table, time.Now), Rates: ratelimit.New(ratelimit.Distributed(), ""),
		Store: d.table, Files: s3.New(files, bucket), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Verify:  auth.NewAuthenticator(verifier.Caller, d.table, time.Now, nil).Caller,
		Origins: []string{"*"}, Info: info, RenderHTML: resource.Render,
	}, functions.Operations())}
	return d
}

// scheduleTargets maps to functions that schedule themselves. Schedules of other functions start background.
var scheduleTargets = map[string]string{functions.Notifier: functions.Notifier}

func arnOf(function string) string {
	return "arn:aws:lambda:us-east-1:000000000000:function:" + function
}

// outboxed is the filter of the notifier's stream.
func outboxed(image map[string]events.DynamoDBAttributeValue) bool {
	name, _ := dynamo.IndexKeys(record.ByWork)
	v, ok := image[name]
	return ok && strings.HasPrefix(v.String(), record.OutboxPartition)
}

// streamed is the filter of the stream of the function background: runs in a queue, and records with pending work.
func streamed(image map[string]events.DynamoDBAttributeValue) bool {
	name, _ := dynamo.IndexKeys(record.ByWork)
	v, ok := image[name]
	return ok && (strings.HasPrefix(v.String(), record.QueuePartition("")) || strings.HasPrefix(v.String(), record.DuePrefix))
}

// arrived passes a notification of the bucket, in the format of S3, to its function. Like S3, it retries twice.
func (d *deployment) arrived(event []byte) {
	var from struct {
		Records []struct {
			EventName string
			S3        struct{ Object struct{ Key string } }
		}
	}
	if err := json.Unmarshal(event, &from); err != nil {
		d.t.Errorf("a notification of the bucket: %v", err)
		return
	}
	var to events.S3Event
	for _, r := range from.Records {
		if !strings.Contains(r.EventName, "ObjectCreated:") {
			continue
		}
		out := events.S3EventRecord{EventSource: "aws:s3", EventName: strings.TrimPrefix(r.EventName, "s3:"), EventTime: time.Now()}
		out.S3.Object.Key = url.QueryEscape(r.S3.Object.Key)
		to.Records = append(to.Records, out)
	}
	if len(to.Records) == 0 {
		return
	}
	payload, err := json.Marshal(to)
	if err != nil {
		d.t.Error(err)
		return
	}
	for range 3 {
		if _, err = d.functions[functions.Uploads].Invoke(context.Background(), payload); err == nil {
			return
		}
	}
	d.t.Errorf("a notification was not handled: %v", err)
}

// setup returns the deployment for the acceptance tests.
func (d *deployment) setup() acceptancetest.Setup {
	d.mirror.prefix = d.url + "/"
	return acceptancetest.Setup{
		URL: d.url,
		Token: func(user string, groups ...string) string {
			token, err := d.issuer.Token(devissuer.User{User: user, Groups: groups})
			if err != nil {
				d.t.Fatal(err)
			}
			return token
		},
		Client: &http.Client{Transport: d.mirror},
	}
}

// report fails the test for warnings and errors in the logs of the functions, and logs the number of comparisons.
func (d *deployment) report() {
	for name, f := range d.functions {
		for line := range strings.Lines(f.Log()) {
			if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) {
				d.t.Errorf("%s logged: %s", name, line)
			}
		}
	}
	d.t.Logf("%d answers were compared; %d schedules were made", d.mirror.compared.Load(), len(d.schedules.Created()))
	if d.mirror.compared.Load() == 0 {
		d.t.Error("no answers were compared")
	}
}
