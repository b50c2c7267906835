//go:build s3

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/rightstest"
	"assay/grpc/assayv1"
	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/auth/devissuer"
	"assay/shared/blob/s3"
	"assay/shared/blob/s3/s3test"
	"assay/shared/record"
	"assay/shared/store/dynamo"
	"assay/shared/store/dynamo/dynamotest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// deployment is both edges over one table and one bucket.
type deployment struct {
	t      *testing.T
	issuer trusted
	url    string
	work   assayv1.WorkerServiceClient
}

// TestAWorkersFilesGoThroughS3 has a worker get its input from the bucket and send its output there, both by signed links.
func TestAWorkersFilesGoThroughS3(t *testing.T) {
	d := deploy(t)
	lab := d.post("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	task := d.post("olga", "/v1/tasks", map[string]any{"organizerId": last(lab), "name": "Task"})
	inline := func(name, content string) map[string]any {
		return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
	}
	data := d.post("olga", "/v1/datasets", map[string]any{
		"taskId": last(task), "name": "Data", "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
		"inputs": []any{inline("topics.txt", "1 lake\n")}, "truths": []any{inline("qrels", "1 0 a 1\n")},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	})
	d.post("ada", task+"/registrations", map[string]any{"team": "Ada"})
	d.post("ada", task+"/submissions", map[string]any{"type": "image", "image": "x", "datasetIds": []string{last(data)}})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+d.token("robot", "workers"))
	leased, err := d.work.Lease(ctx, &assayv1.LeaseRequest{Worker: "w"})
	if err != nil || leased.GetWork() == nil {
		t.Fatal(leased, err)
	}
	w := leased.GetWork()
	if got := d.send(http.MethodGet, w.GetInputs()[0].GetUrl(), nil, nil); got != "1 lake\n" {
		t.Errorf("the input is %q", got)
	}
	const output = "1 Q0 a 1 1.0 x\n"
	sum := sha256.Sum256([]byte(output))
	request := &assayv1.CompleteRunRequest{RunId: w.GetRunId(), LeaseId: w.GetLeaseId(), Files: []*assayv1.File{
		{Name: "run.txt", Size: int64(len(output)), Sha256: hex.EncodeToString(sum[:]), MediaType: "text/plain"},
	}}
	answer, err := d.work.CompleteRun(ctx, request)
	if err != nil || len(answer.GetUploads()) != 1 {
		t.Fatal(answer, err)
	}
	up := answer.GetUploads()[0]
	d.send(up.GetMethod(), up.GetUrl(), up.GetHeaders(), []byte(output))
	answer, err = d.work.CompleteRun(ctx, request)
	if err != nil || len(answer.GetUploads()) != 0 || answer.GetState() != assayv1.RunState_RUN_STATE_EVALUATING {
		t.Fatal(answer, err)
	}
	var run record.Run
	if err := json.Unmarshal([]byte(d.send(http.MethodGet, d.url+"/v1/runs/"+w.GetRunId(), map[string]string{"Authorization": "Bearer " + d.token("ada")}, nil)), &run); err != nil {
		t.Fatal(err)
	}
	if got := d.send(http.MethodGet, run.Files[0].URL, nil, nil); got != output || run.State != record.Evaluating {
		t.Errorf("%+v, with the output %q", run, got)
	}
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, issuer: issuer(t)}
	files, bucket := s3test.Start(t)
	db := dynamotest.Start(t)
	_, guardedS3 := rightstest.Guard(t, functions.GRPC(), *db.BaseEndpoint, *files.BaseEndpoint)
	t.Setenv("AWS_ENDPOINT_URL_S3", guardedS3)
	db.Credentials = files.Credentials // the bucket's server checks them, the table's does not
	db.Region = files.Region
	table := dynamotest.TableName()
	addr := startOver(t, d.issuer, db, table, "-bucket", bucket)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d.work = assayv1.NewWorkerServiceClient(conn)
	v, err := auth.New(auth.Config{Issuer: d.issuer.url, Audience: "assay", Client: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(api.New(&api.Env{
		Store: dynamo.New(db, table), Files: s3.New(files, bucket), Now: time.Now, Log: slog.New(slog.DiscardHandler), Verify: v.Caller, Origins: []string{"*"},
	}, functions.Operations()))
	t.Cleanup(web.Close)
	d.url = web.URL
	return d
}

func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (d *deployment) token(user string, groups ...string) string {
	d.t.Helper()
	token, err := d.issuer.Token(devissuer.User{User: user, Groups: groups})
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// post creates something as the user, and returns its path.
func (d *deployment) post(user, path string, body map[string]any) string {
	d.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, bytes.NewReader(encoded))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token(user))
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
		d.t.Fatalf("POST %s: %d %s", path, resp.StatusCode, answer)
	}
	return resp.Header.Get("Location")
}

// send makes a request that must succeed, and returns the body of the answer.
func (d *deployment) send(method, url string, headers map[string]string, body []byte) string {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		d.t.Fatalf("%s %s: %d, %v\n%s", method, url, resp.StatusCode, err, answer)
	}
	return string(answer)
}
