package files_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/shared/blob/directory"
	"assay/shared/files"
	"assay/shared/record"

	"pgregory.net/rapid"
)

var listed = []record.File{
	{Name: "run.txt", Size: 3, SHA256: strings.Repeat("a", 64), State: record.FileStored},
	{Name: "more.txt", Size: 4, SHA256: strings.Repeat("b", 64), State: record.FilePending},
}

func openObjects(t *testing.T) *directory.Store {
	t.Helper()
	s, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinks_AreForThoseWhoMay(t *testing.T) {
	s, id := openObjects(t), record.NewID(time.Now())
	for _, tt := range []struct{ read, write bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		got, err := files.Links{Objects: s, Now: time.Now(), Download: tt.read, Upload: tt.write}.Sign(t.Context(), record.HolderRuns, id, listed)
		if err != nil {
			t.Fatal(err)
		}
		if read, write := got[0].URL != "", got[1].Upload != nil; read != tt.read || write != tt.write {
			t.Errorf("read %v, write %v: got a link to read %v, to write %v", tt.read, tt.write, read, write)
		}
		if got[0].Upload != nil || got[1].URL != "" {
			t.Errorf("read %v, write %v: a stored file is to be sent, or a pending one to be read: %+v", tt.read, tt.write, got)
		}
	}
	if listed[0].URL != "" || listed[1].Upload != nil {
		t.Error("the links were put into the record itself")
	}
}

// A link lasts for as long as descriptions say, and stays the same for as long as that allows: otherwise no answer with a link
// could be "not modified".
func TestLinks_StayTheSameForAQuarterOfAnHour(t *testing.T) {
	s, id := openObjects(t), record.NewID(time.Now())
	var least, most int
	if _, err := fmt.Sscanf(files.LinkLife, "%d to %d minutes", &least, &most); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now().Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")))
		later := now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Minute)).Draw(t, "later")))
		at := func(when time.Time) record.Upload {
			got, err := files.Links{Objects: s, Now: when, Download: true, Upload: true}.Sign(t.Context(), record.HolderRuns, id, listed)
			if err != nil {
				t.Fatal(err)
			}
			return *got[1].Upload
		}
		first, second := at(now), at(later)
		if life := first.ExpiresAt.Sub(now); life <= time.Duration(least)*time.Minute || life > time.Duration(most)*time.Minute {
			t.Fatalf("a link lasts for %v, and is said to for %s", life, files.LinkLife)
		}
		if same := now.Truncate(15 * time.Minute).Equal(later.Truncate(15 * time.Minute)); same != (first.URL == second.URL) {
			t.Fatalf("at %v and %v: the same link is %v", now, later, first.URL == second.URL)
		}
	})
}
