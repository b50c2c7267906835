package datasets_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"assay/functions/datasets"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// scene is a task that olga organizes and for which reg is registered, on a server.
type scene struct {
	*servertest.Server
	t    *testing.T
	task *record.TaskItem
}

func newScene(t *testing.T, s *servertest.Server, v record.Visibility) *scene {
	now := s.Now()
	task := &record.TaskItem{}
	task.Meta, task.OrganizerID, task.Visibility = record.NewMeta(now), record.NewID(now), v
	s.Put(task, &record.Reservation{Meta: record.NewMeta(now), At: record.MembershipKey(servertest.UserID("olga"), task.OrganizerID)},
		&record.Registered{Meta: record.NewMeta(now), UserID: servertest.UserID("reg"), TaskID: task.ID, OrganizerID: task.OrganizerID, PrivateTask: v == record.Private, State: record.Accepted})
	return &scene{s, t, task}
}

func start(t *testing.T) *scene {
	return newScene(t, servertest.New(t, datasets.Operations...), record.Public)
}

const (
	goodTruth = "id,label\n1,cat\n2,dog\n"
	badTruth  = "id,label\n1,cat\n1,dog\nonly-an-id\n"
)

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

func announced(name, content string) map[string]any {
	return map[string]any{"name": name, "size": len(content), "sha256": digest(content)}
}

// draft is a dataset of the task with the truth files, as a client sends it.
func (s *scene) draft(truths ...any) map[string]any {
	return map[string]any{
		"taskId": s.task.ID, "name": "Cats and dogs", "split": "test", "inputs": []any{inline("input.txt", "1\n2\n")}, "truths": truths,
		"runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy", "MCC"}},
	}
}

// create makes a dataset and returns its path and what was answered.
func (s *scene) create(draft map[string]any) (string, record.Dataset) {
	s.t.Helper()
	var d record.Dataset
	a := s.Want(http.StatusCreated, &d, "olga", http.MethodPost, "/v1/datasets", draft)
	return a.Header.Get("Location"), d
}

func (s *scene) get(user, path string) record.Dataset {
	s.t.Helper()
	var d record.Dataset
	s.Want(http.StatusOK, &d, user, http.MethodGet, path, nil)
	return d
}

// patch changes a dataset as olga, which must be answered with the status.
func (s *scene) patch(status int, path string, body any) record.Dataset {
	s.t.Helper()
	a := s.Want(status, nil, "olga", http.MethodPatch, path, body)
	var d record.Dataset
	if status == http.StatusOK {
		if err := json.Unmarshal(a.Body, &d); err != nil {
			s.t.Fatal(err)
		}
	}
	return d
}

// pointers does what must be refused as invalid, and returns what is wrong by pointer.
func (s *scene) pointers(method, path string, body any) map[string][]string {
	s.t.Helper()
	var p struct {
		Errors []struct{ Pointer, Detail string }
	}
	s.Want(http.StatusUnprocessableEntity, &p, "olga", method, path, body)
	faults := map[string][]string{}
	for _, e := range p.Errors {
		faults[e.Pointer] = append(faults[e.Pointer], e.Detail)
	}
	return faults
}

func (s *scene) item(id string) *record.DatasetItem {
	s.t.Helper()
	d, err := records.Get[record.DatasetItem](s.t.Context(), s.Store, store.Strong, record.DatasetKey(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *scene) truth(id string) *record.Truth {
	s.t.Helper()
	truth, err := records.Get[record.Truth](s.t.Context(), s.Store, store.Strong, record.TruthKey(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return truth
}

// object returns the bytes that are stored for a file; empty when there are none.
func (s *scene) object(h record.Holder, id, content string) string {
	s.t.Helper()
	f, err := s.Files.Open(s.t.Context(), record.ObjectKey(h, id, digest(content)))
	if errors.Is(err, blob.ErrNotFound) {
		return ""
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// objects counts the files that are stored.
func (s *scene) objects() int {
	s.t.Helper()
	n := 0
	for _, err := range s.Files.List(s.t.Context(), "", time.Now().Add(time.Hour)) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}

// entries lists what the audit entries of the task tell, the newest first.
func (s *scene) entries() []*record.AuditEntry {
	s.t.Helper()
	var all []*record.AuditEntry
	err := records.Each(context.Background(), s.Store, 100, []records.Source{records.AuditEntries(s.task.OrganizerID)}, func(a *record.AuditEntry) error {
		all = append(all, a)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *scene) commit(tx *records.Tx) {
	s.t.Helper()
	if err := tx.Commit(s.t.Context(), s.Store); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) replace(r record.Record) { s.t.Helper(); s.commit(new(records.Tx).Replace(r)) }
func (s *scene) drop(r record.Record)    { s.t.Helper(); s.commit(new(records.Tx).Delete(r)) }
