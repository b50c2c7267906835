// Package recordtest stores tasks, datasets, registrations and runs for tests, in the form in which requests would leave them:
//
//	b := recordtest.New(t, s)
//	dataset := b.Task(recordtest.Private).Dataset()
//	run := dataset.Run("ann", recordtest.Published, recordtest.Value("AP", 0.5))
//
// Tests use short names for users, such as ann; UserID returns the ID for a name. Records are stored when the builder's call
// returns, unless Batch collects them.
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

	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"

	"golang.org/x/sync/errgroup"
)

// TB is the part of testing.TB that the builder needs. Tests of rapid have it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// OrganizerUser is the member of each task's organizer, unless the test names others.
const OrganizerUser = "olga"

// UserID returns the ID of the user with the name.
func UserID(name string) string { return auth.Identity{Issuer: "test", Subject: name}.UserID() }

// OpenStore opens an empty store that is closed when the test ends.
func OpenStore(t testing.TB, o embedded.Options) store.Store {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Builder creates records in a store.
type Builder struct {
	Store store.Store
	Files blob.Store       // stores the contents of files; nil stores none
	Now   func() time.Time // time.Now, unless the test sets it

	t         TB
	organizer *record.Organizer
	collect   bool
	collected []record.Record
}

// New returns a builder for the store.
func New(t TB, s store.Store) *Builder { return &Builder{Store: s, Now: time.Now, t: t} }

// Put stores the records unchanged.
func (b *Builder) Put(all ...record.Record) {
	b.t.Helper()
	if b.collect {
		b.collected = append(b.collected, all...)
		return
	}
	b.must(create(b.Store, all))
}

// Batch runs build, and then stores its records in few transactions.
func (b *Builder) Batch(build func()) {
	b.t.Helper()
	b.collect = true
	build()
	b.collect = false
	var writers errgroup.Group
	writers.SetLimit(4) // more concurrent writes time out in DynamoDB Local
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

// Commit commits the transaction, which must succeed.
func (b *Builder) Commit(tx *records.Tx) {
	b.t.Helper()
	b.must(tx.Commit(context.Background(), b.Store))
}

// Replace stores new versions of records that were read or created before.
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

// Get reads a record. It returns nil if the record does not exist.
func Get[R any, P records.Pointer[R]](t TB, s store.Store, key store.Key) P {
	t.Helper()
	r, err := records.Get[R, P](context.Background(), s, store.Strong, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TasksOf returns the number of tasks that the store counts for the organizer.
func TasksOf(t TB, s store.Store, organizerID string) (tasks int) {
	t.Helper()
	for _, key := range record.TaskCountKeys(organizerID) {
		if n := Get[record.TaskCount](t, s, key); n != nil {
			tasks += n.Tasks
		}
	}
	return tasks
}

// User stores profiles for the users, as their first change through the API would.
func (b *Builder) User(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.Put(&record.User{Meta: record.MetaOf(UserID(name), b.Now()), Name: name, Email: name + "@example.org",
			EmailConfirmed: true})
	}
}

// Organizer creates an organizer. All members are owners.
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

// AuditEntries returns the audit entries of an organizer and its tasks, newest first.
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

// OpenFiles opens an empty store of files that is deleted when the test ends.
func OpenFiles(t testing.TB) *directory.Store {
	t.Helper()
	files, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// File returns a file with the content and the state.
func File(name, content string, state record.FileState) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain", State: state}
}

// File stores the content, and returns a stored file of the holder with the ID.
func (b *Builder) File(h record.Holder, id, name, content string) record.File {
	b.t.Helper()
	f := File(name, content, record.FileStored)
	if b.Files != nil {
		o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
		b.must(b.Files.Put(context.Background(), o, strings.NewReader(content)))
	}
	return f
}
