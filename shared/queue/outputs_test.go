package queue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// The output of a run counts in the quota of its owner, once it is there; one for which that has no room fails the run, with
// nothing counted.
func TestDeliver_CountsInTheQuotaOfTheOwner(t *testing.T) {
	s := newScene(t, openStore(t))
	files, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("ranked\n")
	sum := sha256.Sum256(content)
	size := int64(len(content))
	deliver := func(h queue.LeaseRef) (*record.RunItem, []record.File) {
		t.Helper()
		out := record.File{Name: "run.txt", Size: size, SHA256: hex.EncodeToString(sum[:])}
		r, missing, err := s.queue().CompleteExecution(s.ctx, files, h, []record.File{out}, record.UsageLimits{StoredBytes: size + 1})
		if err != nil {
			t.Fatal(err)
		}
		return r, missing
	}
	bytesOf := func(userID string) int64 {
		t.Helper()
		u, err := records.Get[record.Usage](s.ctx, s.store, store.Strong, record.UsageKey(userID))
		if err != nil {
			t.Fatal(err)
		}
		if u == nil {
			return 0
		}
		return u.Bytes
	}
	s.addWork(s.task, "", record.ImageType)
	first := s.leaseWork(record.DefaultPool, record.ExecuteImage)
	if _, missing := deliver(queue.LeaseRefOf(first)); len(missing) != 1 || bytesOf(first.UserID) != 0 {
		t.Errorf("%d files are missing, and %d bytes count", len(missing), bytesOf(first.UserID))
	}
	key := record.ObjectKey(record.HolderRuns, first.ID, hex.EncodeToString(sum[:]))
	if err := files.Put(s.ctx, blob.Object{Key: key, Size: size, SHA256: hex.EncodeToString(sum[:])}, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if r, _ := deliver(queue.LeaseRefOf(first)); r.State != record.Evaluating || r.Bytes != size || bytesOf(r.UserID) != size {
		t.Errorf("the run is %s, and %d bytes count", r.State, bytesOf(r.UserID))
	}
	more := s.addWork(s.task, "", record.ImageType)
	if more.UserID != first.UserID {
		t.Fatal("the runs are of two users")
	}
	r, missing := deliver(queue.LeaseRefOf(s.leaseWork(record.DefaultPool, record.ExecuteImage)))
	if r.State != record.Failed || len(missing) != 0 || len(r.Diagnostics) != 1 || !strings.Contains(r.Diagnostics[0].Message, "may store") || bytesOf(r.UserID) != size {
		t.Errorf("%s with %v, and %d bytes count", r.State, r.Diagnostics, bytesOf(r.UserID))
	}
}
