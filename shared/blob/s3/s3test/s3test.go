// Package s3test runs the Versity S3 Gateway for tests, so that what is written for S3 is tried on a server that checks
// signatures, checksums and lengths as S3 does.
//
// It differs from S3 where a test may notice:
//
//   - Keys are paths of files: "a" and "a/b" can't both be there, and a segment has at most 255 bytes.
//   - When it refuses a body without reading it, it takes that for the next request on the connection.
//   - Event names start with "s3:", which functions don't get to see, and keys in events are not encoded.
//   - There are no permissions: the one account may do everything, so that a missing key is never a 403. Tests of functions
//     put the proxy of package rightstest in front, which refuses as S3 does.
package s3test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// version is the release that the tests were written against.
const version = "v1.8.0"

const region = "eu-central-1"

// Start runs a gateway with one empty bucket until the test ends.
func Start(t testing.TB) (cfg aws.Config, bucket string) {
	t.Helper()
	cfg = start(t)
	return cfg, Bucket(t, cfg)
}

// StartNotifying is like Start, and calls notify with each event that S3 would send: a JSON document with the member
// Records. Calls may overlap, come in any order, and come after the answer to the request that caused them.
func StartNotifying(t testing.TB, notify func(event []byte)) (cfg aws.Config, bucket string) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("an event of the S3 gateway broke off: %v", err)
		}
		// The gateway tries the address with an event of its own kind, which S3 sends to queues but not to functions.
		if !bytes.Contains(event, []byte("s3:TestEvent")) {
			notify(event)
		}
	}))
	t.Cleanup(hook.Close)
	cfg = start(t, "--event-webhook-url", hook.URL)
	return cfg, Bucket(t, cfg)
}

// Bucket makes one more empty bucket, which goes when the gateway does.
func Bucket(t testing.TB, cfg aws.Config) string {
	t.Helper()
	name := fmt.Sprintf("assay-%d", time.Now().UnixNano())
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

func start(t testing.TB, flags ...string) aws.Config {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Fatal(err)
	}
	address, err := freeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const access, secret = "tester", "not-a-secret"
	// The gateway outlives t.Context, which ends before the clean-ups that may still need it.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	gateway := exec.CommandContext(ctx, program, append(append([]string{ // #nosec G204 -- the program is the one that make installed
		"--port", address, "--region", region, "--health", "/health", "--quiet", "--keep-alive",
	}, flags...), "posix", t.TempDir())...)
	gateway.Env = []string{"ROOT_ACCESS_KEY_ID=" + access, "ROOT_SECRET_ACCESS_KEY=" + secret}
	var logs strings.Builder
	gateway.Stdout, gateway.Stderr = &logs, &logs
	if err := gateway.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = gateway.Wait() // it is killed, which is an error
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if t.Failed() {
			t.Logf("the S3 gateway said:\n%s", &logs)
		}
	})
	if err := await(ctx, "http://"+address+"/health", ended); err != nil {
		t.Fatal(err)
	}
	return aws.Config{
		Region:       region,
		BaseEndpoint: aws.String("http://" + address),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: access, SecretAccessKey: secret}, nil
		}),
	}
}

// find returns the path of the gateway below the root of the repository.
func find() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("no go.mod in this folder or above: run the tests inside the repository")
		}
		folder = filepath.Dir(folder)
	}
	program := filepath.Join(folder, ".tools", "versitygw-"+version, "versitygw")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("the S3 gateway is not installed; run the tests with: make test-s3 (%w)", err)
	}
	return program, nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await returns when the gateway answers.
func await(ctx context.Context, url string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			ok := res.StatusCode == http.StatusOK
			if err := res.Body.Close(); err != nil || ok {
				return err
			}
		}
		select {
		case <-ended:
			return errors.New("the S3 gateway ended as soon as it was started; what it said is in the log of the test")
		case <-ctx.Done():
			return errors.New("the S3 gateway did not answer within 20 s; what it said is in the log of the test")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
