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
	"assay/shared/storage/store"
	"assay/shared/testing/evaluationtest"
)

func TestRun_EvaluatesQueuedRuns(t *testing.T) {
	f := newFixture(t)
	f.start()
	id := f.Add(evaluationtest.Ranked, recordtest.Baseline).ID
	r := f.Until(id, record.Completed)
	e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
	if e == nil || *e.Measures["AP"] != 0.75 || *e.Measures["P@1"] != 0.5 ||
		strings.Join(e.Measured, " ") != "AP P@1" {
		t.Fatalf("%+v", e)
	}
	if e.Team != r.Team || e.UserID != r.UserID || e.RunID != id || !e.Baseline || e.Access != r.Access || e.TruthVersion != 1 {
		t.Fatalf("%+v", e)
	}
	if e.Digests.Run != digest(r.Files[0].SHA256) || e.Digests.PlainTruth != digest(f.Truth.Files[0].SHA256) || e.Evaluator.Version == "" {
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
	id := f.Add("q1 Q0 d1 1 x tag\nq1 Q0\n").ID
	f.evaluate(id)
	r := f.GetRun(id)
	if r.State != record.Failed || len(r.Diagnostics) != 2 || r.Diagnostics[1].Line != 2 || r.Diagnostics[1].File != "run.txt" {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
	extra := f.Add(evaluationtest.Ranked + "q9 Q0 d1 1 1 tag\n").ID
	f.evaluate(extra)
	if r := f.GetRun(extra); r.State != record.Completed || len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != measure.Warning {
		t.Fatalf("%s %+v", r.State, r.Diagnostics)
	}
}

func TestEvaluate_RepeatedMessageEvaluatesOnce(t *testing.T) {
	f := newFixture(t)
	id := f.Add(evaluationtest.Ranked).ID
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := f.Evaluate(f.Ctx, f.GetRun(id)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Completed || r.Attempts != 1 || f.CountEvaluations() != 1 {
		t.Fatalf("%+v, %d evaluations", r, f.CountEvaluations())
	}
}

func TestEvaluate_StartsAgainWhenTheTruthChanges(t *testing.T) {
	f := newFixture(t)
	id := f.Add(evaluationtest.Ranked).ID
	var once sync.Once
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(key string) {
		if strings.HasPrefix(key, "runs/") {
			once.Do(func() {
				f.Truth.Number = 2
				f.Truth.Evaluator.Measures = []string{"RR"}
				f.Records.Replace(f.Truth)
			})
		}
	}}
	f.evaluate(id)
	r := f.GetRun(id)
	e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
	if r.State != record.Completed || len(r.Evaluations) != 1 || e.TruthVersion != 2 || e.Measures["RR"] == nil || r.Attempts != 1 {
		t.Fatalf("%+v\n%+v", r, e)
	}
}

func TestEvaluate_PanicIsReportedAsThePlatformsFault(t *testing.T) {
	f := newFixture(t)
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(string) { panic("a bug") }}
	f.start()
	id := f.Add(evaluationtest.Ranked).ID
	r := f.Until(id, record.Failed)
	if r.Attempts != record.MaxAttempts || !strings.Contains(r.Diagnostics[0].Message, "the platform's and not the run's") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestEvaluate_MissingFileFailsAfterAllAttempts(t *testing.T) {
	f := newFixture(t)
	r := f.Add(evaluationtest.Ranked)
	f.Must(f.Files.Delete(f.Ctx, record.ObjectKey(record.HolderRuns, r.ID, r.Files[0].SHA256)))
	for n := range record.MaxAttempts {
		f.evaluate(r.ID)
		if got := f.GetRun(r.ID); got.State != record.Evaluating || got.Attempts != n+1 {
			t.Fatalf("%s after attempt %d", got.State, n+1)
		}
		f.runDue()
		f.Wait(2 * time.Minute)
		f.runDue()
	}
	if got := f.GetRun(r.ID); got.State != record.Failed {
		t.Fatal(got.State)
	}
}

func TestRun_ReclaimsLeasesOfAnEarlierProcess(t *testing.T) {
	f := newFixture(t)
	own := f.Add(evaluationtest.Ranked, f.LeasedBy("here", time.Minute)).ID
	other := f.Add(evaluationtest.Ranked, f.LeasedBy("elsewhere", time.Minute)).ID
	f.start()
	if r := f.Until(own, record.Completed); r.Attempts != 1 || r.Restarts != 1 {
		t.Fatalf("%d attempts, %d restarts: the end of the process is no attempt", r.Attempts, r.Restarts)
	}
	if r := f.GetRun(other); r.State != record.Evaluating {
		t.Fatalf("a run of a worker that lives went to %s", r.State)
	}
	f.Wait(2 * time.Minute)
	f.Until(other, record.Completed)
}

func TestRun_ReleasesRunsWhenItStops(t *testing.T) {
	f := newFixture(t)
	id := f.Add(evaluationtest.Ranked).ID
	begun := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(f.Ctx)
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(string) {
		begun <- struct{}{}
		<-ctx.Done()
	}}
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	<-begun
	cancel()
	running.Wait()
	if r := f.GetRun(id); r.State != record.Queued || r.Attempts != 0 || r.Lease != nil {
		t.Fatalf("%s with %d attempts", r.State, r.Attempts)
	}
}

func TestEvaluate_FailsWithoutAUsableTruth(t *testing.T) {
	f := newFixture(t)
	f.Truth.Files = []record.File{f.Records.File(record.HolderTruths, f.Dataset.ID, "qrels.txt", "q1 0 d1 many\n")}
	f.Records.Replace(f.Truth)
	id := f.Add(evaluationtest.Ranked).ID
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Failed || r.TruthVersion != 1 || strings.Contains(r.Diagnostics[0].Message, "many") {
		t.Fatalf("%+v", r)
	}
	f.Dataset.Truths = nil
	f.Records.Commit(new(records.Tx).DeleteKeys(f.Truth.Key()).Replace(f.Dataset))
	id = f.Add(evaluationtest.Ranked).ID
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Failed || r.TruthVersion != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestEvaluate_ReleasesRunsForWorkers(t *testing.T) {
	f := newFixture(t)
	f.Truth.Evaluator.Kind = record.EvaluatorWorker
	f.Records.Replace(f.Truth)
	id := f.Add(evaluationtest.Ranked).ID
	f.evaluate(id)
	if r := f.GetRun(id); r.State != record.Queued || r.Queue != record.QueueWorkers || r.Attempts != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestEvaluateQueued_SkipsUnreadableRecords(t *testing.T) {
	f := newFixture(t)
	broken, err := record.Item(f.Add(evaluationtest.Ranked))
	f.Must(err)
	broken.Version, broken.Data = 1, []byte("this is no run")
	f.Must(f.Store.Write(f.Ctx, store.Replace(broken)))
	r := f.Add(evaluationtest.Ranked)
	if err := f.EvaluateQueued(f.Ctx); err == nil {
		t.Error("the unreadable record is no error")
	}
	if got := f.GetRun(r.ID); got.State != record.Completed {
		t.Errorf("the run behind it is %s", got.State)
	}
}

// TestFairness_BurstOfOneTeam queues 40 runs of one team before a run of another team and one of another task, and counts the runs that
// are evaluated before those two: when messages name the runs in their order, and when a process evaluates the queue.
func TestFairness_BurstOfOneTeam(t *testing.T) {
	for name, evaluate := range map[string]func(f *fixture, ids []string){
		"messages": func(f *fixture, ids []string) {
			for _, id := range ids {
				_, err := f.HandleChange(f.Ctx, f.item(record.RunKey(id)))
				f.Must(err)
			}
		},
		"queue": func(f *fixture, _ []string) { f.Must(f.EvaluateQueued(f.Ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			burst, task := record.NewID(f.Now()), record.NewID(f.Now())
			var ids []string
			for i := range 42 {
				ids = append(ids, f.Add(evaluationtest.Ranked, func(r *recordtest.Run) {
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
				before, r := 0, f.GetRun(other)
				if r.State != record.Completed {
					t.Fatalf("a run of others is %s", r.State)
				}
				for _, id := range ids[:40] {
					one := f.GetRun(id)
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

// The tag is kept from the one reading that evaluates the run, and validates it where it is blinded: each opening is a request.
func TestRunTag_CostsNoReading(t *testing.T) {
	f := newFixture(t)
	var opened atomic.Int64
	f.Files = evaluationtest.HookedFiles{Store: f.Files, BeforeOpen: func(key string) {
		if strings.HasPrefix(key, string(record.HolderRuns)+"/") {
			opened.Add(1)
		}
	}}
	f.start()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "# a comment\n\n"+strings.ReplaceAll(evaluationtest.Ranked, "tag", "packed"))
	_ = z.Close()
	for _, tt := range []struct {
		content, tag string
		blinded      bool
		opened       int64
	}{
		{evaluationtest.Ranked, "tag", false, 1},
		{evaluationtest.Ranked, "tag", true, 1},
		{packed.String(), "packed", false, 1},
		{strings.ReplaceAll(evaluationtest.Ranked, "tag", strings.Repeat("long", 100)), "", false, 2},
	} {
		opened.Store(0)
		r := f.Until(f.Add(tt.content, func(r *recordtest.Run) { r.Access.Blinded = tt.blinded }).ID, record.Completed)
		e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
		if n := opened.Load(); e.RunTag != tt.tag || n != tt.opened {
			t.Errorf("the tag of %.40q, blinded %v, is %q after %d openings; want %q after %d", tt.content, tt.blinded, e.RunTag, n,
				tt.tag, tt.opened)
		}
	}
}
