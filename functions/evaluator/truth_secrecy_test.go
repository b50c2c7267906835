package evaluator_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// TestDigests_TruthIsKeyed evaluates two runs on a dataset, whose secret keys the digests of both.
func TestDigests_TruthIsKeyed(t *testing.T) {
	f := newFixture(t)
	ids := []string{f.add(ranked).ID, f.add(ranked).ID}
	f.start()
	plain := digest(f.truth.Files[0].SHA256)
	for _, id := range ids {
		e := get[record.EvaluationItem](f, record.EvaluationKey(f.until(id, record.Completed).EvaluationID))
		secret := get[record.TruthSecret](f, record.TruthSecretKey(f.dataset.ID))
		if secret == nil || e.Digests.Truth != secret.Digest(plain) || e.Digests.Truth == plain || e.Digests.PlainTruth != plain {
			t.Errorf("%+v", e.Digests)
		}
	}
}

// TestBlindedRuns_BoundFailuresThatRevealTheTruth: blinded runs without topics of the truth fail without a reason five times a day; after
// that their owner cannot tell them from evaluated runs. Faults of the files alone are always shown.
func TestBlindedRuns_BoundFailuresThatRevealTheTruth(t *testing.T) {
	f := newFixture(t)
	f.start()
	const other, long = "q8 Q0 d2 1 2.0 tag\n", "q8 Q0 d2 1 2.0 tag and more\n"
	user := record.NewID(f.Now())
	blinded := func(r *recordtest.Run) { r.UserID, r.Access.Blinded, r.Counted = user, true, true }
	evaluated := func(content string, state record.RunState, alter ...recordtest.RunOption) *record.RunItem {
		t.Helper()
		r := f.until(f.add(content, alter...).ID, state)
		if r.Counted != (state == record.Completed) && len(alter) > 0 {
			t.Errorf("%s run counts: %v", r.State, r.Counted)
		}
		return r
	}
	day := func() {
		t.Helper()
		for range record.MaxTruthFailures {
			r := evaluated(other, record.Failed, blinded)
			if read := messages(r, owner); strings.Contains(read, "topic") || !strings.Contains(read, "could tell of the truth") {
				t.Errorf("the owner reads %q", read)
			}
		}
		for content, want := range map[string]string{other: "Your runs have failed 5 times", long: "more than six fields"} {
			r := evaluated(content, record.Completed, blinded)
			if read := messages(r, owner); !strings.Contains(read, want) || strings.Contains(read, "topic") {
				t.Errorf("the owner reads %q", read)
			}
			if shown := r.For(owner); shown.EvaluationID != "" || !measure.HasErrors(r.For(access.Organizer).Diagnostics) {
				t.Errorf("%+v", shown)
			}
			if e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID)); e.Measures["AP"] != nil || e.Reasons["AP"] == "" {
				t.Errorf("%+v", e.Evaluation)
			}
		}
	}
	day()
	same := messages(evaluated(ranked, record.Completed, blinded), owner)
	if missing := messages(evaluated("q1 Q0 d2 1 2.0 tag\n", record.Completed, blinded), owner); missing != same ||
		!strings.Contains(same, ": Your runs have failed 5 times") || strings.Contains(same, "\n") {
		t.Errorf("the owner of a run that lacks a topic reads %q", missing)
	}
	if shown := evaluated(ranked, record.Completed, blinded); len(shown.For(access.Organizer).Diagnostics) != 0 {
		t.Errorf("the organizers read %v", shown.For(access.Organizer).Diagnostics)
	}
	for range 2 { // failures of the file alone are not bounded
		if read := messages(evaluated("q1 Q0 d2\n", record.Failed, blinded), owner); !strings.Contains(read, "only 3 of 6 fields") {
			t.Errorf("the owner reads %q", read)
		}
	}
	evaluated(other, record.Failed, func(r *recordtest.Run) { r.Access.Blinded, r.Counted = true, true }) // another team
	for range record.MaxTruthFailures + 1 {
		r := evaluated(other, record.Failed, func(r *recordtest.Run) { r.UserID = user })
		if read := messages(r, owner); !strings.Contains(read, "the topics of the truth are") {
			t.Errorf("the owner of a run that is not blinded reads %q", read)
		}
	}
	f.wait(25 * time.Hour)
	if read := messages(evaluated(ranked, record.Completed, blinded), owner); read != "" {
		t.Errorf("a day later the owner reads %q", read)
	}
	day()
}
