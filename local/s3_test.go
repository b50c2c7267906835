//go:build s3

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/functions/testing/acceptancetest"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/blob/s3/s3test"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/waittest"

	"github.com/aws/aws-sdk-go-v2/config"
)

const bucketName = "lake-lab"

// startS3 starts an object store, sets the environment of the test for it, and returns the flags for a new bucket.
func startS3(t *testing.T) []string {
	t.Helper()
	cfg, _ := s3test.Start(t)
	credentials, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", *cfg.BaseEndpoint)
	t.Setenv("AWS_REGION", cfg.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", credentials.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", credentials.SecretAccessKey)
	return []string{"-files", filesS3, "-create-bucket", "-bucket", bucketName}
}

// TestServer_KeepsNothingOnTheMachine runs the acceptance tests over a table of DynamoDB and a bucket of S3 without notifications of
// uploads. The server cannot make a folder for data.
func TestServer_KeepsNothingOnTheMachine(t *testing.T) {
	startDynamoDB(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range acceptancetest.Suites() {
		t.Run(name, func(t *testing.T) {
			flags := append(startS3(t), dynamoDBFlags(dynamotest.TableName())...)
			test(t, setup(t, append(flags, "-data", filepath.Join(file, "data"))...))
		})
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("the folder for temporary files has %v, %v", left, err)
	}
}

// TestServer_ReclaimsOnlyItsOwnLeasesOverOneBucket starts several servers over the same table and bucket.
func TestServer_ReclaimsOnlyItsOwnLeasesOverOneBucket(t *testing.T) {
	reclaimOwnLeases(t, func() (blob.Store, []string) {
		flags := startS3(t)
		cfg, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bucket := s3.New(cfg, bucketName)
		if err := bucket.CreateBucket(t.Context(), "*"); err != nil {
			t.Fatal(err)
		}
		return bucket, flags
	})
}

// TestRun_RefusesABucketOfAnotherTable starts over the bucket of another server's table, and over a missing bucket.
func TestRun_RefusesABucketOfAnotherTable(t *testing.T) {
	flags := append(startS3(t), "-demo=false")
	startIn(t, t.TempDir(), flags...)
	for name, c := range map[string]struct{ flag, want string }{
		"of another table": {"-demo=false", "another table"}, "missing": {"-bucket=missing", "-create-bucket"},
	} {
		c2 := settingsOf(t, t.TempDir(), append(flags, "-create-bucket=false", c.flag)...)
		if err := run(t.Context(), c2, t.Output(), t.Output(), func(*program) { t.Error("it serves") }); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServer_WhenS3GoesAway cuts the connection to S3. The server stays in rotation, answers what the table has, and warns at once.
func TestServer_WhenS3GoesAway(t *testing.T) {
	flags := startS3(t)
	between := newNetwork(t, strings.TrimPrefix(os.Getenv("AWS_ENDPOINT_URL_S3"), "http://"))
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+between.addr)
	s := startIn(t, t.TempDir(), append(flags, "-demo=false", "-ops-addr", "127.0.0.1:0")...)
	owner := s.token(t, "owner")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 a 1\n", nil)
	between.set(true)
	var health struct {
		Status string
		Checks map[string]struct{ Status, Output string }
	}
	s.get(t, "", "/health", &health)
	if health.Status != "warn" || health.Checks["files"].Status != "warn" ||
		!strings.Contains(health.Checks["files"].Output, "object store does not answer") {
		t.Errorf("health is %+v", health)
	}
	s.get(t, "", task, nil)
	if got := readOps(t, s.program.opsAddr.String(), "/ready"); got != "ready\n" {
		t.Errorf("the server leaves the rotation: %s", got)
	}
	// Health answers as the time of its check ends, and the call of the check fails in the same moment.
	waittest.Value(t, "the metrics tell of the failure", func() (map[string]float64, bool) {
		m := s.scrape(t)
		passes, told := m[`assay_check_passes{check="files"}`]
		return m, told && passes == 0 && m[`assay_files_failures_total{operation="stat"}`] >= 1
	})
	between.set(false)
	s.dataset(t, owner, task, "1 0 b 1\n", nil)
}
