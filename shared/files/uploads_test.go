package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"assay/shared/blob"
	"assay/shared/files"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

// fixture is Uploads with records of their own.
type fixture struct {
	files.Uploads
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := time.Now()
	return &fixture{files.Uploads{Store: s, Now: func() time.Time { return now }}, t}
}

// pending is a file that is not uploaded yet.
func pending(content string) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: content, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FilePending}
}

func key(h record.Holder, id, content string) string {
	return record.ObjectKey(h, id, pending(content).SHA256)
}

func (f *fixture) commit(tx *records.Tx) {
	f.t.Helper()
	if err := tx.Commit(f.t.Context(), f.Store); err != nil {
		f.t.Fatal(err)
	}
}

// run creates a run in the state, with pending files of the contents.
func (f *fixture) run(state record.RunState, contents ...string) *record.RunItem {
	f.t.Helper()
	r := &record.RunItem{Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.State = record.NewMeta(f.Now()), state
	r.DatasetID, r.TaskID, r.UserID = record.NewID(f.Now()), record.NewID(f.Now()), record.NewID(f.Now())
	for _, c := range contents {
		r.Files = append(r.Files, pending(c))
	}
	f.commit(new(records.Tx).Create(r))
	return r
}

// dataset creates a dataset with pending files.
func (f *fixture) dataset(inputs, truths []record.File) *record.DatasetItem {
	f.t.Helper()
	d := &record.DatasetItem{OrganizerID: record.NewID(f.Now())}
	d.Meta, d.TaskID, d.Inputs, d.Truths = record.NewMeta(f.Now()), record.NewID(f.Now()), inputs, truths
	f.commit(new(records.Tx).Create(d))
	return d
}

// complete completes uploads of the contents for one holder.
func (f *fixture) complete(h record.Holder, id string, contents ...string) {
	f.t.Helper()
	for _, c := range contents {
		if err := f.Complete(f.t.Context(), key(h, id, c)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// stored is a record as the store has it now.
func stored[R any, P records.Pointer[R]](f *fixture, r P) P {
	f.t.Helper()
	now, err := records.Get[R, P](f.t.Context(), f.Store, store.Strong, r.Key())
	if err != nil || now == nil {
		f.t.Fatal(now, err)
	}
	return now
}

func TestUploads_QueueRunWithItsLastFile(t *testing.T) {
	f := newFixture(t)
	r := f.run(record.AwaitingUpload, "a", "b")
	f.complete(record.HolderRuns, r.ID, "b", "b")
	if now := stored(f, r); now.State != record.AwaitingUpload || now.QueuedAt != nil || now.Version != 2 || now.Files[1].State != record.FileStored {
		t.Fatalf("after one of two: %+v", now)
	}
	f.complete(record.HolderRuns, r.ID, "a")
	if now := stored(f, r); now.State != record.Queued || !now.QueuedAt.Equal(record.At(f.Now()).Time) {
		t.Fatalf("%+v", now)
	}
	leases := queue.Queue{Store: f.Store, Now: f.Now}
	if _, err := leases.LeaseRun(t.Context(), new(queue.FairOrder), r.ID, record.Lease{Holder: "test"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	f.complete(record.HolderRuns, r.ID, "a")
	if now := stored(f, r); now.State != record.Evaluating {
		t.Fatalf("a file that was completed again made the run %s", now.State)
	}
}

// The evaluator of the dataset may have changed since the run was created.
func TestUploads_QueueRunForThePresentTruth(t *testing.T) {
	f := newFixture(t)
	for kind, queue := range map[string]string{record.EvaluatorWorker: record.QueueWorkers, "retrieval": record.QueueBuiltin} {
		r := f.run(record.AwaitingUpload, kind)
		truth := &record.Truth{Meta: record.MetaOf(r.DatasetID, f.Now()), Evaluator: record.Evaluator{Kind: kind}}
		f.commit(new(records.Tx).Create(truth))
		f.complete(record.HolderRuns, r.ID, kind)
		if now := stored(f, r); now.State != record.Queued || now.Queue != queue {
			t.Errorf("with a truth for %s it is %s in the queue %s", kind, now.State, now.Queue)
		}
	}
}

func TestUploads_CountFilesThatAreCompletedAtOnce(t *testing.T) {
	f := newFixture(t)
	contents := []string{"a", "b", "c", "d", "e", "f"}
	r := f.run(record.AwaitingUpload, contents...)
	var all sync.WaitGroup
	for _, c := range append(contents, contents...) {
		all.Go(func() {
			if err := f.Complete(t.Context(), key(record.HolderRuns, r.ID, c)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if now := stored(f, r); now.State != record.Queued || now.Version != int64(1+len(contents)) {
		t.Errorf("%s with the version %d, want one change for each file", now.State, now.Version)
	}
}

func TestUploads_RefuseWhatNoRecordNames(t *testing.T) {
	f := newFixture(t)
	awaiting, d := f.run(record.AwaitingUpload, "a"), f.dataset([]record.File{pending("in")}, []record.File{pending("truth")})
	for name, key := range map[string]string{
		"other bytes for a run":            key(record.HolderRuns, awaiting.ID, "b"),
		"a run that was cancelled":         key(record.HolderRuns, f.run(record.Cancelled, "a").ID, "a"),
		"a run that failed":                key(record.HolderRuns, f.run(record.Failed, "a").ID, "a"),
		"a run that was deleted":           key(record.HolderRuns, record.NewID(f.Now()), "a"),
		"a dataset that was deleted":       key(record.HolderTruths, record.NewID(f.Now()), "truth"),
		"the truth among the inputs":       key(record.HolderInputs, d.ID, "truth"),
		"an input among the truths":        key(record.HolderTruths, d.ID, "in"),
		"a holder that nothing uploads to": key(record.HolderEvaluations, d.ID, "a"),
		"a key without a digest":           "runs/a",
		"a key of an unknown holder":       "other/" + d.ID + "/" + pending("a").SHA256,
	} {
		if err := f.Complete(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, d := stored(f, awaiting), stored(f, d); r.Version != 1 || d.Version != 1 {
		t.Errorf("%+v\n%+v", r, d)
	}
}

func TestUploads_Expected(t *testing.T) {
	f := newFixture(t)
	awaiting, cancelled := f.run(record.AwaitingUpload, "a"), f.run(record.Cancelled, "a")
	d := f.dataset([]record.File{pending("input")}, []record.File{pending("truth")})
	for _, c := range []struct {
		holder      record.Holder
		id, content string
		want        bool
	}{
		{record.HolderRuns, awaiting.ID, "a", true},
		{record.HolderRuns, awaiting.ID, "b", false},
		{record.HolderRuns, cancelled.ID, "a", false},
		{record.HolderRuns, record.NewID(f.Now()), "a", false},
		{record.HolderInputs, d.ID, "input", true},
		{record.HolderInputs, d.ID, "truth", false},
		{record.HolderTruths, d.ID, "truth", true},
		{record.HolderTruths, record.NewID(f.Now()), "truth", false},
	} {
		if got := f.Expected(t.Context(), key(c.holder, c.id, c.content)); got != c.want {
			t.Errorf("%s of %s: %v", c.content, c.holder, got)
		}
	}
	f.complete(record.HolderRuns, awaiting.ID, "a")
	if !f.Expected(t.Context(), key(record.HolderRuns, awaiting.ID, "a")) {
		t.Error("a file that is stored cannot be uploaded again")
	}
}

func TestUploads_AcceptTruthWithItsLastFile(t *testing.T) {
	f := newFixture(t)
	d := f.dataset([]record.File{pending("in")}, []record.File{pending("one"), pending("two")})
	f.complete(record.HolderTruths, d.ID, "one")
	if now := stored(f, d); now.PendingWork.Is(record.AcceptTruth) {
		t.Fatal("pending before the second truth file is complete")
	}
	f.complete(record.HolderTruths, d.ID, "two")
	complete := stored(f, d)
	if !complete.PendingWork.Is(record.AcceptTruth) {
		t.Fatal("not pending")
	}
	f.complete(record.HolderTruths, d.ID, "one")
	if now := stored(f, d); now.Version != complete.Version {
		t.Errorf("a file that was completed again changed %+v", now)
	}
	f.complete(record.HolderInputs, d.ID, "in")
	if now := stored(f, d); now.Inputs[0].State != record.FileStored || !now.PendingWork.Is(record.AcceptTruth) {
		t.Errorf("%+v", now)
	}
}

// While the new truth files of a dataset are pending, runs are evaluated with a truth whose files the dataset no longer names.
func TestUploads_TakeFilesOfTheTruthInUse(t *testing.T) {
	f := newFixture(t)
	d := f.dataset(nil, []record.File{pending("new")})
	f.commit(new(records.Tx).Create(&record.Truth{Meta: record.MetaOf(d.ID, f.Now()), Files: []record.File{pending("in use")}}))
	f.complete(record.HolderTruths, d.ID, "in use")
	if err := f.Complete(t.Context(), key(record.HolderTruths, d.ID, "older")); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
}
