package evaluator_test

import (
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/store"
)

// TestEvaluateQueued_SkipsUnreadableRecords: a record that cannot be read holds up nothing that waits behind it.
func TestEvaluateQueued_SkipsUnreadableRecords(t *testing.T) {
	s := newScene(t)
	broken := store.Item{Key: record.RunKey(record.NewID(time.Now())), Data: []byte("this is no run")}
	broken.Indexes[record.ByWork-1] = store.Key{Partition: record.QueuePartition(record.QueueBuiltin), Sort: record.At(time.Unix(0, 0)).String() + "#broken"}
	s.must(s.Store.Write(s.ctx, store.Create(broken)))
	r := s.add(ranked)
	if err := s.EvaluateQueued(s.ctx); err == nil {
		t.Error("what is broken was not told of")
	}
	if got := s.run(r.ID); got.State != record.Completed {
		t.Errorf("the run behind it is %s", got.State)
	}
}

// evaluate has the worker evaluate one certain run, as for a message that names it.
func (s *scene) evaluate(id string) error {
	run := s.run(id)
	if run == nil {
		run = new(record.RunItem)
		run.ID = id
	}
	return s.Evaluate(s.ctx, run)
}

// TestFairness_BurstOfOneTeam has 40 runs of one team wait before the run of another team and that of another task, and counts
// the runs that are evaluated before those two: when messages name the runs in the order in which they came, and when a
// process drains the queue.
func TestFairness_BurstOfOneTeam(t *testing.T) {
	for name, evaluate := range map[string]func(s *scene, ids []string){
		"messages": func(s *scene, ids []string) {
			for _, id := range ids {
				_, err := s.HandleChange(s.ctx, record.RunKey(id))
				s.must(err)
			}
		},
		"drain": func(s *scene, _ []string) { s.must(s.EvaluateQueued(s.ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			burst, task := record.NewID(s.Now()), record.NewID(s.Now())
			var ids []string
			for i := range 42 {
				ids = append(ids, s.add(ranked, func(r *record.RunItem) {
					switch i {
					case 40: // another team
					case 41:
						r.TaskID = task
					default:
						r.UserID = burst
					}
				}).ID)
			}
			evaluate(s, ids)
			for _, other := range ids[40:] {
				before, r := 0, s.run(other)
				if r.State != record.Completed {
					t.Fatalf("a run of others is %s", r.State)
				}
				for _, id := range ids[:40] {
					one := s.run(id)
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

// TestNextDue_ReturnsTheFirstInstant: whoever is woken learns when to be woken next.
func TestNextDue_ReturnsTheFirstInstant(t *testing.T) {
	s := newScene(t)
	next := func() time.Time {
		at, err := s.NextDue(s.ctx)
		s.must(err)
		return at
	}
	if at := next(); !at.IsZero() {
		t.Errorf("with nothing there, next at %v", at)
	}
	now := s.Now()
	waits := s.add(ranked, func(r *record.RunItem) { r.Queue = record.QueueWorkers })
	if at := next().Sub(waits.QueuedAt.Time); at != record.QueueTime {
		t.Errorf("a run that waits for a worker is looked at after %v", at)
	}
	s.wait(2 * time.Hour)
	leased := s.add(ranked, func(r *record.RunItem) {
		r.State, r.Lease = record.Evaluating, &record.Lease{ID: "x", Holder: "y", Until: record.At(now.Add(3 * time.Hour))}
	})
	if at := next(); !at.Equal(leased.Lease.Until.Time) {
		t.Errorf("next at %v, and the lease lapses at %v", at, leased.Lease.Until)
	}
}

// TestDeleteAbandonedFiles_CompletesUploadsWithoutNotification: a file whose arrival nobody was told of is found by the cleaning, and the run goes on.
func TestDeleteAbandonedFiles_CompletesUploadsWithoutNotification(t *testing.T) {
	s := newScene(t)
	r := s.add(ranked, func(r *record.RunItem) {
		r.State, r.QueuedAt, r.Files[0].State = record.AwaitingUpload, nil, record.FilePending
	})
	s.wait(49 * time.Hour)
	s.must(s.DeleteAbandonedFiles(s.ctx))
	if got := s.run(r.ID); got.State != record.Queued || got.Files[0].State != record.FileStored {
		t.Errorf("the run is %s, its file %s", got.State, got.Files[0].State)
	}
}

// Results of tools go when their links have ended, and nothing else does then.
func TestDeleteExpiredResults_KeepsOtherFiles(t *testing.T) {
	s := newScene(t)
	user := record.NewID(s.Now())
	result := record.ObjectKey(record.HolderTools, user, s.store(record.HolderTools, user, "fused.txt", ranked).SHA256)
	run := s.add(ranked)
	for _, c := range []struct {
		later time.Duration
		there bool
	}{{29 * time.Minute, true}, {2 * time.Minute, false}} {
		s.wait(c.later)
		s.must(s.DeleteExpiredResults(s.ctx))
		if _, err := s.Files.Stat(s.ctx, result); (err == nil) != c.there {
			t.Errorf("%v later: %v", c.later, err)
		}
	}
	if _, err := s.Files.Stat(s.ctx, run.ObjectKeys()[0]); err != nil {
		t.Error(err)
	}
}
