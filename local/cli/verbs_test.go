package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	taskFile = `organizer: Lake Lab
task:
  name: Lake search
  description: Find lakes.
  registration: {mode: open}
  submissions: {perDay: 5, closesAt: "2099-01-01T00:00:00+01:00"}
datasets:
  - name: Lakes
    split: test
    truths: [qrels.txt]
    inputs: [topics.tsv]
    inputsFor: registrants
    finalRuns: 1
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: ["nDCG@10", RR]}
  - name: Rivers
    split: training
    truths: [qrels.txt]
    truthsPublic: true
    runFormat: {kind: trec-run}
    evaluator: {kind: retrieval, measures: [AP]}
`
	qrelsFile = "1 0 lake 1\n2 0 river 2\n3 0 sea 1\n"
	goodRun   = "1 Q0 lake 1 2.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n3 Q0 sea 1 1.0 tom\n"
	betterRun = "1 Q0 lake 1 2.0 ann\n2 Q0 river 1 2.0 ann\n3 Q0 sea 1 1.0 ann\n"
)

// decode decodes the JSON output of a command.
func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// ids returns the ids of the resources that a command lists.
func (p *person) ids(args ...string) (list []string) {
	p.t.Helper()
	for _, o := range decode[[]object](p.t, p.want(done, append(args, "--json")...)) {
		list = append(list, o.id())
	}
	return list
}

// TestJoin_AgreesToTermsOnceForATeam joins as a second member of a team that has accepted the terms.
func TestJoin_AgreesToTermsOnceForATeam(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	tom := s.person("tom")
	ben := s.person("ben")
	olga.want(done, "apply", olga.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes, terms: {text: Cite us.}}\n"))
	tom.says(failed, []string{"Cite us.", "Try: the same command with --accept-terms"}, "join", "Lakes")
	olga.want(done, "apply", olga.write("free.yaml", "organizer: Lake Lab\ntask: {name: Ponds}\n"))
	for _, args := range [][]string{{"join", "Ponds"}, {"submit", "Ponds", "--image", "x"},
		{"join", strings.TrimSpace(olga.want(done, "invite", "Ponds", "--to-task"))}} {
		tom.says(failed, []string{"--accept-terms does nothing here: Ponds has no terms."}, append(args, "--accept-terms")...)
	}
	tom.want(done, "join", "Lakes", "--accept-terms")
	olga.want(done, "apply", olga.write("task.yaml",
		"organizer: Lake Lab\ntask: {name: Lakes, terms: {text: Cite us.}, registration: {mode: approval}}\n"))
	kim := s.person("kim")
	kim.want(done, "join", "Lakes", "--accept-terms")
	s.person("lee").says(done, []string{"Joined the team kim. The team kim waits for the organizers of Lakes"}, "join",
		strings.TrimSpace(kim.run(t.Context(), "invite", "Lakes").out))
	toTeam := strings.TrimSpace(tom.want(done, "invite", "Lakes"))
	ben.says(failed, []string{"This invitation makes no new team, so it does not go with --accept-terms."}, "join", toTeam, "--accept-terms")
	ben.says(done, []string{"Joined Lakes in the team tom.\n"}, "join", toTeam)
	toTask := strings.TrimSpace(olga.want(done, "invite", "Lakes", "--to-task"))
	zoe := s.person("zoe")
	zoe.says(failed, []string{"Cite us."}, "join", toTask)
	const second = "in Lakes already, and this invitation makes another one."
	if got := tom.says(failed, []string{"You have the team tom " + second}, "join", toTask); strings.Contains(got, "Cite us.") ||
		strings.Contains(got, "waits for") {
		t.Errorf("a registered user is asked for terms again: %s", got)
	}
	kim.says(failed, []string{"You have the team kim " + second + " The team kim waits for the organizers of Lakes"}, "join", toTask)
	olga.want(done, "registrations", "reject", "Lakes", "kim")
	kim.says(failed, []string{second + " The organizers of Lakes rejected the team kim, so it does not take part."}, "join", toTask)
	olga.want(done, "apply", olga.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes, terms: {text: Cite us twice.}}\n"))
	for _, flags := range [][]string{nil, {"--accept-terms"}, {"--team", "Kims"}} {
		kim.says(notFound, []string{"The organizers of Lakes rejected the team kim"}, append([]string{"join", "Lakes"}, flags...)...)
	}
	tom.says(failed, []string{"Cite us twice."}, "join", "Lakes")
	zoe.says(done, []string{"Joined Lakes in the team zoe.\n"}, "join", toTask, "--accept-terms")
}

// TestVerbs_RunATask runs a task with an organizer and two teams using only commands, over both stores.
func TestVerbs_RunATask(t *testing.T) {
	for _, store := range []string{"embedded", "dynamodb"} {
		t.Run(store, func(t *testing.T) {
			s := serve(t, store)
			olga := s.person("olga")
			olga.write("qrels.txt", qrelsFile)
			olga.write("topics.tsv", "1\tlakes\n2\trivers\n")
			file := olga.write("task.yaml", taskFile)
			olga.says(done, []string{"would create organizer Lake Lab", "would create task Lake search",
				"would create dataset Rivers\n  sends " + filepath.Join(olga.folder, "qrels.txt")}, "apply", file, "--dry-run")
			bad := olga.write("bad.yaml", strings.Replace(taskFile, "measures: [AP]", "measures: [BLEU]", 1))
			olga.says(fileRefused, []string{`bad.yaml:21: datasets[1].evaluator.measures[0]: measure "BLEU": ` +
				`there is no retrieval measure "BLEU", but one of the kind text`},
				"apply", bad)
			olga.says(done, []string{"You see no task here."}, "tasks")
			olga.says(done, []string{"would create organizer Lake Lab"}, "apply", file, "--dry-run")
			olga.says(done, []string{"created task Lake search", "created dataset Lakes"}, "apply", file)
			olga.says(done, []string{"unchanged task Lake search", "unchanged dataset Lakes", "unchanged dataset Rivers"}, "apply", file)
			olga.write("task.yaml", strings.ReplaceAll(taskFile, "Find lakes", "Find all lakes"))
			olga.says(done, []string{"would change task Lake search: description"}, "apply", file, "--dry-run")
			olga.says(done, []string{"changed task Lake search: description"}, "apply", file)
			takePart(t, s, olga)
		})
	}
}

func takePart(t *testing.T, s *server, olga *person) {
	const task = "lake SEARCH"
	tom, ben := s.person("tom"), s.person("ben")
	tom.says(done, []string{"Lake search", "open"}, "tasks")
	tom.says(done, []string{"Lakes", "nDCG@10", "Rivers", "AP       -       files, images  -\n", "hidden  files, images  1 of each team\n"},
		"datasets", task)
	tom.says(notFound, []string{`no dataset "Rivers 1" here`, `Did you mean "Rivers"?`, "Lakes", "Try: assay datasets 'lake SEARCH'"},
		"download", task, "--dataset", "Rivers 1")
	tom.says(done, []string{"no inputs of Lakes that you may read", "only to accepted teams"},
		"download", task, "--dataset", "Lakes", "-o", tom.folder)
	tom.says(done, []string{filepath.Join("Rivers", "truths", "qrels.txt")}, "download", task, "-o", tom.folder)
	if got, err := os.ReadFile(filepath.Join(tom.folder, "Rivers", "truths", "qrels.txt")); err != nil || string(got) != qrelsFile {
		t.Errorf("the public truth is %q, %v", got, err)
	}
	tom.says(done, []string{"Otters takes part in Lake search: accepted"}, "join", s.url+"/tasks/"+olga.ids("tasks")[0], "--team", "Otters")
	tom.want(done, "download", task, "-o", tom.folder)
	if got, err := os.ReadFile(filepath.Join(tom.folder, "Lakes", "topics.tsv")); err != nil || string(got) != "1\tlakes\n2\trivers\n" {
		t.Errorf("the input is %q, %v", got, err)
	}
	link := strings.TrimSpace(tom.want(done, "invite", task))
	ben.says(done, []string{"Joined Lake search"}, "join", link)
	ben.says(failed, []string{"assay: This invitation no longer works. "}, "join", link) // It works only once.
	if got := decode[[]object](t, olga.want(done, "registrations", task, "--json")); len(got) != 1 || len(got[0]["members"].([]any)) != 2 {
		t.Errorf("the registrations are %v", got)
	}

	run := tom.write("run.txt", goodRun)
	bad := tom.write("bad.txt", "1 Q0 lake 1 high tom\n")
	tom.says(fileRefused, []string{"bad.txt:1: error", `"high"`}, "submit", task, "Lakes="+bad)
	foreign := tom.write("run.json", `{"1": {"lake": 2.0}}`)
	tom.says(fileRefused, []string{"assay convert " + foreign + " --from json --to trec-run -o "}, "submit", task, "Lakes="+foreign)
	tom.says(failed, []string{"Which dataset", "Lakes", "Rivers", "Try: the same command with --dataset"}, "submit", task, run)
	tom.says(done, []string{"completed", "Values that it has are shown to its team once the organizers have unblinded it", "Left to submit",
		"Lakes: 4 runs, and one more at "}, "submit", task, "Lakes="+run, "--wait", "--title", "First")
	warned := ben.write("warned.txt", strings.Replace(goodRun, "tom", "tom and more", 1))
	said := ben.says(done, []string{"AP", "Rank", "none while the run is not published", "95 % interval",
		"warned.txt:1: warning: "}, "submit", task, "Rivers="+warned, "--wait", "--timeout", "1m")
	if strings.Count(said, "more than six fields") != 1 {
		t.Errorf("the warning is not printed once:\n%s", said)
	}
	tom.in = `{"1": {"lake": 2.0}}`
	tom.says(fileRefused, []string{"assay convert - --from json --to trec-run -o run.trec.txt"}, "submit", task, "Lakes=-")
	tom.in = betterRun
	tom.says(failed, []string{"Standard input (-) can stand for one file"}, "submit", task, "Lakes=-", "Rivers=-")
	tom.want(done, "submit", task, "--dataset", "Lakes", "-")
	runs := tom.ids("runs")
	tom.says(done, []string{"First", "SUBMITTED"}, "runs")
	tom.says(done, []string{"completed"}, "runs", runs[0], "--wait")
	tom.says(done, []string{"written nothing"}, "logs", runs[0])
	tom.says(done, []string{"yes"}, "final", runs[0])
	tom.want(done, "final", runs[0], "--undo")
	tom.says(failed, []string{"completed"}, "cancel", runs[0])

	olga.says(done, []string{"changed"}, "review", task, "--dataset", "Lakes", "--unblind", "--publish", "--filter", "states=completed")
	tom.says(done, []string{"nDCG@10", "Otters", "1.0000"}, "leaderboard", task, "--dataset", "Lakes")
	best := decode[object](t, tom.want(done, "leaderboard", task, "--dataset", "Lakes", "--best", "--json"))
	if len(best["entries"].([]any)) != 1 {
		t.Errorf("the best of each team are %v", best)
	}
	both := decode[object](t, tom.want(done, "leaderboard", task, "--dataset", "Lakes", "--json"))["entries"].([]any)
	first := object(both[0].(map[string]any)).text("runId")
	second := object(both[1].(map[string]any)).text("runId")
	tom.says(done, []string{"DIFFERENT", "no", "cannot be distinguished"}, "compare", first, second)
	olga.says(done, []string{"its team"}, "review", task, first, "--dataset", "Lakes", "--unpublish", "--comment", "Wrong collection.")

	zoe := s.person("zoe")
	zoe.says(failed, []string{"has this name", "Try: the same command with --team"}, "join", task, "--team", "OTTERS")
	zoe.want(done, "join", task, "--team", "Zebras", "--affiliation", "Lake University")
	id := decode[[]object](t, olga.want(done, "registrations", task, "--json", "--state", "accepted"))[0].id()
	olga.says(done, []string{"rejected", "Zebras"}, "registrations", "reject", task, id)
	zoe.says(notFound, []string{"rejected"}, "submit", task, "Lakes="+run)
	olga.says(done, []string{"accepted"}, "registrations", "accept", task, id)
	olga.in = "The **test data** is there.\n"
	olga.says(done, []string{"Announced on the page of Lake search. This server sends no e-mails."}, "announce", task, "--title", "Test data")
	out := filepath.Join(olga.folder, "export")
	olga.want(done, "export", task, "-o", out)
	wantExported(t, out)
}

func wantExported(t *testing.T, folder string) {
	t.Helper()
	for name, text := range map[string]string{
		"task.jsonl": `"Lake search"`, "datasets.csv": "Rivers", "registrations.jsonl": `"Zebras"`, "runs.csv": "Otters",
		"evaluations.jsonl": `"nDCG@10"`,
		"announcements.csv": "test data", "submissions.jsonl": `"First"`,
	} {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(got), text) {
			t.Errorf("%s has no %s: %v\n%s", name, text, err, got)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "files", "*", "*", "*.txt"))
	if err != nil || len(files) != 3 {
		t.Errorf("the files of runs are %v, %v", files, err)
	}
}

// TestRuns_SayWhatConcernsThem: a waiting run says for what it waits, a run without logs names none, and a comment reaches the team.
func TestRuns_SayWhatConcernsThem(t *testing.T) {
	s, tom, _ := prepared(t)
	tom.want(done, "submit", "Lake search", "--dataset", "Rivers", "--image", "example.org/x:1", "--command", "/run")
	tom.want(done, "submit", "Lake search", "Rivers="+tom.write("run.txt", goodRun), "--wait")
	runs := tom.ids("runs")
	got := tom.says(waiting, []string{"still queued", `No worker of the pool "default" that executes images has been seen`}, "runs", runs[1])
	if strings.Contains(got, "assay logs") {
		t.Errorf("a run that has written nothing has logs: %s", got)
	}
	olga := s.person("olga")
	olga.want(done, "review", "Lake search", runs[0], "--publish", "--comment", "Wrong *collection*.")
	for _, p := range []*person{tom, olga} {
		p.says(done, []string{"The organizers say of the run " + runs[0] + ": Wrong *collection*.", "Rank",
			"1 of 1 shown to all who see the task"},
			"runs", runs[0])
	}
	if got := s.person("zoe").run(t.Context(), "runs", runs[0]); strings.Contains(got.out+got.errs, "Wrong") {
		t.Errorf("others are told the comment: %s%s", got.out, got.errs)
	}
	olga.says(done, []string{"changed"}, "review", "Lake search", runs[0], "--dataset", "Rivers", "--comment", "")
	if got := tom.want(done, "runs", runs[0]); strings.Contains(got, "The organizers say") {
		t.Errorf("a comment that was removed is told: %s", got)
	}
	warned := tom.write("warned.txt", strings.Replace(goodRun, "tom", "tom and more", 1))
	tom.want(done, "submit", "Lake search", "Rivers="+warned, "--wait")
	newest := tom.ids("runs")[0]
	tom.says(done, []string{"Run " + newest + ": warned.txt:1: warning: "}, "runs", runs[0], newest)
	if got := tom.says(done, []string{"\nwarned.txt:1: warning: "}, "runs", newest); strings.Contains(got, "Run "+newest+": ") {
		t.Errorf("the warning of the only run names it: %s", got)
	}
	tom.want(done, "submit", "Lake search", "--dataset", "Rivers", "--image", "example.org/y:1", "--command", "/run")
	queued := tom.ids("runs")[0]
	tom.says(waiting, []string{runs[1] + " is still queued", queued + " is still queued",
		"Try: assay runs " + runs[1] + " " + queued + " --wait\n"}, "runs", runs[1], newest, queued)
	tom.want(done, "cancel", runs[1])
	if got := tom.want(runFailed, "runs", runs[1]); strings.Contains(got, "assay logs") {
		t.Errorf("a cancelled run has logs: %s", got)
	}
}
