package work_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/work"
)

func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("of the worker"), 0o600); err != nil {
		t.Fatal(err)
	}
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
		"time": {"echo begun; sleep 60", "It was ended after 300ms", "begun", func(w *work.Worker) {
			w.Limits.Time = 300 * time.Millisecond
		}},
		"disk": {`head -c 3000000 /dev/zero > "$ASSAY_OUTPUT/run.txt"; sleep 60`,
			"It wrote 2.8 MiB into its folders, more than the 1 MiB", "", nil},
		"disk at end": {`head -c 3000000 /dev/zero > "$ASSAY_OUTPUT/run.txt"`, "It wrote 2.8 MiB into its folders, more than the 1 MiB", "",
			nil},
		"disk of home": {`head -c 3000000 /dev/zero > "$HOME/x"; sleep 60`, "It wrote 2.8 MiB", "", nil},
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
