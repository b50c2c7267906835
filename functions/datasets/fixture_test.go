package datasets_test

import (
	"errors"
	"net/http"
	"testing"

	"assay/functions/datasets"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/blob"
)

// fixture serves the datasets of a task. The user olga organizes the task, and reg is registered for it.
type fixture struct {
	*servertest.Server
	t    *testing.T
	task *recordtest.Task
}

func serve(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, servertest.New(t, datasets.Operations...))
}

// serveDataset serves a task with a dataset at the path. The truth of the dataset is in use.
func serveDataset(t *testing.T) (f *fixture, path string, d record.Dataset) {
	t.Helper()
	f = serve(t)
	path, d = f.create(f.draft(servertest.Inline("truth.csv", goodTruth)))
	return f, path, d
}

// newFixture makes another task on the server.
func newFixture(t *testing.T, s *servertest.Server, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	task := s.Records().Task(options...)
	task.Register("reg")
	return &fixture{s, t, task}
}

const (
	goodTruth = "id,label\n1,cat\n2,dog\n"
	badTruth  = "id,label\n1,cat\n1,dog\nonly-an-id\n"
)

// draft returns the body that creates a dataset with the truth files.
func (f *fixture) draft(truths ...any) map[string]any {
	return map[string]any{
		"taskId": f.task.ID, "name": "Cats and dogs", "split": "test", "inputs": []any{servertest.Inline("input.txt", "1\n2\n")},
		"truths":    truths,
		"runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy", "MCC"}},
	}
}

// create creates a dataset, and returns its path and the answer.
func (f *fixture) create(draft map[string]any) (string, record.Dataset) {
	f.t.Helper()
	var d record.Dataset
	a := f.Want(http.StatusCreated, &d, "olga", http.MethodPost, "/v1/datasets", draft)
	return a.Header.Get("Location"), d
}

func (f *fixture) get(user, path string) record.Dataset {
	f.t.Helper()
	return servertest.Get[record.Dataset](f.Server, user, path)
}

// patch changes a dataset as olga, and requires the status.
func (f *fixture) patch(status int, path string, body any) (d record.Dataset) {
	f.t.Helper()
	f.Want(status, &d, "olga", http.MethodPatch, path, body)
	return d
}

// pointers sends a request that must be refused as invalid, and returns the details of its faults by pointer.
func (f *fixture) pointers(method, path string, body any) map[string][]string {
	f.t.Helper()
	var p struct {
		Errors []struct{ Pointer, Detail string }
	}
	f.Want(http.StatusUnprocessableEntity, &p, "olga", method, path, body)
	faults := map[string][]string{}
	for _, e := range p.Errors {
		faults[e.Pointer] = append(faults[e.Pointer], e.Detail)
	}
	return faults
}

func (f *fixture) item(id string) *record.DatasetItem {
	f.t.Helper()
	return recordtest.Get[record.DatasetItem](f.t, f.Store, record.DatasetKey(id))
}

// truth returns the truth in use, or nil.
func (f *fixture) truth(id string) *record.TruthVersion {
	f.t.Helper()
	return recordtest.Get[record.TruthVersion](f.t, f.Store, record.TruthKey(id))
}

// hasTruth reports whether the truth file with the content is stored.
func (f *fixture) hasTruth(id, content string) bool {
	f.t.Helper()
	_, err := f.Files.Stat(f.t.Context(), record.ObjectKey(record.HolderTruths, id, servertest.Digest(content)))
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		f.t.Fatal(err)
	}
	return err == nil
}

// entries returns the audit entries of the task, the newest first.
func (f *fixture) entries() []*record.AuditEntry {
	f.t.Helper()
	return recordtest.AuditEntries(f.t, f.Store, f.task.OrganizerID)
}
