package evaluator_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/evaluator"
	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

const (
	qrels  = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
	ranked = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\nq2 Q0 d3 1 1.0 tag\n"
)

// scene is a dataset with a truth, and a worker that has not been started.
type scene struct {
	*evaluator.Worker
	t       *testing.T
	ctx     context.Context
	later   atomic.Int64 // nanoseconds that the clock is ahead
	dataset *record.DatasetItem
	truth   *record.Truth
	task    string
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, ctx: t.Context(), Worker: &evaluator.Worker{Holder: "here", Log: slog.New(slog.DiscardHandler)}}
	s.Now = func() time.Time { return time.Now().Add(time.Duration(s.later.Load())) }
	folder := t.TempDir()
	st, err := embedded.Open(filepath.Join(folder, "table"), embedded.Options{OnChange: s.Changed, Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	files, err := directory.Open(filepath.Join(folder, "files"), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	s.Store, s.Files = st, files
	s.task = record.NewID(s.Now())
	s.dataset = &record.DatasetItem{OrganizerID: record.NewID(s.Now())}
	s.dataset.Meta, s.dataset.TaskID, s.dataset.TruthVersion = record.NewMeta(s.Now()), s.task, 1
	s.truth = &record.Truth{Meta: s.dataset.Meta, TaskID: s.task, Number: 1}
	s.truth.RunFormat = record.RunFormat{Kind: "trec-run"}
	s.truth.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP", "P@1"}, PrimaryMeasure: "AP"}
	s.truth.Files = []record.File{s.store(record.HolderTruths, s.dataset.ID, "qrels.txt", qrels)}
	s.dataset.Truths = s.truth.Files
	s.commit(new(records.Tx).Create(s.dataset).Create(s.truth).Create(record.NewTruthSecret(s.dataset.ID, s.Now())))
	return s
}

func (s *scene) commit(tx *records.Tx) {
	s.t.Helper()
	if err := tx.Commit(s.ctx, s.Store); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) wait(d time.Duration) { s.later.Add(int64(d)) }

func file(name, content string) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FileStored}
}

func (s *scene) store(h record.Holder, id, name, content string) record.File {
	s.t.Helper()
	f := file(name, content)
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := s.Files.Put(s.ctx, o, strings.NewReader(content)); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// add makes a queued run of the content.
func (s *scene) add(content string, alter ...func(*record.RunItem)) *record.RunItem {
	s.t.Helper()
	at := record.At(s.Now())
	r := &record.RunItem{Queue: record.QueueBuiltin, Type: record.UploadType}
	r.Meta = record.NewMeta(s.Now())
	r.State, r.QueuedAt = record.Queued, &at
	r.TaskID, r.DatasetID, r.UserID, r.SubmissionID, r.Team = s.task, s.dataset.ID, record.NewID(s.Now()), record.NewID(s.Now()), "Lakeside"
	r.Access = record.AccessAttributes{OrganizerID: s.dataset.OrganizerID, Published: true, Baseline: true}
	r.Files = []record.File{s.store(record.HolderRuns, r.ID, "run.txt", content)}
	for _, f := range alter {
		f(r)
	}
	s.commit(new(records.Tx).Create(r))
	return r
}

func get[R any, P records.Pointer[R]](s *scene, key store.Key) P {
	s.t.Helper()
	r, err := records.Get[R, P](s.ctx, s.Store, store.Strong, key)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scene) run(id string) *record.RunItem { return get[record.RunItem](s, record.RunKey(id)) }

// start has the worker work until the test ends, or the function that it returns is called.
func (s *scene) start() (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	s.t.Cleanup(stop)
	return stop
}

// until waits for the run to be in the state.
func (s *scene) until(id string, state record.RunState) *record.RunItem {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r := s.run(id)
		if r.State == state {
			return r
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the run is %s, not %s: %v", r.State, state, r.Diagnostics)
		}
	}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) evaluations() int {
	s.t.Helper()
	n := 0
	for _, a := range record.Audiences {
		items, err := s.Store.Query(s.ctx, store.Query{Index: record.ByDataset, Partition: record.DatasetPartition(s.dataset.ID, record.KindEvaluation, a), Limit: 1000})
		s.must(err)
		n += len(items)
	}
	return n
}

func TestRun_EvaluatesQueuedRuns(t *testing.T) {
	s := newScene(t)
	s.start()
	id := s.add(ranked).ID
	r := s.until(id, record.Completed)
	e := get[record.EvaluationItem](s, record.EvaluationKey(r.EvaluationID))
	if e == nil || *e.Measures["AP"] != 0.75 || *e.Measures["P@1"] != 0.5 || e.PrimaryMeasure != "AP" || strings.Join(e.Columns, " ") != "AP P@1" {
		t.Fatalf("%+v", e)
	}
	if e.Team != r.Team || e.UserID != r.UserID || e.RunID != id || !e.Baseline || e.Access != r.Access || e.TruthVersion != 1 {
		t.Fatalf("%+v", e)
	}
	if e.Digests.Run != digest(r.Files[0].SHA256) || e.Digests.PlainTruth != digest(s.truth.Files[0].SHA256) || e.Evaluator.Version == "" {
		t.Fatalf("%+v", e)
	}
	topics := get[record.Topics](s, record.TopicsKey(e.ID))
	if topics == nil || topics.PerTopic["q1"]["AP"] != 0.5 || topics.PerTopic["q2"]["P@1"] != 1 {
		t.Fatalf("%+v", topics)
	}
}

func digest(sums ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(sums, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

func TestEvaluate_FailsInvalidRunsWithDiagnostics(t *testing.T) {
	s := newScene(t)
	id := s.add("q1 Q0 d1 1 x tag\nq1 Q0\n").ID
	s.must(s.evaluate(id))
	r := s.run(id)
	if r.State != record.Failed || len(r.Diagnostics) != 2 || r.Diagnostics[1].Line != 2 || r.Diagnostics[1].File != "run.txt" {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
	extra := s.add(ranked + "q9 Q0 d1 1 1 tag\n").ID
	s.must(s.evaluate(extra))
	if r := s.run(extra); r.State != record.Completed || len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != measure.Warning {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
}

func TestEvaluate_RepeatedMessageEvaluatesOnce(t *testing.T) {
	s := newScene(t)
	id := s.add(ranked).ID
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.evaluate(id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.must(s.evaluate(id))
	if r := s.run(id); r.State != record.Completed || r.Attempts != 1 || s.evaluations() != 1 {
		t.Fatalf("%+v, %d evaluations", r, s.evaluations())
	}
}

// opening is a file store that calls do before it opens a file.
type opening struct {
	blob.Store
	do func(key string)
}

func (o opening) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	o.do(key)
	return o.Store.Open(ctx, key)
}

func TestEvaluate_StartsAgainWhenTheTruthChanges(t *testing.T) {
	s := newScene(t)
	id := s.add(ranked).ID
	var once sync.Once
	s.Files = opening{s.Files, func(key string) {
		if strings.HasPrefix(key, "runs/") {
			once.Do(func() {
				s.truth.Number, s.truth.Evaluator.Measures, s.truth.Evaluator.PrimaryMeasure = 2, []string{"RR"}, "RR"
				s.commit(new(records.Tx).Replace(s.truth))
			})
		}
	}}
	s.must(s.evaluate(id))
	r := s.run(id)
	e := get[record.EvaluationItem](s, record.EvaluationKey(r.EvaluationID))
	if r.State != record.Completed || len(r.Evaluations) != 1 || e.TruthVersion != 2 || e.Measures["RR"] == nil || r.Attempts != 1 {
		t.Fatalf("%+v\n%+v", r, e)
	}
}

func TestEvaluate_PanicIsNotTheRunsFault(t *testing.T) {
	s := newScene(t)
	s.Files = opening{s.Files, func(string) { panic("a bug") }}
	s.start()
	id := s.add(ranked).ID
	r := s.until(id, record.Failed)
	if r.Attempts != record.MaxAttempts || !strings.Contains(r.Diagnostics[0].Message, "the platform's and not the run's") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestEvaluate_MissingFileFailsAfterAllAttempts(t *testing.T) {
	s := newScene(t)
	r := s.add(ranked)
	s.must(s.Files.Delete(s.ctx, record.ObjectKey(record.HolderRuns, r.ID, r.Files[0].SHA256)))
	for n := range record.MaxAttempts {
		s.must(s.evaluate(r.ID))
		if got := s.run(r.ID); got.State != record.Evaluating || got.Attempts != n+1 {
			t.Fatalf("%s after attempt %d", got.State, n+1)
		}
		s.must(s.RunDue(s.ctx))
		s.wait(2 * time.Minute)
		s.must(s.RunDue(s.ctx))
	}
	if got := s.run(r.ID); got.State != record.Failed {
		t.Fatal(got.State)
	}
}

func TestRun_ReclaimsLeasesOfAnEarlierProcess(t *testing.T) {
	s := newScene(t)
	dead := func(holder string) func(*record.RunItem) {
		return func(r *record.RunItem) {
			r.State, r.Attempts, r.StartedAt = record.Evaluating, 1, r.QueuedAt
			r.Lease = &record.Lease{ID: record.NewID(s.Now()), Holder: holder, Until: record.At(s.Now().Add(time.Minute))}
		}
	}
	own, other := s.add(ranked, dead("here")).ID, s.add(ranked, dead("elsewhere")).ID
	s.start()
	if r := s.until(own, record.Completed); r.Attempts != 1 || r.Restarts != 1 {
		t.Fatalf("%d attempts, %d restarts: the end of the process is no attempt", r.Attempts, r.Restarts)
	}
	if r := s.run(other); r.State != record.Evaluating {
		t.Fatalf("a run of a worker that lives went to %s", r.State)
	}
	s.wait(2 * time.Minute)
	s.until(other, record.Completed)
}

func TestRun_FailsRunsThatAlwaysCrashTheProcess(t *testing.T) {
	s := newScene(t)
	id := s.add(ranked, func(r *record.RunItem) {
		r.State, r.Attempts, r.Restarts, r.StartedAt = record.Evaluating, record.MaxAttempts, record.MaxRestarts, r.QueuedAt
		r.Lease = &record.Lease{ID: record.NewID(s.Now()), Holder: "here", Until: record.At(s.Now().Add(time.Minute))}
	}).ID
	s.start()
	s.until(id, record.Failed)
}

func TestRun_ReleasesRunsWhenItStops(t *testing.T) {
	s := newScene(t)
	id := s.add(ranked).ID
	begun := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	s.Files = opening{s.Files, func(string) {
		begun <- struct{}{}
		<-ctx.Done()
	}}
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	<-begun
	cancel()
	running.Wait()
	if r := s.run(id); r.State != record.Queued || r.Attempts != 0 || r.Lease != nil {
		t.Fatalf("%s with %d attempts", r.State, r.Attempts)
	}
}

func TestEvaluate_StoresManyTopicsInAFile(t *testing.T) {
	s := newScene(t)
	var truth, run strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&truth, "topic-with-a-long-name-%d 0 d1 1\n", i)
		fmt.Fprintf(&run, "topic-with-a-long-name-%d Q0 d1 1 1 tag\n", i)
	}
	s.truth.Files = []record.File{s.store(record.HolderTruths, s.dataset.ID, "qrels.txt", truth.String())}
	s.commit(new(records.Tx).Replace(s.truth))
	id := s.add(run.String()).ID
	s.must(s.evaluate(id))
	topics := get[record.Topics](s, record.TopicsKey(s.run(id).EvaluationID))
	if topics == nil || topics.ObjectKey == "" || topics.PerTopic != nil {
		t.Fatalf("%+v", topics)
	}
	f, err := s.Files.Open(s.ctx, topics.ObjectKey)
	s.must(err)
	defer f.Close()
	var perTopic map[string]map[string]float64
	s.must(json.NewDecoder(f).Decode(&perTopic))
	if len(perTopic) != 6000 || perTopic["topic-with-a-long-name-0"]["AP"] != 1 {
		t.Fatal(len(perTopic))
	}
	s.wait(72 * time.Hour)
	s.must(s.DeleteAbandonedFiles(s.ctx))
	if _, err := s.Files.Stat(s.ctx, topics.ObjectKey); err != nil {
		t.Fatal(err)
	}
}

func TestEvaluate_FailsWithoutAUsableTruth(t *testing.T) {
	s := newScene(t)
	s.truth.Files = []record.File{s.store(record.HolderTruths, s.dataset.ID, "qrels.txt", "q1 0 d1 many\n")}
	s.commit(new(records.Tx).Replace(s.truth))
	id := s.add(ranked).ID
	s.must(s.evaluate(id))
	if r := s.run(id); r.State != record.Failed || r.TruthVersion != 1 || strings.Contains(r.Diagnostics[0].Message, "many") {
		t.Fatalf("%+v", r)
	}
	s.dataset.Truths = nil
	s.commit(new(records.Tx).DeleteKey(s.truth.Key()).Replace(s.dataset))
	id = s.add(ranked).ID
	s.must(s.evaluate(id))
	if r := s.run(id); r.State != record.Failed || r.TruthVersion != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestEvaluate_ReleasesRunsForWorkers(t *testing.T) {
	s := newScene(t)
	s.truth.Evaluator.Kind = record.EvaluatorWorker
	s.commit(new(records.Tx).Replace(s.truth))
	id := s.add(ranked).ID
	s.must(s.evaluate(id))
	if r := s.run(id); r.State != record.Queued || r.Queue != record.QueueWorkers || r.Attempts != 0 {
		t.Fatalf("%+v", r)
	}
}
