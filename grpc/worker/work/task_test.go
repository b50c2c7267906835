package work_test

import (
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/work"

	"google.golang.org/grpc/codes"
)

func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func image(command string) *assayv1.Work {
	return &assayv1.Work{Kind: assayv1.WorkKind_WORK_KIND_IMAGE, Image: "registry.example.org/lakeside/ranker:1", Command: command}
}

func TestExecute_UploadsTheOutput(t *testing.T) {
	w := image(`
		test "$ASSAY_OUTPUT" = "$outputDir" && test "$ASSAY_INPUT" = "$inputDataset" && test "$ASSAY_INPUT" = "$inputRun" || exit 3
		test -z "$SECRET" || exit 4
		echo first; echo second >&2
		rev "$ASSAY_INPUT/topics.txt" > "$ASSAY_OUTPUT/run.txt" || exit 5
		echo '{"a":1}' > "$ASSAY_OUTPUT/more.jsonl"
		mkdir "$ASSAY_OUTPUT/models"
		printf 'without an end'`)
	t.Setenv("SECRET", "of the worker")
	s := newServer(t, w)
	w.Inputs = []*assayv1.File{s.file("topics.txt", "abc\n")}
	s.finish(nil)
	if s.failed != nil {
		t.Fatal(s.failed)
	}
	delivered := map[string]string{}
	for _, f := range s.declared {
		delivered[f.GetName()] = s.stored[f.GetSha256()] + " " + f.GetMediaType()
	}
	if want := (map[string]string{"run.txt": "cba\n text/plain", "more.jsonl": "{\"a\":1}\n application/jsonl"}); !maps.Equal(delivered,
		want) {
		t.Errorf("delivered %q, want %q", delivered, want)
	}
	if got := s.printed(assayv1.Stream_STREAM_STDOUT); !slices.Equal(got, []string{"first", "without an end"}) {
		t.Errorf("standard output: %q", got)
	}
	if got := s.printed(assayv1.Stream_STREAM_STDERR); !slices.Equal(got, []string{"second"}) {
		t.Errorf("standard error: %q", got)
	}
	said := strings.Join(s.printed(assayv1.Stream_STREAM_WORKER), "\n")
	for _, want := range []string{"no containers", "exit code 0", "Output: run.txt, 4 bytes", "not: models"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker does not say %q: %s", want, said)
		}
	}
}

func TestExecute_DoesNotFollowAReplacedOutputFolder(t *testing.T) {
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "secret"), []byte("of the worker"), 0o600))
	for name, command := range map[string]string{
		"moved":   `mv "$ASSAY_OUTPUT" "$ASSAY_OUTPUT.moved" && ln -s ` + other + ` "$ASSAY_OUTPUT"`,
		"removed": `rmdir "$ASSAY_OUTPUT" && ln -s ` + other + ` "$ASSAY_OUTPUT"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, image(command)).finish(nil)
			if said, _ := s.diagnostics(assayv1.FailRunRequest_FAULT_RUN); !strings.Contains(said, "left no file in its output folder") ||
				s.declared != nil {
				t.Errorf("it says %q, declared %v", said, s.declared)
			}
		})
	}
}

func TestExecute_ReportsFailuresOfTheRun(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large") // a link to it exceeds the limit at once and by a known amount, unlike a slow write
	must(t, os.WriteFile(large, make([]byte, 3_000_000), 0o600))
	for name, c := range map[string]struct {
		command, safe, other string
		change               func(*work.Worker)
	}{
		"exit code":  {"echo no memory of it >&2; exit 7", "It ended with exit code 7 after", "no memory of it", nil},
		"signal":     {"kill -TERM $$", "It ended with exit code 143", "", nil},
		"kill":       {"kill -KILL $$", "It ended with exit code 137", "", nil},
		"no command": {"", "There is no command", "", nil},
		"no output":  {"true", "write the run as a file into the folder that ASSAY_OUTPUT names", "", nil},
		"link":       {`ln -s /etc/passwd "$ASSAY_OUTPUT/run.txt"`, `"run.txt" in the output folder is a link`, "", nil},
		"device":     {`mkfifo "$ASSAY_OUTPUT/run.txt"`, `"run.txt" in the output folder is a link or a device`, "", nil},
		"empty":      {`: > "$ASSAY_OUTPUT/run.txt"`, "run.txt is empty", "", nil},
		"many":       {`cd "$ASSAY_OUTPUT"; for i in $(seq 21); do echo $i > $i; done`, "more than the 20 files", "", nil},
		"file name":  {`echo a > "$ASSAY_OUTPUT/$(printf 'a\tb')"`, "characters that are not text", "", nil},
		"time": {"sleep 600", "It was ended after 500ms", "", func(w *work.Worker) {
			w.Limits.Time = 500 * time.Millisecond
		}},
		"disk": {`echo begun; ln ` + large + ` "$ASSAY_OUTPUT/run.txt"; sleep 600`,
			"It wrote 2.8 MiB into its folders, more than the 1 MiB", "begun", nil},
		"disk at end":  {`ln ` + large + ` "$ASSAY_OUTPUT/run.txt"`, "It wrote 2.8 MiB into its folders, more than the 1 MiB", "", nil},
		"disk of home": {`ln ` + large + ` "$HOME/x"; sleep 600`, "It wrote 2.8 MiB", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, image(c.command)).finish(c.change)
			safe, other := s.diagnostics(assayv1.FailRunRequest_FAULT_RUN)
			if !strings.Contains(safe, c.safe) || !strings.Contains(other, c.other) || c.other == "" && other != "" {
				t.Errorf("safe: %s\nother: %s", safe, other)
			}
			if c.other != "" && strings.Contains(safe, c.other) {
				t.Errorf("everyone reads what the program printed: %s", safe)
			}
		})
	}
}

const secret = "the-true-label"

// evaluation returns a server with the evaluation of a run by a command.
func evaluation(t *testing.T, command string) *server {
	w := &assayv1.Work{
		Kind: assayv1.WorkKind_WORK_KIND_EVALUATION, Image: "registry.example.org/organizers/evaluator:2", Command: command,
		TruthVersion: 7, Measures: []string{"ndcg", "recall"},
	}
	s := newServer(t, w)
	w.RunFiles = []*assayv1.File{s.file("run.txt", "run")}
	w.Truths = []*assayv1.File{s.file("qrels.txt", secret)}
	w.Inputs = []*assayv1.File{s.file("topics.txt", "topics")}
	return s
}

const json = `{"measures": {"ndcg": 0.25, "recall": null, "more": 3}, "topics": {"t1": {"ndcg": 1, "other": 2}}}`

func TestEvaluate_ReportsMeasures(t *testing.T) {
	s := evaluation(t, `
		test "$(cat "$ASSAY_RUN/run.txt" "$ASSAY_TRUTH/qrels.txt" "$ASSAY_INPUT/topics.txt")" = run`+secret+`topics || exit 9
		echo '`+json+`' > "$ASSAY_OUTPUT/evaluation.json"`).finish(nil)
	r := s.reported
	if r.GetTruthVersion() != 7 || !strings.HasPrefix(r.GetEvaluatorVersion(), "command sha256:") {
		t.Fatalf("reported %v, failed %v", r, s.failed)
	}
	if m := r.GetMeasures(); len(m) != 2 || m["ndcg"] != 0.25 || !math.IsNaN(m["recall"]) {
		t.Errorf("measures %v", m)
	}
	if topics := r.GetTopics(); len(topics) != 1 || !maps.Equal(topics["t1"].GetMeasures(), map[string]float64{"ndcg": 1}) {
		t.Errorf("topics %v", topics)
	}
}

func TestEvaluate_FailuresRevealNothingOfTheTruth(t *testing.T) {
	for name, c := range map[string]struct{ command, want string }{
		"exit code": {`cat "$ASSAY_TRUTH/qrels.txt"; cat "$ASSAY_TRUTH/qrels.txt" >&2; exit 3`, "It ended with exit code 3"},
		"no JSON":   {`cat "$ASSAY_TRUTH/qrels.txt" > "$ASSAY_OUTPUT/evaluation.json"`, "cannot be read: it is not JSON"},
		"no number": {`echo '{"ndcg": "` + secret + `"}' > "$ASSAY_OUTPUT/evaluation.json"`, "the measure ndcg must be a number"},
		"no text":   {`cat "$ASSAY_TRUTH/qrels.txt" > "$ASSAY_OUTPUT/evaluation.prototext"`, "it must consist of blocks"},
		"missing": {`echo '{"ndcg": 1, "` + secret + `": 1}' > "$ASSAY_OUTPUT/evaluation.json"`,
			"lacks measures that the dataset names: recall"},
		"link": {`ln -s "$ASSAY_TRUTH/qrels.txt" "$ASSAY_OUTPUT/evaluation.json"`, "must be a file, and no link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			safe, other := evaluation(t, c.command).finish(nil).diagnostics(assayv1.FailRunRequest_FAULT_RUN)
			if !strings.Contains(safe, c.want) || strings.Contains(safe+other, secret) {
				t.Errorf("safe %q, other %q", safe, other)
			}
		})
	}
}

func TestEvaluate_DropsResultsOfAnOutdatedTruth(t *testing.T) {
	s := evaluation(t, `echo '`+json+`' > "$ASSAY_OUTPUT/evaluation.json"`)
	s.before = func(method string, _ int) error {
		if method == "ReportEvaluation" {
			s.end()
			return refuse(codes.Aborted, "TRUTH_CHANGED")
		}
		return nil
	}
	s.finish(nil)
	if s.calls["ReportEvaluation"] != 1 || s.calls["FailRun"] != 0 {
		t.Errorf("calls %v", s.calls)
	}
}

// setByShell lists variables that the shell sets itself.
var setByShell = []string{"PWD", "OLDPWD", "SHLVL", "_"}

// TestContract_NamesVariablesAndFolders checks that the comments of the protocol, which authors of workers read, name the variables and
// folders of programs.
func TestContract_NamesVariablesAndFolders(t *testing.T) {
	contract, err := os.ReadFile("../../proto/assay/v1/worker.proto")
	must(t, err)
	const command = `echo '{"ndcg": 0, "recall": 0}' > "$ASSAY_OUTPUT/evaluation.json"; env`
	for kind, s := range map[string]*server{"execution": newServer(t, image(command)), "evaluation": evaluation(t, command)} {
		s.finish(nil)
		var folders []string
		for _, line := range s.printed(assayv1.Stream_STREAM_STDOUT) {
			name, value, _ := strings.Cut(line, "=")
			if slices.Contains(setByShell, name) {
				continue
			}
			if !regexp.MustCompile(`\b` + name + `\b`).Match(contract) {
				t.Errorf("the protocol does not name the variable %s of an %s", name, kind)
			}
			if strings.HasPrefix(name, "ASSAY_") {
				folders = append(folders, path.Base(value))
				if row := `(?m)^//     /assay/` + path.Base(value) + ` +` + name + `\b`; !regexp.MustCompile(row).Match(contract) {
					t.Errorf("the protocol does not say that %s leads to /assay/%s", name, path.Base(value))
				}
			}
		}
		slices.Sort(folders)
		want := map[string]string{"execution": "input output", "evaluation": "input output run truth"}[kind]
		if got := strings.Join(folders, " "); got != want {
			t.Errorf("an %s has the folders %s, want %s", kind, got, want)
		}
	}
}
