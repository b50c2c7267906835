package submissions_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/submissions"
	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

const (
	ranked  = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\n"
	another = "q1 Q0 d1 1 2.0 tag\n"
	wrong   = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2\nq1 Q0 d3 3 much tag\n" // in its lines 2 and 3
)

// fixture serves the submissions to a task that olga organizes and ada is registered for.
type fixture struct {
	*servertest.Server
	t     *testing.T
	ahead atomic.Int64 // nanoseconds of the clock
	task  *recordtest.Task
	path  string
}

func serve(t *testing.T, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	f := &fixture{t: t, Server: servertest.New(t, submissions.Operations...)}
	f.Now = func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.task = f.Records().Task(options...)
	f.path = f.task.Path() + "/submissions"
	f.task.Register("ada")
	return f
}

// dataset makes a dataset whose runs are rankings, with the truth that they are evaluated with.
func (f *fixture) dataset(options ...func(*record.DatasetItem)) *record.DatasetItem {
	f.t.Helper()
	return f.task.Dataset(options...).DatasetItem
}

func byWorker(d *record.DatasetItem) { d.Evaluator.Kind = record.EvaluatorWorker }

func inState(state record.RegistrationState) func(*record.RegistrationItem) {
	return func(r *record.RegistrationItem) { r.State = state }
}

type object = map[string]any

// upload is the body of a submission of files, each to its dataset.
func upload(files ...object) object { return object{"type": "upload", "files": files} }

// inline is a file with its content, for the dataset.
func inline(d *record.DatasetItem, name, content string) object {
	f := servertest.Inline(name, content)
	f["datasetId"] = d.ID
	return f
}

// announced is a file whose content is uploaded later, for the dataset.
func announced(d *record.DatasetItem, name, content string) object {
	f := servertest.Announced(name, content)
	f["datasetId"], f["mediaType"] = d.ID, "text/plain"
	return f
}

// submit has ada submit the body.
func (f *fixture) submit(body object) (v record.Submission) {
	f.t.Helper()
	f.Want(http.StatusCreated, &v, "ada", http.MethodPost, f.path, body)
	return v
}

// refused has the user submit the body, which must be refused, and nothing be left of it.
func (f *fixture) refused(status int, user string, body any) problem.Document {
	f.t.Helper()
	var p problem.Document
	f.Want(status, &p, user, http.MethodPost, f.path, body)
	f.checkNothing(user)
	return p
}

// checkNothing requires that the task has no submission, that nothing is charged to the user, and that no file is stored.
func (f *fixture) checkNothing(user string) {
	f.t.Helper()
	if ids := f.IDs("root", f.path); len(ids) > 0 {
		f.t.Errorf("something is recorded: %v", ids)
	}
	if a := recordtest.Get[record.Allowance](f.t, f.Store, record.AllowanceKey(f.task.ID, recordtest.UserID(user))); a != nil {
		f.t.Errorf("something is charged: %+v", a)
	}
	if n := f.FileCount(); n > 0 {
		f.t.Errorf("%d files are stored", n)
	}
}

func (f *fixture) run(id string) *record.RunItem {
	f.t.Helper()
	r := recordtest.Get[record.RunItem](f.t, f.Store, record.RunKey(id))
	if r == nil {
		f.t.Fatalf("there is no run %s", id)
	}
	return r
}

func (f *fixture) allowance() *record.Allowance {
	f.t.Helper()
	return recordtest.Get[record.Allowance](f.t, f.Store, record.AllowanceKey(f.task.ID, recordtest.UserID("ada")))
}
