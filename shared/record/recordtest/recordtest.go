// Package recordtest stores tasks, datasets, registrations and runs for tests that begin in the middle of a story, in the form in
// which requests leave them:
//
//	b := recordtest.New(t, s)
//	dataset := b.Task(recordtest.Private).Dataset()
//	run := dataset.Run("ann", recordtest.Published, recordtest.Value("AP", 0.5))
//
// A test names users as ann; UserID(ann) is the id of that user. What the builder makes is stored when the call returns, unless
// Batch collects it.
package recordtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/auth"
	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"

	"golang.org/x/sync/errgroup"
)

// TB is the part of a test that the builder needs; tests of rapid have it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// OrganizerUser is the user who is the member of the organizer of each task, unless the test names others.
const OrganizerUser = "olga"

// UserID is the id of the user with the name.
func UserID(name string) string { return auth.Identity{Issuer: "test", Subject: name}.UserID() }

// OpenStore opens an empty store until the test ends.
func OpenStore(t testing.TB, o embedded.Options) store.Store {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Builder makes records in a store.
type Builder struct {
	Store store.Store
	Files blob.Store       // has the contents of files; nil: nothing has them
	Now   func() time.Time // time.Now, unless the test sets it

	t         TB
	organizer *record.Organizer
	collect   bool
	collected []record.Record
}

// New returns a builder of records in the store.
func New(t TB, s store.Store) *Builder { return &Builder{Store: s, Now: time.Now, t: t} }

// Put stores records as they are.
func (b *Builder) Put(all ...record.Record) {
	b.t.Helper()
	if b.collect {
		b.collected = append(b.collected, all...)
		return
	}
	b.must(create(b.Store, all))
}

// Batch stores what build makes once build has returned: many records in few transactions.
func (b *Builder) Batch(build func()) {
	b.t.Helper()
	b.collect = true
	build()
	b.collect = false
	var writers errgroup.Group
	writers.SetLimit(4) // DynamoDB Local times out writes that wait behind many
	for all := range slices.Chunk(b.collected, store.MaxWrites) {
		writers.Go(func() error { return create(b.Store, all) })
	}
	b.collected = nil
	b.must(writers.Wait())
}

func create(s store.Store, all []record.Record) error {
	tx := new(records.Tx)
	for _, r := range all {
		tx.Create(r)
	}
	return tx.Commit(context.Background(), s)
}

// Commit applies a change, which must succeed.
func (b *Builder) Commit(tx *records.Tx) {
	b.t.Helper()
	b.must(tx.Commit(context.Background(), b.Store))
}

// Replace stores the next form of records that were read or made before.
func (b *Builder) Replace(all ...record.Record) {
	b.t.Helper()
	tx := new(records.Tx)
	for _, r := range all {
		tx.Replace(r)
	}
	b.Commit(tx)
}

func (b *Builder) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *Builder) meta() record.Meta { return record.NewMeta(b.Now()) }

// Get reads a record; nil when the store has none.
func Get[R any, P records.Pointer[R]](t TB, s store.Store, key store.Key) P {
	t.Helper()
	r, err := records.Get[R, P](context.Background(), s, store.Strong, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TasksOf is how many tasks are counted of the organizer.
func TasksOf(t TB, s store.Store, organizerID string) (tasks int) {
	t.Helper()
	for _, key := range record.TaskCountKeys(organizerID) {
		if n := Get[record.TaskCount](t, s, key); n != nil {
			tasks += n.Tasks
		}
	}
	return tasks
}

// User makes users known, as a first change of their own does.
func (b *Builder) User(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.Put(&record.User{Meta: record.MetaOf(UserID(name), b.Now()), Name: name, Email: name + "@example.org",
			EmailConfirmed: true})
	}
}

// Organizer makes an organizer with the members, all of whom are owners.
func (b *Builder) Organizer(members ...string) *record.Organizer {
	b.t.Helper()
	o := &record.Organizer{Meta: b.meta()}
	o.Name = "Organizer"
	all := []record.Record{o}
	for _, name := range members {
		o.Members = append(o.Members, UserID(name))
		o.Owners = append(o.Owners, UserID(name))
		all = append(all, &record.Reservation{Meta: b.meta(), At: record.MembershipKey(UserID(name), o.ID)})
	}
	b.Put(all...)
	return o
}

// AuditEntries reads the entries of an organizer and its tasks, the newest first.
func AuditEntries(t TB, s store.Store, organizerID string) (all []*record.AuditEntry) {
	t.Helper()
	err := records.Each(context.Background(), s, store.MaxWrites, []records.Source{records.AuditEntries(organizerID)},
		func(a *record.AuditEntry) error {
			all = append(all, a)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// OpenFiles opens an empty store of files until the test ends.
func OpenFiles(t testing.TB) *directory.Store {
	t.Helper()
	files, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// File is a file with the content, in the state.
func File(name, content string, state record.FileState) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain", State: state}
}

// File is a file of the holder with the id; its content is stored.
func (b *Builder) File(h record.Holder, id, name, content string) record.File {
	b.t.Helper()
	f := File(name, content, record.FileStored)
	if b.Files != nil {
		o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
		b.must(b.Files.Put(context.Background(), o, strings.NewReader(content)))
	}
	return f
}
