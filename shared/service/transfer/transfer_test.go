package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"
)

// TestKinds_AreThoseOfTheTable compares kinds with the keys in the comment that documents them.
func TestKinds_AreThoseOfTheTable(t *testing.T) {
	source, err := os.ReadFile("../../domain/record/keys.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile(`(?m)^//\t([A-Z]+)(\S*?) */ (\S+)`).FindAllStringSubmatch(string(source), -1)
	if len(documented) < 20 {
		t.Fatalf("only %d keys are documented", len(documented))
	}
	used := map[string]bool{}
	for _, key := range documented {
		k, err := kindOf(store.Key{Partition: key[1] + key[2], Sort: key[3]})
		if err != nil {
			t.Errorf("%s: %v", key[0], err)
		}
		used[k.partition+k.sort] = true
	}
	for _, k := range kinds {
		if !used[k.partition+k.sort] {
			t.Errorf("%s is not documented", k.name())
		}
	}
}

func TestImport_MovesEveryRecordAndFile(t *testing.T) {
	o := newOrigin(t)
	cloud := &server{dynamotest.Open(t, dynamotest.Start(t)), recordtest.OpenFiles(t)}
	cloud.from(t, o.export(t, Scope{})).mustApply(t)
	back := openServer(t)
	r := back.from(t, cloud.export(t, Scope{})).mustApply(t)
	if found := r.Found[objectKind]; found[New] < 12 || found[Same] > 0 {
		t.Errorf("%v objects: one is in the folder more than once", found)
	}
	want := items(t, o.store)
	for name, s := range map[string]*server{"cloud": cloud, "back": back} {
		got := items(t, s.store)
		wantEqual(t, got, want)
		s.wantFiles(t, o.server)
		for _, key := range []store.Key{record.TableIdentityKey(), record.ServingKey(), record.IdempotencyKey(recordtest.UserID("ann"), "k"),
			{Partition: record.ServerPartition, Sort: "0"}} {
			if _, ok := got[key]; ok {
				t.Errorf("%s has %v", name, key)
			}
		}
		if n := recordtest.TasksOf(t, s.store, o.organizer.ID); n != 2 {
			t.Errorf("%s counts %d tasks", name, n)
		}
		u := recordtest.Get[record.Usage](t, s.store, record.UsageKey(recordtest.UserID("ann")))
		if queued := int64(len("1 Q0 d1 1 1.0 shared\n")); u == nil || u.Bytes != o.run.Bytes+queued {
			t.Errorf("%s counts %+v for ann, whose runs have %d and %d bytes", name, u, o.run.Bytes, queued)
		}
		if q := u.Quota; q.PerDay[record.MadeRuns] != 7 || q.StoredBytes == nil || *q.StoredBytes != 1 || q.PendingFiles != nil {
			t.Errorf("%s has the quota %+v for ann", name, q)
		}
		if _, ok := got[u.StorageKey()]; !ok {
			t.Errorf("%s does not list ann by storage", name)
		}
	}
}

func TestImport_OfATaskMovesWhatBelongsToIt(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	folder := o.export(t, Scope{Task: o.task.ID})
	to.from(t, folder).mustApply(t)
	want := items(t, o.store)
	foreign := append(idsOf(t, o.server, o.other.TaskItem), idsOf(t, o.server, o.last.TaskItem)...)
	foreign = append(foreign, recordtest.UserID("ben"), recordtest.UserID("eva"), recordtest.UserID("rival"),
		recordtest.UserID("mate of ben"), recordtest.UserID("mate of eva"), `"sort":"`+strings.Repeat("d", 64))
	for key, it := range want {
		text := key.Partition + key.Sort + string(it.Data) + it.Entry(record.ByTask).Partition
		for _, id := range foreign {
			if strings.Contains(text, id) {
				delete(want, key)
			}
		}
		if key.Partition == "AUDIT#"+o.organizer.ID && !strings.Contains(text, o.task.ID) || strings.HasPrefix(key.Partition, "TOKENS#") ||
			key.Sort == "DELETED" {
			delete(want, key)
		}
	}
	wantEqual(t, items(t, to.store), want)
	to.wantFiles(t, o.server)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, id := range foreign {
			if strings.Contains(string(b), id) {
				t.Errorf("%s has %s, which does not belong to the task", path, id)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The organizer's other task follows, and is counted with the first.
	to.from(t, o.export(t, Scope{Task: o.other.ID})).mustApply(t)
	if n := recordtest.TasksOf(t, to.store, o.organizer.ID); n != 2 {
		t.Errorf("%d tasks are counted", n)
	}
}

// idsOf returns the IDs of a task and everything below it.
func idsOf(t *testing.T, s *server, task *record.TaskItem) []string {
	t.Helper()
	ids := []string{task.ID}
	for _, k := range []record.Kind{record.KindDataset, record.KindSubmission, record.KindRun, record.KindEvaluation} {
		sources := records.Of(record.KindTask, task.ID, k)
		if k == record.KindDataset {
			sources = sources[:1]
		}
		for _, source := range sources {
			found, err := s.store.Query(t.Context(), store.Query{Index: source.Index, Partition: source.Partition, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range found {
				_, id, _ := strings.Cut(it.Partition, "#")
				ids = append(ids, id)
			}
		}
	}
	if len(ids) < 8 {
		t.Fatalf("only %v belong to the task", ids)
	}
	return ids
}

func TestImport_OfAnOrganizerMovesItsTasks(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	to.from(t, o.export(t, Scope{Organizer: o.organizer.ID})).mustApply(t)
	got := items(t, to.store)
	for _, task := range []*record.TaskItem{o.task.TaskItem, o.other.TaskItem} {
		if got[task.Key()].Data == nil {
			t.Errorf("the task %s is missing", task.ID)
		}
	}
	if got[o.last.Key()].Data != nil || got[record.UserKey(recordtest.UserID("rival"))].Data != nil {
		t.Error("what belongs to another organizer was moved")
	}
	if n := len(recordtest.AuditEntries(t, to.store, o.organizer.ID)); n != 3 {
		t.Errorf("%d audit entries were moved", n)
	}
}

// TestImport_GoesOnAfterEachInterruption lets each call of the target's store fail once, and repeats the import.
func TestImport_GoesOnAfterEachInterruption(t *testing.T) {
	o := newOrigin(t)
	folder, want := o.export(t, Scope{}), items(t, o.store)
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		to := openServer(t)
		fail := errors.New("interrupted")
		hooked := &storetest.Hooked{Store: to.store, Before: func(c storetest.Call) error {
			if c.Number == n {
				return fail
			}
			return nil
		}}
		m := to.from(t, folder)
		m.Store = hooked
		if _, err := m.Apply(t.Context()); err != nil && !errors.Is(err, fail) {
			t.Fatal(err)
		}
		m.Store = to.store
		m.mustApply(t)
		again := m.mustApply(t)
		for kind, found := range again.Found {
			if found[Same] == 0 || len(found) > 1 {
				t.Errorf("a third import finds %v of %s", found, kind)
			}
		}
		wantEqual(t, items(t, to.store), want)
		if n := recordtest.TasksOf(t, to.store, o.organizer.ID); n != 2 {
			t.Errorf("after an interruption, %d tasks are counted", n)
		}
		return hooked
	})
}

// TestImport_AddsQuotasToWhatIsCounted imports into a store whose users have usage. One of them has another quota there.
func TestImport_AddsQuotasToWhatIsCounted(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	ann, ben := recordtest.UserID("ann"), recordtest.UserID("ben")
	own := record.UserQuota{PendingFiles: new(int64(3))}
	recordtest.New(t, to.store).Put(&record.Usage{Meta: record.MetaOf(ann, now), Counts: record.Counts{Bytes: 5}},
		&record.Usage{Meta: record.MetaOf(ben, now), Quota: own})
	r := to.from(t, o.export(t, Scope{})).mustApply(t)
	if f := r.Found["USER/USAGE"]; f[New] != 2 || f[Stays] != 1 {
		t.Errorf("of the quotas %v", f)
	}
	u := recordtest.Get[record.Usage](t, to.store, record.UsageKey(ann))
	if u.Bytes <= 5 || u.Quota.PerDay[record.MadeRuns] != 7 {
		t.Errorf("of ann, who had 5 bytes, %+v", u)
	}
	if u := recordtest.Get[record.Usage](t, to.store, record.UsageKey(ben)); !reflect.DeepEqual(u.Quota, own) {
		t.Errorf("ben has the quota %+v", u.Quota)
	}
}

// TestExport_OfAPartHasNoQuotas checks that exports of an organizer contain no quotas, and that imports of such exports accept none.
// Quotas are the platform's.
func TestExport_OfAPartHasNoQuotas(t *testing.T) {
	o := newOrigin(t)
	content, err := os.ReadFile(filepath.Join(o.export(t, Scope{Organizer: o.organizer.ID}), itemsName))
	if err != nil || strings.Contains(string(content), `"USAGE"`) {
		t.Error("the export of an organizer has what users took", err)
	}
	m := openServer(t).from(t, o.export(t, Scope{}))
	m.Folder.Scope = Scope{Organizer: o.organizer.ID}
	if _, err := m.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "not moved") {
		t.Errorf("a quota in the export of an organizer: %v", err)
	}
}

// TestImport_WritesLastWhatIsDue checks that records with due work are written after all records that the work needs.
func TestImport_WritesLastWhatIsDue(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	folder, want := o.export(t, Scope{}), len(items(t, o.store))
	due := 0
	m := to.from(t, folder)
	m.Store = &storetest.Hooked{Store: to.store, Before: func(c storetest.Call) error {
		for _, w := range c.Writes {
			e := importedRecord{item: w.Item}
			switch {
			case e.due():
				due++
			case due > 0 && w.Op == store.OpCreate && w.Item.Partition != record.StoragePartition: // there, users move
				t.Errorf("%v is created after %d records that are due", w.Item.Key, due)
			}
		}
		if due > 0 {
			to.wantFiles(t, o.server)
		}
		return nil
	}}
	m.mustApply(t)
	if due < 6 || due > want/2 { // two runs of each task
		t.Errorf("%d of %d records are due", due, want)
	}
}

// interrupted is a store of files that lets a number of files be opened.
type interrupted struct {
	blob.Store
	files int
}

// Open implements blob.Store.
func (i *interrupted) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	i.files--
	if i.files < 0 {
		return nil, errInterrupted
	}
	return i.Store.Open(ctx, key)
}

var errInterrupted = errors.New("interrupted")

// TestExport_GoesOnAfterAnInterruption lets each export copy two files more than the one before.
func TestExport_GoesOnAfterAnInterruption(t *testing.T) {
	o := newOrigin(t)
	folder := filepath.Join(t.TempDir(), "export")
	e := &Export{Store: o.store, Now: clock}
	attempts := 0
	for err := errInterrupted; err != nil; attempts++ {
		e.Files = &interrupted{o.files, 2}
		if _, err = e.WriteTo(t.Context(), folder); err == nil {
			break
		}
		_, openErr := OpenFolder(folder)
		if !errors.Is(err, errInterrupted) || openErr == nil || !strings.Contains(openErr.Error(), "interrupted") {
			t.Fatalf("%v; an interrupted export opens: %v", err, openErr)
		}
	}
	if attempts < 4 {
		t.Errorf("it took %d attempts", attempts)
	}
	if _, err := e.WriteTo(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("a complete export is written again: %v", err)
	}
	to := openServer(t)
	to.from(t, folder).mustApply(t)
	wantEqual(t, items(t, to.store), items(t, o.store))
	to.wantFiles(t, o.server)
}

func TestExport_NamesMissingFiles(t *testing.T) {
	o := newOrigin(t)
	key := record.ObjectKey(record.HolderRuns, o.run.ID, o.run.Files[0].SHA256)
	if err := o.files.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	e := &Export{Store: o.store, Files: o.files, Now: clock, Scope: Scope{}}
	m, err := e.WriteTo(t.Context(), t.TempDir())
	if err != nil || len(m.Missing) != 1 || m.Missing[0] != key {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestExport_OfAPartHasNobodyWhomItsTextsName checks that an organizer's export has no profiles of users that only its texts name.
// Exports go to others, and texts can name any user of the server.
func TestExport_OfAPartHasNobodyWhomItsTextsName(t *testing.T) {
	o := newOrigin(t)
	named := recordtest.UserID("eva")
	_, err := records.Update(t.Context(), o.store, o.task.Key(), func(t *record.TaskItem, _ *records.Tx) (bool, error) {
		t.Description = "By " + named + " and others."
		record.Touch(t, now)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(o.export(t, Scope{Organizer: o.organizer.ID}), itemsName))
	if err != nil || !strings.Contains(string(content), named) || strings.Contains(string(content), record.UserPartition(named)) {
		t.Errorf("the export has the profile of a user whom a text names, or lacks the text: %v", err)
	}
	if ann := record.UserPartition(recordtest.UserID("ann")); !strings.Contains(string(content), ann) {
		t.Error("the export lacks the profile of a participant")
	}
}
