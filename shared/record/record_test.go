package record_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestInstantsTravelInMillisecondsOfUTC(t *testing.T) {
	for in, want := range map[string]string{
		`"2026-05-01T12:00:00Z"`:                `"2026-05-01T12:00:00.000Z"`,
		`"2026-05-01T14:30:00.123456789+02:30"`: `"2026-05-01T12:00:00.123Z"`,
	} {
		var i record.Instant
		if err := json.Unmarshal([]byte(in), &i); err != nil {
			t.Fatal(err)
		}
		if out, err := json.Marshal(i); err != nil || string(out) != want {
			t.Errorf("%s became %s, %v; want %s", in, out, err, want)
		}
	}
	var i record.Instant
	if err := json.Unmarshal([]byte(`"yesterday"`), &i); err == nil {
		t.Error("yesterday was taken for an instant")
	}
}

func TestIDsAscendAndAreULIDs(t *testing.T) {
	last := ""
	for range 1000 {
		id := record.NewID(noon)
		if !record.IsID(id) || id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
	for _, s := range []string{"", "x", strings.ToLower(last), last + "0", "8" + last[1:], last[:25] + "U"} {
		if record.IsID(s) {
			t.Errorf("%q was taken for an id", s)
		}
	}
}

// The order of the keys is that of the values, whatever they are, the best first and the undefined last.
func TestRankKeysOrderAsTheirValuesDo(t *testing.T) {
	key := func(v *float64, lower bool) string {
		e := &record.EvaluationItem{LowerIsBetter: lower}
		e.PrimaryMeasure, e.Measures = "M", map[string]*float64{"M": v}
		return e.RankKey()
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, math.SmallestNonzeroFloat64}))
		x, y, lower := values.Draw(t, "x"), values.Draw(t, "y"), rapid.Bool().Draw(t, "lower")
		better := x > y
		if lower {
			better = x < y
		}
		switch kx, ky := key(&x, lower), key(&y, lower); {
		case better && kx >= ky, x == y && kx != ky:
			t.Fatalf("%v has %s, %v has %s", x, kx, y, ky)
		case kx >= key(nil, lower):
			t.Fatalf("%v comes after what is undefined", x)
		}
	})
}

// A quota counts as counting by hand does, through charges, refunds and time.
func TestQuotasCountTheRunsOfADay(t *testing.T) {
	type run struct {
		id string
		at time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		rules := record.SubmissionRules{PerDay: rapid.IntRange(0, 4).Draw(t, "perDay"), Total: rapid.IntRange(0, 9).Draw(t, "total")}
		var a record.Allowance
		var runs []run
		now := noon
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 10*3600).Draw(t, "seconds")) * time.Second)
			today := 0
			for _, r := range runs {
				if r.at.After(now.Add(-record.Day)) {
					today++
				}
			}
			if len(runs) > 0 && rapid.IntRange(0, 3).Draw(t, "refund") == 0 {
				i := rapid.IntRange(0, len(runs)-1).Draw(t, "which")
				a.Refund(runs[i].id)
				runs = slices.Delete(runs, i, i+1)
				continue
			}
			var ids []string
			for range rapid.IntRange(1, 3).Draw(t, "runs") {
				ids = append(ids, record.NewID(now))
			}
			err := a.Charge(rules, ids, now)
			fits := (rules.Total == 0 || len(runs)+len(ids) <= rules.Total) && (rules.PerDay == 0 || today+len(ids) <= rules.PerDay)
			if (err == nil) != fits {
				t.Fatalf("%d more than %d today and %d in all under %+v: %v", len(ids), today, len(runs), rules, err)
			}
			if problem.QuotaToday.Is(err) {
				var p *problem.Error
				if asProblem(err, &p); p.RetryAfter <= 0 || a.Charge(rules, ids, now.Add(p.RetryAfter)) != nil {
					t.Fatalf("it does not fit after %v either", p.RetryAfter)
				}
				return // the charge above has changed the allowance
			}
			if err != nil {
				continue
			}
			for _, id := range ids {
				runs = append(runs, run{id, now})
			}
			q := a.Quota(rules, now)
			if rules.PerDay > 0 && *q.RemainingToday != rules.PerDay-today-len(ids) || rules.Total > 0 && *q.Remaining != rules.Total-len(runs) {
				t.Fatalf("%+v left of %+v", q, rules)
			}
		}
	})
}

func asProblem(err error, p **problem.Error) bool {
	e, ok := err.(*problem.Error) //nolint:errorlint // Charge returns it unwrapped
	*p = e
	return ok
}

func TestTeamNamesThatLookAlikeAreTheSame(t *testing.T) {
	same := record.TeamKey("T", "Lake Side")
	for _, name := range []string{"lake side", " Lake  Side ", "LAKE SIDE", "Ｌａｋｅ Side"} {
		if record.TeamKey("T", name) != same {
			t.Errorf("%q is another name", name)
		}
	}
	if record.TeamKey("T", "Lakeside") == same || record.TeamKey("U", "Lake Side") == same {
		t.Error("other names or tasks share a key")
	}
}

func TestAnAliasHidesTheTeamFromStrangersAlone(t *testing.T) {
	s := record.Standing{Anonymous: true, Alias: "anonymous-1", Public: true, Published: true}
	sub := &record.SubmissionItem{Standing: s}
	sub.UserID, sub.Team = "U", "Lake"
	run := &record.RunItem{Standing: s}
	run.UserID, run.Team = "U", "Lake"
	e := &record.EvaluationItem{Standing: s}
	e.UserID, e.Team = "U", "Lake"
	for _, role := range []access.Role{access.Anyone, access.User, access.Registrant, access.Worker} {
		if a, b, c := sub.For(role), run.For(role), e.For(role); a.Team+b.Team+c.Team != "anonymous-1anonymous-1anonymous-1" || a.UserID+b.UserID+c.UserID != "" {
			t.Errorf("%v sees %s %s, %s %s, %s %s", role, a.Team, a.UserID, b.Team, b.UserID, c.Team, c.UserID)
		}
	}
	for _, role := range []access.Role{access.Owner, access.Organizer, access.Admin} {
		if a, b, c := sub.For(role), run.For(role), e.For(role); a.Team+b.Team+c.Team != "LakeLakeLake" || a.UserID+b.UserID+c.UserID != "UUU" {
			t.Errorf("%v sees an alias", role)
		}
	}
}

func TestObjectKeysLeadBackToTheirRecords(t *testing.T) {
	id, sum := record.NewID(noon), strings.Repeat("0a", 32)
	h, got, digest, ok := record.ParseObjectKey(record.ObjectKey(record.HolderTruths, id, sum))
	if !ok || h != record.HolderTruths || got != id || digest != sum {
		t.Error(h, got, digest, ok)
	}
	for _, key := range []string{"", "truths/" + id, "secrets/" + id + "/" + sum, "truths/x/" + sum, "truths/" + id + "/x", "truths/" + id + "/" + sum + "/x"} {
		if _, _, _, ok := record.ParseObjectKey(key); ok {
			t.Errorf("%q was taken for a key", key)
		}
	}
}
