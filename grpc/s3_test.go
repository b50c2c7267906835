//go:build s3

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/testing/rightstest"
	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/service/files"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/blob/s3/s3test"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// TestRun_WorkersTransferFilesThroughS3 makes a worker download its input from the bucket and upload its output with signed links. The
// server has only the rights of its deployment.
func TestRun_WorkersTransferFilesThroughS3(t *testing.T) {
	bucketServer, bucket := s3test.Start(t)
	db := dynamotest.Start(t)
	_, guardedS3 := rightstest.Guard(t, functions.GRPC(), *db.BaseEndpoint, *bucketServer.BaseEndpoint)
	t.Setenv("AWS_ENDPOINT_URL_S3", guardedS3)
	db.Credentials = bucketServer.Credentials // the S3 server checks them, and the DynamoDB server does not
	db.Region = bucketServer.Region
	issuer, table := issuertest.Start(t, "assay"), dynamotest.TableName()
	conn, err := grpc.NewClient(startOver(t, issuer, db, table, "-bucket", bucket), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	b := recordtest.New(t, dynamo.New(db, table))
	b.Files = s3.New(bucketServer, bucket)
	b.Task().Dataset(b.Inputs("topics.txt", "1 lake\n"), b.Truths("qrels", "1 0 a 1\n")).Run("ada", recordtest.OfImage)
	token, err := issuer.Token(devissuer.User{User: "robot", Groups: []string{"workers"}})
	must(t, err)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	workers := assayv1.NewWorkerServiceClient(conn)
	leased, err := workers.Lease(ctx, &assayv1.LeaseRequest{Worker: "w"})
	if err != nil || leased.GetWork() == nil {
		t.Fatal(leased, err)
	}
	w := leased.GetWork()
	if got := send(t, http.MethodGet, w.GetInputs()[0].GetUrl(), nil, nil); got != "1 lake\n" {
		t.Errorf("the input is %q", got)
	}
	const content = "1 Q0 a 1 1.0 x\n"
	output := recordtest.File("run.txt", content, record.FilePending)
	request := &assayv1.CompleteRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), Files: []*assayv1.File{
		{Name: output.Name, Size: output.Size, Sha256: output.SHA256, MediaType: output.MediaType},
	}}
	answer, err := workers.CompleteRun(ctx, request)
	if err != nil || len(answer.GetUploads()) != 1 {
		t.Fatal(answer, err)
	}
	up := answer.GetUploads()[0]
	send(t, up.GetMethod(), up.GetUrl(), up.GetHeaders(), []byte(content))
	answer, err = workers.CompleteRun(ctx, request)
	if err != nil || len(answer.GetUploads()) != 0 || answer.GetState() != assayv1.RunState_RUN_STATE_EVALUATING {
		t.Fatal(answer, err)
	}
	stored, err := b.Files.Open(ctx, record.ObjectKey(record.HolderRuns, w.GetRunId(), output.SHA256))
	must(t, err)
	defer func() { _ = stored.Close() }()
	if got, err := io.ReadAll(stored); err != nil || string(got) != content {
		t.Errorf("the output is %q, %v", got, err)
	}
}

// send sends a request, which must succeed, and returns the body of the response.
func send(t *testing.T, method, url string, headers map[string]string, body []byte) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	must(t, err)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d, %v\n%s", method, url, response.StatusCode, err, answer)
	}
	return string(answer)
}

// TestRun_RefusesABucketOfAnotherTable starts the server with the bucket of another table.
func TestRun_RefusesABucketOfAnotherTable(t *testing.T) {
	bucketServer, bucket := s3test.Start(t)
	claim := files.Claim{Table: recordtest.OpenStore(t, embedded.Options{}), Objects: s3.New(bucketServer, bucket), Now: time.Now}
	must(t, claim.Make(t.Context()))
	t.Setenv("AWS_ENDPOINT_URL_S3", *bucketServer.BaseEndpoint)
	db := dynamotest.Start(t)
	db.Credentials, db.Region = bucketServer.Credentials, bucketServer.Region
	name := dynamotest.TableName()
	setEnvironment(t, db)
	must(t, dynamo.New(db, name).CreateTable(t.Context()))
	issuer := issuertest.Start(t, "assay")
	args := []string{"-addr", "127.0.0.1:0", "-issuer", issuer.URL, "-audience", "assay", "-table", name, "-bucket", bucket}
	err := run(t.Context(), args, func(string) string { return "" }, t.Output(), func(string) { t.Error("it serves") })
	if !errors.Is(err, files.ErrOtherTable) {
		t.Error(err)
	}
}
