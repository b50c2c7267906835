package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/language/lists"
)

// namesIn returns the sorted names in a folder.
func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	there, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return lists.Map(there, os.DirEntry.Name)
}

// write writes a file, with the folders above it.
func writeBelow(t *testing.T, folder, path, content string) {
	t.Helper()
	path = filepath.Join(folder, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// sourceOf returns the source for backups of a server.
func sourceOf(t *testing.T, s *testServer) *backupSource {
	t.Helper()
	source, err := newBackupSource(t.Context(), s.program.data, s.program.table.embedded, s.program.directory, s.program.now)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// A series gets a backup from each call, also from several at once. It keeps the backups of the last days, those of other servers, and
// everything that is no backup. Interrupted backups of the same data are removed.
func TestBackup_Series(t *testing.T) {
	data, series := t.TempDir(), filepath.Join(t.TempDir(), "backups")
	s := startIn(t, data, "-demo=false")
	task := s.task(t, s.token(t, "owner"), "Lakes")
	now := time.Now().UTC()
	daysAgo := func(days int) string { return now.AddDate(0, 0, -days).Format(seriesLayout) }
	recent := daysAgo(34)
	origin := sourceOf(t, s).origin
	copied := "/elsewhere" + strings.TrimPrefix(origin, data) // a server with a copy of the data
	inContainer := data + "\n01J00000000000000000000000\n"    // another server with the same path
	for path, content := range map[string]string{
		recent + "/" + completeMarker:                                 origin,
		daysAgo(36) + "/" + completeMarker:                            origin,
		daysAgo(37) + "/" + completeMarker:                            copied,
		daysAgo(38) + "/" + completeMarker:                            inContainer,
		daysAgo(39) + "/" + tableFile:                                 "without a marker",
		daysAgo(36)[:10] + "/" + completeMarker:                       "by hand",
		"killed" + incompleteSuffix + "/" + incompleteMarker:          origin,
		"renamed by nobody" + incompleteSuffix + "/" + completeMarker: origin,
		"other" + incompleteSuffix + "/" + incompleteMarker:           copied,
		"complete" + incompleteSuffix + "/" + completeMarker:          inContainer,
		"notes" + incompleteSuffix + "/text":                          "mine",
		"file" + incompleteSuffix:                                     "mine",
	} {
		writeBelow(t, series, path, content)
	}
	for name, age := range map[string]time.Duration{"begun": 0, "abandoned": 2 * settledAge} {
		folder, at := filepath.Join(series, name+incompleteSuffix), time.Now().Add(-age)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Chtimes(folder, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	kept := []string{recent, daysAgo(37), daysAgo(38), daysAgo(39), daysAgo(36)[:10], "other" + incompleteSuffix,
		"complete" + incompleteSuffix, "notes" + incompleteSuffix, "begun" + incompleteSuffix, "file" + incompleteSuffix}
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if out, err := runBackup(t, "-data", data, "-in", series, "-keep-days", "35"); err != nil || !strings.Contains(out, series) {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	calls.Wait()
	there := namesIn(t, series)
	made := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return slices.Contains(kept, name) })
	if len(made) != 3 || len(there) != 3+len(kept) {
		t.Fatalf("the series has %q, want three new backups and %q", there, kept)
	}
	startIn(t, filepath.Join(series, made[2]), "-demo=false").get(t, "", task, nil)
}

// The command refuses destinations that contradict each other.
func TestBackup_Destination(t *testing.T) {
	for want, args := range map[string][]string{
		"give either -to":                               {},
		"give either -to,":                              {"-to", "a", "-in", "b"},
		"-keep-days needs -in":                          {"-to", "a", "-keep-days", "3"},
		"-keep-days must be 0":                          {"-in", "a", "-keep-days", "-3"},
		"-keep-days must be at most 36500; 0 keeps all": {"-in", "a", "-keep-days", "9223372036854775807"},
	} {
		if _, err := runBackup(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
