//go:build s3

package functions_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/testing/waittest"
)

// ask sends a request to the deployment as the user and returns the body of the answer.
func (d *deployment) ask(user, method, path string, body any, want int) []byte {
	d.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, bytes.NewReader(encoded))
	if err != nil {
		d.t.Fatal(err)
	}
	token, err := d.issuer.Token(devissuer.User{User: user, Email: user + "@example.org"})
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		d.t.Fatalf("%s %s as %s: %d, %v\n%s", method, path, user, res.StatusCode, err, got)
	}
	return got
}

// newTask makes a task in which ada may submit. It returns its path and its dataset.
func (d *deployment) newTask() (task, dataset string) {
	var made struct{ URL, ID string }
	get := func(b []byte) {
		if err := json.Unmarshal(b, &made); err != nil {
			d.t.Fatal(err)
		}
	}
	get(d.ask("olga", http.MethodPost, "/v1/organizers", map[string]any{"name": "Lab"}, http.StatusCreated))
	get(d.ask("olga", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": servertest.ID(made.URL), "name": "Task"},
		http.StatusCreated))
	task = made.URL
	get(d.ask("olga", http.MethodPost, "/v1/datasets", newDatasetBody(servertest.ID(task)), http.StatusCreated))
	d.ask("ada", http.MethodPost, task+"/registrations", map[string]any{"team": "Lakeside"}, http.StatusCreated)
	return task, made.ID
}

// submit makes a submission of ada's and returns its run.
func (d *deployment) submit(task, dataset string) string {
	var made struct{ RunIDs []string }
	upload := servertest.Upload(dataset, servertest.Inline("run.csv", "id,label\n1,a\n"))
	if err := json.Unmarshal(d.ask("ada", http.MethodPost, task+"/submissions", upload, http.StatusCreated), &made); err != nil {
		d.t.Fatal(err)
	}
	return made.RunIDs[0]
}

// awaitCompleted waits until the run is completed.
func (d *deployment) awaitCompleted(run string) record.RunItem {
	d.t.Helper()
	return waittest.Value(d.t, "the run is completed", func() (record.RunItem, bool) {
		r := recordtest.Get[record.RunItem](d.t, d.table, record.RunKey(run))
		return *r, r.State == record.Completed
	})
}

// TestDeployed_MovesPoisonMessageToDeadLetterQueue: a change that cannot be handled is retried as often as Lambda retries. Then
// it is set aside for people to look at, and delays no other change. The function also schedules itself, in case the fault was
// temporary.
func TestDeployed_MovesPoisonMessageToDeadLetterQueue(t *testing.T) {
	d := deploy(t, build(t), true)
	task, dataset := d.newTask()
	poison := store.Item{Key: record.RunKey(record.NewID(time.Now())), Data: []byte("this is no run")}
	poison.Indexes[record.ByWork-1] = store.Key{Partition: record.QueuePartition(record.QueueBuiltin), Sort: record.DueBy(time.Now())}
	if err := d.table.Write(t.Context(), store.Create(poison)); err != nil {
		t.Fatal(err)
	}
	d.awaitCompleted(d.submit(task, dataset))
	r := waittest.Receive(t, "the poison was set aside", d.stream.DeadLetters)
	if key := r.Change.Keys["p"].String(); key != poison.Partition {
		t.Errorf("%s was set aside, and not the poison", key)
	}
	scheduled := false
	for name, at := range d.schedules.Created() {
		scheduled = scheduled || strings.HasPrefix(name, "due-") && time.Until(at) > 10*time.Minute && time.Until(at) < 20*time.Minute
	}
	if !scheduled {
		t.Errorf("the function does not have itself woken: %v", d.schedules.Created())
	}
	d.awaitCompleted(d.submit(task, dataset))
}

// A function that crashes leaves a lease that expires. The table has the instant of its expiry, and the change that wrote the
// lease made a schedule for that instant.
func TestDeployed_ReclaimsRunOfCrashedFunction(t *testing.T) {
	d := deploy(t, build(t), true)
	task, dataset := d.newTask()
	r := d.awaitCompleted(d.submit(task, dataset))
	now := time.Now()
	r.State = record.Evaluating
	r.EvaluationID = ""
	r.Evaluations = nil
	r.FinishedAt = nil
	r.Lease = &record.Lease{ID: record.NewID(now), Holder: "dead", Until: record.At(now.Add(90 * time.Second))}
	if err := new(records.Tx).Replace(&r).Commit(t.Context(), d.table); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "a schedule wakes the function when the lease expires", func() bool { return len(d.schedules.Created()) > 0 })
	stored := recordtest.Get[record.RunItem](t, d.table, r.Key())
	stored.Lease.Until = record.At(now.Add(-time.Second)) // simulates the passing of time
	if err := new(records.Tx).Replace(stored).Commit(t.Context(), d.table); err != nil {
		t.Fatal(err)
	}
	background := d.functions[functions.Background]
	for _, wake := range []string{`{"Wake":"due"}`, `{"Wake":"clean"}`} {
		if _, err := background.Invoke(t.Context(), []byte(wake)); err != nil {
			t.Errorf("%s: %v", wake, err)
		}
	}
	if got := d.awaitCompleted(r.ID); len(got.Evaluations) != 1 {
		t.Errorf("%d evaluations", len(got.Evaluations))
	}
	for _, strange := range []string{`{}`, `{"Wake":"up"}`, `[]`, `{"Records":[{"eventSource":"aws:sqs"}]}`, `{"Records":[1]}`} {
		if answer, err := background.Invoke(t.Context(), []byte(strange)); err == nil {
			t.Errorf("an event of no known source, %s, is answered %s", strange, answer)
		}
		if answer, err := d.functions[functions.Uploads].Invoke(t.Context(), []byte(strange)); err == nil {
			t.Errorf("an event that is no notification, %s, is answered %s", strange, answer)
		}
	}
}
