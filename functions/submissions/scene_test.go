package submissions_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/submissions"
	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

const (
	ranked  = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\n"
	another = "q1 Q0 d1 1 2.0 tag\n"
	wrong   = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2\nq1 Q0 d3 3 much tag\n" // in its lines 2 and 3
)

// scene is a task that olga organizes and ada is registered for.
type scene struct {
	*servertest.Server
	t     *testing.T
	later atomic.Int64 // nanoseconds that the clock is ahead
	task  *record.TaskItem
	path  string
}

func newScene(t *testing.T, alter ...func(*record.TaskItem)) *scene {
	s := &scene{t: t, Server: servertest.New(t, submissions.Operations...), task: &record.TaskItem{}}
	s.Now = func() time.Time { return time.Now().Add(time.Duration(s.later.Load())) }
	s.task.Meta, s.task.OrganizerID, s.task.Visibility = record.NewMeta(s.Now()), record.NewID(s.Now()), record.Public
	for _, f := range alter {
		f(s.task)
	}
	s.path = "/v1/tasks/" + s.task.ID + "/submissions"
	s.Put(s.task, &record.Reservation{Meta: record.NewMeta(s.Now()), At: record.MembershipKey(servertest.UserID("olga"), s.task.OrganizerID)})
	s.register("ada", record.Accepted)
	return s
}

func (s *scene) register(user string, state record.RegistrationState) {
	s.t.Helper()
	r := &record.RegistrationItem{OrganizerID: s.task.OrganizerID}
	r.Meta, r.TaskID, r.UserID, r.Team, r.State = record.NewMeta(s.Now()), s.task.ID, servertest.UserID(user), "team of "+user, state
	s.Put(r, &record.Registered{
		Meta: r.Meta, UserID: r.UserID, TaskID: r.TaskID, OrganizerID: r.OrganizerID, Team: r.Team, Alias: "alias", State: state,
	})
}

// dataset makes a dataset whose runs are rankings, with the truth that they are evaluated with.
func (s *scene) dataset(alter ...func(*record.DatasetItem)) *record.DatasetItem {
	s.t.Helper()
	d := &record.DatasetItem{OrganizerID: s.task.OrganizerID}
	d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion = record.NewMeta(s.Now()), s.task.ID, "Lakes", record.Validation, 1
	d.RunFormat = record.RunFormat{Kind: "trec-run"}
	d.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}
	for _, f := range alter {
		f(d)
	}
	s.Put(d)
	if d.TruthVersion > 0 {
		truth := &record.Truth{Meta: d.Meta, TaskID: d.TaskID, Number: 1, RunFormat: d.RunFormat, Evaluator: d.Evaluator}
		s.Put(truth)
	}
	return d
}

func byWorker(d *record.DatasetItem)   { d.Evaluator.Kind = record.EvaluatorWorker }
func forTest(d *record.DatasetItem)    { d.Split = record.Test }
func noTruthYet(d *record.DatasetItem) { d.TruthVersion = 0 }

type object = map[string]any

func upload(files ...object) object { return object{"type": "upload", "files": files} }

// inline is a file with its content, for the dataset.
func inline(d *record.DatasetItem, name, content string) object {
	return object{"datasetId": d.ID, "name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// later is a file whose content is uploaded later, for the dataset.
func later(d *record.DatasetItem, name, content string) object {
	sum := sha256.Sum256([]byte(content))
	return object{"datasetId": d.ID, "name": name, "size": len(content), "sha256": hex.EncodeToString(sum[:]), "mediaType": "text/plain"}
}

// submit has ada submit the body.
func (s *scene) submit(body object) (v record.Submission) {
	s.t.Helper()
	s.Want(http.StatusCreated, &v, "ada", http.MethodPost, s.path, body)
	return v
}

// refused has the user submit the body, which must be refused, and nothing be left of it.
func (s *scene) refused(status int, user string, body any) problem.Document {
	s.t.Helper()
	var p problem.Document
	s.Want(status, &p, user, http.MethodPost, s.path, body)
	s.nothing(user)
	return p
}

// nothing holds that the task has no submission, that nothing is charged to the user, and that no file is stored.
func (s *scene) nothing(user string) {
	s.t.Helper()
	if a := s.Do("root", http.MethodGet, s.path, nil); a.Status != http.StatusNoContent {
		s.t.Errorf("something is recorded: %s", a.Body)
	}
	if a := get[record.Allowance](s, record.AllowanceKey(s.task.ID, servertest.UserID(user))); a != nil {
		s.t.Errorf("something is charged: %+v", a)
	}
	if files := s.stored(); len(files) > 0 {
		s.t.Errorf("files are stored: %v", files)
	}
}

// stored lists the files that are stored.
func (s *scene) stored() (keys []string) {
	s.t.Helper()
	for key, err := range s.Files.List(s.t.Context(), "", time.Now().Add(time.Minute)) {
		if err != nil {
			s.t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

func get[R any, P records.Pointer[R]](s *scene, key store.Key) P {
	s.t.Helper()
	r, err := records.Get[R, P](s.t.Context(), s.Store, store.Strong, key)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scene) run(id string) *record.RunItem {
	s.t.Helper()
	r := get[record.RunItem](s, record.RunKey(id))
	if r == nil {
		s.t.Fatalf("there is no run %s", id)
	}
	return r
}

func (s *scene) allowance() *record.Allowance {
	s.t.Helper()
	return get[record.Allowance](s, record.AllowanceKey(s.task.ID, servertest.UserID("ada")))
}

func (s *scene) replace(r record.Record) {
	s.t.Helper()
	if err := new(records.Tx).Replace(r).Commit(s.t.Context(), s.Store); err != nil {
		s.t.Fatal(err)
	}
}

func decode(t *testing.T, body []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}
