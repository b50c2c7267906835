package main

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/functions/acceptancetest"
)

var storedFolder = flag.String("stored", "", "folder to write what this build stores to, for later builds to open")

// Files that an archive of stored data has besides the data.
const (
	storedTable   = "table.json"   // the items of DynamoDB's table, if they are there
	storedAnswers = "answers.json" // what the build answered, by viewer and path
)

// reading is what was read of a server.
type reading struct {
	At   time.Time                 // when the server was stopped, by its clock
	Read map[string]map[string]any // the answers, by viewer and path
}

// viewers are those who read everything that they can reach, with their groups.
var viewers = map[string][]string{"admin": {"admins"}, "unrelated": nil}

// TestStored_IsWritten writes the data of this build, after the whole scenario and with work left to do, when one asks for it.
func TestStored_IsWritten(t *testing.T) {
	if *storedFolder == "" {
		return
	}
	for _, kind := range []string{storeEmbedded, storeDynamoDB} {
		data, flags, dump := storedTableOf(t, kind, nil)
		t.Run(kind, func(t *testing.T) {
			s := openStored(t, time.Now(), data, flags...)
			acceptancetest.Scenario(t, acceptancetest.Setup{
				URL: storedURL, Client: s.client, Keep: true,
				Token: func(user string, groups ...string) string { return s.token(t, user, groups...) },
			})
			now := reading{Read: map[string]map[string]any{}}
			for viewer, groups := range viewers {
				now.Read[viewer] = s.readAll(t, s.token(t, viewer, groups...))
			}
			s.leaveWork(t)
			now.At = s.program.now()
			content, err := json.Marshal(now)
			if err := errors.Join(err, os.WriteFile(filepath.Join(data, storedAnswers), content, 0o600)); err != nil {
				t.Fatal(err)
			}
		})
		if dump != nil {
			if err := os.WriteFile(filepath.Join(data, storedTable), dump(t), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pack(t, data, filepath.Join(*storedFolder, kind+".tar.gz"))
	}
}

// TestStored_OpensInThisBuild has this build serve what earlier ones have stored: it answers with all that they answered, and
// ends the work that they left.
func TestStored_OpensInThisBuild(t *testing.T) {
	archives, err := filepath.Glob("testdata/stored/*/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatal("no earlier build has left its data", err)
	}
	for _, archive := range archives {
		t.Run(archive, func(t *testing.T) {
			folder := t.TempDir()
			unpack(t, archive, folder)
			var flags []string
			if items, err := os.ReadFile(filepath.Join(folder, storedTable)); err == nil {
				_, flags, _ = storedTableOf(t, storeDynamoDB, items)
			}
			var before reading
			content, err := os.ReadFile(filepath.Join(folder, storedAnswers))
			if err := errors.Join(err, json.Unmarshal(content, &before)); err != nil {
				t.Fatal(err)
			}
			s := openStored(t, before.At, folder, flags...)
			s.endWork(t)
			for viewer, groups := range viewers {
				now := s.readAll(t, s.token(t, viewer, groups...))
				if len(before.Read[viewer]) == 0 {
					t.Errorf("nothing was kept of what %s read", viewer)
				}
				for _, path := range slices.Sorted(maps.Keys(before.Read[viewer])) {
					if !isStored(path) {
						continue
					}
					if missing := lacks(now[path], before.Read[viewer][path], ""); missing != "" {
						t.Errorf("%s as %s: %s", path, viewer, missing)
					}
				}
			}
		})
	}
}
