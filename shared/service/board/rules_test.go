package board_test

import (
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/board"
	"assay/shared/service/visibility"
	"assay/shared/storage/store/embedded"
)

// TestEntries_FollowTheRulesOfTheDataset changes the rules of a dataset, but not the copies of the rules in its evaluations, and lets time
// pass. Each view follows the rules at its own time, also of a board that was kept under other rules.
func TestEntries_FollowTheRulesOfTheDataset(t *testing.T) {
	boards := board.NewBoards()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: boards.Committed}))
	task := b.Task()
	task.Register("ada")
	d := task.Dataset(recordtest.Measures("AP"))
	d.Run("ada", recordtest.Published)
	d.Run("ada")
	now := time.Now()
	closes := record.At(now.Add(time.Hour))
	check := func(when string, at time.Time, organizers, team, others int) {
		t.Helper()
		for _, tt := range []struct {
			caller access.Caller
			want   int
		}{
			{access.Caller{ID: "admin", Admin: true}, organizers},
			{access.Caller{ID: recordtest.UserID("ada"), Name: "ada"}, team},
			{access.Caller{}, others},
		} {
			for _, from := range []*board.Boards{boards, nil} {
				for _, best := range []bool{false, true} {
					entries, err := from.Entries(t.Context(), board.Query{Viewer: &visibility.Viewer{Store: b.Store, Caller: tt.caller},
						Dataset: d.DatasetItem, TruthVersion: d.TruthVersion, AtOnce: 10, Best: best, Count: best, Now: at})
					if err != nil {
						t.Fatal(err)
					}
					seen := 0
					for e, err := range entries {
						if err != nil {
							t.Fatal(err)
						}
						seen += max(1, e.Runs)
					}
					if seen != tt.want {
						t.Errorf("%s: %q sees %d of kept %v, best %v, want %d", when, tt.caller.ID, seen, from != nil, best, tt.want)
					}
				}
			}
		}
	}
	check("without a rule", now, 2, 2, 1)
	recordtest.AfterClose(d.DatasetItem)
	d.Submissions.ClosesAt = &closes
	b.Replace(d.DatasetItem)
	check("before the close", now, 2, 0, 0)
	check("at the close", closes.Time, 2, 2, 1)
	check("before the close again", now, 2, 0, 0)
	d.Columns = nil
	b.Replace(d.DatasetItem)
	check("without a rule again", now, 2, 2, 1)
}
