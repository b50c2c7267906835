package background_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/deletion"
	"assay/shared/service/files"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/evaluationtest"
)

// orderedFiles lists in the order of keys, as S3 does, and ends the time of a call after some of them.
type orderedFiles struct {
	blob.Store
	atMost int
	end    context.CancelFunc
	listed int
}

func (o *orderedFiles) List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var keys []string
		for key, err := range o.Store.List(ctx, prefix, "", before) {
			if err != nil {
				yield("", err)
				return
			}
			keys = append(keys, key)
		}
		slices.SortFunc(keys, cmp.Compare[string])
		for i, key := range keys {
			if key <= after {
				continue
			}
			if i == o.atMost {
				o.end()
			}
			o.listed++
			if !yield(key, nil) {
				return
			}
		}
	}
}

// TestDeleteAbandonedFiles_GoesOnWhereItsTimeEnded: a bucket may have more files than a call of Lambda can look at.
func TestDeleteAbandonedFiles_GoesOnWhereItsTimeEnded(t *testing.T) {
	f := newFixture(t)
	ordered := &orderedFiles{Store: f.Files}
	nobody := record.NewID(f.Now())
	const n = 7 * store.MaxKeys / 2
	for i := range n {
		f.Records.File(record.HolderRuns, nobody, "x", fmt.Sprint(i))
	}
	keep := f.Add(evaluationtest.Ranked).ObjectKeys()[0]
	f.Wait(49 * time.Hour)
	f.Files = ordered
	after, calls := "", 0
	for ; calls == 0 || after != ""; calls++ {
		ctx, end := context.WithCancel(f.Ctx)
		ordered.end, ordered.atMost = end, 2*store.MaxKeys // of the remaining files, because each call deletes the files that it saw
		done, err := f.DeleteAbandonedFiles(ctx, after)
		if done != "" && !errors.Is(err, context.Canceled) || done == "" && err != nil || done != "" && done <= after {
			t.Fatalf("call %d went on after %q to %q: %v", calls, after, done, err)
		}
		after = done
		end()
	}
	if calls < 2 || ordered.listed > n+calls*store.MaxKeys {
		t.Errorf("%d files were listed %d times in %d calls: it did not go on, but began again", n, ordered.listed, calls)
	}
	if _, err := f.Files.Stat(f.Ctx, keep); err != nil {
		t.Error(err)
	}
	for key, err := range ordered.Store.List(f.Ctx, string(record.HolderRuns)+"/"+nobody+"/", "", f.Now()) {
		t.Fatalf("%s is left, %v", key, err)
	}
}

// TestDeleteAbandonedFiles_LeavesABatchThatFails: what cannot be read must not keep all files behind it for ever.
func TestDeleteAbandonedFiles_LeavesABatchThatFails(t *testing.T) {
	f := newFixture(t)
	broken, nobody := record.NewID(f.Now()), record.NewID(f.Now().Add(time.Second))
	f.Must(f.Store.Write(f.Ctx, store.Create(store.Item{Key: record.RunKey(broken), Data: []byte("this is no run")})))
	for _, id := range []string{broken, nobody} {
		for i := range store.MaxKeys / 2 {
			f.Records.File(record.HolderRuns, id, "x", fmt.Sprint(id, i))
		}
	}
	f.Wait(49 * time.Hour)
	f.Files = &orderedFiles{Store: f.Files, atMost: -1}
	if done, err := f.DeleteAbandonedFiles(f.Ctx, ""); err == nil || done != "" {
		t.Errorf("it ended after %q: %v", done, err)
	}
	for key, err := range f.Files.List(f.Ctx, string(record.HolderRuns)+"/"+nobody+"/", "", f.Now()) {
		t.Fatalf("%s is left, %v", key, err)
	}
}

// lines is where a log goes.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestRun_LeavesFilesOfAnotherTable: of two servers over two tables that started at once over an empty bucket, one has no claim.
func TestRun_LeavesFilesOfAnotherTable(t *testing.T) {
	f := newFixture(t)
	log := make(lines, 100)
	f.Log = slog.New(slog.NewTextHandler(log, nil))
	other := record.NewID(f.Now())
	key := record.ObjectKey(record.HolderRuns, other, f.Records.File(record.HolderRuns, other, "x", "of the other table").SHA256)
	claim := files.Claim{Table: recordtest.OpenStore(t, embedded.Options{}), Objects: f.Files, Now: f.Now}
	if err := claim.Make(f.Ctx); err != nil {
		t.Fatal(err)
	}
	f.Wait(49 * time.Hour)
	f.start()
	for refused := false; !refused; {
		select {
		case line := <-log:
			refused = strings.Contains(line, files.ErrOtherTable.Error())
		case <-time.After(10 * time.Millisecond):
		}
		if _, err := f.Files.Stat(f.Ctx, key); err != nil {
			t.Fatal(err)
		}
	}
}

// restoringStore restores a deleted record right before somebody looks into the trash.
type restoringStore struct {
	store.Store
	restore func()
}

func (r *restoringStore) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	inTrash := func(k store.Key) bool { return strings.HasPrefix(k.Partition, "TRASH#") }
	if restore := r.restore; restore != nil && slices.ContainsFunc(keys, inTrash) {
		r.restore = nil
		restore()
	}
	return r.Store.Get(ctx, c, keys...)
}

// TestDeleteAbandonedFiles_KeepsThoseOfARunThatIsRestored: while it cleans, the run is first in the trash and then not there any more.
func TestDeleteAbandonedFiles_KeepsThoseOfARunThatIsRestored(t *testing.T) {
	f := newFixture(t)
	run := f.Add(evaluationtest.Ranked)
	deleter := deletion.Deleter{Store: f.Store, Files: f.Files, Now: f.Now}
	tx := new(records.Tx)
	entry, err := deleter.DeleteRun(f.Ctx, tx, f.GetRun(run.ID), run.UserID, true)
	f.Must(err)
	f.Must(tx.Commit(f.Ctx, f.Store))
	f.Must(deleter.Continue(f.Ctx, entry.Key()))
	f.Wait(49 * time.Hour)
	f.Store = &restoringStore{f.Store, func() {
		f.Must(records.Change(f.Ctx, deleter.Store, entry.Key(), func(entry *record.DeletionItem, tx *records.Tx) error {
			_, err := deleter.Restore(f.Ctx, tx, entry, run.UserID)
			return err
		}))
	}}
	f.clean()
	if f.GetRun(run.ID) == nil {
		t.Fatal("the run was not restored")
	}
	if _, err := f.Files.Stat(f.Ctx, run.ObjectKeys()[0]); err != nil {
		t.Error(err)
	}
}

// TestDeleteAbandonedFiles_ComparesHolders: a file of inputs is abandoned, though a ground truth of the same dataset has the same bytes.
func TestDeleteAbandonedFiles_ComparesHolders(t *testing.T) {
	f := newFixture(t)
	file := f.Records.File(record.HolderInputs, f.Dataset.ID, "x", evaluationtest.Qrels)
	input := record.ObjectKey(record.HolderInputs, f.Dataset.ID, file.SHA256)
	f.Wait(49 * time.Hour)
	f.clean()
	if _, err := f.Files.Stat(f.Ctx, input); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the input is still there: %v", err)
	}
	if _, err := f.Files.Stat(f.Ctx, f.Truth.ObjectKeys()[0]); err != nil {
		t.Error(err)
	}
}

func TestDeleteAbandonedFiles_KeepsNamedFiles(t *testing.T) {
	f := newFixture(t)
	run := f.Add(evaluationtest.Ranked)
	f.Truth.Files = append(f.Truth.Files, f.Records.File(record.HolderTruths, f.Dataset.ID, "old.txt", "of an older truth"))
	f.Records.Replace(f.Truth)
	keep := []string{record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256)}
	for _, file := range f.Truth.Files {
		keep = append(keep, record.ObjectKey(record.HolderTruths, f.Dataset.ID, file.SHA256))
	}
	nobody := record.NewID(f.Now())
	var drop []string
	for _, h := range []record.Holder{record.HolderInputs, record.HolderTruths, record.HolderRuns, record.HolderEvaluations} {
		drop = append(drop, record.ObjectKey(h, nobody, f.Records.File(h, nobody, "x", "of nobody").SHA256))
	}
	drop = append(drop, record.ObjectKey(record.HolderRuns, run.ID, f.Records.File(record.HolderRuns, run.ID, "x", "replaced").SHA256))
	has := func(key string) bool {
		_, err := f.Files.Stat(f.Ctx, key)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	f.Wait(47 * time.Hour)
	f.clean()
	for _, key := range drop {
		if !has(key) {
			t.Errorf("%s is gone before its time", key)
		}
	}
	f.Wait(2 * time.Hour)
	f.clean()
	for _, key := range keep {
		if !has(key) {
			t.Errorf("%s is gone, though a record names it", key)
		}
	}
	for _, key := range drop {
		if has(key) {
			t.Errorf("%s is still there", key)
		}
	}
}

func TestDeleteAbandonedFiles_CompletesUploadsWithoutNotification(t *testing.T) {
	f := newFixture(t)
	r := f.Add(evaluationtest.Ranked, awaitingUpload)
	f.Wait(49 * time.Hour)
	f.clean()
	if got := f.GetRun(r.ID); got.State != record.Queued || got.Files[0].State != record.FileStored {
		t.Errorf("the run is %s, its file %s", got.State, got.Files[0].State)
	}
}

func TestDeleteExpiredResults_KeepsOtherFiles(t *testing.T) {
	f := newFixture(t)
	user := record.NewID(f.Now())
	result := record.ObjectKey(record.HolderTools, user, f.Records.File(record.HolderTools, user, "fused.txt", evaluationtest.Ranked).SHA256)
	run := f.Add(evaluationtest.Ranked)
	for _, c := range []struct {
		later time.Duration
		there bool
	}{{29 * time.Minute, true}, {2 * time.Minute, false}} {
		f.Wait(c.later)
		f.Must(f.DeleteExpiredResults(f.Ctx))
		if _, err := f.Files.Stat(f.Ctx, result); (err == nil) != c.there {
			t.Errorf("%v later: %v", c.later, err)
		}
	}
	if _, err := f.Files.Stat(f.Ctx, run.ObjectKeys()[0]); err != nil {
		t.Error(err)
	}
}
