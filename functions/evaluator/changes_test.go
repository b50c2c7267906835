package evaluator_test

import (
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

func TestEvaluateQueued_SkipsUnreadableRecords(t *testing.T) {
	f := newFixture(t)
	broken := store.Item{Key: record.RunKey(record.NewID(time.Now())), Data: []byte("this is no run")}
	broken.Indexes[record.ByWork-1] = store.Key{
		Partition: record.QueuePartition(record.QueueBuiltin), Sort: record.At(time.Unix(0, 0)).String() + "#broken"}
	f.must(f.Store.Write(f.ctx, store.Create(broken)))
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
	if at := next().Sub(waits.QueuedAt.Time); at != record.QueueTime {
		t.Errorf("a run that waits for a worker is looked at after %v", at)
	}
	f.wait(2 * time.Hour)
	leased := f.add(ranked, f.leasedBy("elsewhere", time.Hour))
	if at := next(); !at.Equal(leased.Lease.Until.Time) {
		t.Errorf("next at %v, and the lease expires at %v", at, leased.Lease.Until)
	}
}

func TestDeleteAbandonedFiles_CompletesUploadsWithoutNotification(t *testing.T) {
	f := newFixture(t)
	r := f.add(ranked, awaitingUpload)
	f.wait(49 * time.Hour)
	f.must(f.DeleteAbandonedFiles(f.ctx))
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
