package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"

	"github.com/spf13/cobra"
)

// TestDownload_GoesOnAndChecksDigests breaks the connection in the middle of a file, damages the saved file, and interrupts the command.
func TestDownload_GoesOnAndChecksDigests(t *testing.T) {
	s := serve(t, "embedded")
	content := strings.Repeat("1\tlakes and rivers\n", 20_000)
	var mu sync.Mutex
	var ranges []string
	var broken func()
	path := ""
	file := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/files/inputs")
	}
	passes := func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if file(r) {
			ranges = append(ranges, r.Header.Get("Range"))
		}
		return !file(r) || broken == nil
	}
	links := proxyOf(t, s.url, passes, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "380000")
		_, _ = io.WriteString(w, content[:100_000])
		_ = http.NewResponseController(w).Flush()
		for ; r.Context().Err() == nil; time.Sleep(5 * time.Millisecond) { // Wait until the file has all bytes that were sent.
			if info, err := os.Stat(path + ".part"); err == nil && info.Size() == 100_000 {
				break
			}
		}
		mu.Lock()
		broken()
		broken = nil
		mu.Unlock()
		panic(http.ErrAbortHandler)
	})
	s.kill()
	s.url, s.args = links, append(s.args, "-public-url", links)
	s.start()
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", content)
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	path = filepath.Join(olga.folder, "saved", "Lakes", "topics.tsv")
	download := func(ctx context.Context, code int, wantRanges ...string) {
		t.Helper()
		ranges = nil
		if r := olga.run(ctx, "download", "Lake search", "-o", filepath.Join(olga.folder, "saved")); r.code != code {
			t.Fatalf("it exits with %d: %s%s", r.code, r.out, r.errs)
		}
		if !slices.Equal(ranges, wantRanges) {
			t.Errorf("the requests had the ranges %q, want %q", ranges, wantRanges)
		}
		got, err := os.ReadFile(path)
		if code == done && (err != nil || string(got) != content) {
			t.Errorf("the file has %d bytes, %v", len(got), err)
		}
		if _, err := os.Stat(path + ".part"); (err == nil) != (code != done) {
			t.Errorf("the part: %v", err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	broken = interrupt
	download(ctx, interrupted, "")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that was interrupted is there")
	}
	download(t.Context(), done, "bytes=100000-")
	download(t.Context(), done) // The file is complete.
	broken = func() {}
	olga.write("saved/Lakes/topics.tsv", "damaged")
	download(t.Context(), done, "", "bytes=100000-") // The command continues by itself.
	for _, damaged := range []string{strings.Repeat("x", 1000), strings.Repeat("x", len(content)), content + "more"} {
		if err := errors.Join(os.Remove(path), os.WriteFile(path+".part", []byte(damaged), 0o600)); err != nil {
			t.Fatal(err)
		}
		want := []string{"bytes=1000-", ""}
		if len(damaged) >= len(content) {
			want = []string{""}
		}
		download(t.Context(), done, want...)
	}
}

// TestLogs_FollowARun follows the log of a run while a worker executes it.
func TestLogs_FollowARun(t *testing.T) {
	workers := programtest.FreeAddress(t)
	s := serve(t, "embedded", "-grpc-addr", workers)
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", goodRun)
	olga.want(done, "apply", olga.write("task.yaml", strings.ReplaceAll(taskFile, "split: test", "split: training")))
	tom.want(done, "submit", "Lake search", "--dataset", "Lakes", "--image", "ranker", "--command",
		`for i in 1 2 3 4; do echo "line $i"; sleep 1; done; cp "$ASSAY_INPUT/topics.tsv" "$ASSAY_OUTPUT/run.txt"`)
	id := tom.ids("runs")[0]
	robot := &person{t: t, folder: t.TempDir(), home: t.TempDir()}
	robot.want(done, "login", s.url, "--user", "robot", "--admin")
	worker := exec.CommandContext(t.Context(), built(t, "grpc/worker"), "-server", workers, "-exec", "local", "-work", t.TempDir())
	token := strings.TrimSpace(robot.want(done, "tokens", "create", "worker", "--scopes", "work"))
	worker.Env = append(os.Environ(), "ASSAY_WORKER_TOKEN="+token)
	worker.Cancel = func() error { return worker.Process.Signal(os.Interrupt) }
	worker.WaitDelay = 10 * time.Second
	var said watched
	worker.Stderr = &said
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Wait()
		if t.Failed() {
			t.Log(said.text.String())
		}
	})
	got := tom.want(done, "logs", id, "-f")
	for _, line := range []string{"line 1", "line 2", "line 3", "line 4"} {
		if strings.Count(got, line+"\n") != 1 {
			t.Errorf("%q is printed %d times:\n%s", line, strings.Count(got, line), got)
		}
	}
	tom.says(done, []string{"completed"}, "runs", id, "--wait")
	for _, args := range [][]string{{"logs", id}, {"logs", id, "-f"}} {
		tom.says(done, []string{"line 1", "line 4"}, args...)
		if of := decode[map[string]string](t, tom.want(done, append(args, "--json")...)); of["id"] != id || of["state"] != "completed" ||
			!strings.Contains(of["log"], "line 4\n") {
			t.Errorf("as JSON, the log is %v", of)
		}
	}
}

// TestLogs_AreWhole follows a run that is still being evaluated. Its execution has ended, and its log is stored.
func TestLogs_AreWhole(t *testing.T) {
	looks := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/log" {
			_, _ = io.WriteString(w, "one\ntwo\n")
			return
		}
		state := []string{"evaluating", "evaluating", "completed"}[looks]
		looks++
		_, _ = io.WriteString(w, `{"id":"1","state":"`+state+`","logTail":"two\n","log":{"url":"http://`+r.Host+`/log"}}`)
	}))
	defer s.Close()
	if got := local(t).want(done, "logs", "1", "-f", "--server", s.URL); got != "one\ntwo\n" {
		t.Errorf("it prints %q", got)
	}
}

// TestOutput_IsPlainOrJSON runs each command with and without --json. With --json, the output is exactly one JSON value. Without it, the
// output on a terminal has no control sequences and no colours, so that NO_COLOR has no effect.
func TestOutput_IsPlainOrJSON(t *testing.T) {
	for _, store := range []string{"embedded", "dynamodb"} {
		t.Run(store, func(t *testing.T) { printAll(t, serve(t, store)) })
	}
}

func printAll(t *testing.T, s *server) {
	p := s.person("olga")
	p.in = "Text.\n"
	p.write("qrels.txt", qrelsFile)
	p.write("topics.tsv", "1\tlakes\n")
	const task = "Lake search"
	run := p.write("run.txt", goodRun)
	better := p.write("better.txt", betterRun)
	file := p.write("task.yaml", strings.NewReplacer("[AP]}", "[AP]}\n    finalRuns: 1", "perDay: 5", "perDay: 50").Replace(taskFile))
	tested := map[string]bool{}
	both := func(args ...string) (text string) {
		t.Helper()
		for _, asJSON := range []string{"--json", "--json=false"} {
			var out, errs strings.Builder
			of := &program{in: strings.NewReader(p.in), out: &out, errs: &errs, getenv: os.Getenv, folder: p.home, terminal: true}
			if code := of.run(t.Context(), append(args, asJSON)); code != done {
				t.Fatalf("%v exits with %d: %s%s", args, code, &out, &errs)
			}
			if strings.Contains(out.String()+errs.String(), "\x1b") {
				t.Errorf("%v steers the terminal: %q", args, out.String()+errs.String())
			}
			if asJSON == "--json" {
				text = out.String()
				d := json.NewDecoder(strings.NewReader(text))
				var value any
				if err := d.Decode(&value); err != nil || d.More() {
					t.Errorf("%v prints no JSON: %v\n%s", args, err, text)
				}
			}
		}
		found, _, err := p.program().root().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		tested[found.CommandPath()] = true
		return text
	}
	for _, args := range [][]string{
		{"version"}, {"login", s.url, "--user", "olga"}, {"apply", file, "--dry-run"}, {"apply", file}, {"tasks"}, {"datasets", task},
		{"join", task, "--team", "Otters"}, {"download", task, "-o", p.folder}, {"registrations", task}, {"invite", task},
		{"announce", task, "--title", "News"}, {"eval", filepath.Join(p.folder, "qrels.txt"), run, "AP", "-q"}, {"validate", run},
		{"submit", task, "Rivers=" + run}, {"submit", task, "Rivers=" + better, "--wait"}, {"runs"}, {"tokens", "create", "one"}, {"tokens"},
		{"leaderboard", task, "--dataset", "Rivers"}, {"export", task, "-o", filepath.Join(p.folder, "export")},
	} {
		both(args...)
	}
	runs := p.ids("runs")
	id := p.ids("tasks")[0]
	for _, named := range []string{id, s.url + "/v1/tasks/" + id, "lake"} {
		if got := p.ids("runs", "--task", named); !slices.Equal(got, runs) {
			t.Errorf("runs of the task %s are %v, want %v", named, got, runs)
		}
	}
	both("runs", runs[0], "--wait")
	both("logs", runs[0])
	both("compare", runs[0], runs[1])
	both("review", task, "--dataset", "Rivers", "--publish", runs[0])
	both("final", runs[0])
	registration := p.ids("registrations", task)[0]
	both("registrations", "reject", task, registration)
	both("registrations", "accept", task, registration)
	for _, id := range p.ids("tokens") {
		p.want(done, "tokens", "delete", id)
	}
	queued := []string{"submit", task, "--dataset", "Lakes", "--image", "example.org/x:1", "--command", "/run"}
	image := decode[object](t, both(queued...)).text("runIds")
	both("cancel", image)
	both("logout", s.url)
	var walk func(*cobra.Command)
	walk = func(of *cobra.Command) {
		for _, below := range of.Commands() {
			walk(below)
		}
		// These commands print files, not JSON.
		others := []string{"assay", "assay convert", "assay fuse", "assay man", "assay tokens delete"}
		if path := of.CommandPath(); of.Runnable() && !tested[path] && !slices.Contains(others, path) {
			t.Errorf("%s is not tested", path)
		}
	}
	walk(p.program().root())
}

func (p *person) program() *program {
	return &program{in: strings.NewReader(p.in), out: io.Discard, errs: io.Discard, getenv: os.Getenv, folder: p.home}
}

// TestLogin_TakesTheNameOfAPerson signs in with a name that has spaces, like names of Windows users.
func TestLogin_TakesTheNameOfAPerson(t *testing.T) {
	s := serve(t, "embedded")
	nora := s.person("Nora Ångström")
	nora.says(done, []string{"as Nora Ångström."}, "login", s.url, "--user", "Nora Ångström")
	nora.want(done, "apply", nora.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes}\n"))
	nora.says(failed, []string{"/user", "without spaces before and after it"}, "login", s.url, "--user", " Nora")
}

// TestSubmit_AfterTheWindowIsOver checks the exit code and the message.
func TestSubmit_AfterTheWindowIsOver(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	file := olga.write("task.yaml", taskFile)
	olga.want(done, "apply", file)
	tom.want(done, "join", "Lake search", "--team", "Otters")
	olga.write("task.yaml", strings.ReplaceAll(taskFile, "2099-01-01", "2001-01-01"))
	olga.want(done, "apply", file)
	tom.says(outside, []string{"closed at 2000-12-31"}, "submit", "Lake search", "Rivers="+tom.write("run.txt", goodRun))
}

// TestApply_KnowsNamesAndTruths checks that an alias of a measure is no change, and that a faulty truth is refused before any change.
func TestApply_KnowsNamesAndTruths(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("topics.tsv", "1\tlakes\n")
	olga.write("qrels.txt", "1 0 a one\n")
	file := olga.write("task.yaml", strings.ReplaceAll(taskFile, "nDCG@10", "ndcg_cut_10"))
	olga.says(fileRefused, []string{"qrels.txt:1"}, "apply", file)
	olga.write("qrels.txt", "query-id\tcorpus-id\tscore\n1\ta\t1\n")
	olga.says(fileRefused, []string{"qrels.txt has another one. Convert it first.", "--qrels --from beir"}, "apply", file)
	alone := olga.write("alone.yaml", "organizer: Lake Lab\ntask: {name: Lake search}\n")
	olga.says(done, []string{"would create task"}, "apply", "--dry-run", alone)
	olga.write("qrels.txt", qrelsFile)
	wrong := olga.write("wrong.yaml", strings.ReplaceAll(taskFile, "mode: open", "mode: ajar"))
	olga.says(fileRefused, []string{"wrong.yaml:", "registration.mode: must be one of"}, "apply", wrong)
	olga.want(done, "apply", file)
	olga.says(done, []string{"unchanged dataset Lakes"}, "apply", file)
	olga.write("qrels.txt", strings.Repeat("1 0 1 a\n", 120))
	refused := olga.says(fileRefused, []string{"qrels.txt:1: error: ", "document and grade seem to be exchanged", "120 faults in all."},
		"apply", file)
	if strings.Contains(refused, "would") {
		t.Errorf("a refused file says\n%s", refused)
	}
	olga.says(fileRefused, []string{"would not change task Lake search"}, "apply", file, "--dry-run")
}

// labelsFile is a task with a dataset of 40 labels. Teams see scores at once.
const labelsFile = `organizer: Lake Lab
task:
  name: Birds
  submissions: {perDay: 20, closesAt: "2099-01-01T00:00:00Z"}
datasets:
  - name: Songs
    split: validation
    runFormat: {kind: csv, idField: id, valueField: label}
    evaluator: {kind: classification, measures: [Accuracy]}
    truths: [labels.csv]
`

// TestApply_AdvisesOrganizers checks the advice about the number of runs that reveal a ground truth: before and after the ground truth is
// sent, and after a change of the quota.
func TestApply_AdvisesOrganizers(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	var labels strings.Builder
	labels.WriteString("id,label\n")
	for i := range 40 {
		fmt.Fprintf(&labels, "%d,%c\n", i, 'a'+rune(i%2))
	}
	olga.write("labels.csv", labels.String())
	file := olga.write("birds.yaml", labelsFile)
	const advice = "40 examples with exact live scores: about 14 runs reveal the ground truth"
	const contents = `truth: 40 items, 2 labels ("a" 20, "b" 20)`
	once := func(said string) {
		t.Helper()
		if strings.Count(said, advice) != 1 {
			t.Errorf("the advice is not printed once:\n%s", said)
		}
	}
	once(olga.says(done, []string{"would create dataset Songs", advice, contents}, "apply", "--dry-run", file))
	olga.says(done, []string{"created dataset Songs", advice, contents}, "apply", file)
	waittest.Until(t, "the ground truth is read", func() bool {
		return strings.Contains(olga.want(done, "apply", file), "unchanged dataset Songs\n  "+advice)
	})
	olga.says(done, []string{"unchanged dataset Songs", contents}, "apply", file)
	less := olga.write("birds.yaml", strings.Replace(labelsFile, "perDay: 20", "perDay: 20, total: 13", 1))
	const limited = `The quota of "Birds" allows a team 13 runs in all instead of any number`
	if got := olga.says(done, []string{"changed task Birds", limited}, "apply", less); strings.Contains(got, "reveal") {
		t.Errorf("with fewer runs it says\n%s", got)
	}
	more := olga.write("birds.yaml", strings.Replace(labelsFile, "perDay: 20", "perDay: 20, total: 50", 1))
	once(olga.says(done, []string{"would change task Birds", advice + ", and a team may submit 50"}, "apply", "--dry-run", more))
	hidden := olga.write("birds.yaml", strings.Replace(labelsFile, "perDay: 20", "perDay: 20, total: 50", 1)+
		"    columns: [{key: Accuracy, from: close}]\n")
	const seen = "when the last window closes, only the organizers see scores on \"Songs\": teams learn only whether their runs are valid.\n"
	olga.says(done, []string{seen}, "apply", "--dry-run", hidden)
	olga.says(done, []string{seen}, "apply", hidden)
}

// TestApply_TellsTheFaultsOfAllDatasets applies a new task whose datasets both lack members.
func TestApply_TellsTheFaultsOfAllDatasets(t *testing.T) {
	olga := serve(t, "embedded").person("olga")
	olga.write("labels.csv", "id,label\n1,a\n")
	_, songs, _ := strings.Cut(labelsFile, "datasets:\n")
	two := labelsFile + strings.Replace(songs, "Songs", "Calls", 1)
	file := olga.write("birds.yaml", strings.ReplaceAll(two, ", idField: id, valueField: label", ""))
	for _, flags := range [][]string{nil, {"--dry-run"}} {
		olga.says(fileRefused, []string{"There are 4 faults:\n", "datasets[0].runFormat.idField: ", "datasets[0].runFormat.valueField: ",
			"datasets[1].runFormat.idField: ", "datasets[1].runFormat.valueField: "}, append([]string{"apply", file}, flags...)...)
	}
	olga.says(done, []string{"You see no task here."}, "tasks")
	olga.says(done, []string{"created dataset Songs", "created dataset Calls"}, "apply", olga.write("birds.yaml", two))
}
