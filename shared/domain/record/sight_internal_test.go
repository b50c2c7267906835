package record

import (
	"fmt"
	"testing"
	"time"

	"assay/shared/domain/access"
)

// TestValueRules_AreTheFormula compares the rules of every review, audience, from and caller with the sentences of the design.
func TestValueRules_AreTheFormula(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	past, future := now.Add(-time.Second), now.Add(time.Second)
	callers := map[string]access.Role{
		"anyone": access.Anyone, "user": access.Anyone | access.User, "registrant": access.Anyone | access.User | access.Registrant,
		"team": access.Anyone | access.User | access.Registrant | access.Owner, "organizer": access.Anyone | access.User | access.Organizer,
		"admin": access.Anyone | access.User | access.Admin,
	}
	froms := []struct {
		from    From
		release Release
		reached func(AccessAttributes) bool
	}{
		{"", Release{Unknown: true}, func(AccessAttributes) bool { return true }},
		{FromNow, Release{Unknown: true}, func(AccessAttributes) bool { return true }},
		{FromPublication, Release{Unknown: true}, func(a AccessAttributes) bool { return a.Published }},
		{FromClose, Release{Unknown: true}, func(AccessAttributes) bool { return false }},
		{FromClose, Release{At: At(future)}, func(AccessAttributes) bool { return false }},
		{FromClose, Release{At: At(now)}, func(AccessAttributes) bool { return true }},
		{FromClose, Release{At: At(past)}, func(AccessAttributes) bool { return true }},
		{From(At(future).String()), Release{}, func(AccessAttributes) bool { return false }},
		{From(At(now).String()), Release{}, func(AccessAttributes) bool { return true }},
		{From(At(past).String()), Release{}, func(AccessAttributes) bool { return true }},
		{"no instant", Release{}, func(AccessAttributes) bool { return false }},
	}
	for _, audience := range []ColumnAudience{"", ForEveryone, ForRegistrants, ForTeam, ForOrganizers, "unknown"} {
		for _, f := range froms {
			for review := range 8 {
				a := AccessAttributes{Published: review&1 != 0, Blinded: review&2 != 0, PrivateTask: review&4 != 0}
				rules := &ValueRules{release: f.release, columns: []Column{{Key: "AP", Audience: audience, From: f.from}, {Key: "P@5"}}}
				for name, roles := range callers {
					organizes := name == "organizer" || name == "admin"
					inTask := name == "registrant" || name == "team" || !a.PrivateTask
					run := !a.Blinded && (name == "team" || a.Published && inTask)
					column := f.reached(a) && (audience == "" || audience == ForEveryone || name == "team" && audience != "unknown" ||
						audience == ForRegistrants && name == "registrant")
					if audience == ForOrganizers {
						column = false
					}
					want := sightOf(organizes || run && column, organizes || run)
					s := rules.For(a, roles, now)
					if got := sightOf(s.Sees("AP"), s.Sees("P@5")); got != want || s.Entry() != (organizes || run) ||
						s.All() != s.Sees("AP") || s.Sees("other") != organizes {
						t.Errorf("%q from %q (%v), %+v, as %s: sees %s, entry %t, all %t; want %s", audience, f.from, f.release, a, name, got,
							s.Entry(), s.All(), want)
					}
					if name == "team" && rules.Conceals(&a, now) != !s.All() {
						t.Errorf("%q from %q, %+v: conceals %t, and the team sees all is %t", audience, f.from, a, rules.Conceals(&a, now), s.All())
					}
				}
			}
		}
	}
}

func sightOf(ap, p5 bool) string { return fmt.Sprintf("AP %t, P@5 %t", ap, p5) }

// Rules with equal states decide alike, and time changes a state only if it changes a decision.
func TestValueRules_EqualStatesDecideAlike(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	var all []*ValueRules
	for _, release := range []Release{{Unknown: true}, {At: At(now)}} {
		for _, from := range []From{FromNow, FromPublication, FromClose, From(At(now).String()), From(At(now.Add(1)).String())} {
			for _, audience := range []ColumnAudience{ForEveryone, ForRegistrants, ForTeam, ForOrganizers} {
				c := Column{Key: "AP", Audience: audience, From: from}
				other := Column{Key: "P@5"}
				all = append(all, &ValueRules{release: release, columns: []Column{c, other}},
					&ValueRules{release: release, columns: []Column{other, c}})
			}
		}
	}
	decisions := func(r *ValueRules, now time.Time) (all string) {
		for review := range 8 {
			a := AccessAttributes{Published: review&1 != 0, Blinded: review&2 != 0, PrivateTask: review&4 != 0}
			for _, key := range []string{"AP", "P@5", "other"} {
				all += fmt.Sprint(r.Audience(&a, key, now), " ")
			}
		}
		return all
	}
	for _, r := range all {
		for _, other := range all {
			if r.State(now) == other.State(now) && decisions(r, now) != decisions(other, now) {
				t.Errorf("%+v and %+v have equal states, and decide %s and %s", r, other, decisions(r, now), decisions(other, now))
			}
		}
		for _, at := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour)} {
			if r.State(now) != r.State(at) && decisions(r, now) == decisions(r, at) {
				t.Errorf("%+v has another state %v later", r, at.Sub(now))
			}
		}
	}
}

func TestValueRules_OfDatasets(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	d := &DatasetItem{}
	d.ID = "D"
	d.Evaluator.Measures = []string{"AP"}
	task := &TaskItem{}
	shown := AccessAttributes{Published: true}
	sees := func(d *DatasetItem, t *TaskItem, e *Embargo, key string, at time.Time) bool {
		return d.ValueRules(t, e).For(shown, access.Anyone, at).Sees(key)
	}
	if !sees(d, nil, nil, "AP", now) || sees(d, nil, nil, "of an earlier evaluator", now) || d.WaitsForClose() {
		t.Error("live scores are withheld, or those of an earlier evaluator are shown")
	}
	d.Columns = []Column{{Key: "AP", From: FromClose}}
	if sees(d, task, nil, "AP", now) || sees(d, nil, nil, "AP", now) || sees(d, task, nil, "of an earlier evaluator", now) ||
		!d.WaitsForClose() {
		t.Error("scores are shown without a close")
	}
	task.Submissions.ClosesAt = new(At(now))
	if !sees(d, task, nil, "AP", now) || sees(d, task, nil, "AP", now.Add(-time.Second)) || sees(d, nil, nil, "AP", now) {
		t.Error("scores do not follow the close")
	}
	later := &Embargo{Extensions: map[string]Extension{"X": {DatasetID: "D", ClosesAt: At(now.Add(time.Hour))}}}
	if sees(d, task, later, "AP", now) || !sees(d, task, later, "AP", now.Add(time.Hour)) {
		t.Error("scores do not follow the later close of a team")
	}
	var missing *DatasetItem
	if missing.ValueRules(task, nil).For(shown, access.Anyone|access.Owner, now).Entry() ||
		!missing.ValueRules(task, nil).For(shown, access.Organizer, now).Entry() {
		t.Error("values on a missing dataset are not for organizers only")
	}
}
