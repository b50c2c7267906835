package main

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/local/cli/client"
	"assay/shared/domain/record"
)

// limitedFile is a task with a dataset that allows fewer runs than the task, one that is closed, and one without a window.
const limitedFile = `organizer: Lake Lab
task:
  name: Lakes
  submissions: {perDay: 50}
datasets:
  - name: Ponds
    split: test
    submissions: {perDay: 2, closesAt: "2099-01-01T00:00:00Z"}
    truths: [qrels.txt]
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
  - name: Seas
    split: validation
    submissions: {closesAt: "2020-01-01T00:00:00Z"}
    truths: [qrels.txt]
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
  - name: Rivers
    split: validation
    truths: [qrels.txt]
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
`

// limited starts a server with the task of limitedFile, and returns its organizer and a participant.
func limited(t *testing.T) (s *server, olga, tom *person) {
	t.Helper()
	s = serve(t, "embedded")
	olga = s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.want(done, "apply", olga.write("task.yaml", limitedFile))
	tom = s.person("tom")
	return s, olga, tom
}

// TestSubmit_SaysFirstWhatADatasetTakes submits to datasets with different windows and quotas. What is said comes before anything is sent.
func TestSubmit_SaysFirstWhatADatasetTakes(t *testing.T) {
	_, _, tom := limited(t)
	run, better := tom.write("run.txt", goodRun), tom.write("better.txt", betterRun)
	end := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04 MST")
	got := tom.says(done, []string{
		"tom submits to Lakes, datasets Ponds and Rivers, for the team tom.\n",
		"Ponds takes runs until " + end + ". Left to submit: 2 runs. Its runs start blinded: nobody but the organizers sees their scores",
		"Rivers takes runs. Left to submit: 50 runs.\n", "  Ponds: 1 run, and one more at ", "  Rivers: 48 runs, and"},
		"submit", "Lakes", "Ponds="+run, "Rivers="+run, "--wait")
	if strings.Contains(got, " of 1") {
		t.Errorf("a run that is not published has a rank:\n%s", got)
	}
	tom.want(done, "submit", "Lakes", "Ponds="+better)
	refused := tom.says(outside,
		[]string{`This submission makes 1 run, and 0 of the 2 that the dataset "Ponds" allows in 24 hours are left. Enough`},
		"submit", "Lakes", "Ponds="+tom.write("bad.txt", "x\n"), "--again")
	if strings.Contains(refused, "Ponds takes runs") {
		t.Errorf("a dataset without a run left takes runs:\n%s", refused)
	}
	tom.says(outside, []string{`Submission to the dataset "Seas" closed at `}, "submit", "Lakes", "Seas="+tom.write("bad.txt", "x\n"))
	repository := []string{"submit", "Lakes", "--dataset", "Rivers", "--repository", "https://example.org/x.git"}
	refused = tom.says(failed, []string{"Rivers takes no repositories, only files, images.\n"}, repository...)
	if strings.Contains(refused, "Rivers takes runs") {
		t.Errorf("a dataset takes repositories before it refuses them:\n%s", refused)
	}
	tom.says(done, []string{"TAKES", "files, images"}, "datasets", "Lakes")
	list := tom.says(done, []string{"TAKES RUNS", "yes until " + end, "closed 20", "LEFT", "ONE MORE"}, "datasets", "Lakes")
	if !regexp.MustCompile(`Seas .*closed 20.*\s-\s+-\s+at once\s*\n`).MatchString(list) {
		t.Errorf("a closed dataset has runs left:\n%s", list)
	}
	if list := decode[[]object](t, tom.want(done, "datasets", "Lakes", "--json")); list[2].text("quota.left") != "0" {
		t.Errorf("the datasets are %v", list)
	}
}

// TestTasks_NameTheLastCloseOfDatasets lists a task without a close of its own, before and after its last dataset gets one.
func TestTasks_NameTheLastCloseOfDatasets(t *testing.T) {
	_, olga, tom := limited(t)
	end := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04 MST")
	if list := tom.says(done, []string{"SUBMISSIONS"}, "tasks"); strings.Contains(list, end) {
		t.Errorf("a task with a dataset that stays open closes:\n%s", list)
	}
	closed := strings.Replace(limitedFile, "Rivers\n", "Rivers\n    submissions: {closesAt: \"2030-01-01T00:00:00Z\"}\n", 1)
	olga.want(done, "apply", olga.write("task.yaml", closed))
	tom.says(done, []string{"until " + end}, "tasks")
}

// TestTasks_SayThatSubmissionsHaveClosed lists a task that still takes registrations, joins it by an invitation, and lists runs after its
// deletion.
func TestTasks_SayThatSubmissionsHaveClosed(t *testing.T) {
	s, olga, tom := limited(t)
	end := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04 MST")
	link := strings.TrimSpace(olga.want(done, "invite", "Lakes", "--to-task"))
	past := strings.NewReplacer("2099-01-01", "2020-02-01", "  submissions: {perDay: 50}\n",
		"  registration: {mode: approval, closesAt: \"2099-01-01T00:00:00Z\"}\n  submissions: {closesAt: \"2020-01-01T00:00:00Z\"}\n")
	olga.want(done, "apply", olga.write("task.yaml", past.Replace(limitedFile)))
	closed := "by approval until " + end + ", too late to submit  closed since 2020-0"
	tom.says(done, []string{closed}, "tasks")
	const late = "Lakes has closed for submissions: a team that registers now can submit only if the organizers set a later close."
	tom.says(done, []string{late, "Joined Lakes in the team Otters."}, "join", link, "--team", "Otters")
	team := decode[[]object](t, olga.want(done, "registrations", "Lakes", "--json"))[0]
	later := map[string]any{"closesAt": "2099-01-01T00:00:00Z", "reason": "Illness."}
	_, err := client.Call[object](t.Context(), olga.client(s.url), http.MethodPost,
		client.Path("tasks", team.text("taskId"), "registrations", team.id(), "exceptions"), later)
	if err != nil {
		t.Fatal(err)
	}
	tom.says(done, []string{", too late to submit  until " + end}, "tasks")
	s.person("ben").says(done, []string{closed}, "tasks")
	task := decode[[]object](t, olga.want(done, "tasks", "--json"))[0]
	olga.remove(s.url, client.Path("tasks", task.id()))
	tom.says(done, []string{"The organizers deleted Lakes. The runs of the team Otters in it are not listed, unless they restore it."},
		"runs")
	olga.remove(s.url, client.Path("organizers", task.text("organizerId")))
	tom.says(done, []string{"The runs of the team Otters in it are not listed, and nobody can restore it any more."}, "runs")
}

// TestSubmit_CountsTheSameOnce repeats a submission. The quota counts the first and --again.
func TestSubmit_CountsTheSameOnce(t *testing.T) {
	s, _, tom := limited(t)
	run := tom.write("run.txt", goodRun)
	submit := []string{"submit", "Lakes", "Ponds=" + run, "--title", "First"}
	tom.want(done, submit...)
	tom.says(done, []string{"Your team submitted the same at ", "--again makes a new one."}, submit...)
	ben := s.person("ben")
	ben.want(done, "join", strings.TrimSpace(tom.want(done, "invite", "Lakes")))
	ben.says(done, []string{"Your team submitted the same at ", "  Ponds: 1 run"},
		"submit", "Lakes", "Ponds="+ben.write("run.txt", goodRun), "--title", "First", "--wait")
	if runs := tom.ids("runs"); len(runs) != 1 {
		t.Errorf("there are the runs %v", runs)
	}
	tom.want(done, append(submit, "--again")...)
	tom.says(outside, []string{"0 of the 2"}, append(submit, "--again")...)
	got := tom.says(done, []string{"Your team submitted the same at ",
		"A new one is not possible now. Left to submit to Ponds: 0 runs, and one"}, submit...)
	if strings.Contains(got, "--again") {
		t.Errorf("although no run is left, --again makes a new one: %s", got)
	}
	image := []string{"submit", "Lakes", "--dataset", "Rivers", "--image", "example.org/x:1"}
	tom.says(done, []string{"Left to submit: 48 runs, and one more at "}, image...)
	tom.want(done, "cancel", tom.ids("runs")[0])
	if got := tom.says(done, []string{"Left to submit: 48 runs"}, image...); strings.Contains(got, "the same") {
		t.Errorf("a cancelled run is not submitted again: %s", got)
	}
	tom.want(done, "cancel", tom.ids("runs")[0])
	if runs := tom.ids("runs"); len(runs) != 4 {
		t.Errorf("there are the runs %v", runs)
	}
}

// TestSubmit_SaysTheRunsOfAnInterruptedWait interrupts the command while it waits, like Ctrl-C.
func TestSubmit_SaysTheRunsOfAnInterruptedWait(t *testing.T) {
	s, tom, _ := prepared(t)
	ctx, interrupt := context.WithCancel(t.Context())
	looked := proxyOf(t, s.url, func(r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/v1/runs/") {
			interrupt()
		}
		return true
	}, nil)
	tom.want(done, "login", s.url, "--user", "tom")
	tom.env = map[string]string{"ASSAY_TOKEN": strings.TrimSpace(tom.want(done, "tokens", "create", "ci")), "ASSAY_URL": looked}
	image := []string{"submit", "Lake search", "--dataset", "Rivers", "--image", "example.org/x:1", "--command", "/run", "--wait"}
	r := tom.run(ctx, image...)
	tom.env = nil
	runs := tom.ids("runs")
	if len(runs) != 1 || r.code != interrupted || !strings.Contains(r.errs, "Try: assay runs "+runs[0]+" --wait\n") {
		t.Errorf("the interrupted command exits with %d, and there are the runs %v\n%s", r.code, runs, r.errs)
	}
	tom.says(waiting, []string{"still queued"}, "runs", runs[0], "--wait", "--timeout", "10ms")
}

// TestQuota_InSentences says what a dataset takes of a team, and who sees scores.
func TestQuota_InSentences(t *testing.T) {
	files := []record.SubmissionType{record.UploadType}
	closed := record.DatasetQuota{
		DatasetID:        "ponds",
		Types:            files,
		QuotaLeft:        record.QuotaLeft{Left: new(1)},
		SubmissionWindow: record.SubmissionWindow{ClosedReason: record.ClosedLate, ClosesAt: new(record.At(time.Now()))},
	}
	none := record.DatasetQuota{
		DatasetID:        "ponds",
		Types:            files,
		QuotaLeft:        record.QuotaLeft{Left: new(0), Total: new(2), Remaining: new(0), PerDay: new(9), RemainingToday: new(7)},
		SubmissionWindow: record.SubmissionWindow{Open: true},
	}
	usedUp := record.Quota{QuotaLeft: record.QuotaLeft{Left: new(0), Total: new(9), Remaining: new(7), PerDay: new(3), RemainingToday: new(0)}}
	later := none
	later.QuotaLeft = record.QuotaLeft{Left: new(0), NextAt: closed.ClosesAt, PerDay: new(1), RemainingToday: new(0)}
	terms := record.DatasetQuota{
		DatasetID:        "ponds",
		Types:            files,
		SubmissionWindow: record.SubmissionWindow{ClosedReason: record.ClosedByTerms},
	}
	early := record.DatasetQuota{
		DatasetID:        "ponds",
		Types:            files,
		SubmissionWindow: record.SubmissionWindow{ClosedReason: record.ClosedEarly, OpensAt: closed.ClosesAt},
	}
	blinded := record.DatasetQuota{StartsBlinded: true}
	live := object{"name": "Ponds", "columns": []any{object{"key": "AP"}}}
	late := object{"name": "Ponds", "columns": []any{object{"key": "AP", "from": "close"}}}
	closing := localTime(closed.ClosesAt)
	refused := func(of record.DatasetQuota) string { return takesNone(live, of, record.Quota{}, record.UploadType) }
	for name, c := range map[string]struct{ got, want string }{
		"closed":                   {refused(closed), "Ponds takes no runs: it closed at " + closing + "."},
		"not open":                 {refused(early), "Ponds takes no runs: it opens only at " + closing + "."},
		"not open, with runs left": {leftNow(early), "no run, because it opens only at " + closing},
		"no run left": {takesNone(live, none, usedUp, record.UploadType), "Left to submit to Ponds: 0 runs. Your team may submit " +
			"at most 2 in all to the dataset and 3 in 24 hours to the task. If you need more, ask the organizers of the task for an exception."},
		"no run left until one comes back": {takesNone(live, later, record.Quota{}, record.UploadType), "Left to submit to Ponds: 0 runs, " +
			"and one more at " + closing + ". Your team may submit at most 1 in 24 hours to the dataset."},
		"fewer left than datasets": {leftOfTask(record.Quota{QuotaLeft: record.QuotaLeft{Left: new(1), Total: new(5), Remaining: new(1)}},
			[]object{live, late}), "Left to submit to all datasets together: 1 run. Your team may submit at most 5 in all to the task. " +
			"Submit to fewer datasets at once."},
		"closed, with a run left":    {leftNow(closed), "no run, because it closed at " + closing},
		"terms not accepted":         {refused(terms), "Ponds takes no runs: your team has not accepted the terms of the task."},
		"terms, with runs left":      {leftNow(terms), "no run, because your team has not accepted the terms of the task"},
		"another form":               {takesNone(live, none, record.Quota{}, record.ImageType), "Ponds takes no images, only files."},
		"blinded":                    {withheldScores(blinded, live), "nobody but the organizers sees their scores until they unblind them."},
		"blinded, until the close":   {withheldScores(blinded, late), "and not before the window of every team has closed."},
		"unblinded, until the close": {withheldScores(closed, late), "sees scores until the window of every team has closed."},
	} {
		if !strings.HasSuffix(c.got, c.want) {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}
