package evaluator_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/record"
)

// TestDigests_TruthIsKeyed evaluates two runs on a dataset, whose secret keys the digests of both.
func TestDigests_TruthIsKeyed(t *testing.T) {
	s := newScene(t)
	ids := []string{s.add(ranked).ID, s.add(ranked).ID}
	s.start()
	plain := digest(s.truth.Files[0].SHA256)
	for _, id := range ids {
		e := get[record.EvaluationItem](s, record.EvaluationKey(s.until(id, record.Completed).EvaluationID))
		secret := get[record.TruthSecret](s, record.TruthSecretKey(s.dataset.ID))
		if secret == nil || e.Digests.Truth != secret.Digest(plain) || e.Digests.Truth == plain || e.Digests.PlainTruth != plain {
			t.Errorf("%+v", e.Digests)
		}
	}
}

// TestBlindedRuns_BoundFailuresThatRevealTheTruth: runs on a blinded split whose topics the truth does not have fail without saying
// why five times a day, and then are to their owner as any other that was evaluated; whatever the files alone earn is shown.
func TestBlindedRuns_BoundFailuresThatRevealTheTruth(t *testing.T) {
	s := newScene(t)
	s.start()
	const other, long = "q8 Q0 d2 1 2.0 tag\n", "q8 Q0 d2 1 2.0 tag and more\n"
	user := record.NewID(s.Now())
	blinded := func(r *record.RunItem) { r.UserID, r.Access.Blinded, r.Counted = user, true, true }
	owner := func(r *record.RunItem) string {
		var all []string
		for _, d := range r.For(access.Anyone | access.User | access.Owner).Diagnostics {
			all = append(all, d.Message)
		}
		return strings.Join(all, "|")
	}
	evaluated := func(content string, state record.RunState, alter ...func(*record.RunItem)) *record.RunItem {
		t.Helper()
		r := s.until(s.add(content, alter...).ID, state)
		if r.Counted != (state == record.Completed) && len(alter) > 0 {
			t.Errorf("%s run counts: %v", r.State, r.Counted)
		}
		return r
	}
	day := func() {
		t.Helper()
		for range record.MaxTruthFailures {
			r := evaluated(other, record.Failed, blinded)
			if told := owner(r); strings.Contains(told, "topic") || !strings.Contains(told, "could tell of the truth") {
				t.Errorf("the owner reads %q", told)
			}
		}
		for content, want := range map[string]string{other: "Your runs have failed 5 times", long: "more than six fields"} {
			r := evaluated(content, record.Completed, blinded)
			if told := owner(r); !strings.Contains(told, want) || strings.Contains(told, "topic") {
				t.Errorf("the owner reads %q", told)
			}
			if shown := r.For(access.Anyone | access.User | access.Owner); shown.EvaluationID != "" || !measure.HasErrors(r.For(access.Organizer).Diagnostics) {
				t.Errorf("%+v", shown)
			}
			if e := get[record.EvaluationItem](s, record.EvaluationKey(r.EvaluationID)); e.Measures["AP"] != nil || e.Reasons["AP"] == "" {
				t.Errorf("%+v", e.Evaluation)
			}
		}
	}
	day()
	same := owner(evaluated(ranked, record.Completed, blinded))
	if missing := owner(evaluated("q1 Q0 d2 1 2.0 tag\n", record.Completed, blinded)); missing != same || !strings.HasPrefix(same, "Your runs have failed 5 times") || strings.Contains(same, "|") {
		t.Errorf("the owner of a run that lacks a topic reads %q", missing)
	}
	if shown := evaluated(ranked, record.Completed, blinded); len(shown.For(access.Organizer).Diagnostics) != 0 {
		t.Errorf("the organizers read %v", shown.For(access.Organizer).Diagnostics)
	}
	for range 2 { // what the file alone earns is not bounded
		if told := owner(evaluated("q1 Q0 d2\n", record.Failed, blinded)); !strings.Contains(told, "only 3 of 6 fields") {
			t.Errorf("the owner reads %q", told)
		}
	}
	evaluated(other, record.Failed, func(r *record.RunItem) { r.Access.Blinded, r.Counted = true, true }) // another team
	for range record.MaxTruthFailures + 1 {
		r := evaluated(other, record.Failed, func(r *record.RunItem) { r.UserID = user })
		if told := owner(r); !strings.Contains(told, "the topics of the truth are") {
			t.Errorf("the owner of a run that is not blinded reads %q", told)
		}
	}
	s.wait(25 * time.Hour)
	if told := owner(evaluated(ranked, record.Completed, blinded)); told != "" {
		t.Errorf("a day later the owner reads %q", told)
	}
	day()
}
