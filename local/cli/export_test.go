package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExport_HoldsWhatTheCallerSees exports a public task as its organizer, as a team, and without a sign-in.
func TestExport_HoldsWhatTheCallerSees(t *testing.T) {
	s, olga, tom := limited(t)
	run := tom.write("run.txt", goodRun)
	tom.want(done, "submit", "Lakes", "Ponds="+run, "Rivers="+run, "--title", "First", "--wait")
	zoe := s.person("zoe")
	zoe.want(done, "submit", "Lakes", "Rivers="+zoe.write("run.txt", betterRun), "--title", "Second", "--wait")
	olga.want(done, append([]string{"review", "Lakes", "--publish", "--comment", "Cite us."}, tom.ids("runs")...)...)
	olga.in = "The data is there.\n"
	olga.want(done, "announce", "Lakes", "--title", "News")
	grant(t, s, olga, "Lakes", "tom", `{"closesAt":"2099-05-01T00:00:00Z","reason":"Broken server."}`)
	for who, c := range map[*person]struct {
		says   []string
		has    map[string]int    // lines of each list
		with   map[string]string // a text of a list
		absent []string
	}{
		olga: {[]string{"Not saved: ground truths, inputs", "2 registrations, 3 reviews, 3 files of runs."},
			map[string]int{"task": 1, "datasets": 3, "runs": 3, "registrations": 2, "reviews": 3, "announcements": 1, "evaluations": 3},
			map[string]string{"reviews": "Cite us.", "registrations": "Broken server."}, nil},
		zoe: {[]string{"1 registration, 1 review"},
			map[string]int{"registrations": 1, "reviews": 1, "runs": 1}, nil, nil},
		{t: t, folder: t.TempDir(), home: t.TempDir(), env: map[string]string{"ASSAY_URL": s.url}}: {
			[]string{"Only what everyone sees is saved, because you are not signed in: no registrations", "assay login " + s.url},
			map[string]int{"task": 1, "datasets": 3, "announcements": 1, "evaluations": 1, "submissions": 0, "runs": 0},
			map[string]string{"announcements": "The data is there."}, []string{"registrations", "reviews", "exceptions"}},
	} {
		folder := filepath.Join(who.folder, "export")
		who.says(done, append(c.says, "Saved in "+folder+": 1 task, 3 datasets, 1 announcement, "), "export", "Lakes", "-o", folder)
		for name, lines := range c.has {
			got, err := os.ReadFile(filepath.Join(folder, name+".jsonl"))
			if err != nil || strings.Count(string(got), "\n") != lines || !strings.Contains(string(got), c.with[name]) {
				t.Errorf("%s is %s, %v, want %d lines with %q", name, got, err, lines, c.with[name])
			}
		}
		for _, name := range c.absent {
			if _, err := os.Stat(filepath.Join(folder, name+".csv")); err == nil {
				t.Errorf("there is a list of %s without a sign-in", name)
			}
		}
	}
}

// TestExport_HoldsNothingOfAnEarlierOne exports a task as its organizer, and into the same folder after a deletion and without a sign-in.
// Files that no export wrote stay.
func TestExport_HoldsNothingOfAnEarlierOne(t *testing.T) {
	s, olga, tom := limited(t)
	submit := []string{"submit", "Lakes", "Rivers=" + tom.write("run.txt", goodRun), "--wait"}
	tom.want(done, submit...)
	tom.want(done, append(submit, "--again")...)
	tom.want(done, "submit", "Lakes", "Ponds="+tom.write("run.txt", goodRun), "--wait")
	runs := decode[[]object](t, olga.want(done, "runs", "--task", "Lakes", "--json"))
	folder := filepath.Join(t.TempDir(), "export")
	holds := func() (names []string) {
		t.Helper()
		err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
			name, _ := filepath.Rel(folder, path)
			if !e.IsDir() {
				names = append(names, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	fileOf := func(r object) string { return "files/" + r.text("datasetId") + "/" + r.id() + "/run.txt" }
	export := []string{"export", "Lakes", "-o", folder}
	if got := olga.says(done, []string{"3 files of runs"}, export...); strings.Contains(got, "Removed") || strings.Contains(got, "Also in") {
		t.Errorf("the export into a new folder says\n%s", got)
	}
	first := holds()
	for _, name := range first {
		if name != contentsFile && !isExported(name) {
			t.Errorf("export writes %s, and does not know it", name)
		}
	}
	for _, r := range runs {
		if !slices.Contains(first, fileOf(r)) {
			t.Fatalf("%s is missing in %v", fileOf(r), first)
		}
	}
	olga.want(done, export...)
	if got := holds(); !slices.Equal(got, first) {
		t.Errorf("the same export again holds %v, want %v", got, first)
	}
	tom.remove(s.url, "/v1/runs/"+runs[0].id())
	olga.says(done, []string{"this one does not: " + fileOf(runs[0]) + "."}, export...)
	want := slices.DeleteFunc(slices.Clone(first), func(name string) bool { return name == fileOf(runs[0]) })
	if got := holds(); !slices.Equal(got, want) {
		t.Errorf("after a deletion, the folder holds %v, want %v", got, want)
	}
	note := filepath.Join(filepath.Dir(filepath.Join(folder, fileOf(runs[1]))), "note.txt")
	for _, name := range []string{note, filepath.Join(folder, "paper.tex")} {
		if err := os.WriteFile(name, []byte("Mine."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	anyone := &person{t: t, folder: t.TempDir(), home: t.TempDir(), env: map[string]string{"ASSAY_URL": s.url}}
	anyone.says(done, []string{"registrations.csv", "Also in " + folder + ", but not from an export: files/", "/note.txt, paper.tex.\n"},
		export...)
	for _, name := range holds() {
		if strings.HasPrefix(name, "registrations") || strings.HasPrefix(name, "reviews") || strings.HasSuffix(name, "run.txt") {
			t.Errorf("the export of what everyone sees holds %s", name)
		}
	}
	for _, name := range []string{note, filepath.Join(folder, "paper.tex")} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("export removed a file that it did not write: %v", err)
		}
	}
	other := strings.Replace(limitedFile, "name: Lakes", "name: Seas", 1)
	olga.want(done, "apply", olga.write("other.yaml", other))
	before := holds()
	olga.says(failed, []string{"has an export of another task"}, "export", "Seas", "-o", folder)
	if got := holds(); !slices.Equal(got, before) {
		t.Errorf("a refused export changes the folder from %v to %v", before, got)
	}
	if err := os.WriteFile(filepath.Join(folder, contentsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	olga.says(fileRefused, []string{"export.json cannot be read: ", "Try: --output with another folder"}, export...)
}

// grant makes an exception for a team of the task.
func grant(t *testing.T, s *server, organizer *person, task, team, exception string) {
	t.Helper()
	token := strings.TrimSpace(organizer.want(done, "tokens", "create", "grant", "--scopes", "organize"))
	teams := decode[[]object](t, organizer.want(done, "registrations", task, "--json"))
	i := slices.IndexFunc(teams, func(r object) bool { return r.text("team") == team })
	if i < 0 {
		t.Fatalf("there is no team %s", team)
	}
	path := fmt.Sprintf("%s/v1/tasks/%s/registrations/%s/exceptions", s.url, teams[i].text("taskId"), teams[i].id())
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(exception))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("an exception is answered with %s", answer.Status)
	}
}
