package evaluator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

func TestRun_EvaluatesQueuedRuns(t *testing.T) {
	f := newFixture(t)
	f.start()
	id := f.add(ranked, recordtest.Baseline).ID
	r := f.until(id, record.Completed)
	e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
	if e == nil || *e.Measures["AP"] != 0.75 || *e.Measures["P@1"] != 0.5 || e.PrimaryMeasure != "AP" ||
		strings.Join(e.Columns, " ") != "AP P@1" {
		t.Fatalf("%+v", e)
	}
	if e.Team != r.Team || e.UserID != r.UserID || e.RunID != id || !e.Baseline || e.Access != r.Access || e.TruthVersion != 1 {
		t.Fatalf("%+v", e)
	}
	if e.Digests.Run != digest(r.Files[0].SHA256) || e.Digests.PlainTruth != digest(f.truth.Files[0].SHA256) || e.Evaluator.Version == "" {
		t.Fatalf("%+v", e)
	}
	topics := get[record.Topics](f, record.TopicsKey(e.ID))
	if topics == nil || topics.PerTopic["q1"]["AP"] != 0.5 || topics.PerTopic["q2"]["P@1"] != 1 {
		t.Fatalf("%+v", topics)
	}
}

func digest(sums ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(sums, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

func TestEvaluate_FailsInvalidRunsWithDiagnostics(t *testing.T) {
	f := newFixture(t)
	id := f.add("q1 Q0 d1 1 x tag\nq1 Q0\n").ID
	f.evaluate(id)
	r := f.run(id)
	if r.State != record.Failed || len(r.Diagnostics) != 2 || r.Diagnostics[1].Line != 2 || r.Diagnostics[1].File != "run.txt" {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
	extra := f.add(ranked + "q9 Q0 d1 1 1 tag\n").ID
	f.evaluate(extra)
	if r := f.run(extra); r.State != record.Completed || len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != measure.Warning {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
}

func TestEvaluate_RepeatedMessageEvaluatesOnce(t *testing.T) {
	f := newFixture(t)
	id := f.add(ranked).ID
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := f.Evaluate(f.ctx, f.run(id)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.evaluate(id)
	if r := f.run(id); r.State != record.Completed || r.Attempts != 1 || f.evaluations() != 1 {
		t.Fatalf("%+v, %d evaluations", r, f.evaluations())
	}
}

// hookedFiles calls beforeOpen before it opens a file.
type hookedFiles struct {
	blob.Store
	beforeOpen func(key string)
}

func (o hookedFiles) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	o.beforeOpen(key)
	return o.Store.Open(ctx, key)
}

func TestEvaluate_StartsAgainWhenTheTruthChanges(t *testing.T) {
	f := newFixture(t)
	id := f.add(ranked).ID
	var once sync.Once
	f.Files = hookedFiles{f.Files, func(key string) {
		if strings.HasPrefix(key, "runs/") {
			once.Do(func() {
				f.truth.Number = 2
				f.truth.Evaluator.Measures = []string{"RR"}
				f.truth.Evaluator.PrimaryMeasure = "RR"
				f.records.Replace(f.truth)
			})
		}
	}}
	f.evaluate(id)
	r := f.run(id)
	e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
	if r.State != record.Completed || len(r.Evaluations) != 1 || e.TruthVersion != 2 || e.Measures["RR"] == nil || r.Attempts != 1 {
		t.Fatalf("%+v\n%+v", r, e)
	}
}

func TestEvaluate_PanicIsReportedAsThePlatformsFault(t *testing.T) {
	f := newFixture(t)
	f.Files = hookedFiles{f.Files, func(string) { panic("a bug") }}
	f.start()
	id := f.add(ranked).ID
	r := f.until(id, record.Failed)
	if r.Attempts != record.MaxAttempts || !strings.Contains(r.Diagnostics[0].Message, "the platform's and not the run's") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestEvaluate_MissingFileFailsAfterAllAttempts(t *testing.T) {
	f := newFixture(t)
	r := f.add(ranked)
	f.must(f.Files.Delete(f.ctx, record.ObjectKey(record.HolderRuns, r.ID, r.Files[0].SHA256)))
	for n := range record.MaxAttempts {
		f.evaluate(r.ID)
		if got := f.run(r.ID); got.State != record.Evaluating || got.Attempts != n+1 {
			t.Fatalf("%s after attempt %d", got.State, n+1)
		}
		f.must(f.RunDue(f.ctx))
		f.wait(2 * time.Minute)
		f.must(f.RunDue(f.ctx))
	}
	if got := f.run(r.ID); got.State != record.Failed {
		t.Fatal(got.State)
	}
}

func TestRun_ReclaimsLeasesOfAnEarlierProcess(t *testing.T) {
	f := newFixture(t)
	own := f.add(ranked, f.leasedBy("here", time.Minute)).ID
	other := f.add(ranked, f.leasedBy("elsewhere", time.Minute)).ID
	f.start()
	if r := f.until(own, record.Completed); r.Attempts != 1 || r.Restarts != 1 {
		t.Fatalf("%d attempts, %d restarts: the end of the process is no attempt", r.Attempts, r.Restarts)
	}
	if r := f.run(other); r.State != record.Evaluating {
		t.Fatalf("a run of a worker that lives went to %s", r.State)
	}
	f.wait(2 * time.Minute)
	f.until(other, record.Completed)
}

func TestRun_ReleasesRunsWhenItStops(t *testing.T) {
	f := newFixture(t)
	id := f.add(ranked).ID
	begun := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(f.ctx)
	f.Files = hookedFiles{f.Files, func(string) {
		begun <- struct{}{}
		<-ctx.Done()
	}}
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	<-begun
	cancel()
	running.Wait()
	if r := f.run(id); r.State != record.Queued || r.Attempts != 0 || r.Lease != nil {
		t.Fatalf("%s with %d attempts", r.State, r.Attempts)
	}
}

func TestEvaluate_FailsWithoutAUsableTruth(t *testing.T) {
	f := newFixture(t)
	f.truth.Files = []record.File{f.records.File(record.HolderTruths, f.dataset.ID, "qrels.txt", "q1 0 d1 many\n")}
	f.records.Replace(f.truth)
	id := f.add(ranked).ID
	f.evaluate(id)
	if r := f.run(id); r.State != record.Failed || r.TruthVersion != 1 || strings.Contains(r.Diagnostics[0].Message, "many") {
		t.Fatalf("%+v", r)
	}
	f.dataset.Truths = nil
	f.records.Commit(new(records.Tx).DeleteKeys(f.truth.Key()).Replace(f.dataset))
	id = f.add(ranked).ID
	f.evaluate(id)
	if r := f.run(id); r.State != record.Failed || r.TruthVersion != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestEvaluate_ReleasesRunsForWorkers(t *testing.T) {
	f := newFixture(t)
	f.truth.Evaluator.Kind = record.EvaluatorWorker
	f.records.Replace(f.truth)
	id := f.add(ranked).ID
	f.evaluate(id)
	if r := f.run(id); r.State != record.Queued || r.Queue != record.QueueWorkers || r.Attempts != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestEvaluateQueued_SkipsUnreadableRecords(t *testing.T) {
	f := newFixture(t)
	broken, err := record.Item(f.add(ranked))
	f.must(err)
	broken.Version, broken.Data = 1, []byte("this is no run")
	f.must(f.Store.Write(f.ctx, store.Replace(broken)))
	r := f.add(ranked)
	if err := f.EvaluateQueued(f.ctx); err == nil {
		t.Error("the unreadable record is no error")
	}
	if got := f.run(r.ID); got.State != record.Completed {
		t.Errorf("the run behind it is %s", got.State)
	}
}

// TestFairness_BurstOfOneTeam queues 40 runs of one team before a run of another team and one of another task, and counts the runs that
// are evaluated before those two: when messages name the runs in their order, and when a process evaluates the queue.
func TestFairness_BurstOfOneTeam(t *testing.T) {
	for name, evaluate := range map[string]func(f *fixture, ids []string){
		"messages": func(f *fixture, ids []string) {
			for _, id := range ids {
				_, err := f.HandleChange(f.ctx, record.RunKey(id))
				f.must(err)
			}
		},
		"queue": func(f *fixture, _ []string) { f.must(f.EvaluateQueued(f.ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			burst, task := record.NewID(f.Now()), record.NewID(f.Now())
			var ids []string
			for i := range 42 {
				ids = append(ids, f.add(ranked, func(r *recordtest.Run) {
					switch i {
					case 40: // another team
					case 41:
						r.TaskID = task
					default:
						r.UserID = burst
					}
				}).ID)
			}
			evaluate(f, ids)
			for _, other := range ids[40:] {
				before, r := 0, f.run(other)
				if r.State != record.Completed {
					t.Fatalf("a run of others is %s", r.State)
				}
				for _, id := range ids[:40] {
					one := f.run(id)
					if one.State != record.Completed {
						t.Fatalf("a run of the burst is %s", one.State)
					}
					if one.EvaluationID < r.EvaluationID { // ids ascend
						before++
					}
				}
				if before > 2 {
					t.Errorf("%d runs of the burst are evaluated before that of others", before)
				}
			}
		})
	}
}

func TestNextDue_ReturnsTheFirstInstant(t *testing.T) {
	f := newFixture(t)
	next := func() time.Time {
		at, err := f.NextDue(f.ctx)
		f.must(err)
		return at
	}
	if at := next(); !at.IsZero() {
		t.Errorf("with nothing there, next at %v", at)
	}
	waits := f.add(ranked, func(r *recordtest.Run) { r.Queue = record.QueueWorkers })
	if at := next().Sub(waits.QueuedAt.Time); at != record.WorkersNotice {
		t.Errorf("a run that waits for a worker is looked at after %v", at)
	}
	f.wait(2 * time.Hour)
	if at := next().Sub(waits.QueuedAt.Time); at != record.WorkersNotice+record.Day {
		t.Errorf("a run that waits for a worker is looked at again after %v", at)
	}
	f.wait(record.QueueTime - 4*time.Hour)
	if at := next().Sub(waits.QueuedAt.Time); at != record.QueueTime {
		t.Errorf("a run that has waited for long is looked at after %v", at)
	}
	leased := f.add(ranked, f.leasedBy("elsewhere", time.Hour))
	if at := next(); !at.Equal(leased.Lease.Until.Time) {
		t.Errorf("next at %v, and the lease expires at %v", at, leased.Lease.Until)
	}
}

func TestDeleteAbandonedFiles_CompletesUploadsWithoutNotification(t *testing.T) {
	f := newFixture(t)
	r := f.add(ranked, awaitingUpload)
	f.wait(49 * time.Hour)
	f.clean()
	if got := f.run(r.ID); got.State != record.Queued || got.Files[0].State != record.FileStored {
		t.Errorf("the run is %s, its file %s", got.State, got.Files[0].State)
	}
}

func TestDeleteExpiredResults_KeepsOtherFiles(t *testing.T) {
	f := newFixture(t)
	user := record.NewID(f.Now())
	result := record.ObjectKey(record.HolderTools, user, f.records.File(record.HolderTools, user, "fused.txt", ranked).SHA256)
	run := f.add(ranked)
	for _, c := range []struct {
		later time.Duration
		there bool
	}{{29 * time.Minute, true}, {2 * time.Minute, false}} {
		f.wait(c.later)
		f.must(f.DeleteExpiredResults(f.ctx))
		if _, err := f.Files.Stat(f.ctx, result); (err == nil) != c.there {
			t.Errorf("%v later: %v", c.later, err)
		}
	}
	if _, err := f.Files.Stat(f.ctx, run.ObjectKeys()[0]); err != nil {
		t.Error(err)
	}
}

// The tag is kept from the one reading that evaluates the run, and validates it where it is blinded: each opening is a request.
func TestRunTag_CostsNoReading(t *testing.T) {
	f := newFixture(t)
	var opened atomic.Int64
	f.Files = hookedFiles{f.Files, func(key string) {
		if strings.HasPrefix(key, string(record.HolderRuns)+"/") {
			opened.Add(1)
		}
	}}
	f.start()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "# a comment\n\n"+strings.ReplaceAll(ranked, "tag", "packed"))
	_ = z.Close()
	for _, tt := range []struct {
		content, tag string
		blinded      bool
		opened       int64
	}{
		{ranked, "tag", false, 1},
		{ranked, "tag", true, 1},
		{packed.String(), "packed", false, 1},
		{strings.ReplaceAll(ranked, "tag", strings.Repeat("long", 100)), "", false, 2},
	} {
		opened.Store(0)
		r := f.until(f.add(tt.content, func(r *recordtest.Run) { r.Access.Blinded = tt.blinded }).ID, record.Completed)
		e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
		if n := opened.Load(); e.RunTag != tt.tag || n != tt.opened {
			t.Errorf("the tag of %.40q, blinded %v, is %q after %d openings; want %q after %d", tt.content, tt.blinded, e.RunTag, n,
				tt.tag, tt.opened)
		}
	}
}
