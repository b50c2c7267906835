//go:build s3

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/testing/acceptancetest"
	"assay/shared/domain/record"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/waittest"
)

// TestTransfer_ToDynamoDBAndS3AndBack moves the data of the whole scenario from a folder to DynamoDB and S3, and from there to another
// folder. For each reader, each GET must be answered like before, and each linked file must match its digest.
func TestTransfer_ToDynamoDBAndS3AndBack(t *testing.T) {
	startDynamoDB(t)
	cloud := append(startS3(t), dynamoDBFlags(dynamotest.TableName())...)
	old, exports := t.TempDir(), t.TempDir()
	back := filepath.Join(exports, "data")
	first := filepath.Join(exports, "1")
	second := filepath.Join(exports, "2")
	var want map[string]map[string]any
	t.Run("origin", func(t *testing.T) {
		s := openStored(t, time.Now(), old)
		whole := s.setup(t)
		whole.Keep = true
		acceptancetest.Scenario(t, whole)
	})
	later := time.Now().Add(2 * record.RequestTime) // The last propagation of the scenario's changes is due then.
	t.Run("origin later", func(t *testing.T) {
		s := openStored(t, later, old)
		waittest.Until(t, "nothing is due soon, which would change answers", func() bool {
			return !s.isDue(t, s.program.now().Add(time.Minute))
		})
		want = s.readAsEveryone(t)
	})
	checkStoredBytes(t, "-data", old)
	mustRun(t, "export", "-data", old, "-to", first)
	mustRun(t, append(append([]string{"import"}, cloud...), "-from", first, "-apply")...)
	t.Run("cloud", func(t *testing.T) {
		openStored(t, later, t.TempDir(), cloud...).wantAnswers(t, want)
	})
	checkStoredBytes(t, cloud...)
	mustRun(t, append(append([]string{"export"}, cloud...), "-to", second)...)
	mustRun(t, "import", "-data", back, "-from", second, "-apply")
	t.Run("back", func(t *testing.T) { openStored(t, later, back).wantAnswers(t, want) })
	checkStoredBytes(t, "-data", back)
}

// checkStoredBytes compares the counted bytes of each user with the files of the user's records, including records in the trash.
func checkStoredBytes(t *testing.T, flags ...string) {
	t.Helper()
	table, err := openTable(t.Context(), settingsOf(t, t.TempDir(), flags...), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.close() }()
	counted, named := map[string]int64{}, map[string]int64{}
	for after := (store.Key{}); ; {
		items, last, err := table.Store.(store.Scanner).Scan(t.Context(), after, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			holder, err := record.DecodeFileHolder(it)
			user, n := record.StoredBytes(holder)
			var u record.Usage
			if it.Key == record.UsageKey(strings.TrimPrefix(it.Partition, record.UserPartition(""))) {
				err = errors.Join(err, record.Decode(it, &u))
			}
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				named[user] += n
			}
			if u.Bytes > 0 {
				counted[u.ID] = u.Bytes
			}
		}
		after = last
		if last.IsZero() {
			break
		}
	}
	if len(named) < 3 || !maps.Equal(counted, named) {
		t.Errorf("by user, %v bytes are counted, and records name %v", counted, named)
	}
}

// readAsEveryone reads all visible resources as an anonymous caller, an unrelated user, an administrator, and the organizer and two
// participants of the scenario.
func (s *testServer) readAsEveryone(t *testing.T) map[string]map[string]any {
	t.Helper()
	admin := s.token(t, "admin", viewers["admin"]...)
	read := map[string]map[string]any{"": s.readAll(t, ""), "admin": s.readAll(t, admin), "unrelated": s.readAll(t, s.token(t, "unrelated"))}
	for _, user := range s.object(t, admin, http.MethodGet, "/v1/users", nil)["data"].([]any) {
		name, _ := user.(map[string]any)["name"].(string)
		if character, _, _ := strings.Cut(name, "-"); slices.Contains([]string{"olivia", "ann", "ben"}, character) {
			read[name] = s.readAll(t, s.token(t, name))
		}
	}
	if len(read) != 6 {
		t.Fatalf("the readers are %v", slices.Collect(maps.Keys(read)))
	}
	for _, answers := range read {
		leaveOutWhatStays(answers)
	}
	return read
}

func (s *testServer) wantAnswers(t *testing.T, want map[string]map[string]any) {
	t.Helper()
	got := s.readAsEveryone(t)
	compared, files := 0, 0
	for _, reader := range slices.Sorted(maps.Keys(want)) {
		for _, path := range slices.Sorted(maps.Keys(want[reader])) {
			compared++
			files += s.checkLinks(t, got[reader][path])
			a := withoutSignatures(got[reader][path])
			b := withoutSignatures(want[reader][path])
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s as %q is\n%v\nand was\n%v", path, reader, a, b)
			}
		}
		if len(got[reader]) != len(want[reader]) {
			t.Errorf("%q reads %d paths, and read %d", reader, len(got[reader]), len(want[reader]))
		}
	}
	t.Logf("%d answers were compared, and %d files", compared, files)
	if compared < 100 || files < 10 {
		t.Errorf("%d answers were compared, and %d files", compared, files)
	}
}

// signedLink matches a link to an object. Only the key of the object is the same in two stores.
var signedLink = regexp.MustCompile(`^http.*/((?:inputs|truths|runs|logs|evaluations)/[0-9A-Z]{26}/[0-9a-f]{64})\?.*`)

// withoutSignatures returns the answer in which the keys of objects replace the links.
func withoutSignatures(answer any) any {
	switch v := answer.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = withoutSignatures(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withoutSignatures(value)
		}
	case string:
		return signedLink.ReplaceAllString(v, "$1")
	}
	return answer
}

// checkLinks gets each file that the answer links to and compares the digest.
func (s *testServer) checkLinks(t *testing.T, answer any) (checked int) {
	t.Helper()
	switch v := answer.(type) {
	case map[string]any:
		link, _ := v["url"].(string)
		digest, _ := v["sha256"].(string)
		if signedLink.MatchString(link) {
			a := s.send(t, "", http.MethodGet, link, nil)
			if sum := sha256.Sum256(a.body); a.status != http.StatusOK || hex.EncodeToString(sum[:]) != digest {
				t.Errorf("%s is answered with %d and other bytes", link, a.status)
			}
			checked++
		}
		for _, value := range v {
			checked += s.checkLinks(t, value)
		}
	case []any:
		for _, value := range v {
			checked += s.checkLinks(t, value)
		}
	}
	return checked
}
