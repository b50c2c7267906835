package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/shared/record"
)

// TestLeaderboard_NewEntriesMoveNoRank has two versions of the truth. Of the earlier fay was the best, who is gone, and of the newer eve
// is, who is new: neither says anything of the truth. bob and cid share their rank.
func TestLeaderboard_NewEntriesMoveNoRank(t *testing.T) {
	for name, tt := range map[string]struct {
		dan  float64 // against the newer version
		want string
		says string
	}{
		"unchanged": {.5, "eve new, ada 1+0, bob 2+0, cid 2+0, dan 4+0", "among the entries of both: 4 the same, 1 new."},
		"one rises": {.85, "eve new, ada 1+0, dan 4+2, bob 2-1, cid 2-1", "among the entries of both: 1 up, 2 down, 1 the same, 1 new."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newToolServer(t, record.Public)
			before := []float64{.9, .8, .8, .5, .95}
			was := map[string]*record.RunItem{}
			for i, user := range []string{"ada", "bob", "cid", "dan", "fay"} {
				run, e := s.addEvaluatedRun(runSpec{user: user, ap: topicValues(before[i])})
				e.Unlisted = true
				s.records.Replace(e)
				was[user] = run
			}
			s.nextTruthVersion()
			after := []float64{.9, .8, .8, tt.dan, .99}
			for i, user := range []string{"ada", "bob", "cid", "dan", "eve"} {
				s.addEvaluatedRun(runSpec{user: user, ap: topicValues(after[i]), earlier: was[user]})
			}
			for _, limit := range []int{5, 2} { // what is not shown counts all the same
				out := s.leaderboard("", "against", 1, "limit", limit)
				var got []string
				for _, e := range out.Entries {
					change := fmt.Sprintf("%d%+d", e.Change.Rank, e.Change.Difference)
					if e.Change.Absent {
						change = "new"
					}
					got = append(got, strings.TrimPrefix(e.Team, "team of ")+" "+change)
				}
				want := strings.Join(strings.Split(tt.want, ", ")[:limit], ", ")
				if got := strings.Join(got, ", "); got != want || out.More != (limit < 5) {
					t.Errorf("of the first %d: %s, want %s", limit, got, want)
				}
			}
			s.wantTexts(s.page("", "leaderboard", object{"datasetId": s.dataset.ID, "against": 1}), tt.says)
		})
	}
}
