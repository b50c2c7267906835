package board_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/domain/record/recordtest"
	"assay/shared/service/board"
	"assay/shared/service/visibility"
	"assay/shared/storage/store/embedded"
)

// TestBoards_FollowAcknowledgedChanges blinds and unblinds runs of one board at the same time. Each view that begins after a change was
// acknowledged shows it, also while the board is dropped and read again.
func TestBoards_FollowAcknowledgedChanges(t *testing.T) {
	boards := board.NewBoards()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: boards.Committed}))
	d := b.Task().Dataset(recordtest.Measures("AP"))
	view := func() (map[string]bool, error) {
		seen := map[string]bool{}
		entries, err := boards.Entries(t.Context(), board.Query{
			Viewer: &visibility.Viewer{Store: b.Store}, Dataset: d.DatasetItem, TruthVersion: d.TruthVersion,
		})
		if err != nil {
			return nil, err
		}
		for e, err := range entries {
			item, failed := e.Item()
			if err := errors.Join(err, failed); err != nil {
				return nil, err
			}
			seen[item.ID] = true
		}
		return seen, nil
	}
	var writers, dropper sync.WaitGroup
	for range 6 {
		e := d.Run("ada", recordtest.Published).Evaluation
		writers.Go(func() {
			for range 100 {
				e.Access.Blinded = !e.Access.Blinded
				b.Replace(e)
				if seen, err := view(); err != nil || seen[e.ID] == e.Access.Blinded {
					t.Errorf("blinded %v, and shown %v: %v", e.Access.Blinded, seen[e.ID], err)
				}
			}
		})
	}
	var done atomic.Bool
	dropper.Go(func() {
		for !done.Load() {
			boards.Committed(nil)
			if _, err := view(); err != nil {
				t.Error(err)
			}
		}
	})
	writers.Wait()
	done.Store(true)
	dropper.Wait()
}
