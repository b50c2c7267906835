package functions_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
)

// onBoard begins the sentence of a preview about changed places.
const onBoard = "On the organizers' leaderboard, which counts unpublished runs too, "

// evaluationEffects returns the effects of a previewed change of the truth on runs.
func (l *leaderboards) evaluationEffects(lines string) (all []string, counts []int64) {
	l.t.Helper()
	var preview previewAnswer
	body := map[string]any{"truths": []any{servertest.Inline("labels.csv", "id,label\n"+lines)}}
	l.Want(http.StatusOK, &preview, "olga", http.MethodPatch, l.dataset+"?preview=true", body)
	for _, e := range preview.Effects {
		if e.Kind == "evaluation" {
			all = append(all, e.Detail)
			counts = append(counts, e.Count)
		}
	}
	return all, counts
}

// The preview of another truth tells how many runs would fail and how the order changes. Runs that the change fails are not charged.
func TestTruthTrial_TellsWhichRunsFailAndRefundsThem(t *testing.T) {
	l := newLeaderboards(t)
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, l.task, map[string]any{"submissions": map[string]any{"perDay": 5, "total": 5}})
	runs := map[string]string{"ada": l.enter("ada", "1,a\n2,b\n"), "bob": l.enter("bob", "1,a\n2,a\n")}
	remaining := func(user string) int {
		t.Helper()
		var list struct{ Data []record.Registration }
		l.Want(http.StatusOK, &list, user, http.MethodGet, l.task+"/registrations", nil)
		return *servertest.Get[record.Registration](l.Server, user, l.task+"/registrations/"+list.Data[0].ID).Quota.Remaining
	}
	if n := remaining("ada"); n != 4 {
		t.Fatalf("%d runs remain after one of 5", n)
	}

	told, _ := l.evaluationEffects("1,a\n2,a\n")
	if len(told) != 3 || told[1] != "The preview evaluated 2 runs, the best of the newest 2: none of them would fail." ||
		told[2] != onBoard+"2 of 2 runs would change places. The best would be a run of Team of bob instead of a run of Team of ada." {
		t.Errorf("harmless: %q", told)
	}
	told, counts := l.evaluationEffects("1,a\n2,b\n3,b\n")
	if len(told) != 2 || counts[1] != 2 || !strings.Contains(told[1], "2 of them would fail, leave the leaderboard and no longer count in "+
		"the quotas. The first is a run of Team of ada: there is no prediction for 1 of 3 ids of the truth") {
		t.Errorf("another id: %q, %v", told, counts)
	}

	l.changeTruth("1,a\n2,b\n3,b\n")
	l.nextMinute()
	for user, id := range runs {
		l.evaluate(id)
		if r := l.run(user, id); r.State != record.Failed {
			t.Fatalf("the run of %s is %s", user, r.State)
		}
		if n := remaining(user); n != 5 {
			t.Errorf("%d runs remain of 5 for %s, whose run the new truth fails", n, user)
		}
	}
	told, counts = l.evaluationEffects("1,a\n2,b\n")
	if len(told) != 2 || counts[1] != 2 || told[1] != "The preview also evaluated 2 failed runs: 2 of them would complete and count in the "+
		"quotas. The best is a run of Team of ada." {
		t.Errorf("without the other id again: %q, %v", told, counts)
	}
	l.changeTruth("1,a\n2,b\n")
	l.nextMinute()
	l.evaluate(runs["ada"])
	if r, n := l.run("ada", runs["ada"]), remaining("ada"); r.State != record.Completed || n != 4 {
		t.Errorf("with the first truth again the run is %s, and %d runs remain of 5", r.State, n)
	}
}

// A second change of the truth, while runs wait to be evaluated against the first, concerns these runs too.
func TestTruthTrial_CountsRunsThatWaitToBeEvaluatedAgain(t *testing.T) {
	l := newLeaderboards(t)
	l.enter("ada", "1,a\n2,b\n")
	l.enter("bob", "1,a\n2,a\n")
	cid := l.enter("cid", "1,b\n2,b\n")
	l.changeTruth("1,b\n2,a\n")
	if r := l.run("cid", cid); r.State != record.Queued {
		t.Fatalf("the run is %s", r.State)
	}
	told, _ := l.evaluationEffects("1,a\n2,b\n")
	if len(told) != 2 || told[0] != "The platform evaluates 3 runs again once the truth files are read." ||
		told[1] != "The preview evaluated 3 runs, the best of the newest 3: none of them would fail." {
		t.Errorf("while all runs wait: %q", told)
	}
	l.evaluate(cid)
	l.submit("ada", servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", "id,label\n1,b\n2,a\n"))) // not evaluated yet
	told, _ = l.evaluationEffects("1,b\n2,b\n3,b\n")
	if len(told) != 2 || told[0] != "The platform evaluates 3 runs again once the truth files are read." ||
		!strings.HasPrefix(told[1], "The preview evaluated 3 runs, the best of the newest 3: 3 of them would fail and leave") {
		t.Errorf("while two runs wait: %q", told)
	}
}

// The preview names no run as the best where two runs share the first rank, before or after the change.
func TestTruthTrial_TellsTies(t *testing.T) {
	l := newLeaderboards(t)
	l.register("cara", nil)
	runs := []string{l.enter("ada", "1,a\n2,b\n"), l.enter("bob", "1,a\n2,a\n"), l.enter("cara", "1,a\n2,a\n")}
	told, _ := l.evaluationEffects("1,a\n2,a\n")
	if len(told) != 3 ||
		!strings.HasSuffix(told[2], " The best would be 2 equal runs (one of them of Team of bob) instead of a run of Team of ada.") {
		t.Errorf("would be: %q", told)
	}
	l.changeTruth("1,a\n2,a\n")
	l.nextMinute()
	for _, id := range runs {
		l.evaluate(id)
	}
	for range 3 {
		l.nextMinute() // the leaderboard shows the new version
	}
	told, _ = l.evaluationEffects("1,a\n2,b\n")
	if len(told) != 3 ||
		!strings.HasSuffix(told[2], " The best would be a run of Team of ada instead of 2 equal runs (one of them of Team of bob).") {
		t.Errorf("are: %q", told)
	}
}

// Quotas count no baselines, so the preview does not count them among the runs whose quota changes.
func TestTruthTrial_CountsOnlyRunsOfQuotas(t *testing.T) {
	l := newLeaderboards(t)
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, l.task, map[string]any{"submissions": map[string]any{"total": 5}})
	body := servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", "id,label\n1,a\n2,b\n"))
	body["baseline"] = true
	baseline, of := l.submit("olga", body).RunIDs[0], ""
	l.evaluate(baseline)
	check := func(lines string, place int, want string) {
		t.Helper()
		told, counts := l.evaluationEffects(lines)
		if len(told) <= place || !strings.Contains(told[place], want) || counts[place] != int64(len(strings.Fields(of))+1) {
			t.Errorf("%q, %v, want %q", told, counts, want)
		}
	}
	check("1,a\n2,b\n3,b\n", 1, "1 of them would fail and leave the leaderboard. No quota counts these. The first is a run of the organizers")
	of = l.enter("ada", "1,a\n2,b\n")
	check("1,a\n2,b\n3,b\n", 1, "2 of them would fail and leave the leaderboard. Only 1 of these would stop counting in the quotas. The")
	l.changeTruth("1,a\n2,b\n3,b\n")
	l.nextMinute()
	l.evaluate(baseline)
	l.evaluate(of)
	check("1,a\n2,b\n", 1, "2 of them would complete. Only 1 of these would count in the quotas. The best is a run of ")
}

// A change of the measures need not name the primary one, so its preview does.
func TestPreview_SaysWhichMeasureRanks(t *testing.T) {
	l := newLeaderboards(t)
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"measures": []string{"Accuracy", "MCC"}}, "Accuracy stays the measure that ranks."},
		{map[string]any{"measures": []string{"MCC"}}, "MCC becomes the measure that ranks, instead of Accuracy."},
	} {
		var preview previewAnswer
		body := map[string]any{"evaluator": c.change}
		l.Want(http.StatusOK, &preview, "olga", http.MethodPatch, l.dataset+"?preview=true", body)
		said := false
		for _, e := range preview.Effects {
			said = said || e.Detail == c.want
		}
		if !said {
			t.Errorf("%v: %+v", c.change, preview.Effects)
		}
	}
}

// The preview counts the runs that get another rank. Equally good runs share a rank, like on the leaderboard.
func TestTruthTrial_CountsChangedRanks(t *testing.T) {
	l := newLeaderboards(t)
	l.newDataset(map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n2,b\n3,b\n")}})
	l.enter("ada", "1,a\n2,a\n3,b\n")
	l.enter("bob", "1,b\n2,b\n3,b\n")
	told, counts := l.evaluationEffects("1,b\n2,b\n3,a\n")
	if len(told) != 3 || counts[2] != 1 || told[2] != onBoard+"1 of 2 runs would change places." {
		t.Errorf("one of two equally good runs becomes worse: %q, %v", told, counts)
	}
	if told, _ := l.evaluationEffects("1,a\n2,b\n3,a\n"); len(told) != 2 {
		t.Errorf("two equally good runs stay so: %q", told)
	}
}

// A change of the truth evaluates failed runs again. Those that fail again stay failed, do not count, and leave the team its failures. Runs
// that fail by the change fail as the preview says, also if the team has no failures left.
func TestTruthTrial_FailsBlindedRunsThatFailedBefore(t *testing.T) {
	l := newLeaderboards(t)
	l.newDataset(map[string]any{"split": "test", "truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n2,b\n")}})
	l.Want(http.StatusOK, nil, "olga", http.MethodPatch, l.task, map[string]any{"submissions": map[string]any{"perDay": 9, "total": 9}})
	var failed []string
	for range record.MaxTruthFailures {
		failed = append(failed, l.enter("ada", "1,a\n"))
	}
	hidden := l.enter("ada", "1,a\n")
	good := l.enter("bob", "1,a\n2,b\n")
	for range record.MaxTruthFailures {
		failed = append(failed, l.enter("bob", "1,a\n"))
	}
	owner := func(id string) string {
		if r := l.run("olga", id); r.Team == "Team of ada" {
			return "ada"
		}
		return "bob"
	}
	check := func(when string, bad []string, completed ...string) {
		t.Helper()
		for _, id := range slices.Concat(bad, completed) {
			l.evaluate(id)
		}
		counts := map[string]int{}
		for _, id := range bad {
			if r := l.run(owner(id), id); r.State != record.Failed {
				t.Errorf("%s a run without values is %s", when, r.State)
			}
		}
		for _, id := range completed {
			counts[owner(id)]++
			if r := l.run(owner(id), id); r.State != record.Completed {
				t.Errorf("%s a run with values is %s", when, r.State)
			}
		}
		for _, user := range []string{"ada", "bob"} {
			var list struct{ Data []record.Registration }
			l.Want(http.StatusOK, &list, user, http.MethodGet, l.task+"/registrations", nil)
			r := servertest.Get[record.Registration](l.Server, user, l.task+"/registrations/"+list.Data[0].ID)
			if n := *r.Quota.Remaining; n != 9-counts[user] {
				t.Errorf("%s %d runs of 9 remain for %s, who has %d completed", when, n, user, counts[user])
			}
		}
	}
	check("at first", failed, hidden, good)
	l.changeTruth("1,a\n2,a\n")
	l.nextMinute()
	check("after a corrected label", failed, hidden, good)
	told, counts := l.evaluationEffects("1,a\n2,b\n3,b\n")
	if len(told) != 4 || counts[1] != 1 || !strings.Contains(told[1], "1 of them would fail, leave the leaderboard") ||
		told[2] != "1 run would stay completed without values: its team does not see the values, and 5 other such runs of the team had "+
			"failed in the 24 hours before it completed. Runs that cannot be evaluated fail if the team sees their values, or if they "+
			"completed before these failures." ||
		told[3] != fmt.Sprintf("The preview also evaluated %d failed runs: none of them would complete.", len(failed)) {
		t.Errorf("%q, %v", told, counts)
	}
	l.changeTruth("1,a\n2,b\n3,b\n")
	l.nextMinute()
	check("after another id", slices.Concat(failed, []string{good}), hidden)
	l.changeTruth("1,a\n2,b\n")
	l.nextMinute()
	check("after its removal", failed, hidden, good)
	l.changeTruth("1,a\n")
	l.nextMinute()
	check("after the repair", []string{good}, append(slices.Clone(failed), hidden)...)
	l.changeTruth("1,a\n2,b\n")
	l.nextMinute()
	check("after its end", failed, hidden, good)
}

// The trial reserves memory for the largest file, so it leaves out a packed file with more text.
func TestTruthTrial_LeavesOutFilesThatUnpackToMore(t *testing.T) {
	l := newLeaderboards(t)
	plain := func(size int) string { return "id,label,note\n1,a," + strings.Repeat("x", size) + "\n2,b,\n" }
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(plain(50_000)))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for user, content := range map[string]string{"ada": plain(1000), "bob": packed.String()} {
		l.evaluate(l.submit(user, servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", content))).RunIDs[0])
	}
	told, _ := l.evaluationEffects("1,a\n2,a\n")
	const want = "The preview evaluated 1 run, the best of the newest 2, and left out 1 run to end in time: none of them would fail."
	const unknown = "The preview does not tell how many runs would change places on the leaderboard, since it evaluated only 1 of 2 runs."
	if len(told) != 3 || told[1] != want || told[2] != unknown {
		t.Errorf("%q", told)
	}
	l.enter("cid", "1,b\n2,a\n")
	told, _ = l.evaluationEffects("1,b\n2,a\n")
	const among = "The preview compared only the 2 runs that it evaluated: 2 of these would change places. How they rank among all runs " +
		"is unknown. The best of these would be a run of Team of cid instead of a run of Team of ada."
	if len(told) != 3 || told[2] != among {
		t.Errorf("%q", told)
	}
}

// The trial leaves out a packed file that takes much memory, even if it is the largest.
func TestTruthTrial_LeavesOutFilesThatTakeMuchMemory(t *testing.T) {
	l := newLeaderboards(t)
	l.enter("ada", "1,a\n2,b\n")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("id,label\n1,a\n2,a\n" + strings.Repeat("\n", 3_000_000)))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	l.evaluate(l.submit("bob", servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", packed.String()))).RunIDs[0])
	if err := l.evaluator.EvaluateSlow(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, _ := l.evaluationEffects("1,a\n2,a\n")
	if len(told) < 2 || !strings.HasPrefix(told[1], "The preview evaluated 1 run, the best of the newest 2, and left out 1 run") {
		t.Errorf("%q", told)
	}
}

// A change of the measures can change the direction. Each order follows its own measure.
func TestTruthTrial_RanksByTheMeasureOfEachBoard(t *testing.T) {
	const truth = "1,1\n2,2\n3,3\n"
	const first = "1,1\n2,2\n3,4\n"
	const second = "1,3\n2,1\n3,2\n"
	for _, c := range []struct{ was, is []string }{
		{[]string{"MSE", "Pearson"}, []string{"Pearson", "MAE"}},
		{[]string{"Pearson", "MAE"}, []string{"MSE"}},
		{[]string{"MSE"}, []string{"Pearson"}},
	} {
		l := newLeaderboards(t)
		l.newDataset(map[string]any{"split": "validation", "truths": []any{servertest.Inline("truth.csv", "id,label\n"+truth)},
			"evaluator": map[string]any{"kind": "regression", "measures": c.was}})
		l.enter("ada", first)
		l.enter("bob", second)
		var preview previewAnswer
		body := map[string]any{"evaluator": map[string]any{"measures": c.is}}
		l.Want(http.StatusOK, &preview, "olga", http.MethodPatch, l.dataset+"?preview=true", body)
		evaluated := false
		for _, e := range preview.Effects {
			evaluated = evaluated || strings.HasPrefix(e.Detail, "The preview evaluated 2 runs")
			if strings.Contains(e.Detail, "would change places") {
				t.Errorf("from %q to %q, which order the runs alike: %q", c.was, c.is, e.Detail)
			}
		}
		if !evaluated {
			t.Errorf("from %q to %q: %+v", c.was, c.is, preview.Effects)
		}
	}
}

// A run that completed because its team had no failures left fails if the team sees its values meanwhile, or if the reason does not depend
// on the ground truth.
func TestTruthTrial_LimitsOnlyFailuresThatRevealTheTruth(t *testing.T) {
	l := newLeaderboards(t)
	l.newDataset(map[string]any{"split": "test", "truths": []any{servertest.Inline("truth.csv", "id,label\n1,a\n2,b\n")}})
	for range record.MaxTruthFailures {
		l.enter("ada", "1,a\n")
	}
	hidden, shown := l.enter("ada", "1,a\n"), l.enter("ada", "1,a\n")
	l.review(shown, false, false)
	told, counts := l.evaluationEffects("1,a\n2,b\n3,b\n")
	const stays = "1 run would stay completed without values: its team does not see the values, and 5 other such runs of the team had " +
		"failed in the 24 hours before it completed. Runs that cannot be evaluated fail if the team sees their values, or if they completed " +
		"before these failures."
	if len(told) != 4 || !strings.Contains(told[1], ": 1 of them would fail") || counts[1] != 1 || told[2] != stays {
		t.Errorf("%q, %v", told, counts)
	}
	var preview previewAnswer
	l.Want(http.StatusOK, &preview, "olga", http.MethodPatch, l.dataset+"?preview=true", map[string]any{
		"runFormat": map[string]any{"kind": "csv", "idField": "nr", "valueField": "label"},
		"truths":    []any{servertest.Inline("truth.csv", "nr,label\n1,a\n2,b\n")}})
	fails := false
	for _, e := range preview.Effects {
		fails = fails || strings.Contains(e.Detail, ": 2 of them would fail")
	}
	if !fails {
		t.Errorf("another format of runs: %+v", preview.Effects)
	}
	l.changeTruth("1,a\n2,b\n3,b\n")
	for id, want := range map[string]record.RunState{hidden: record.Completed, shown: record.Failed} {
		l.evaluate(id)
		if r := l.run("olga", id); r.State != want {
			t.Errorf("a run is %s, want %s", r.State, want)
		}
	}
}
