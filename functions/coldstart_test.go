package functions_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/edge/gateway/lambdatest"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"

	"github.com/aws/aws-lambda-go/events"
)

// BenchmarkColdStart measures every function, and a function that does nothing. It measures the time from the start of the
// process to its first answer, and the size of the deployed binary. The first request to a family is a GET that reads from
// DynamoDB on the same machine. make bench-cold-start runs it and takes the median of 30.
func BenchmarkColdStart(b *testing.B) {
	b.Setenv("AWS_CA_BUNDLE", "") // reading a bundle of certificates would take as long as everything else, and Lambda has no bundle
	db, table := dynamotest.Start(b), dynamotest.TableName()
	if err := dynamo.New(db, table).CreateTable(b.Context()); err != nil {
		b.Fatal(err)
	}
	schedules := lambdatest.NewScheduler(b)
	schedules.Target("none", new(lambdatest.Function)) // due only after days
	env := []string{
		config.TableVariable + "=" + table, config.BucketVariable + "=none", config.IssuerVariable + "=https://issuer.example.org",
		config.AudienceVariable + "=assay",
		config.ScheduleGroupVariable + "=none", config.ScheduleRoleVariable + "=none", config.ScheduleTargetVariable + "=none",
		config.DeadLettersVariable + "=none", config.URLVariable + "=none",
		"AWS_ENDPOINT_URL_SCHEDULER=" + schedules.URL,
		"AWS_ENDPOINT_URL_DYNAMODB=" + *db.BaseEndpoint, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
	}
	b.Run("empty", func(b *testing.B) { coldStart(b, "../shared/edge/gateway/lambdatest/empty", nil, request(b, "/")) })
	for _, d := range functions.Deployments() {
		first := []byte(`{"Wake":"due"}`)
		switch {
		case len(d.Operations) > 0:
			first = request(b, firstPaths[d.Name])
		case d.Name == functions.Uploads:
			first = []byte(`{"Records":[{"eventSource":"aws:s3","s3":{"object":{"key":"none"}}}]}`)
		case d.Name == functions.Notifier:
			first = []byte(`{"Wake":"notify"}`)
		}
		b.Run(d.Name, func(b *testing.B) { coldStart(b, "./"+d.Name+"/lambda", env, first) })
	}
}

// firstPaths holds the path of the first request to each family.
var firstPaths = map[string]string{
	"service":       "/health",
	"organizers":    "/v1/organizers",
	"tasks":         "/v1/tasks",
	"datasets":      "/v1/datasets",
	"registrations": "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/registrations",
	"submissions":   "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/submissions",
	"runs":          "/v1/runs",
	"evaluations":   "/v1/evaluations",
	"components":    "/v1/platform/components",
	"deletions":     "/v1/deletions",
	"tools":         "/v1/tools/evaluator/result?input=%7B%22runs%22%3A%5B%7B%22runId%22%3A%2201ARZ3NDEKTSV4RRFFQ69G5FAV%22%7D%5D%7D",
	"invitations":   "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/invitations",
	"notifications": "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV/announcements",
	"users":         "/v1/users/01ARZ3NDEKTSV4RRFFQ69G5FAV/submissions",
}

func request(b *testing.B, address string) []byte {
	path, query, _ := strings.Cut(address, "?")
	e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path, RawQueryString: query, Headers: map[string]string{
		"host": "api.example.org"}}
	e.RequestContext.HTTP.Method = http.MethodGet
	e.RequestContext.Stage = "$default"
	payload, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

// maxSize bounds the size of a function, because loading it takes time.
const maxSize = 14_000_000

func coldStart(b *testing.B, program string, env []string, first []byte) {
	binary, size := compile(b, program)
	took, worked := make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)
	for b.Loop() {
		before := childrenTime(b)
		f := lambdatest.NewFunction(b, "cold", binary, time.Minute, env...)
		started := time.Now()
		answer, err := f.Invoke(b.Context(), first)
		took = append(took, time.Since(started))
		if err != nil {
			b.Fatalf("%v\n%s", err, f.Log())
		}
		var out events.APIGatewayV2HTTPResponse
		if json.Unmarshal(answer, &out) == nil && out.StatusCode >= http.StatusInternalServerError {
			b.Fatalf("the first answer is %s\n%s", answer, f.Log())
		}
		f.Stop()
		worked = append(worked, childrenTime(b)-before)
	}
	slices.Sort(took)
	slices.Sort(worked)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(worked[len(worked)/2].Microseconds())/1000, "cpu-ms")
	b.ReportMetric(float64(size)/1e6, "arm64-MB")
	if size > maxSize {
		b.Errorf("%s has %d bytes, more than %d", program, size, maxSize)
	}
	b.ReportMetric(0, "ns/op")
}

// childrenTime returns the processor time of ended processes. Other work on the machine affects it less than elapsed time.
func childrenTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// buildFunction is the command that compiles a function. The Makefile uses the same flags, which decide the content of the
// binary.
var buildFunction = []string{"build", "-tags", "lambda.norpc,nethttpomithttp2"}

// compile builds the program for this machine. It also returns the size of the binary for the machine of the deployment.
func compile(b *testing.B, program string) (binary string, size int64) {
	b.Helper()
	folder := b.TempDir()
	binary = filepath.Join(folder, "bootstrap")
	deployed := filepath.Join(folder, "arm64")
	for out, env := range map[string][]string{binary: nil, deployed: {"GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0,lse"}} {
		cmd := exec.CommandContext(b.Context(), "go", append(slices.Clip(buildFunction), "-trimpath", "-ldflags", "-s -w", "-o", out, program)...)
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", program, err, out)
		}
	}
	info, err := os.Stat(deployed)
	if err != nil {
		b.Fatal(err)
	}
	return binary, info.Size()
}
