package link_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/shared/blob/directory"
	"assay/shared/link"
	"assay/shared/record"

	"pgregory.net/rapid"
)

var files = []record.File{
	{Name: "run.txt", Size: 3, SHA256: strings.Repeat("a", 64), State: record.FileStored},
	{Name: "more.txt", Size: 4, SHA256: strings.Repeat("b", 64), State: record.FilePending},
}

func open(t *testing.T) *directory.Store {
	t.Helper()
	s, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinksAreForThoseWhoMay(t *testing.T) {
	s, id := open(t), record.NewID(time.Now())
	for _, tt := range []struct{ read, write bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		got, err := link.Files(t.Context(), s, time.Now(), record.HolderRuns, id, files, tt.read, tt.write)
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
	if files[0].URL != "" || files[1].Upload != nil {
		t.Error("the links were put into the record itself")
	}
}

// Whatever the instant, a link lasts for as long as is said, and it is the same one for as long as that allows: otherwise
// no answer with a link would ever be not modified.
func TestLinksStayTheSameForAQuarterOfAnHour(t *testing.T) {
	s, id := open(t), record.NewID(time.Now())
	var least, most int
	if _, err := fmt.Sscanf(link.Life, "%d to %d minutes", &least, &most); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now().Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")))
		later := now.Add(time.Duration(rapid.Int64Range(0, int64(15*time.Minute)).Draw(t, "later")))
		at := func(when time.Time) record.Upload {
			got, err := link.Files(t.Context(), s, when, record.HolderRuns, id, files, true, true)
			if err != nil {
				t.Fatal(err)
			}
			return *got[1].Upload
		}
		first, second := at(now), at(later)
		if life := first.ExpiresAt.Sub(now); life <= time.Duration(least)*time.Minute || life > time.Duration(most)*time.Minute {
			t.Fatalf("a link lasts for %v, and is said to for %s", life, link.Life)
		}
		if same := now.Truncate(15 * time.Minute).Equal(later.Truncate(15 * time.Minute)); same != (first.URL == second.URL) {
			t.Fatalf("at %v and %v: the same link is %v", now, later, first.URL == second.URL)
		}
	})
}
