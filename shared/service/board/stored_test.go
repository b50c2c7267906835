package board_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/board"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// query holds the parameters of reading a board.
type query struct {
	user, measure string
	best, count   bool
	version       int64
	atOnce        int
}

// place returns the rank and the name of an entry. An entry without a rank has a dash.
func place(rank int, name string, runs int) string {
	at := "-" + name
	if rank > 0 {
		at = fmt.Sprint(rank, name)
	}
	if runs == 0 {
		return at
	}
	return fmt.Sprint(at, "/", runs)
}

// read returns the ranks and names of the board's entries.
func (f *fixture) read(boards *board.Boards, a query) string {
	f.t.Helper()
	entries, err := boards.Entries(context.Background(), board.Query{
		Viewer: &visibility.Viewer{Store: f.Store, Caller: f.user(a.user)}, Dataset: f.dataset.DatasetItem,
		TruthVersion: a.version, Measure: a.measure, Best: a.best, AtOnce: a.atOnce, Count: a.count,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	var list []string
	for e, err := range entries {
		if err != nil {
			f.t.Fatal(err)
		}
		item, err := e.Item()
		if err != nil {
			f.t.Fatal(err)
		}
		list = append(list, place(e.Rank, f.names[item.ID], e.Runs))
	}
	return strings.Join(list, " ")
}

// expected computes the result of read from all entries, by the rules of package access.
func (f *fixture) expected(a query) string {
	grants := access.Grants{}
	switch a.user {
	case "organizer":
		grants.Memberships = []access.Membership{{OrganizerID: f.dataset.OrganizerID}}
	case "registrant":
		grants.Registrations = []access.Registration{{TaskID: f.dataset.TaskID, Accepted: true}}
	}
	measure := cmp.Or(a.measure, f.dataset.Columns[0].Key)
	at := slices.IndexFunc(f.dataset.Columns, func(c record.Column) bool { return c.Key == measure })
	lower := *f.dataset.Columns[at].LowerIsBetter
	organizes := a.user == "organizer" || a.user == "admin"
	concealed := func(e *record.EvaluationItem, c record.Column) bool {
		return c.From == record.FromPublication && !e.Access.Published && !organizes
	}
	var seen []*record.EvaluationItem
	for _, e := range f.entries {
		sees := slices.ContainsFunc(f.dataset.Columns, func(c record.Column) bool { return !concealed(e, c) })
		if e.TruthVersion == a.version && sees && access.Sees(access.Roles(f.user(a.user), grants, e.Scope()), e.Scope().Audience) {
			seen = append(seen, e)
		}
	}
	value := func(e *record.EvaluationItem) float64 {
		switch v := e.Measures[measure]; {
		case v == nil, concealed(e, f.dataset.Columns[at]):
			return -1e9
		case lower:
			return -*v
		default:
			return *v
		}
	}
	slices.SortFunc(seen, func(x, y *record.EvaluationItem) int {
		return cmp.Or(cmp.Compare(value(y), value(x)), cmp.Compare(x.SubmissionID, y.SubmissionID))
	})
	teams := map[string]int{}
	seen = slices.DeleteFunc(seen, func(e *record.EvaluationItem) bool {
		teams[team(e)]++
		return a.best && teams[team(e)] > 1
	})
	var list []string
	for _, e := range seen {
		better := 0
		for _, other := range seen {
			if value(other) > value(e) {
				better++
			}
		}
		runs := 0
		if a.best && a.count {
			runs = teams[team(e)]
		}
		rank := better + 1
		if value(e) == -1e9 {
			rank = 0
		}
		list = append(list, place(rank, f.names[e.ID], runs))
	}
	return strings.Join(list, " ")
}

// Which run of a team is the last one depends on the caller and on the caller's present roles.
func TestEntries_FinalRunsAreThoseThatTheCallerSees(t *testing.T) {
	boards := board.NewBoards()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: boards.Committed}))
	task := b.Task()
	team := task.Register("ada")
	d := task.Dataset(recordtest.Measures("AP"), func(d *record.DatasetItem) { d.FinalRuns = 1 })
	published := d.Run("ada", recordtest.Published).ID
	hidden := d.Run("ada").ID
	readFrom := func(boards *board.Boards, user string) string {
		t.Helper()
		entries, err := boards.Entries(t.Context(), board.Query{
			Viewer:  &visibility.Viewer{Store: b.Store, Caller: access.Caller{ID: recordtest.UserID(user), Name: user}},
			Dataset: d.DatasetItem, TruthVersion: d.TruthVersion, AtOnce: 10, Final: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range entries {
			if err != nil {
				t.Fatal(err)
			}
			item, err := e.Item()
			if err != nil {
				t.Fatal(err)
			}
			return item.RunID
		}
		return ""
	}
	read := func(user string) string {
		t.Helper()
		kept, direct := readFrom(boards, user), readFrom(nil, user)
		if kept != direct {
			t.Errorf("%s sees %s on a kept board, and %s on one that is read", user, kept, direct)
		}
		return kept
	}
	for range 2 {
		if got := read("ada"); got != hidden {
			t.Errorf("the team sees %s, want %s", got, hidden)
		}
		if got := read("fay"); got != published {
			t.Errorf("another user sees %s, want %s", got, published)
		}
	}
	grant := team.Grant(recordtest.UserID("fay"), false, time.Now())
	b.Put(grant)
	if got := read("fay"); got != hidden {
		t.Errorf("a new member sees %s, want %s", got, hidden)
	}
	b.Commit(new(records.Tx).Delete(grant))
	if got := read("fay"); got != published {
		t.Errorf("who was a member sees %s, want %s", got, published)
	}
}

// change changes the columns, a review, or the values of one of the entries.
func (f *fixture) change(t *rapid.T) {
	kind := rapid.IntRange(0, 5).Draw(t, "change")
	if kind > 2 {
		columns := slices.Clone(f.dataset.Columns)
		slices.Reverse(columns)
		switch kind {
		case 4:
			columns[0].LowerIsBetter = new(!*columns[0].LowerIsBetter)
		case 5:
			columns[1].From = froms.Draw(t, "from")
		}
		f.dataset.Columns = columns
		f.Replace(f.dataset.DatasetItem)
		return
	}
	if len(f.entries) == 0 {
		return
	}
	changed := f.entries[rapid.IntRange(0, len(f.entries)-1).Draw(t, "changed")]
	published := !changed.Access.Published
	blinded := !changed.Access.Blinded
	for _, e := range f.entries {
		switch {
		case e.RunID != changed.RunID:
			continue
		case kind == 0:
			e.Access.Published = published
		case kind == 1:
			e.Access.Blinded = blinded
		case e == changed:
			e.Measures = values(e.Measures["cost"], e.Measures["AP"])
		}
		f.Replace(e)
	}
}

var froms = rapid.SampledFrom([]record.From{record.FromNow, record.FromPublication})

// team returns the team of the entry. Each baseline of the organizers is its own team.
func team(e *record.EvaluationItem) string {
	if e.Baseline {
		return e.SubmissionID
	}
	return e.UserID
}

func values(ap, cost *float64) map[string]*float64 {
	return map[string]*float64{"AP": ap, "cost": cost}
}

var (
	shown   = record.AccessAttributes{Published: true}
	hidden  = record.AccessAttributes{}
	blinded = record.AccessAttributes{Published: true, Blinded: true}
)

// ada's runs are x and y, and bob's is z. v has no value. u and s are not published. w is blinded, and s was. b and c are baselines of
// the organizers.
func TestEntries_Examples(t *testing.T) {
	boards := board.NewBoards()
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{OnCommit: boards.Committed}), false)
	for _, e := range []entry{
		{"x", "ada", [2]map[string]*float64{values(new(.1), new(1.)), values(new(.5), new(30.))}, shown, false},
		{"y", "ada", [2]map[string]*float64{values(new(.9), new(1.)), values(new(.7), new(20.))}, shown, false},
		{"z", "bob", [2]map[string]*float64{values(new(.9), new(1.)), values(new(.5), new(10.))}, shown, false},
		{"u", "cid", [2]map[string]*float64{values(new(.8), new(1.)), values(new(.6), new(5.))}, hidden, false},
		{"v", "dan", [2]map[string]*float64{nil, values(nil, new(10.))}, shown, false},
		{"w", "eve", [2]map[string]*float64{nil, values(new(.9), new(1.))}, blinded, false},
		{"s", "fay", [2]map[string]*float64{values(new(.2), nil), values(new(.55), nil)}, hidden, true},
		{"b", "organizer", [2]map[string]*float64{nil, values(new(.1), new(40.))}, shown, false},
		{"c", "organizer", [2]map[string]*float64{nil, values(new(.2), new(50.))}, shown, false},
	} {
		f.enter(e)
	}
	for _, tt := range []struct {
		query
		want string
	}{
		{query{version: 2}, "1y 2x 2z 4c 5b -v"},
		{query{version: 2, best: true}, "1y 2z 3c 4b -v"},
		{query{version: 2, best: true, count: true}, "1y/2 2z/1 3c/1 4b/1 -v/1"},
		{query{version: 2, measure: "cost"}, "1z 1v 3y 4x 5b 6c"},
		{query{version: 2, measure: "cost", best: true}, "1z 1v 3y 4b 5c"},
		{query{version: 1}, "1y 1z 3x"},
		{query{version: 2, user: "cid"}, "1y 2u 3x 3z 5c 6b -v"},
		{query{version: 1, user: "cid"}, "1y 1z 3u 4x"},
		{query{version: 2, user: "fay"}, "1y 2s 3x 3z 5c 6b -v"},
		{query{version: 1, user: "fay"}, "1y 1z 3x"},
		{query{version: 2, user: "eve"}, "1y 2x 2z 4c 5b -v"},
		{query{version: 2, user: "organizer"}, "1w 2y 3u 4s 5x 5z 7c 8b -v"},
		{query{version: 1, user: "organizer", best: true}, "1y 1z 3u 4s"},
	} {
		for tt.atOnce = range 4 {
			tt.atOnce++ // fewer than the entries, so that several reads are needed
			for _, b := range []*board.Boards{boards, nil} {
				if got := f.read(b, tt.query); got != tt.want {
					t.Errorf("kept %v, %+v: %s, want %s", b != nil, tt.query, got, tt.want)
				}
			}
		}
	}
}

func TestEntries_RanksWhatTheCallerSees(t *testing.T) {
	boards := board.NewBoards()
	s := recordtest.OpenStore(t, embedded.Options{OnCommit: boards.Committed})
	nightlytest.Check(t, func(t *rapid.T) {
		f := newFixture(t, s, rapid.Bool().Draw(t, "private"))
		for i := range f.dataset.Columns {
			f.dataset.Columns[i].From = froms.Draw(t, "from")
		}
		anyValue := rapid.SampledFrom([]*float64{nil, new(-.5), new(0.), new(.25), new(.25), new(1.)})
		users := []string{"ada", "bob", "registrant", "organizer"}
		for i := range rapid.IntRange(0, 8).Draw(t, "runs") {
			e := entry{name: fmt.Sprint("-", i), user: rapid.SampledFrom(users).Draw(t, "user")}
			e.Published = rapid.Bool().Draw(t, "published")
			e.Blinded = rapid.IntRange(0, 3).Draw(t, "blinded") == 0
			e.Public = rapid.Bool().Draw(t, "public")
			e.Anonymous = rapid.Bool().Draw(t, "anonymous")
			against := rapid.IntRange(1, 3).Draw(t, "versions")
			for v := range e.values {
				if against>>v&1 == 1 {
					e.values[v] = values(anyValue.Draw(t, "AP"), anyValue.Draw(t, "cost"))
				}
			}
			f.enter(e)
		}
		var queries []query
		for _, user := range append(users, "", "unrelated", "worker", "admin") {
			queries = append(queries, query{
				user: user, measure: rapid.SampledFrom([]string{"", "AP", "cost"}).Draw(t, "measure"), best: rapid.Bool().Draw(t, "best"),
				count:   rapid.Bool().Draw(t, "count"),
				version: rapid.Int64Range(1, 2).Draw(t, "version"), atOnce: rapid.SampledFrom([]int{1, 2, 3, 4, 1000}).Draw(t, "at once"),
			})
		}
		for range 3 { // boards are cached until something changes
			for _, a := range queries {
				for _, b := range []*board.Boards{boards, nil} {
					if got, want := f.read(b, a), f.expected(a); got != want {
						t.Errorf("kept %v, %+v: %s, want %s", b != nil, a, got, want)
					}
				}
			}
			f.change(t)
		}
	})
}
