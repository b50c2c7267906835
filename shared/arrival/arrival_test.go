package arrival_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/arrival"
	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

const qrels = "q1 0 d1 1\n"

// scene is a table and a folder of files.
type scene struct {
	t     *testing.T
	store store.Store
	files blob.Store
	now   time.Time
}

func newScene(t *testing.T) *scene {
	folder := t.TempDir()
	st, err := embedded.Open(filepath.Join(folder, "table"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	files, err := directory.Open(filepath.Join(folder, "files"), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t, st, files, time.Now()}
}

// pending is a file whose content is to come.
func pending(name, content string) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FilePending}
}

func (s *scene) commit(tx *records.Tx) {
	s.t.Helper()
	if err := tx.Commit(s.t.Context(), s.store); err != nil {
		s.t.Fatal(err)
	}
}

// run makes a run in the state, which has files whose contents are to come.
func (s *scene) run(state record.RunState, contents ...string) *record.RunItem {
	s.t.Helper()
	r := &record.RunItem{Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.State, r.DatasetID, r.TaskID, r.UserID = record.NewMeta(s.now), state, record.NewID(s.now), record.NewID(s.now), record.NewID(s.now)
	for _, c := range contents {
		r.Files = append(r.Files, pending("run of "+c, c))
	}
	s.commit(new(records.Tx).Create(r))
	return r
}

// dataset makes a dataset with files that are to come.
func (s *scene) dataset(inputs, truths []record.File) *record.DatasetItem {
	s.t.Helper()
	d := &record.DatasetItem{OrganizerID: record.NewID(s.now)}
	d.Meta, d.TaskID, d.Inputs, d.Truths = record.NewMeta(s.now), record.NewID(s.now), inputs, truths
	d.RunFormat = record.RunFormat{Kind: "trec-run"}
	d.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}
	s.commit(new(records.Tx).Create(d))
	return d
}

func (s *scene) put(h record.Holder, id, content string) {
	s.t.Helper()
	f := pending("", content)
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := s.files.Put(s.t.Context(), o, strings.NewReader(content)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) arrive(h record.Holder, id, content string) error {
	return arrival.Stored(context.Background(), s.store, s.now, record.ObjectKey(h, id, pending("", content).SHA256))
}

func (s *scene) arrives(h record.Holder, id, content string) {
	s.t.Helper()
	if err := s.arrive(h, id, content); err != nil {
		s.t.Fatal(err)
	}
}

func get[R any, P records.Pointer[R]](s *scene, r P) P {
	s.t.Helper()
	now, err := records.Get[R, P](s.t.Context(), s.store, store.Strong, r.Key())
	if err != nil || now == nil {
		s.t.Fatal(now, err)
	}
	return now
}

func TestARunIsQueuedWhenItsLastFileHasArrived(t *testing.T) {
	s := newScene(t)
	r := s.run(record.AwaitingUpload, "a", "b")
	s.arrives(record.HolderRuns, r.ID, "b")
	s.arrives(record.HolderRuns, r.ID, "b")
	if now := get(s, r); now.State != record.AwaitingUpload || now.QueuedAt != nil || now.Version != 2 || now.Files[1].State != record.FileStored {
		t.Fatalf("after one of two: %+v", now)
	}
	s.arrives(record.HolderRuns, r.ID, "a")
	queued := get(s, r)
	if queued.State != record.Queued || !queued.QueuedAt.Equal(record.At(s.now).Time) {
		t.Fatalf("%+v", queued)
	}
	leases := queue.Queue{Store: s.store, Now: func() time.Time { return s.now }}
	if _, err := leases.LeaseRun(t.Context(), new(queue.FairOrder), r.ID, record.Lease{Holder: "test"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	s.arrives(record.HolderRuns, r.ID, "a") // the word of it comes late, or again
	if now := get(s, r); now.State != record.Evaluating {
		t.Fatalf("a file that came again made the run %s", now.State)
	}
}

// A run that was made while workers evaluated the dataset waits for the evaluator that it has once its file is there.
func TestARunIsQueuedForTheTruthOfTheDay(t *testing.T) {
	s := newScene(t)
	for kind, queue := range map[string]string{record.EvaluatorWorker: record.QueueWorkers, "retrieval": record.QueueBuiltin} {
		truth := &record.Truth{Meta: record.NewMeta(s.now), Evaluator: record.Evaluator{Kind: kind}}
		r := s.run(record.AwaitingUpload, kind)
		truth.ID = r.DatasetID
		s.commit(new(records.Tx).DeleteKey(truth.Key()))
		s.commit(new(records.Tx).Create(truth))
		s.arrives(record.HolderRuns, r.ID, kind)
		if now := get(s, r); now.State != record.Queued || now.Queue != queue {
			t.Errorf("with a truth for %s it is %s in the queue %s", kind, now.State, now.Queue)
		}
	}
}

func TestFilesThatArriveAtOnceAreAllCounted(t *testing.T) {
	s := newScene(t)
	contents := []string{"a", "b", "c", "d", "e", "f"}
	r := s.run(record.AwaitingUpload, contents...)
	var all sync.WaitGroup
	for _, c := range append(contents, contents...) {
		all.Go(func() {
			if err := s.arrive(record.HolderRuns, r.ID, c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if now := get(s, r); now.State != record.Queued || now.Version != int64(1+len(contents)) {
		t.Errorf("%s with the version %d, want one change for each file", now.State, now.Version)
	}
}

func TestNobodyWaitsForWhatNothingNames(t *testing.T) {
	s := newScene(t)
	waits, d := s.run(record.AwaitingUpload, "a"), s.dataset([]record.File{pending("in", "in")}, []record.File{pending("truth", "truth")})
	for name, err := range map[string]error{
		"other bytes for a run":       s.arrive(record.HolderRuns, waits.ID, "b"),
		"a run that was cancelled":    s.arrive(record.HolderRuns, s.run(record.Cancelled, "a").ID, "a"),
		"a run that failed":           s.arrive(record.HolderRuns, s.run(record.Failed, "a").ID, "a"),
		"a run that was deleted":      s.arrive(record.HolderRuns, record.NewID(s.now), "a"),
		"a dataset that was deleted":  s.arrive(record.HolderTruths, record.NewID(s.now), "truth"),
		"the truth among the inputs":  s.arrive(record.HolderInputs, d.ID, "truth"),
		"an input among the truths":   s.arrive(record.HolderTruths, d.ID, "in"),
		"what no record ever held":    s.arrive(record.HolderEvaluations, d.ID, "a"),
		"a key that is of no file":    arrival.Stored(t.Context(), s.store, s.now, "runs/a"),
		"a key in a folder of others": arrival.Stored(t.Context(), s.store, s.now, "other/"+d.ID+"/"+pending("", "a").SHA256),
	} {
		if !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := get(s, waits); now.Version != 1 {
		t.Errorf("%+v", now)
	}
	if now := get(s, d); now.Version != 1 {
		t.Errorf("%+v", now)
	}
}

func TestAwaited(t *testing.T) {
	s := newScene(t)
	waiting, cancelled := s.run(record.AwaitingUpload, "a"), s.run(record.Cancelled, "a")
	d := s.dataset([]record.File{pending("", "input")}, []record.File{pending("", "truth")})
	for _, c := range []struct {
		holder  record.Holder
		id      string
		content string
		want    bool
	}{
		{record.HolderRuns, waiting.ID, "a", true},
		{record.HolderRuns, waiting.ID, "b", false},
		{record.HolderRuns, cancelled.ID, "a", false},
		{record.HolderRuns, record.NewID(s.now), "a", false},
		{record.HolderInputs, d.ID, "input", true},
		{record.HolderInputs, d.ID, "truth", false},
		{record.HolderTruths, d.ID, "truth", true},
		{record.HolderTruths, record.NewID(s.now), "truth", false},
	} {
		if got := arrival.Awaited(t.Context(), s.store, record.ObjectKey(c.holder, c.id, pending("", c.content).SHA256)); got != c.want {
			t.Errorf("%s of %s: %v", c.content, c.holder, got)
		}
	}
	s.arrives(record.HolderRuns, waiting.ID, "a") // and may be sent again
	if !arrival.Awaited(t.Context(), s.store, record.ObjectKey(record.HolderRuns, waiting.ID, pending("", "a").SHA256)) {
		t.Error("a file that has arrived is not awaited")
	}
}

func TestADatasetIsDueOnceItsTruthHasArrived(t *testing.T) {
	s := newScene(t)
	d := s.dataset([]record.File{pending("in", "in")}, []record.File{pending("one", qrels), pending("two", "q2 0 d1 1\n")})
	s.arrives(record.HolderTruths, d.ID, qrels)
	if now := get(s, d); now.PendingWork.Is(record.AcceptTruth) {
		t.Fatal("due before the second truth file has arrived")
	}
	s.arrives(record.HolderTruths, d.ID, "q2 0 d1 1\n")
	due := get(s, d)
	if !due.PendingWork.Is(record.AcceptTruth) {
		t.Fatal("not due")
	}
	s.arrives(record.HolderTruths, d.ID, qrels)
	if now := get(s, d); now.Version != due.Version {
		t.Errorf("a file that came again changed %+v", now)
	}
	s.arrives(record.HolderInputs, d.ID, "in")
	if now := get(s, d); now.Inputs[0].State != record.FileStored || !now.PendingWork.Is(record.AcceptTruth) {
		t.Errorf("%+v", now)
	}
}

func (s *scene) adopt(d *record.DatasetItem) (*record.DatasetItem, *record.Truth) {
	s.t.Helper()
	if err := arrival.Adopt(s.t.Context(), s.store, s.files, s.now, d.ID); err != nil {
		s.t.Fatal(err)
	}
	truth, err := records.Get[record.Truth](s.t.Context(), s.store, store.Strong, record.TruthKey(d.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	return get(s, d), truth
}

func TestATruthIsUsedOnlyWhenItCanBe(t *testing.T) {
	s := newScene(t)
	const bad = "q1 0 d1 1\nq1\nq1 0 d1 2\n" // in its lines 2 and 3
	wrong, right := s.dataset(nil, []record.File{pending("qrels", bad)}), s.dataset(nil, []record.File{pending("qrels", qrels)})
	for d, content := range map[*record.DatasetItem]string{wrong: bad, right: qrels} {
		s.put(record.HolderTruths, d.ID, content)
		s.arrives(record.HolderTruths, d.ID, content)
	}
	d, truth := s.adopt(wrong)
	if truth != nil || d.TruthVersion != 0 || d.PendingWork.Is(record.AcceptTruth) || d.PendingWork.Is(record.Reevaluate) || len(d.Diagnostics) != 2 || d.Diagnostics[0].Line != 2 || d.Diagnostics[0].File != "qrels" {
		t.Errorf("%+v", d)
	}
	d, truth = s.adopt(right)
	if truth == nil || truth.Number != 1 || d.TruthVersion != 1 || d.PendingWork.Is(record.AcceptTruth) || !d.PendingWork.Is(record.Reevaluate) || truth.Evaluator.PrimaryMeasure != "AP" {
		t.Errorf("%+v and %+v", d, truth)
	}
	if again, _ := s.adopt(right); again.Version != d.Version {
		t.Errorf("what is in use was taken up again: %+v", again)
	}
}

func TestATruthWhoseBytesAreGoneStaysDue(t *testing.T) {
	s := newScene(t)
	d := s.dataset(nil, []record.File{pending("qrels", qrels)})
	s.arrives(record.HolderTruths, d.ID, qrels) // but no object was put
	if err := arrival.Adopt(t.Context(), s.store, s.files, s.now, d.ID); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if now := get(s, d); !now.PendingWork.Is(record.AcceptTruth) || now.TruthVersion != 0 {
		t.Errorf("%+v", now)
	}
}
