package evaluation_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/evaluation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
	"assay/shared/visibility"

	"pgregory.net/rapid"
)

// scene is a dataset in a store, whose truth has its second version.
type scene struct {
	t       rapid.TB
	store   store.Store
	dataset *record.DatasetItem
	entries []*record.EvaluationItem
	names   map[string]string // of evaluations, by id
}

// open opens a store for the test.
func open(t testing.TB) store.Store {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table.db"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newScene(t rapid.TB, s store.Store, private bool) *scene {
	d := &record.DatasetItem{OrganizerID: id(), PrivateTask: private}
	d.Meta, d.TaskID, d.TruthVersion = meta(), id(), 2
	d.Evaluator = record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"AP", "cost"}, PrimaryMeasure: "AP", LowerIsBetter: []string{"cost"}}
	c := &scene{t: t, store: s, dataset: d, names: map[string]string{}}
	member, registered := c.user("organizer"), c.user("registrant")
	c.put(&record.Reservation{Meta: meta(), At: record.MembershipKey(member.ID, d.OrganizerID)},
		&record.Registered{Meta: meta(), UserID: registered.ID, TaskID: d.TaskID, PrivateTask: private, State: record.Accepted})
	return c
}

func meta() record.Meta { return record.NewMeta(time.Now()) }

func id() string { return record.NewID(time.Now()) }

// user is a caller of this scene alone.
func (c *scene) user(name string) access.Caller {
	if name == "" {
		return access.Caller{}
	}
	return access.Caller{ID: name + c.dataset.ID, Name: name, Admin: name == "admin", Worker: name == "worker"}
}

func (c *scene) put(all ...record.Record) {
	c.t.Helper()
	tx := new(records.Tx)
	for _, r := range all {
		tx.Create(r)
	}
	if err := tx.Commit(context.Background(), c.store); err != nil {
		c.t.Fatal(err)
	}
}

// entry is a run, and what it has against the two versions of the truth; of one that it was not evaluated against, nothing.
type entry struct {
	name, user string
	values     [2]map[string]*float64
	record.AccessAttributes
	wasBlinded bool // against the older version
}

func (c *scene) enter(e entry) {
	c.t.Helper()
	e.OrganizerID, e.PrivateTask, e.Baseline = c.dataset.OrganizerID, c.dataset.PrivateTask, e.user == "organizer"
	run := &record.RunItem{Access: e.AccessAttributes}
	run.Meta, run.SubmissionID, run.TaskID, run.DatasetID, run.UserID = meta(), id(), c.dataset.TaskID, c.dataset.ID, c.user(e.user).ID
	for i, values := range e.values {
		if values == nil {
			continue
		}
		v := &record.EvaluationItem{Access: e.AccessAttributes, Unlisted: i == 0 && e.values[1] != nil}
		v.Access.Blinded = v.Access.Blinded || i == 0 && e.wasBlinded
		v.Meta, v.RunID, v.SubmissionID, v.TaskID, v.DatasetID, v.UserID = meta(), run.ID, run.SubmissionID, run.TaskID, run.DatasetID, run.UserID
		v.TruthVersion, v.PrimaryMeasure, v.Measures, v.Team = int64(i+1), "AP", values, e.user
		if v.Baseline = e.Baseline; v.Baseline {
			v.Team = record.BaselineTeam
		}
		run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
		c.names[v.ID] = e.name
		c.entries = append(c.entries, v)
		c.put(v)
	}
	c.put(run)
}

// asked is how a board is asked for.
type asked struct {
	user, measure string
	best, count   bool
	version       int64
	atOnce        int
}

func place(rank int, name string, runs int) string {
	if runs == 0 {
		return fmt.Sprint(rank, name)
	}
	return fmt.Sprint(rank, name, "/", runs)
}

// told lists rank and name of each entry, as the board has them.
func (c *scene) told(a asked) string {
	c.t.Helper()
	b := evaluation.Leaderboard{Viewer: &visibility.Viewer{Store: c.store, Caller: c.user(a.user)}, Dataset: c.dataset, TruthVersion: a.version, AtOnce: a.atOnce, Count: a.count}
	entries, err := b.Entries(context.Background(), a.measure, a.best)
	if err != nil {
		c.t.Fatal(err)
	}
	var told []string
	for e, err := range entries {
		if err != nil {
			c.t.Fatal(err)
		}
		item, err := e.Item()
		if err != nil {
			c.t.Fatal(err)
		}
		told = append(told, place(e.Rank, c.names[item.ID], e.Runs))
	}
	return strings.Join(told, " ")
}

// expected is what told must be, worked out from all entries by the rules of package access.
func (c *scene) expected(a asked) string {
	grants := access.Grants{}
	switch a.user {
	case "organizer":
		grants.Memberships = []string{c.dataset.OrganizerID}
	case "registrant":
		grants.Registrations = []access.Registration{{TaskID: c.dataset.TaskID, Accepted: true}}
	}
	measure := cmp.Or(a.measure, "AP")
	var seen []*record.EvaluationItem
	for _, e := range c.entries {
		if e.TruthVersion == a.version && access.Sees(access.Roles(c.user(a.user), grants, e.Scope()), e.Scope().Audience) {
			seen = append(seen, e)
		}
	}
	worth := func(e *record.EvaluationItem) float64 {
		switch v := e.Measures[measure]; {
		case v == nil:
			return -1e9
		case measure == "cost":
			return -*v
		default:
			return *v
		}
	}
	slices.SortFunc(seen, func(x, y *record.EvaluationItem) int {
		return cmp.Or(cmp.Compare(worth(y), worth(x)), cmp.Compare(x.SubmissionID, y.SubmissionID))
	})
	teams := map[string]int{}
	seen = slices.DeleteFunc(seen, func(e *record.EvaluationItem) bool {
		teams[team(e)]++
		return a.best && teams[team(e)] > 1
	})
	var told []string
	for _, e := range seen {
		better := 0
		for _, other := range seen {
			if worth(other) > worth(e) {
				better++
			}
		}
		runs := 0
		if a.best && a.count {
			runs = teams[team(e)]
		}
		told = append(told, place(better+1, c.names[e.ID], runs))
	}
	return strings.Join(told, " ")
}

// team is whose the entry is: each baseline of the organizers stands for itself.
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

// ada's runs are x and y, bob's z; v has no value, u and s are not published, w is blinded, and s was; b and c are
// baselines of the organizers.
func TestLeaderboard_Examples(t *testing.T) {
	c := newScene(t, open(t), false)
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
		c.enter(e)
	}
	for _, tt := range []struct {
		asked
		want string
	}{
		{asked{version: 2}, "1y 2x 2z 4c 5b 6v"},
		{asked{version: 2, best: true}, "1y 2z 3c 4b 5v"},
		{asked{version: 2, best: true, count: true}, "1y/2 2z/1 3c/1 4b/1 5v/1"},
		{asked{version: 2, measure: "cost"}, "1z 1v 3y 4x 5b 6c"},
		{asked{version: 2, measure: "cost", best: true}, "1z 1v 3y 4b 5c"},
		{asked{version: 1}, "1y 1z 3x"},
		{asked{version: 2, user: "cid"}, "1y 2u 3x 3z 5c 6b 7v"},
		{asked{version: 1, user: "cid"}, "1y 1z 3u 4x"},
		{asked{version: 2, user: "fay"}, "1y 2s 3x 3z 5c 6b 7v"},
		{asked{version: 1, user: "fay"}, "1y 1z 3x"},
		{asked{version: 2, user: "eve"}, "1y 2x 2z 4c 5b 6v"},
		{asked{version: 2, user: "organizer"}, "1w 2y 3u 4s 5x 5z 7c 8b 9v"},
		{asked{version: 1, user: "organizer", best: true}, "1y 1z 3u 4s"},
	} {
		for tt.atOnce = range 4 {
			tt.atOnce++ // fewer than there are, so that more than one read is needed
			if got := c.told(tt.asked); got != tt.want {
				t.Errorf("%+v: %s, want %s", tt.asked, got, tt.want)
			}
		}
	}
}

// Whoever asks, however it is stored and read, a board is what all entries that the caller may see are in order.
func TestLeaderboard_RanksWhatTheCallerSees(t *testing.T) {
	s := open(t)
	rapid.Check(t, func(t *rapid.T) {
		c := newScene(t, s, rapid.Bool().Draw(t, "private"))
		value := rapid.SampledFrom([]*float64{nil, new(-.5), new(0.), new(.25), new(.25), new(1.)})
		users := []string{"ada", "bob", "registrant", "organizer"}
		for i := range rapid.IntRange(0, 8).Draw(t, "runs") {
			e := entry{name: fmt.Sprint("-", i), user: rapid.SampledFrom(users).Draw(t, "user")}
			e.Published, e.Blinded, e.Public, e.Anonymous = rapid.Bool().Draw(t, "published"), rapid.IntRange(0, 3).Draw(t, "blinded") == 0, rapid.Bool().Draw(t, "public"), rapid.Bool().Draw(t, "anonymous")
			against := rapid.IntRange(1, 3).Draw(t, "versions")
			for v := range e.values {
				if against>>v&1 == 1 {
					e.values[v] = values(value.Draw(t, "AP"), value.Draw(t, "cost"))
				}
			}
			c.enter(e)
		}
		for _, user := range append(users, "", "unrelated", "worker", "admin") {
			a := asked{
				user: user, measure: rapid.SampledFrom([]string{"", "AP", "cost"}).Draw(t, "measure"), best: rapid.Bool().Draw(t, "best"), count: rapid.Bool().Draw(t, "count"),
				version: rapid.Int64Range(1, 2).Draw(t, "version"), atOnce: rapid.IntRange(1, 4).Draw(t, "at once"),
			}
			if got, want := c.told(a), c.expected(a); got != want {
				t.Errorf("%+v: %s, want %s", a, got, want)
			}
		}
	})
}
