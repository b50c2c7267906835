package functions_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// TestPreviews_ReadRunsInSlotsOfLists previews changes of a dataset many times at once. One user has at most half of the slots for lists.
func TestPreviews_ReadRunsInSlotsOfLists(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"counting": {"split": "test"},
		"a trial":  {"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy", "MCC"}}},
	} {
		s := newServer(t)
		b := s.Records()
		b.Files = s.Files
		d := b.Task().Dataset(recordtest.Labels("Accuracy"), b.Truths("truth.csv", "id,label\n1,a\n"),
			func(d *record.DatasetItem) { d.Split = record.Training })
		d.Run("ann", recordtest.Content("run.csv", "id,label\n1,a\n"), recordtest.Blinded, recordtest.Value("Accuracy", 1))
		slow := &slowRuns{Store: s.Store, partition: records.Of(record.KindDataset, d.ID, record.KindRun)[0].Partition}
		s.Use(slow)
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if a := s.Do("olga", http.MethodPatch, d.Path()+"?preview=true", change); a.Status != http.StatusOK {
					t.Errorf("%s: %d %s", name, a.Status, a.Body)
				}
			})
		}
		all.Wait()
		if n := slow.most.Load(); n < 1 || n > 4 {
			t.Errorf("%s: %d previews of one user read runs at the same time", name, n)
		}
	}
}

// slowRuns is a store that takes long to query the runs of a dataset, and counts how many queries do so at the same time.
type slowRuns struct {
	store.Store
	partition     string
	running, most atomic.Int32
}

func (s *slowRuns) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Partition == s.partition {
		n := s.running.Add(1)
		defer s.running.Add(-1)
		for old := s.most.Load(); n > old && !s.most.CompareAndSwap(old, n); old = s.most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
	}
	return s.Store.Query(ctx, q)
}
