package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Import reads a folder into a store, which need not be empty. It never overwrites existing records, so an interrupted import can be
// repeated.
type Import struct {
	Store  store.Store
	Files  blob.Store
	Now    func() time.Time
	Folder *Folder
	Users  UserMap

	report *Report
	apply  bool
}

// Report says what an import found or did.
type Report struct {
	Found map[string]map[Outcome]int // number of records by kind and outcome, and of objects
	Users Mapping
	// Conflicts lists the keys of the first conflicting records.
	Conflicts []string
}

// Outcome is the result for a record or an object.
type Outcome string

// The outcomes.
const (
	New      Outcome = "new"      // the target has nothing under the key
	Same     Outcome = "same"     // the target has an equal record
	Stays    Outcome = "stays"    // the target has a different record, which stays
	Left     Outcome = "left"     // not moved: memberships and tokens that nobody has in the target
	Conflict Outcome = "conflict" // the target has a different record, so nothing is written
)

// maxConflicts limits the conflicts that a report names.
const maxConflicts = 20

// ErrConflict means that the target has different records under keys of the folder.
var ErrConflict = errors.New("the target has other records with the same keys, which stay")

// objectKind is the name of objects in reports.
const objectKind = "objects"

// Plan verifies the folder, and reports what Apply would do. It writes nothing.
func (m *Import) Plan(ctx context.Context) (*Report, error) {
	if err := m.Folder.verify(ctx); err != nil {
		return nil, err
	}
	users, err := m.Users.resolve(ctx, m.Folder, m.Store)
	if err != nil {
		return nil, err
	}
	return m.run(ctx, *users, false, func(*importedRecord) bool { return true })
}

// Apply calls Plan, and then writes. Objects come first, then quotas of users, whose usage is not counted yet. Records with due work
// come last, so that an evaluator that watches the target starts this work when everything else exists.
func (m *Import) Apply(ctx context.Context) (*Report, error) {
	r, err := m.Plan(ctx)
	if err == nil && len(r.Conflicts) == 0 {
		others := func(e *importedRecord) bool { return !e.due() && !e.quota() }
		r, err = m.run(ctx, r.Users, true, (*importedRecord).quota, others, (*importedRecord).due)
	}
	if err != nil {
		return nil, err
	}
	if len(r.Conflicts) > 0 { // others may have written them meanwhile
		return r, ErrConflict
	}
	return r, nil
}

// run puts the objects, and then the records in several passes, one for each function of wanted. It writes only if apply is set.
func (m *Import) run(ctx context.Context, users Mapping, apply bool, wanted ...func(*importedRecord) bool) (*Report, error) {
	m.report = &Report{Found: map[string]map[Outcome]int{}, Users: users}
	m.apply = apply
	if err := m.putObjects(ctx); err != nil {
		return nil, err
	}
	for _, turn := range wanted {
		if err := m.putRecords(ctx, turn); err != nil {
			return m.report, err
		}
	}
	return m.report, nil
}

func (r *Report) count(kind string, o Outcome) {
	if r.Found[kind] == nil {
		r.Found[kind] = map[Outcome]int{}
	}
	r.Found[kind][o]++
}

// putObjects stores the objects that the target does not have. blob.Store verifies their content again.
func (m *Import) putObjects(ctx context.Context) error {
	return m.Folder.each(ctx, func(l *line) error {
		if l.Object == nil {
			return nil
		}
		there, err := m.Files.Stat(ctx, l.Object.Key)
		if err == nil && there.Size == l.Object.Size && there.SHA256 == l.Object.SHA256 {
			m.report.count(objectKind, Same)
			return nil
		}
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return err
		}
		m.report.count(objectKind, New)
		if !m.apply {
			return nil
		}
		f, err := m.Folder.openObject(l.Object)
		if err != nil {
			return err
		}
		return errors.Join(m.Files.Put(ctx, *l.Object, f), f.Close())
	})
}

// importedRecord is a record of the folder in its form for the target.
type importedRecord struct {
	recordKind
	record    record.Record
	item      store.Item
	leave     bool      // do not move it
	organizer store.Key // of a membership
}

// due reports whether a process that watches the table would start work on the record.
func (e *importedRecord) due() bool {
	partition := e.item.Entry(record.ByWork).Partition
	return strings.HasPrefix(partition, record.DuePrefix) || strings.HasPrefix(partition, record.QueuePartition(""))
}

// quota reports whether the record holds the quota of a user.
func (e *importedRecord) quota() bool {
	_, ok := e.record.(*record.Usage)
	return ok
}

func (m *Import) entry(l *line) (*importedRecord, error) {
	from, users := store.Key{Partition: l.Partition, Sort: l.Sort}, &m.report.Users
	k, err := kindOf(from)
	if err != nil {
		return nil, err
	}
	if k.new == nil {
		return nil, fmt.Errorf("%s is not moved between stores", k.name())
	}
	key := store.Key{Partition: users.replace(l.Partition), Sort: users.replace(l.Sort)}
	e := &importedRecord{recordKind: k, record: k.new(key)}
	if err := record.Decode(store.Item{Key: key, Data: []byte(users.replace(string(l.Data)))}, e.record); err != nil {
		return nil, err
	}
	foreign := key != from || !m.Folder.Scope.whole()
	switch r := e.record.(type) {
	case *record.User:
		if foreign {
			r.AdminSeenAt = nil // only the target's issuer can say this
		}
	case *record.Usage:
		if r.Quota.IsZero() || !m.Folder.Scope.whole() { // no export has such a record
			return nil, fmt.Errorf("%s is not moved between stores", k.name())
		}
		e.record = &record.Usage{Meta: r.Meta, Quota: r.Quota}
	}
	if e.item, err = record.Item(e.record); err != nil {
		return nil, err
	}
	if e.item.Key != key {
		return nil, fmt.Errorf("%s %s has the content of %s %s", key.Partition, key.Sort, e.item.Partition, e.item.Sort)
	}
	e.leave = k.fate == personal && foreign
	if k.fate == granted {
		e.organizer = record.OrganizerKey(strings.TrimPrefix(key.Sort, k.sort))
	}
	return e, nil
}

// Limits of one transaction. Each record adds at most three others: the count of its organizer's tasks, or its user's usage with the
// old and the new entry in the list by storage.
const (
	maxEntries    = store.MaxWrites / 4
	maxEntryBytes = store.MaxWriteBytes / 2
)

// putRecords puts the records of the folder that wanted accepts.
func (m *Import) putRecords(ctx context.Context, wanted func(*importedRecord) bool) error {
	var some []*importedRecord
	size := 0
	err := m.Folder.each(ctx, func(l *line) error {
		if l.Object != nil {
			return nil
		}
		e, err := m.entry(l)
		if err != nil || !wanted(e) {
			return err
		}
		if len(some) == maxEntries || size+len(e.item.Data) > maxEntryBytes {
			err = m.put(ctx, some)
			some = nil
			size = 0
		}
		some, size = append(some, e), size+len(e.item.Data)
		return err
	})
	if err != nil {
		return err
	}
	return m.put(ctx, some)
}

// put compares the entries with the target, and creates the new ones. The same transaction updates the usage of users and the task
// counts of organizers.
func (m *Import) put(ctx context.Context, some []*importedRecord) error {
	outcomes := make([]Outcome, len(some))
	err := records.Retry(ctx, func() error {
		there, err := m.there(ctx, some)
		if err != nil {
			return err
		}
		tx := new(records.Tx)
		stored := map[string]int64{}
		tasks := map[string]int{}
		for i, e := range some {
			if outcomes[i], err = e.compare(there); err != nil {
				return err
			}
			if outcomes[i] != New || !m.apply {
				continue
			}
			if e.record.Stored() > 0 {
				tx.Replace(e.record)
			} else {
				tx.Create(e.record)
			}
			user, n := record.StoredBytes(e.record)
			stored[user] += n
			if t, ok := e.record.(*record.TaskItem); ok {
				tasks[t.OrganizerID]++
			}
		}
		for user, n := range stored {
			account := quota.Account{Store: m.Store, Tx: tx, Now: m.Now(), UserID: user}
			if err := account.Credit(ctx, record.Charge{Bytes: n}); err != nil {
				return err
			}
		}
		for organizer, n := range tasks {
			if err := records.CountTasks(ctx, m.Store, tx, m.Now(), organizer, n); err != nil {
				return err
			}
		}
		return tx.Commit(ctx, m.Store)
	})
	if err != nil {
		return err
	}
	for i, e := range some {
		m.report.count(e.name(), outcomes[i])
		if outcomes[i] == Conflict && len(m.report.Conflicts) < maxConflicts {
			m.report.Conflicts = append(m.report.Conflicts, e.item.Partition+" "+e.item.Sort)
		}
	}
	return nil
}

// there returns the target's items under the keys of the entries, their items in the trash, and the organizers of memberships.
func (m *Import) there(ctx context.Context, some []*importedRecord) (map[store.Key]store.Item, error) {
	there := map[store.Key]store.Item{}
	for _, e := range some {
		there[e.item.Key] = store.Item{}
		there[record.TrashKey(e.item.Key)] = store.Item{}
		if e.fate == granted {
			there[e.organizer] = store.Item{}
		}
	}
	items, err := records.GetItems(ctx, m.Store, store.Strong, slices.Collect(maps.Keys(there))...)
	for _, it := range items {
		there[it.Key] = it
	}
	return there, err
}

// compare decides the outcome of the entry. A record that was moved before and changed in the target since then stays.
func (e *importedRecord) compare(there map[store.Key]store.Item) (Outcome, error) {
	it := there[e.item.Key]
	deleted := there[record.TrashKey(e.item.Key)]
	organizer := there[e.organizer]
	if u, ok := e.record.(*record.Usage); ok && it.Exists() {
		return e.compareQuota(u.Quota, it)
	}
	switch {
	case deleted.Exists(): // restoring it would overwrite the moved record, and purging it would delete the files of both
		return Conflict, nil
	case it.Exists() && bytes.Equal(it.Data, e.item.Data) && it.Indexes == e.item.Indexes:
		return Same, nil
	case it.Exists() && (e.fate != kept || it.Version > 1 && createdAt(it.Data) == createdAt(e.item.Data)):
		return Stays, nil
	case it.Exists():
		return Conflict, nil
	case e.leave:
		return Left, nil
	case organizer.Exists():
		o, err := records.Decode[record.Organizer](organizer)
		if err != nil {
			return New, err
		}
		userID := strings.TrimPrefix(e.item.Partition, record.UserPartition(""))
		if !slices.Contains(o.Members, userID) {
			return Left, nil
		}
		e.record.(*record.Reservation).Editor = !slices.Contains(o.Owners, userID)
		return New, nil
	default:
		return New, nil
	}
}

// compareQuota decides the outcome of the quota of a user with usage in the target.
func (e *importedRecord) compareQuota(exported record.UserQuota, it store.Item) (Outcome, error) {
	counted, err := records.Decode[record.Usage](it)
	switch {
	case err != nil:
		return New, err
	case reflect.DeepEqual(counted.Quota, exported):
		return Same, nil
	case !counted.Quota.IsZero():
		return Stays, nil
	}
	counted.Quota, e.record = exported, counted
	return New, nil
}

// createdAt returns when the record with the data was created.
func createdAt(data []byte) string {
	var m struct{ CreatedAt string }
	_ = json.Unmarshal(data, &m) // empty without createdAt
	return m.CreatedAt
}
