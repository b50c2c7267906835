package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApply_ReadsStandardInput applies a task and announces something, both from standard input. The paths in the task are relative to the
// working directory.
func TestApply_ReadsStandardInput(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.in = "organizer: Lake Lab\ntsk: {name: Lakes}\n"
	olga.says(fileRefused, []string{`-:2: tsk: is no member of the file. Did you mean "task"?`}, "apply", "-")
	t.Chdir(olga.folder)
	labels := "id,label\na,x\nb,y\n"
	olga.write("labels.csv", labels)
	olga.in = labelsFile
	olga.says(done, []string{"would create task Birds", "sends labels.csv"}, "apply", "-", "--dry-run")
	olga.says(done, []string{"created task Birds", "created dataset Songs"}, "apply", "-")
	olga.in = "There is news.\n"
	olga.says(done, []string{"Announced on the page of Birds."}, "announce", "Birds", "-", "--title", "News")
	olga.in = strings.Repeat("a", maxInput+1)
	long := olga.write("long.md", olga.in)
	for _, path := range []string{stdin, long} {
		name := map[bool]string{true: "Standard input", false: long}[path == stdin]
		olga.says(fileRefused, []string{name + " has more than 1 MiB, and a request takes no more."}, "announce", "Birds", path,
			"--title", "More")
	}
	olga.says(fileRefused, []string{"Standard input has more than 1 MiB"}, "login", s.url, "--with-token")

	tom := s.person("tom")
	tom.want(done, "submit", "Birds", "Songs="+tom.write("run.csv", labels), "--wait")
	testPreviewOfFiles(olga, labels)
}

// testPreviewOfFiles previews other ground truths. The server evaluates runs against a small file, which the preview has. It is not sent a
// large file.
func testPreviewOfFiles(olga *person, labels string) {
	olga.t.Helper()
	olga.in = labelsFile
	for text, want := range map[string]string{
		labels + "c,x\n": "The preview evaluated 1 run, the best of the newest 1: 1 of them would fail",
		labels + strings.Repeat("\n", previewedBytes): "The preview does not tell how many runs would fail, since it cannot read the truth files",
	} {
		olga.write("labels.csv", text)
		olga.says(done, []string{"would change dataset Songs", "sends labels.csv", want}, "apply", "-", "--dry-run")
	}
	olga.write("labels.csv", labels)
	olga.says(done, []string{"unchanged dataset Songs"}, "apply", "-")
}

// endless is a text without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Endless standard input fills no disk. Its file is one byte too large, so that it is refused.
func TestStdin_SavesAtMostOneByteTooMany(t *testing.T) {
	const most = 100_000
	path := filepath.Join(t.TempDir(), "stdin.txt")
	if err := save(path, endless{}, most); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != most+1 {
		t.Errorf("%v, %v", info, err)
	}
}
