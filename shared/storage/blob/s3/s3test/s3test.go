// Package s3test runs the Versity S3 Gateway for tests. Like S3, it checks signatures, checksums and lengths.
//
// It differs from S3 in ways that tests may notice:
//
//   - Keys are paths of files: "a" and "a/b" cannot both exist, and a segment has at most 255 bytes.
//   - When it refuses a body without reading it, it parses the body as the next request on the connection.
//   - Event names start with "s3:", which Lambda functions do not see, and keys in events are not encoded.
//   - It has no permissions: its only account may do everything, so a missing key never causes a 403. Tests of functions
//     put the proxy of package rightstest in front of it, which refuses requests like S3.
package s3test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"assay/shared/testing/programtest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// version is the release of the gateway that the tests use.
const version = "v1.8.0"

const region = "eu-central-1"

// Start runs a gateway with one empty bucket until the test ends.
func Start(t testing.TB) (cfg aws.Config, bucket string) {
	t.Helper()
	cfg = start(t)
	return cfg, Bucket(t, cfg)
}

// StartNotifying is like Start, and calls notify with each event that S3 would send. An event is a JSON document with the member
// Records. Calls may overlap, come in any order, and come after the answer to the request that caused them.
func StartNotifying(t testing.TB, notify func(event []byte)) (cfg aws.Config, bucket string) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("an event of the S3 gateway broke off: %v", err)
		}
		// The gateway tests the address with an event that S3 sends to queues but not to functions.
		if !bytes.Contains(event, []byte("s3:TestEvent")) {
			notify(event)
		}
	}))
	t.Cleanup(hook.Close)
	cfg = start(t, "--event-webhook-url", hook.URL)
	return cfg, Bucket(t, cfg)
}

// Bucket creates another empty bucket, which pages of all origins may use. It is removed with the gateway.
func Bucket(t testing.TB, cfg aws.Config) string {
	t.Helper()
	name := fmt.Sprintf("assay-%d", time.Now().UnixNano())
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	rules := types.CORSConfiguration{CORSRules: []types.CORSRule{{
		AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET", "HEAD", "PUT"}, AllowedHeaders: []string{"*"}}}}
	if _, err := client.PutBucketCors(t.Context(), &s3.PutBucketCorsInput{Bucket: &name, CORSConfiguration: &rules}); err != nil {
		t.Fatal(err)
	}
	return name
}

// program returns the path of the gateway, which may not be installed.
func program(t testing.TB) string {
	t.Helper()
	return filepath.Join(programtest.Root(t), ".tools", "versitygw-"+version, "versitygw")
}

// Installed reports whether the gateway is installed.
func Installed(t testing.TB) bool {
	t.Helper()
	_, err := os.Stat(program(t))
	return err == nil
}

func start(t testing.TB, flags ...string) aws.Config {
	t.Helper()
	if !Installed(t) {
		t.Fatal("the S3 gateway is not installed; run the tests with: make test-s3")
	}
	const access, secret = "tester", "not-a-secret"
	address := programtest.FreeAddress(t)
	flags = append([]string{"--port", address, "--region", region, "--quiet", "--keep-alive"}, flags...)
	gateway := exec.CommandContext(context.Background(), program(t), append(flags, "posix", t.TempDir())...) //nolint:gosec // make installed it
	gateway.Env = []string{"ROOT_ACCESS_KEY_ID=" + access, "ROOT_SECRET_ACCESS_KEY=" + secret}
	programtest.Serve(t, gateway, address)
	return aws.Config{
		Region: region, BaseEndpoint: aws.String("http://" + address), Credentials: credentials.NewStaticCredentialsProvider(access, secret, ""),
	}
}
