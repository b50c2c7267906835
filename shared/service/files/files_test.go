package files_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/lists"
	"assay/shared/service/files"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// fixture combines Uploads with a builder of records.
type fixture struct {
	*recordtest.Builder
	files.Uploads
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{}))
	now := time.Now()
	b.Now = func() time.Time { return now }
	return &fixture{b, files.Uploads{Store: b.Store, Now: b.Now}, t}
}

// pending returns files that are not uploaded yet.
func pending(contents ...string) []record.File {
	return lists.Map(contents, func(content string) record.File { return recordtest.File(content, content, record.FilePending) })
}

func key(h record.Holder, id, content string) string {
	return record.ObjectKey(h, id, pending(content)[0].SHA256)
}

// run creates a run in the state, with pending files.
func (f *fixture) run(state record.RunState, contents ...string) *record.RunItem {
	f.t.Helper()
	return f.Task().Dataset().Run("ann", recordtest.InState(state), withFiles(contents...)).RunItem
}

func withFiles(contents ...string) recordtest.RunOption {
	return func(r *recordtest.Run) { r.Files = pending(contents...) }
}

// dataset creates a dataset with pending files and no ground truth in use.
func (f *fixture) dataset(input string, truths ...string) *record.DatasetItem {
	f.t.Helper()
	return f.Task().Dataset(recordtest.WithoutTruth, func(d *record.DatasetItem) {
		d.Inputs, d.Truths = pending(input), pending(truths...)
	}).DatasetItem
}

// complete completes uploads of one holder.
func (f *fixture) complete(h record.Holder, id string, contents ...string) {
	f.t.Helper()
	for _, c := range contents {
		if err := f.Complete(f.t.Context(), key(h, id, c)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// stored reads the current version of a record.
func stored[R any, P records.Pointer[R]](f *fixture, r P) P {
	f.t.Helper()
	return recordtest.Get[R, P](f.t, f.Uploads.Store, r.Key())
}

func TestUploads_QueueRunWithItsLastFile(t *testing.T) {
	f := newFixture(t)
	r := f.run(record.AwaitingUpload, "a", "b")
	f.complete(record.HolderRuns, r.ID, "b", "b")
	if now := stored(f, r); now.State != record.AwaitingUpload || now.QueuedAt != nil || now.Version != 2 ||
		now.Files[1].State != record.FileStored {
		t.Fatalf("after one of two: %+v", now)
	}
	f.complete(record.HolderRuns, r.ID, "a")
	if now := stored(f, r); now.State != record.Queued || !now.QueuedAt.Equal(record.At(f.Uploads.Now()).Time) {
		t.Fatalf("%+v", now)
	}
	leases := queue.Queue{Store: f.Uploads.Store, Now: f.Uploads.Now}
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
	for kind, queueName := range map[string]string{record.EvaluatorWorker: record.QueueWorkers, "retrieval": record.QueueBuiltin} {
		dataset := f.Task().Dataset(func(d *record.DatasetItem) { d.Evaluator.Kind = kind })
		r := dataset.Run("ann", recordtest.InState(record.AwaitingUpload), withFiles(kind))
		f.complete(record.HolderRuns, r.ID, kind)
		if now := stored(f, r.RunItem); now.State != record.Queued || now.Queue != queueName {
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
	awaiting, d := f.run(record.AwaitingUpload, "a"), f.dataset("in", "truth")
	for name, key := range map[string]string{
		"other bytes for a run":            key(record.HolderRuns, awaiting.ID, "b"),
		"a run that was cancelled":         key(record.HolderRuns, f.run(record.Cancelled, "a").ID, "a"),
		"a run that failed":                key(record.HolderRuns, f.run(record.Failed, "a").ID, "a"),
		"a run that was deleted":           key(record.HolderRuns, record.NewID(time.Now()), "a"),
		"a dataset that was deleted":       key(record.HolderTruths, record.NewID(time.Now()), "truth"),
		"the truth among the inputs":       key(record.HolderInputs, d.ID, "truth"),
		"an input among the truths":        key(record.HolderTruths, d.ID, "in"),
		"a holder that nothing uploads to": key(record.HolderEvaluations, d.ID, "a"),
		"a key without a digest":           "runs/a",
		"a key of an unknown holder":       "other/" + d.ID + "/" + pending("a")[0].SHA256,
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
	awaiting := f.run(record.AwaitingUpload, "a")
	cancelled := f.run(record.Cancelled, "a")
	d := f.dataset("input", "truth")
	for _, c := range []struct {
		holder      record.Holder
		id, content string
		want        bool
	}{
		{record.HolderRuns, awaiting.ID, "a", true},
		{record.HolderRuns, awaiting.ID, "b", false},
		{record.HolderRuns, cancelled.ID, "a", false},
		{record.HolderRuns, record.NewID(time.Now()), "a", false},
		{record.HolderInputs, d.ID, "input", true},
		{record.HolderInputs, d.ID, "truth", false},
		{record.HolderTruths, d.ID, "truth", true},
		{record.HolderTruths, record.NewID(time.Now()), "truth", false},
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
	d := f.dataset("in", "one", "two")
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

// While new truth files are pending, runs are evaluated with a ground truth whose files the dataset no longer names.
func TestUploads_TakeFilesOfTheTruthInUse(t *testing.T) {
	f := newFixture(t)
	d := f.Task().Dataset(func(d *record.DatasetItem) { d.Truths = pending("in use") }).DatasetItem
	d.Truths = pending("new")
	f.Replace(d)
	f.complete(record.HolderTruths, d.ID, "in use")
	if err := f.Complete(t.Context(), key(record.HolderTruths, d.ID, "older")); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
}

var listed = []record.File{
	{Name: "run.txt", Size: 3, SHA256: strings.Repeat("a", 64), State: record.FileStored},
	{Name: "more.txt", Size: 4, SHA256: strings.Repeat("b", 64), State: record.FilePending},
}

func TestLinks_AreForAuthorizedCallers(t *testing.T) {
	s, id := recordtest.OpenFiles(t), record.NewID(time.Now())
	for _, tt := range []struct{ read, write bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		got, err := files.Links{Objects: s, Now: time.Now(), Download: tt.read, Upload: tt.write}.Sign(t.Context(), record.HolderRuns, id, listed)
		if err != nil {
			t.Fatal(err)
		}
		if read, write := got[0].URL != "", got[1].Upload != nil; read != tt.read || write != tt.write {
			t.Errorf("read %v, write %v: got a link to read %v, to write %v", tt.read, tt.write, read, write)
		}
		if got[0].Upload != nil || got[1].URL != "" {
			t.Errorf("read %v, write %v: a stored file is to be sent, or a pending one to be read: %+v", tt.read, tt.write, got)
		}
	}
	if listed[0].URL != "" || listed[1].Upload != nil {
		t.Error("the links were put into the record itself")
	}
}

// A link lives as long as descriptions say, and remains equal as long as that allows. Otherwise answers with links would never be "not
// modified".
func TestLinks_StayTheSameForAQuarterOfAnHour(t *testing.T) {
	s, id := recordtest.OpenFiles(t), record.NewID(time.Now())
	var least, most int
	if _, err := fmt.Sscanf(files.LinkLife, "%d to %d minutes", &least, &most); err != nil {
		t.Fatal(err)
	}
	nightlytest.Check(t, func(t *rapid.T) {
		now := time.Now().Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")))
		later := now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Minute)).Draw(t, "later")))
		at := func(when time.Time) record.Upload {
			got, err := files.Links{Objects: s, Now: when, Download: true, Upload: true}.Sign(t.Context(), record.HolderRuns, id, listed)
			if err != nil {
				t.Fatal(err)
			}
			return *got[1].Upload
		}
		first, second := at(now), at(later)
		if life := first.ExpiresAt.Sub(now); life <= time.Duration(least)*time.Minute || life > time.Duration(most)*time.Minute {
			t.Fatalf("a link lasts for %v, and is said to for %s", life, files.LinkLife)
		}
		if same := now.Truncate(15 * time.Minute).Equal(later.Truncate(15 * time.Minute)); same != (first.URL == second.URL) {
			t.Fatalf("at %v and %v: the same link is %v", now, later, first.URL == second.URL)
		}
	})
}
