package transfer

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

// now is the clock of all tests. It is the real time, because DynamoDB lets items expire by the real time.
var now = time.Now()

func clock() time.Time { return now }

// server is a store with its files.
type server struct {
	store store.Scanner
	files *directory.Store
}

func openServer(t testing.TB) *server {
	t.Helper()
	return &server{recordtest.OpenStore(t, embedded.Options{Now: clock}).(store.Scanner), recordtest.OpenFiles(t)}
}

// origin is a server with two organizers, three tasks, and records of every kind.
type origin struct {
	*server
	organizer         *record.Organizer
	task, other, last *recordtest.Task
	run               *recordtest.Run
}

func newOrigin(t testing.TB) *origin {
	t.Helper()
	o := &origin{server: openServer(t)}
	b := recordtest.New(t, o.store)
	b.Now, b.Files = clock, o.files
	b.User(recordtest.OrganizerUser, "ann", "ben", "eva", "rival")
	o.organizer = b.Organizer(recordtest.OrganizerUser)
	foreign := b.Organizer("rival")
	o.task = b.Task(recordtest.OwnedBy(o.organizer), recordtest.Private)
	o.other = b.Task(recordtest.OwnedBy(o.organizer))
	o.last = b.Task(recordtest.OwnedBy(foreign))
	for i, task := range []*recordtest.Task{o.task, o.other, o.last} {
		user := []string{"ann", "ben", "eva"}[i]
		task.Register(user)
		content := fmt.Sprintf("%d 0 d1 1\n", i)
		set := task.Dataset(b.Truths("qrels", content), b.Inputs("topics", "topics of "+user+"\n"), recordtest.OnTestSplit)
		run := set.Run(user, recordtest.Public, recordtest.Published, recordtest.Content("run", "1 Q0 d1 1 1.0 "+user+"\n"))
		set.Run(user, recordtest.Queued, recordtest.Content("same", "1 Q0 d1 1 1.0 shared\n"))
		set.Run(user, recordtest.OfImage)
		id := recordtest.UserID(user)
		line := record.LogLine{At: record.At(now), Stream: record.StreamStdout, Text: "log of <" + user + ">"}
		large := b.File(record.HolderEvaluations, run.Evaluation.ID, "topics", strings.Repeat("values ", 1000))
		b.Put(&record.Allowance{Meta: record.MetaOf(id, now), TaskID: task.ID, Submissions: 3,
			Used: record.Used{Total: 1, Recent: []string{run.ID}}},
			&record.Embargo{Meta: record.MetaOf(task.ID, now), Datasets: []string{set.ID}},
			&record.Usage{Meta: record.MetaOf(id, now), Counts: record.Counts{Bytes: run.Bytes + 1},
				Quota: record.UserQuota{PerDay: map[string]int64{record.MadeRuns: int64(i + 7)}, StoredBytes: new(int64(1))}},
			record.NewAudit(now, task.Scope(), recordtest.UserID(recordtest.OrganizerUser), record.RegistrationDecided,
				"/v1/users/"+id, nil, map[string]string{"userId": id}, id),
			record.Chunks(now, run.ID, record.ExecutionLog, 0, []record.LogLine{line})[0],
			&record.Idempotency{Meta: record.MetaOf(id, now), Name: "k", Until: record.At(now.Add(time.Hour))},
			&record.AccessTokenItem{UserID: id, Digest: strings.Repeat("d", 64),
				AccessToken: record.AccessToken{Meta: record.NewMeta(now), AccessTokenDraft: record.AccessTokenDraft{
					Name: "t", ExpiresAt: new(record.At(now.Add(time.Hour)))}}},
		)
		run.Topics.ObjectKey = record.ObjectKey(record.HolderEvaluations, run.Evaluation.ID, large.SHA256)
		run.Label = "changed since"
		record.Touch(run.RunItem, now)
		b.Replace(run.Topics, run.RunItem)
		if i == 0 {
			o.run = run
		}
	}
	b.Put(record.NewAudit(now, o.organizer.Scope(), recordtest.UserID(recordtest.OrganizerUser), record.OrganizerCreated, "/v1", nil, nil),
		&record.TaskCount{Meta: record.MetaOf(o.organizer.ID, now), Tasks: 2},
		&record.TaskCount{Meta: record.MetaOf(foreign.ID, now), Tasks: 1},
		&record.Serving{Meta: record.NewMeta(now)}, &record.ServerUsage{Meta: record.MetaOf("0", now)},
		record.NewTableIdentity(now))
	return o
}

// export exports the scope, and fails the test on an error.
func (s *server) export(t testing.TB, scope Scope) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "export")
	e := &Export{Store: s.store, Files: s.files, Now: clock, Scope: scope, Origin: "a test"}
	if m, err := e.WriteTo(t.Context(), folder); err != nil || len(m.Missing) > 0 {
		t.Fatal(m, err)
	}
	return folder
}

// from returns the import of the folder into the server.
func (s *server) from(t testing.TB, folder string) *Import {
	t.Helper()
	f, err := OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &Import{Store: s.store, Files: s.files, Now: clock, Folder: f}
}

func (m *Import) mustApply(t testing.TB) *Report {
	t.Helper()
	r, err := m.Apply(t.Context())
	if err != nil {
		t.Fatal(err, r)
	}
	return r
}

// items returns all items of a store.
func items(t testing.TB, s store.Scanner) map[store.Key]store.Item {
	t.Helper()
	all := map[store.Key]store.Item{}
	for after := (store.Key{}); ; {
		page, last, err := s.Scan(t.Context(), after, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page {
			it.Version = 1 // the version of a created item
			all[it.Key] = it
		}
		if last.IsZero() {
			return all
		}
		after = last
	}
}

// wantEqual compares the items, except those that are rebuilt or dropped.
func wantEqual(t testing.TB, got, want map[store.Key]store.Item) {
	t.Helper()
	moved := func(all map[store.Key]store.Item) (list []store.Item) {
		for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b store.Key) int {
			return strings.Compare(a.Partition+"\x00"+a.Sort, b.Partition+"\x00"+b.Sort)
		}) {
			if k, err := kindOf(key); err != nil || k.new != nil && k.fate != rebuilt {
				list = append(list, all[key])
			}
		}
		return list
	}
	if wrong := storetest.Diff(moved(got), moved(want)); wrong != "" {
		t.Error(wrong)
	}
}

// wantFiles compares the files that records of the store name.
func (s *server) wantFiles(t testing.TB, of *server) {
	t.Helper()
	n := 0
	for _, it := range items(t, s.store) {
		r, err := record.DecodeFileHolder(it)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			continue
		}
		for _, key := range r.ObjectKeys() {
			n++
			want, err := of.files.Stat(t.Context(), key)
			if got, gotErr := s.files.Stat(t.Context(), key); err != nil || gotErr != nil || got != want {
				t.Errorf("%s is %+v, %v; want %+v, %v", key, got, gotErr, want, err)
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d files are named", n)
	}
}
