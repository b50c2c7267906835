package tools_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/board"
)

// TestLeaderboard_SaysWhyItIsEmpty compares the reasons of datasets with and without a run that only organizers see. They are the same for
// other readers, so that nobody learns of the run.
func TestLeaderboard_SaysWhyItIsEmpty(t *testing.T) {
	closes := record.At(time.Now().Add(time.Hour))
	withheld := func(closes *record.Instant) func(*record.DatasetItem) {
		return func(d *record.DatasetItem) {
			recordtest.AfterClose(d)
			d.Submissions.ClosesAt = closes
		}
	}
	for name, c := range map[string]struct {
		dataset func(*record.DatasetItem)
		want    board.EmptyBoard
	}{
		"a validation split":          {func(*record.DatasetItem) {}, board.EmptyBoard{Reason: board.EmptyUnpublished}},
		"a test split":                {recordtest.OnTestSplit, board.EmptyBoard{Reason: board.EmptyBlinded}},
		"scores after the close":      {withheld(&closes), board.EmptyBoard{Reason: board.EmptyColumns, Until: &closes}},
		"scores after an unset close": {withheld(nil), board.EmptyBoard{Reason: board.EmptyColumns}},
		"publication with the results": {
			func(d *record.DatasetItem) { d.Publish = record.PublishOnCompletion }, board.EmptyBoard{Reason: board.EmptyUnpublished},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newToolServer(t, record.Public)
			empty := s.task.Dataset(c.dataset)
			with := s.task.Dataset(c.dataset)
			with.Run("eve", recordtest.Blinded, recordtest.Value("AP", 0.5))
			for _, set := range []*recordtest.Dataset{empty, with} {
				s.dataset = set
				for _, user := range []string{"", "zoe", "eve"} {
					if got := s.leaderboard(user).Empty; got == nil || got.Reason != c.want.Reason || (got.Until == nil) != (c.want.Until == nil) ||
						got.Until != nil && *got.Until != *c.want.Until || got.Detail == "" {
						t.Errorf("%q is told %+v, want %+v", user, got, c.want)
					}
				}
				if got := s.leaderboard("olga", "view", "public").Empty; got == nil || got.Reason != c.want.Reason ||
					strings.HasPrefix(got.Detail, "You ") {
					t.Errorf("in the public view, the organizers are told %+v", got)
				}
			}
			if got := s.leaderboard("olga"); len(got.Entries) != 1 || got.Empty != nil {
				t.Errorf("with an entry, the organizers are told %+v", got.Empty)
			}
			s.dataset = empty
			if got := s.leaderboard("olga").Empty; got == nil || got.Reason != board.EmptyResults {
				t.Errorf("without a run, the organizers are told %+v", got)
			}
		})
	}
}

// TestLeaderboard_SaysThatFinalRunsAreMissing shows the final runs of a team that marked a run which only the team sees.
func TestLeaderboard_SaysThatFinalRunsAreMissing(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.dataset = s.task.Dataset(func(d *record.DatasetItem) { d.FinalRuns = 1 })
	s.dataset.Run("eve", recordtest.Published, recordtest.Value("AP", 0.5))
	if got := s.leaderboard("zoe", "final", true); len(got.Entries) != 1 || got.Empty != nil {
		t.Errorf("without marks there are %+v, empty for %+v", got.Entries, got.Empty)
	}
	s.dataset.Run("eve", recordtest.Value("AP", 0.6), func(r *recordtest.Run) { r.Evaluation.Final = true })
	if got := s.leaderboard("zoe", "final", true); got.Empty == nil || got.Empty.Reason != board.EmptyFinal || got.Empty.Detail == "" {
		t.Errorf("zoe is told %+v", got.Empty)
	}
	if got := s.leaderboard("eve", "final", true); len(got.Entries) != 1 || got.Empty != nil {
		t.Errorf("the team is told %+v", got.Empty)
	}
}

// TestLeaderboard_IsEmptyAsItsReasonSays checks for each reader and each state of a run that the board shows the run exactly if the
// sentences of empty boards say so.
func TestLeaderboard_IsEmptyAsItsReasonSays(t *testing.T) {
	past := record.At(time.Now().Add(-time.Hour))
	later := record.At(time.Now().Add(time.Hour))
	const live = "You see no result. A team sees the result of its run unless the organizers have blinded the run, and others once the " +
		"run is published as well."
	const tested = "You see no result. Runs on this dataset start blinded: a team sees its result once the organizers have unblinded " +
		"the run, and others once the run is published as well."
	const closing = "From then on, a team sees the results of its runs that are not blinded, and others once the run is published as well."
	failed := func(r *recordtest.Run) { recordtest.InState(record.Failed)(r); r.Evaluation = nil }
	s := newToolServer(t, record.Public)
	s.task.Register("eve")
	withheld := func(closes *record.Instant) func(*record.DatasetItem) {
		return func(d *record.DatasetItem) {
			recordtest.AfterClose(d)
			d.Submissions.ClosesAt = closes
		}
	}
	for name, c := range map[string]struct {
		dataset func(*record.DatasetItem)
		waits   bool
		says    string
	}{
		"validation":       {func(*record.DatasetItem) {}, false, live},
		"test":             {recordtest.OnTestSplit, false, tested},
		"after its close":  {withheld(&past), false, live},
		"before its close": {withheld(&later), true, closing},
		"without a close":  {withheld(nil), true, closing},
	} {
		for state, r := range map[string]struct {
			options      []recordtest.RunOption
			team, others bool
		}{
			"unpublished":           {nil, true, false},
			"published":             {[]recordtest.RunOption{recordtest.Published}, true, true},
			"blinded":               {[]recordtest.RunOption{recordtest.Blinded}, false, false},
			"published and blinded": {[]recordtest.RunOption{recordtest.Published, recordtest.Blinded}, false, false},
			"failed":                {[]recordtest.RunOption{failed}, false, false},
		} {
			s.dataset = s.task.Dataset(c.dataset)
			s.dataset.Run("eve", r.options...)
			for _, reader := range []string{"", "zoe", "eve", "olga"} {
				want, says := r.others, c.says
				switch reader {
				case "eve":
					want = r.team
				case "olga":
					want, says = state != "failed", "No run has a result."
				}
				want = want && (!c.waits || reader == "olga")
				got := s.leaderboard(reader)
				if (len(got.Entries) == 1) != want || !want && (got.Empty == nil || !strings.HasSuffix(got.Empty.Detail, says)) {
					t.Errorf("%s, %s: %q sees %d entries, want %v, and reads %+v", name, state, reader, len(got.Entries), want, got.Empty)
				}
			}
		}
	}
}
