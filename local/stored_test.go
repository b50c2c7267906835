package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/testing/acceptancetest"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"
	"assay/shared/testing/waittest"
)

var storedFolder = flag.String("stored", "", "folder to write what this build stores to, for later builds to open")

// Files that an archive of stored data has besides the data.
const (
	storedTable   = "table.json"   // the items of DynamoDB's table, if they are there
	storedAnswers = "answers.json" // what the build answered, by viewer and path
)

// snapshot is what was read of a server.
type snapshot struct {
	At     time.Time                 // when the server was stopped, by its clock
	Read   map[string]map[string]any // the answers, by viewer and path
	Secret string                    // of an invitation of the team of leaveForLater
}

// viewers read everything that they can reach; the values are their groups.
var viewers = map[string][]string{"admin": {"admins"}, "unrelated": nil}

// archive serves the whole scenario over the kind of store, leaves pending work, and packs the data.
func archive(t *testing.T, kind, file string) {
	t.Helper()
	data, flags, dump := storedTableOf(t, kind, nil)
	t.Run("written", func(t *testing.T) {
		s := openStored(t, time.Now(), data, flags...)
		whole := s.setup(t)
		whole.Keep = true
		acceptancetest.Scenario(t, whole)
		s.post(t, s.token(t, "unrelated"), "/v1/user/tokens", map[string]any{"name": "Kept", "scopes": []string{"read"}})
		now := snapshot{Read: map[string]map[string]any{}, Secret: s.leaveForLater(t)}
		for viewer, groups := range viewers {
			now.Read[viewer] = s.readAll(t, s.token(t, viewer, groups...))
		}
		s.leavePendingWork(t)
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
	pack(t, data, file)
}

// storedKinds are the kinds of stores that have archives.
var storedKinds = []string{storeEmbedded, storeDynamoDB}

// TestStored_IsKept writes archives of this build, for later builds to open, when -stored is given.
func TestStored_IsKept(t *testing.T) {
	if *storedFolder == "" {
		return
	}
	for _, kind := range storedKinds {
		archive(t, kind, filepath.Join(*storedFolder, kind+".tar.gz"))
	}
}

// TestStored_Opens serves the archives of releases, and archives of this build: in the small form one of the embedded store. This build
// gives all answers that the other build gave, and finishes its pending work.
func TestStored_Opens(t *testing.T) {
	archives, err := filepath.Glob("testdata/stored/*/*.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range storedKinds[:nightlytest.Count(1, len(storedKinds))] {
		file := filepath.Join(t.TempDir(), kind+".tar.gz")
		archive(t, kind, file)
		archives = append(archives, file)
	}
	for _, file := range archives {
		t.Run(filepath.Base(filepath.Dir(file))+" "+filepath.Base(file), func(t *testing.T) { wantOpens(t, file) })
	}
}

// wantOpens opens an archive and, when it has an embedded store, moves it to an empty one.
func wantOpens(t *testing.T, file string) {
	t.Helper()
	folder := t.TempDir()
	unpack(t, file, folder)
	var flags []string
	if items, err := os.ReadFile(filepath.Join(folder, storedTable)); err == nil {
		_, flags, _ = storedTableOf(t, storeDynamoDB, items)
	}
	var before snapshot
	content, err := os.ReadFile(filepath.Join(folder, storedAnswers))
	if err := errors.Join(err, json.Unmarshal(content, &before)); err != nil {
		t.Fatal(err)
	}
	moved := t.TempDir()
	if flags == nil {
		exported := t.TempDir()
		mustRun(t, "export", "-data", folder, "-to", exported)
		mustRun(t, "import", "-data", moved, "-from", exported, "-apply")
	}
	t.Run("opened", func(t *testing.T) {
		s := before.wantAnswers(t, folder, flags...)
		s.useWhatWasLeft(t, before.Secret)
	})
	if flags == nil {
		for _, answers := range before.Read {
			leaveOutWhatStays(answers)
		}
		t.Run("moved", func(t *testing.T) { before.wantAnswers(t, moved) })
	}
}

// wantAnswers serves the folder, and finds all that the build answered that wrote it.
func (before *snapshot) wantAnswers(t *testing.T, folder string, flags ...string) *testServer {
	t.Helper()
	s := openStored(t, before.At, folder, flags...)
	s.finishPendingWork(t)
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
	return s
}

// TestStored_RefusesOtherForms runs every command over a folder whose table names another digest.
func TestStored_RefusesOtherForms(t *testing.T) {
	folder := t.TempDir()
	mustRun(t, "check", "-data", folder)
	mustRun(t, "check", "-data", folder)
	s, err := embedded.Open(filepath.Join(folder, tableFile), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := recordtest.Get[record.TableIdentity](t, s, record.TableIdentityKey())
	other.Digest = "of-another"
	err = new(records.Tx).Replace(other).Commit(t.Context(), s)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "export", "import", "serve"} {
		args := []string{command, "-data", folder}
		if command == "serve" {
			args = append(args, "-addr", "127.0.0.1:0", "-grpc-addr", "")
		}
		err := execute(t.Context(), args, noEnv, io.Discard, io.Discard)
		if !errors.Is(err, record.ErrOtherForm) || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "of-another") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// storedURL is the URL of every server over stored data, since the identity of users includes the issuer.
const storedURL = "http://assay.test"

// openStored serves the folder of data that another build may have written, until the test ends, by a clock that begins at
// the instant. The server must have nothing to report.
func openStored(t *testing.T, at time.Time, data string, flags ...string) *testServer {
	t.Helper()
	c := settingsOf(t, data, append([]string{"-grpc-addr", "", "-demo=false", "-rates", noRates, "-public-url", storedURL}, flags...)...)
	ahead := time.Since(at)
	c.now = func() time.Time { return time.Now().Add(-ahead) }
	return serveWithoutWarnings(t, c)
}

// object is call for an answer that is an object.
func (s *testServer) object(t testing.TB, token, method, path string, body any) (object map[string]any) {
	t.Helper()
	s.call(t, token, method, path, body, &object)
	return object
}

// readAll reads, with the token, every resource that the OpenAPI document leads to: the lists, their elements, and the
// resources below these.
func (s *testServer) readAll(t *testing.T, token string) map[string]any {
	t.Helper()
	var templates []string // paths of GETs
	for path, item := range s.object(t, "", http.MethodGet, "/openapi.json", nil)["paths"].(map[string]any) {
		if _, ok := item.(map[string]any)["get"]; ok && isStored(path) {
			templates = append(templates, path)
		}
	}
	read := map[string]any{}
	next := slices.DeleteFunc(slices.Clone(templates), func(path string) bool { return strings.Contains(path, "{") })
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		a := s.send(t, token, http.MethodGet, path, nil)
		if a.status != http.StatusOK {
			continue
		}
		var answer any
		_ = json.Unmarshal(a.body, &answer) // in another format it counts that there is one
		read[path] = answer
		below := []string{path + "/*"} // one more segment that is no parameter
		object, _ := answer.(map[string]any)
		list, _ := object["data"].([]any)
		for _, element := range list {
			if id, ok := element.(map[string]any)["id"].(string); ok {
				below = append(below, path+"/"+id, path+"/"+id+"/*")
			}
		}
		for _, pattern := range below {
			for _, template := range templates {
				if found := instance(template, pattern); found != "" && read[found] == nil && !slices.Contains(next, found) {
					next = append(next, found)
				}
			}
		}
	}
	return read
}

// isStored reports whether the resource at the path comes from the store, and not only from the build.
func isStored(path string) bool {
	return strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v1/tools") && !strings.HasPrefix(path, "/v1/platform")
}

// instance returns the path that the template has where its parameters are as in the pattern, whose last segment * stands for
// any that is no parameter. It is empty if the template matches no such path.
func instance(template, pattern string) string {
	segments, wanted := strings.Split(template, "/"), strings.Split(pattern, "/")
	if len(segments) != len(wanted) {
		return ""
	}
	for i, segment := range segments {
		switch parameter := strings.HasPrefix(segment, "{"); {
		case parameter && wanted[i] != "*":
			segments[i] = wanted[i]
		case parameter, wanted[i] != "*" && wanted[i] != segment:
			return ""
		}
	}
	return strings.Join(segments, "/")
}

// Names in the work that a build leaves.
const (
	leftOwner, leftUser     = "left-owner", "left-user"
	leftTruth, leftQrels    = "with a truth to come", "1 0 a 1\n"
	leftRun, leftRunContent = "to-come.run", "1 Q0 b 1 2.5 tag\n1 Q0 a 2 1.5 tag\n"
)

// leavePendingWork leaves pending work: runs that wait for files, for workers and for a changed truth, a truth without its file, and
// deletions of a task and a user. Changes of a task and a registration are propagated already, because the embedded store does not lag.
func (s *testServer) leavePendingWork(t *testing.T) {
	t.Helper()
	owner, user := s.token(t, leftOwner), s.token(t, leftUser)
	task, deleted := s.task(t, owner, "Left to do"), s.task(t, owner, "Deleted")
	changed := s.dataset(t, owner, task, "1 0 b 1\n", map[string]any{"name": "with a changed truth"})
	s.dataset(t, owner, task, "", map[string]any{"name": leftTruth, "truths": []any{pendingFile("qrels", leftQrels)}})
	registration := s.post(t, user, task+"/registrations", map[string]any{"team": "Left Team"})
	for _, file := range []map[string]any{inline("there.run", leftRunContent), pendingFile(leftRun, leftRunContent)} {
		file["datasetId"] = changed
		s.post(t, user, task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
	}
	s.post(t, user, task+"/submissions", map[string]any{
		"type": "image", "image": "ranker", "command": "rank", "datasetIds": []string{changed},
	})
	waittest.Until(t, "the first run is evaluated", func() bool { return s.runs(t)["there.run"]["state"] == string(record.Completed) })
	s.object(t, owner, http.MethodPatch, "/v1/datasets/"+changed, map[string]any{"truths": []any{inline("qrels", leftQrels)}})
	s.object(t, user, http.MethodPatch, registration, map[string]any{"anonymous": true})
	s.object(t, owner, http.MethodDelete, deleted, nil)
	gone := s.token(t, "left-gone")
	s.post(t, gone, task+"/registrations", map[string]any{"team": "Gone Team"})
	id := s.object(t, gone, http.MethodGet, "/v1/user", nil)["id"].(string)
	s.object(t, s.token(t, "left-admin", "admins"), http.MethodDelete, "/v1/users/"+id, nil)
	s.object(t, owner, http.MethodPatch, task, map[string]any{"visibility": "private"})
}

// isDue reports whether pending work is due at the time.
func (s *testServer) isDue(t *testing.T, at time.Time) bool {
	t.Helper()
	next, err := s.program.background.Worker.NextDue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return !next.IsZero() && !next.After(at)
}

// finishPendingWork uploads what the work of leavePendingWork waits for, and waits until the work is done.
func (s *testServer) finishPendingWork(t *testing.T) {
	t.Helper()
	waittest.Until(t, "nothing is due", func() bool {
		return !s.isDue(t, s.program.now())
	})
	runs, owner := s.runs(t), s.token(t, leftOwner)
	upload := func(file any, content string) {
		link := file.(map[string]any)["upload"].(map[string]any)["url"].(string)
		s.call(t, "", http.MethodPut, link, []byte(content), nil)
	}
	upload(runs[leftRun]["files"].([]any)[0], leftRunContent)
	for _, dataset := range s.object(t, owner, http.MethodGet, "/v1/datasets", nil)["data"].([]any) {
		if d := dataset.(map[string]any); d["name"] == leftTruth {
			d = s.object(t, owner, http.MethodGet, "/v1/datasets/"+d["id"].(string), nil)
			upload(d["truths"].([]any)[0], leftQrels)
		}
	}
	waittest.Until(t, "every run with files is evaluated with the changed truth", func() bool {
		runs = s.runs(t)
		for _, name := range []string{"there.run", leftRun} {
			evaluation, ok := runs[name]["evaluationId"].(string)
			if !ok {
				return false
			}
			e := s.object(t, s.token(t, leftUser), http.MethodGet, "/v1/evaluations/"+evaluation, nil)
			if ap := e["measures"].(map[string]any)["AP"]; ap != 0.5 {
				return false
			}
		}
		return true
	})
	if state := runs[""]["state"]; state != string(record.Queued) {
		t.Errorf("the run that waits for a worker is %v", state)
	}
	if a := s.send(t, "", http.MethodGet, "/v1/runs/"+runs[leftRun]["id"].(string), nil); a.status != http.StatusNotFound {
		t.Errorf("a run of a task that has become private is answered with %d", a.status)
	}
}

// runs returns the runs of the user who left work, by the name of their first file; the one without files is under "".
func (s *testServer) runs(t *testing.T) map[string]map[string]any {
	t.Helper()
	user := s.token(t, leftUser)
	found := map[string]map[string]any{}
	me := s.object(t, user, http.MethodGet, "/v1/user", nil)["id"].(string)
	for _, listed := range s.object(t, user, http.MethodGet, "/v1/runs?filter[userId]="+me, nil)["data"].([]any) {
		run := s.object(t, user, http.MethodGet, "/v1/runs/"+listed.(map[string]any)["id"].(string), nil)
		name := ""
		if files, _ := run["files"].([]any); len(files) > 0 {
			name, _ = files[0].(map[string]any)["name"].(string)
		}
		found[name] = run
	}
	return found
}

// pendingFile is a file of a request whose content is uploaded afterwards.
func pendingFile(name, content string) map[string]any {
	sum := sha256.Sum256([]byte(content))
	return map[string]any{"name": name, "mediaType": "text/plain", "size": len(content), "sha256": hex.EncodeToString(sum[:])}
}
