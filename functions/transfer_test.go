//go:build !race

package functions_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/transfer"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"
)

// TestAnswers_AreEqualAfterAMove sends requests to a server with a store, with a DynamoDB store to which the first was moved, and
// with an embedded store to which the second was moved. For each kind of caller, every GET must get the same bytes, including
// headers.
func TestAnswers_AreEqualAfterAMove(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	m := newModel(*firstSeed)
	s.Now = modelClock
	m.putObjects(t, s)
	origin := m.store(t, "root", false).(store.Scanner)
	cloud := dynamotest.Open(t, dynamotest.Start(t))
	objects := recordtest.OpenFiles(t)
	move(t, origin, s.Files, cloud, objects)
	back := recordtest.OpenStore(t, embedded.Options{})
	move(t, cloud, objects, back, recordtest.OpenFiles(t))

	requests := sampled(t, m.requests(s))
	asked := 0
	found := 0
	differing := 0
	callers := []string{"", "ada", "olga", "root"} // nobody, a participant, an organizer and an administrator
	for i, caller := range callers {
		for n, r := range requests {
			if !nightlytest.Enabled && n%len(callers) != i { // each caller sends a part of the requests
				continue
			}
			if r.method != http.MethodGet || strings.Contains(r.path, "/invitations") || strings.Contains(r.path, "/deletions") {
				continue // invitations and the trash are not moved
			}
			want := r.ask(s, origin, caller)
			asked++
			if statusOf(want) == http.StatusOK {
				found++
			}
			for name, moved := range map[string]store.Store{"DynamoDB": cloud, "the embedded store": back} {
				if got := r.ask(s, moved, caller); differing < 3 && !bytes.Equal(want, got) {
					differing++
					t.Errorf("%s %q as %q, from the origin\n%s\nfrom %s\n%s", r.path, r.headers, caller, want, name, got)
				}
			}
		}
	}
	t.Logf("%d requests, %d answered with 200", asked, found)
	if found < nightlytest.Count(60, 1000) {
		t.Errorf("only %d requests of %d are answered with 200", found, asked)
	}
}

// move moves a whole store.
func move(t *testing.T, from store.Scanner, files blob.Store, to store.Store, objects blob.Store) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "export")
	e := &transfer.Export{Store: from, Files: files, Now: modelClock}
	if manifest, err := e.WriteTo(t.Context(), folder); err != nil || len(manifest.Missing) > 0 {
		t.Fatal(manifest, err)
	}
	f, err := transfer.OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	report, err := (&transfer.Import{Store: to, Files: objects, Now: modelClock, Folder: f}).Apply(t.Context())
	if err != nil || report.Found["objects"][transfer.New] == 0 {
		t.Fatal(report, err)
	}
}

func modelClock() time.Time { return modelTime }
