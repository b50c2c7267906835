package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/waittest"
)

// backUp runs the command and returns its output.
func backUp(t testing.TB, data, to string) (string, error) {
	t.Helper()
	return runBackup(t, "-data", data, "-to", to)
}

func runBackup(t testing.TB, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := execute(t.Context(), append([]string{"backup"}, args...), noEnv, &out, io.Discard)
	return out.String(), err
}

// backupLoad is a task in which clients submit, upload and delete.
type backupLoad struct {
	*testServer
	owner, task, dataset string
	made, deleted        atomic.Int64
}

func newBackupLoad(t *testing.T, s *testServer) *backupLoad {
	l := &backupLoad{testServer: s, owner: s.token(t, "owner")}
	l.task = s.task(t, l.owner, "Load")
	l.dataset = s.dataset(t, l.owner, l.task, "1 0 a 1\n1 0 b 0\n", nil)
	return l
}

// submit makes a submission with a unique file, which is inline or uploaded.
func (l *backupLoad) submit(t *testing.T, token string, random *rand.Rand) (path string) {
	content := fmt.Sprintf("1 Q0 a 1 2.5 %x\n", random.Uint64())
	file := inline("run", content)
	if random.IntN(2) == 0 {
		file = pendingFile("run", content)
	}
	file["datasetId"] = l.dataset
	var made record.Submission
	draft := map[string]any{"type": "upload", "files": []any{file}}
	path = l.call(t, token, http.MethodPost, l.task+"/submissions", draft, &made).Get("Location")
	l.made.Add(1)
	for _, f := range made.Files {
		if f.Upload != nil {
			if a := l.upload(t, f.Upload, content); a != http.StatusOK && a != http.StatusNoContent {
				t.Errorf("upload: %d", a)
			}
		}
	}
	return path
}

func (l *backupLoad) upload(t *testing.T, u *record.Upload, content string) int {
	r := request(t, u.Method, u.URL, []byte(content))
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	resp, err := l.client.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// run submits until stop is closed, and deletes about every second submission after a while.
func (l *backupLoad) run(t *testing.T, n int, seed uint64, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	token := l.token(t, fmt.Sprintf("user%d", n))
	l.post(t, token, l.task+"/registrations", map[string]any{"team": fmt.Sprintf("Team %d", n)})
	var open []string
	for {
		select {
		case <-stop:
			return
		default:
		}
		open = append(open, l.submit(t, token, random))
		i := random.IntN(len(open))
		if random.IntN(2) == 0 {
			if a := l.send(t, token, http.MethodDelete, open[i], nil); a.status == http.StatusNoContent {
				l.deleted.Add(1)
			}
			open = append(open[:i], open[i+1:]...)
		}
	}
}

// A backup has every file that its records name as stored, although clients submit, upload and delete meanwhile. A server over the backup
// gives the same answers to the same tokens as the first server.
func TestBackup_IsConsistentUnderLoad(t *testing.T) {
	random := storetest.Random(t)
	data, backups := t.TempDir(), t.TempDir()
	s := startIn(t, data, "-rates", noRates, "-quotas", `{"user":{"perDay":{"runs":0}}}`)
	l := newBackupLoad(t, s)
	before := map[string][]byte{}
	for _, path := range []string{l.task, "/v1/datasets/" + l.dataset, "/v1/tasks?filter[name]=CAsT", "/v1/organizers", "/v1/user"} {
		before[path] = s.send(t, l.owner, http.MethodGet, path, nil).body
	}
	fillObjects(t, filepath.Join(data, filesFolder, "objects"))
	stop, seed := make(chan struct{}), random.Uint64()
	var clients sync.WaitGroup
	for n := range 3 {
		clients.Go(func() { l.run(t, n, seed, stop) })
	}
	const copies = 8
	made := int64(0)
	for n := range copies {
		waittest.Until(t, "there are more submissions, and submissions were deleted", func() bool {
			return l.made.Load() > made+int64(random.IntN(20)) && l.deleted.Load() > int64(2*n)
		})
		made = l.made.Load()
		to := filepath.Join(backups, fmt.Sprint(n))
		if out, err := backUp(t, data, to); err != nil || !strings.Contains(out, to) {
			t.Fatalf("%q, %v", out, err)
		}
	}
	close(stop)
	clients.Wait()
	for n := range copies {
		checkBackup(t, s, l, filepath.Join(backups, fmt.Sprint(n)), before)
	}
	t.Logf("%d submissions, %d of them deleted, during %d backups", l.made.Load(), l.deleted.Load(), copies)
}

// fillObjects gives one of the files thousands of names, so that a backup takes a while.
func fillObjects(t *testing.T, folder string) {
	t.Helper()
	there, err := os.ReadDir(folder)
	for n := 0; n < 5000 && err == nil; n++ {
		err = os.Link(filepath.Join(folder, there[0].Name()), filepath.Join(folder, fmt.Sprintf("%064x", n)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkBackup serves a backup at another address, under the URL of the first server.
func checkBackup(t *testing.T, s *testServer, l *backupLoad, folder string, before map[string][]byte) {
	t.Helper()
	restored := startIn(t, folder, "-public-url", s.url, "-rates", noRates)
	for path, want := range before {
		if got := restored.send(t, l.owner, http.MethodGet, path, nil); !bytes.Equal(withoutLinks(got.body), withoutLinks(want)) {
			t.Errorf("%s: GET %s: %s, want %s", folder, path, got.body, want)
		}
	}
	runs := allOf[record.Run](t, restored, l.owner, "/v1/runs?limit=200&filter[taskId]="+id(l.task))
	if len(runs) == 0 {
		t.Errorf("%s has no runs", folder)
	}
	for _, r := range runs {
		for _, f := range r.Files {
			if f.State != record.FileStored {
				continue
			}
			var run record.Run
			restored.get(t, l.owner, "/v1/runs/"+r.ID, &run)
			a := restored.send(t, "", http.MethodGet, run.Files[0].URL, nil)
			if sum := sha256.Sum256(a.body); a.status != http.StatusOK || hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s: the file of run %s, which is %s: %d %s", folder, r.ID, r.State, a.status, a.body)
			}
		}
	}
	var later record.Submission
	token := restored.token(t, "later")
	restored.post(t, token, l.task+"/registrations", map[string]any{"team": "Later"})
	file := inline("run", "1 Q0 a 1 2.5 later\n")
	file["datasetId"] = l.dataset
	restored.call(t, token, http.MethodPost, l.task+"/submissions", map[string]any{"type": "upload", "files": []any{file}}, &later)
	waittest.Until(t, "a run that is submitted to the restored server is evaluated", func() bool {
		var run record.Run
		restored.get(t, token, "/v1/runs/"+later.RunIDs[0], &run)
		return run.State == record.Completed
	})
}

// withoutLinks returns a document up to its first signed link. Signed links differ in each answer.
func withoutLinks(document []byte) []byte {
	start, _, _ := bytes.Cut(document, []byte(`"url":"http`))
	return start
}

// Without a server the command opens the folder itself. It refuses to write a backup in the place of a file, or of a folder that is
// not empty.
func TestBackup_OfAFolderAtRest(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	var task string
	t.Run("first", func(t *testing.T) {
		s := startIn(t, data, "-demo=false")
		task = s.task(t, s.token(t, "owner"), "Lakes")
	})
	if _, err := backUp(t, t.TempDir(), to); err == nil || !strings.Contains(err.Error(), "table and the files") {
		t.Errorf("a folder without a table: %v", err)
	}
	if _, err := backUp(t, data, ""); err == nil || !strings.Contains(err.Error(), "-to") {
		t.Errorf("without -to: %v", err)
	}
	if _, err := backUp(t, data, to); err != nil {
		t.Fatal(err)
	}
	if _, err := backUp(t, data, to); err == nil || !strings.Contains(err.Error(), "name a folder that does not exist") {
		t.Errorf("a folder with a backup: %v", err)
	}
	file := filepath.Join(to, tableFile)
	if _, err := backUp(t, data, file); err == nil || !strings.Contains(err.Error(), "name a folder that does not exist") {
		t.Errorf("a file: %v", err)
	}
	startIn(t, to, "-demo=false").get(t, "", task, nil)
}

// If the command ends, the server leaves nothing, and can make the next backup.
func TestBackup_EndsWithItsCommand(t *testing.T) {
	data, backups := t.TempDir(), t.TempDir()
	to := filepath.Join(backups, "backup")
	s := startIn(t, data)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := sourceOf(t, s)
	if _, err := source.backup(ctx, destination{folder: to}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left := namesIn(t, backups); len(left) > 0 {
		t.Errorf("a failed backup leaves %q", left)
	}
	if _, err := backUp(t, data, to); err != nil {
		t.Error(err)
	}
}

// Only the owner of the folder can read a backup, and reach the socket of the server.
func TestBackup_IsForTheOwner(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	open := t.TempDir() // an empty folder to which everyone can write
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	startIn(t, data)
	for _, folder := range []string{to, open} {
		if _, err := backUp(t, data, folder); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{filepath.Join(data, socketFolder), to, open} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has %s", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The command and the next server work although a killed server has left its socket.
func TestBackup_AfterAKill(t *testing.T) {
	v := newServerProcess(t)
	v.start(t)
	v.kill(t)
	if _, err := os.Stat(filepath.Join(v.data, socketFolder, socketName)); err != nil {
		t.Fatalf("the killed server left no socket: %v", err)
	}
	if _, err := backUp(t, v.data, filepath.Join(t.TempDir(), "backup")); err != nil {
		t.Errorf("at rest: %v", err)
	}
	v.start(t)
	if _, err := backUp(t, v.data, filepath.Join(t.TempDir(), "backup")); err != nil {
		t.Errorf("running again: %v", err)
	}
	v.kill(t)
}
