package record_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestInstant_IsWrittenInMillisecondsOfUTC(t *testing.T) {
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
	for _, in := range []string{
		`"yesterday"`, `""`, `0`, `"2026-05-01"`, `"2026-05-01T12:00:00"`, `"2026-13-01T12:00:00Z"`, `"2026-02-30T12:00:00Z"`,
		`"10000-01-01T00:00:00Z"`,
		`"9999-12-31T23:59:59-01:00"`, `"0000-01-01T00:00:00+01:00"`, // in UTC their years do not have four digits
	} {
		var i record.Instant
		if err := json.Unmarshal([]byte(in), &i); err == nil {
			t.Errorf("%s was taken for an instant", in)
		}
	}
}

// TestInstant_ReadsBackAndSorts checks that reading returns the written instant, and that the texts of instants sort by time.
func TestInstant_ReadsBackAndSorts(t *testing.T) {
	instants := rapid.Custom(func(t *rapid.T) record.Instant {
		return record.At(time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")))
	})
	nightlytest.Check(t, func(t *rapid.T) {
		x, y := instants.Draw(t, "x"), instants.Draw(t, "y")
		out, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		var back record.Instant
		if err := json.Unmarshal(out, &back); err != nil || !back.Equal(x.Time) {
			t.Fatalf("%s became %v, %v", out, back, err)
		}
		if x.Before(y.Time) != (x.String() < y.String()) {
			t.Fatalf("%s and %s are in another order than their strings", x, y)
		}
	})
}

func TestNewID_AscendsAndIsAULID(t *testing.T) {
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

// TestRankKeys_OrderAsTheirValues checks that keys sort like their values, best first and undefined last.
func TestRankKeys_OrderAsTheirValues(t *testing.T) {
	key := func(v *float64, lower bool) string {
		name := map[bool]string{true: "MSE", false: "R2"}[lower]
		e := &record.EvaluationItem{Measured: []string{name}}
		e.Evaluator.Kind = string(measure.Regression)
		e.Measures = map[string]*float64{name: v}
		return e.RankKey()
	}
	nightlytest.Check(t, func(t *rapid.T) {
		values := rapid.OneOf(rapid.Float64(),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, math.SmallestNonzeroFloat64}))
		x := values.Draw(t, "x")
		y := values.Draw(t, "y")
		lower := rapid.Bool().Draw(t, "lower")
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

func TestTeamKey_IsTheSameForNamesThatLookAlike(t *testing.T) {
	same := record.TeamKey("T", "Lake Side")
	for _, name := range []string{"lake side", " Lake  Side ", "LAKE SIDE", "Ｌａｋｅ Side", "Lake\u00a0Side", "La\u200bke Side\u2060",
		"La\u00adke Side"} {
		if record.TeamKey("T", name) != same {
			t.Errorf("%q is another name", name)
		}
	}
	for a, b := range map[string]string{"Straße": "STRASSE", "e\u0301clair": "\u00c9CLAIR", "\ufb01n": "FIN", "\u1fb3": "\u1fbc",
		"ΌΣΟΣ": "όσος"} {
		if record.TeamKey("T", a) != record.TeamKey("T", b) {
			t.Errorf("%q and %q are two names", a, b)
		}
	}
	if record.TeamKey("T", "Lakeside") == same || record.TeamKey("U", "Lake Side") == same {
		t.Error("other names or tasks share a key")
	}
}

func TestTeamDraft_RefusesNamesLikeAliases(t *testing.T) {
	alias := record.NewAlias("01JZ3V7Q0D8T5RZ0S6R1W9C4XK")
	for name, fine := range map[string]bool{
		alias: false, "Anonymous-1": false, " ANONYMOUS-x": false, "anony\u200bmous-x": false, "\uff41nonymous\uff0dx": false,
		"anonymous\u2010x": false, "anonymous\u2011x": false, "anonymous\u2013x": false, "anonymous\u2212x": false,
		"anonymous": true, "The anonymous-x": true, "anonymously-x": true,
	} {
		d := record.TeamDraft{Team: name}
		if fields := d.Check(); (len(fields) == 0) != fine || !fine && fields[0].Pointer != "/team" {
			t.Errorf("%+q: %v", name, fields)
		}
	}
}

// TestTeamKey_IsFinal checks that folding a folded name changes nothing. Otherwise two teams could take names that fold alike.
func TestTeamKey_IsFinal(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(),
			rapid.StringOf(rapid.SampledFrom([]rune("aAßſKÅ\u0345\u0301\u1fb7\u00a8\u0130\u03a3ﬀ\u200d \u2003\u1e9e\u3300")))).Draw(t, "name")
		key := record.TeamKey("T", name)
		if again := record.TeamKey("T", strings.TrimPrefix(key.Sort, "TEAM#")); again != key {
			t.Fatalf("%q became %q, and that %q", name, key.Sort, again.Sort)
		}
	})
}

func TestTexts_Check(t *testing.T) {
	const id = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	task := func(edit func(*record.TaskDraft)) []problem.Field {
		d := record.TaskDraft{OrganizerID: id, Name: "Lakes", Description: "a\n\tb\r\n", Website: "https://example.org"}
		d.Normalize()
		edit(&d)
		return d.Check()
	}
	for _, name := range []string{"Lakes", "می\u200cخواهم", "👩\u200d🔬", "\u06dd1", "שלום", "בְּרֵאשִׁ֖ית", "བསྒྲུབས", "กิ่ง", "ᄀᅠ", "⠓⠊", "🐟",
		"Z" + strings.Repeat("\u0301", 8)} {
		if fields := task(func(d *record.TaskDraft) { d.Name = name }); len(fields) > 0 {
			t.Errorf("%q: %v", name, fields)
		}
	}
	at := func(s string) *record.Instant {
		i := new(record.Instant)
		if err := json.Unmarshal([]byte(`"`+s+`"`), i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	refused := func(pointer string, edit func(*record.TaskDraft)) {
		t.Helper()
		if fields := task(edit); len(fields) != 1 || fields[0].Pointer != pointer {
			t.Errorf("%s: %+v", pointer, fields)
		}
	}
	for _, name := range []string{" \u00a0\u200b", "a\nb", "a\x00", "a\u0085b", "a\u2028b", "a\u202etxt.exe", "a\u2067b", "a\ufeffb",
		"\u3164", "\u2800\u115f", "\ufe0f",
		"\u0301", "Z" + strings.Repeat("\u0301", 9), strings.Repeat("\u20dd", 9) + "Z"} {
		refused("/name", func(d *record.TaskDraft) { d.Name = name })
	}
	for _, text := range []string{strings.Repeat("ß", 40_000), "a\x00b", "a\u202eb"} {
		refused("/description", func(d *record.TaskDraft) { d.Description = text })
	}
	for pointer, edit := range map[string]func(*record.TaskDraft){
		"/submissions/types/1": func(d *record.TaskDraft) {
			d.Submissions.Types = []record.SubmissionType{record.UploadType, record.UploadType}
		},
		"/submissions/closesAt": func(d *record.TaskDraft) {
			d.Submissions.OpensAt = at("2026-05-01T12:00:00Z")
			d.Submissions.ClosesAt = at("2026-05-01T14:00:00+02:00")
		},
		"/registration/closesAt": func(d *record.TaskDraft) {
			d.Registration.OpensAt = at("2026-05-02T12:00:00Z")
			d.Registration.ClosesAt = at("2026-05-01T12:00:00Z")
		},
	} {
		refused(pointer, edit)
	}
}

// TestItem_HoldsTheLongestTexts checks that the longest allowed texts fit into an item, whatever their characters.
func TestItem_HoldsTheLongestTexts(t *testing.T) {
	for _, unit := range []string{"<", "\"", "\\", "\n", "\u2028", "ß", "😀"} {
		o := &record.Organizer{}
		o.Description = strings.Repeat(unit, record.MaxTextBytes/len(unit))
		for range record.MaxMembers {
			o.Members = append(o.Members, record.NewID(noon))
		}
		it, err := record.Item(o)
		if err != nil || len(it.Data) > 300<<10 {
			t.Errorf("%q: %d bytes, %v", unit, len(it.Data), err)
		}
		var back record.Organizer
		if err := record.Decode(it, &back); err != nil || back.Description != o.Description {
			t.Errorf("%q does not come back: %v", unit, err)
		}
	}
}

func TestEvaluator_Check(t *testing.T) {
	worker := record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"Mine", "Yours"}, Image: "image"}
	for pointer, edit := range map[string]func(*record.Evaluator){
		"":                      func(*record.Evaluator) {},
		"/evaluator/image":      func(e *record.Evaluator) { e.Image = "" },
		"/evaluator/command":    func(e *record.Evaluator) { e.Command = "a\x00" },
		"/evaluator/measures/0": func(e *record.Evaluator) { e.Measures[0] = " " },
		"/evaluator/measures/1": func(e *record.Evaluator) { e.Measures[1] = "Mine" },
	} {
		e := worker
		e.Measures = slices.Clone(worker.Measures)
		edit(&e)
		d := record.DatasetDraft{TaskID: "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", Name: "Test", Evaluator: e}
		if fields := d.Check(); len(fields) != min(1, len(pointer)) || len(fields) == 1 && fields[0].Pointer != pointer {
			t.Errorf("%s: %+v", pointer, fields)
		}
	}
	long := record.DatasetDraft{TaskID: "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", Name: "Test", Evaluator: record.Evaluator{
		Kind: "retrieval", Measures: []string{strings.Repeat("x", 101)}, Command: "run"}}
	if fields := long.Check(); len(fields) != 2 || fields[0].Pointer != "/evaluator/measures/0" || fields[1].Pointer != "/evaluator/command" {
		t.Errorf("%+v", fields)
	}
}

func TestAlias_HidesTheTeamFromUnrelatedCallers(t *testing.T) {
	s := record.AccessAttributes{Anonymous: true, Alias: "anonymous-1", Public: true, Published: true}
	sub := &record.SubmissionItem{Access: s}
	sub.UserID, sub.Team = "U", "Lake"
	run := &record.RunItem{Access: s}
	run.UserID, run.Team = "U", "Lake"
	e := &record.EvaluationItem{Access: s}
	e.UserID, e.Team = "U", "Lake"
	for _, role := range []access.Role{access.Anyone, access.User, access.Registrant, access.Worker} {
		a := sub.For(role)
		b := run.For(recordtest.SightOf(run, role))
		c := e.For(recordtest.SightOf(e, role))
		if a.Team+b.Team+c.Team != "anonymous-1anonymous-1anonymous-1" ||
			a.UserID+b.UserID+c.UserID != "" {
			t.Errorf("%v sees %s %s, %s %s, %s %s", role, a.Team, a.UserID, b.Team, b.UserID, c.Team, c.UserID)
		}
	}
	for _, role := range []access.Role{access.Owner, access.Organizer, access.Admin} {
		a := sub.For(role)
		b := run.For(recordtest.SightOf(run, role))
		c := e.For(recordtest.SightOf(e, role))
		if a.Team+b.Team+c.Team != "LakeLakeLake" || a.UserID+b.UserID+c.UserID != "UUU" {
			t.Errorf("%v sees an alias", role)
		}
	}
}

// TestAddDiagnostics_KeepsWhatTheTruthHadNoPartIn checks that diagnostics that depend on the ground truth never displace others. So the
// visible diagnostics of a blinded run do not depend on them.
func TestAddDiagnostics_KeepsWhatTheTruthHadNoPartIn(t *testing.T) {
	safe := measure.Diagnostic{Severity: measure.Warning, Message: "safe", SafeWhileBlinded: true}
	other := measure.Diagnostic{Severity: measure.Error, Message: "other"}
	for _, others := range []int{0, 1, measure.MaxDiagnostics, 2 * measure.MaxDiagnostics} {
		var r record.RunItem
		r.AddDiagnostics(slices.Repeat([]measure.Diagnostic{other}, others)...)
		r.AddDiagnostics(safe, safe, safe)
		if got := measure.SafeDiagnostics(r.Diagnostics); len(got) != 3 || len(r.Diagnostics) != min(others+3, measure.MaxDiagnostics) {
			t.Errorf("with %d others: %d of 3 safe ones, %d in all", others, len(got), len(r.Diagnostics))
		}
		if others > 0 && r.Diagnostics[0] != other {
			t.Errorf("with %d others: the first is a %s", others, r.Diagnostics[0].Severity)
		}
	}
}

func TestKeys_OfOtherFormsAreRefused(t *testing.T) {
	if _, err := record.QueuedSince("x"); err == nil {
		t.Error("a key without an instant is taken")
	}
	if _, _, _, err := record.WorkerPool("pool#work"); err == nil {
		t.Error("a key without a run is taken")
	}
	if _, _, err := record.DecodePending(store.Item{Key: record.UserKey("x")}); err == nil {
		t.Error("a user has pending work")
	}
}

// TestRun_NoticeNamesTheQuotaOfTeamsOnly shows runs that failed after they had completed: a baseline counts in the quota of no team.
func TestRun_NoticeNamesTheQuotaOfTeamsOnly(t *testing.T) {
	for registration, counts := range map[string]bool{record.NewID(noon): true, "": false} {
		r := &record.RunItem{Run: record.Run{State: record.Failed}, Evaluations: []string{record.NewID(noon)}}
		r.Access.RegistrationID, r.Access.Baseline = registration, registration == ""
		notice := r.For(recordtest.SightOf(r, access.Owner)).Notice
		if !strings.Contains(notice, "failed when it was evaluated again") || strings.Contains(notice, "No quota counts it.") != counts {
			t.Errorf("of the registration %q: %s", registration, notice)
		}
	}
}

// TestRun_NoticeSaysWhatWithheldValuesAwait shows runs on a dataset that shows scores after the close. Runs on a test split start blinded,
// so their teams see no values at the close before organizers unblind them. Others do not learn whether a run is blinded.
func TestRun_NoticeSaysWhatWithheldValuesAwait(t *testing.T) {
	d := &record.DatasetItem{}
	d.Evaluator.Measures = []string{"AP"}
	recordtest.AfterClose(d)
	notice := func(roles access.Role, a record.AccessAttributes) string {
		r := &record.RunItem{Run: record.Run{State: record.Completed}, Access: a}
		return r.For(d.ValueRules(nil, nil).For(a, roles, noon)).Notice
	}
	const closed = " once the window of every team has closed"
	const unblinded = " and the organizers have unblinded it"
	for want, a := range map[string]record.AccessAttributes{
		"to its team" + closed + ", and to others once the organizers have published it as well.":             {},
		"to its team" + closed + unblinded + ", and to others once the organizers have published it as well.": {Blinded: true},
		"to its team and to others" + closed + ".":                                                            {Published: true},
		"to its team and to others" + closed + unblinded + ".":                                                {Published: true, Blinded: true},
	} {
		if got := notice(access.Owner, a); got != "The run is completed. Values that it has are shown "+want {
			t.Errorf("published %t, blinded %t: %s", a.Published, a.Blinded, got)
		}
		if got := notice(access.Anyone, a); !strings.HasSuffix(got, closed+" and it is published and not blinded.") {
			t.Errorf("others are told: %s", got)
		}
	}
}
