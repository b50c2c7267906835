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

	"assay/shared/blob"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Import reads a folder into a store, which need not be empty. Nothing that is there is ever overwritten, so that an import which was
// interrupted is repeated.
type Import struct {
	Store  store.Store
	Files  blob.Store
	Now    func() time.Time
	Folder *Folder
	Users  UserMap

	report *Report
	apply  bool
}

// Report says what an import found, or did.
type Report struct {
	Found map[string]map[Outcome]int // how many records of a kind, and objects, had each outcome
	Users Mapping
	// Conflicts are the keys of the first records that conflict.
	Conflicts []string
}

// Outcome is what becomes of a record or an object.
type Outcome string

// The outcomes.
const (
	New      Outcome = "new"      // the target has nothing under the key
	Same     Outcome = "same"     // the target has it as it is
	Stays    Outcome = "stays"    // the target has another, which stays
	Left     Outcome = "left"     // it is not for the target: memberships and tokens that nobody has there
	Conflict Outcome = "conflict" // the target has another, and nothing can be written
)

// maxConflicts bounds those that a report names.
const maxConflicts = 20

// ErrConflict says that the target has other records under keys of the folder.
var ErrConflict = errors.New("the target has other records with the same keys, which stay")

// objectKind is what reports call objects.
const objectKind = "objects"

// Plan verifies the folder, and says what Apply would do. It writes nothing.
func (m *Import) Plan(ctx context.Context) (*Report, error) {
	if err := m.Folder.verify(ctx); err != nil {
		return nil, err
	}
	users, err := m.Users.resolve(ctx, m.Folder, m.Store)
	if err != nil {
		return nil, err
	}
	return m.run(ctx, *users, false, func(*entry) bool { return true })
}

// Apply plans, and then writes. Objects come first, then the quotas of users, for whom nothing is counted yet, and the records that
// something is due for last: an evaluator that watches the target starts with them when everything else is there.
func (m *Import) Apply(ctx context.Context) (*Report, error) {
	r, err := m.Plan(ctx)
	if err == nil && len(r.Conflicts) == 0 {
		r, err = m.run(ctx, r.Users, true, (*entry).quota, func(e *entry) bool { return !e.due() && !e.quota() }, (*entry).due)
	}
	if err != nil {
		return nil, err
	}
	if len(r.Conflicts) > 0 { // perhaps written meanwhile
		return r, ErrConflict
	}
	return r, nil
}

// run puts the objects, and then the records in turns, of those that each of wanted wants; it writes them to apply the import.
func (m *Import) run(ctx context.Context, users Mapping, apply bool, wanted ...func(*entry) bool) (*Report, error) {
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

// putObjects stores the objects that the target does not have. blob.Store verifies their content once more.
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

// entry is a record of the folder as the target would have it.
type entry struct {
	kind
	record    record.Record
	item      store.Item
	leave     bool      // it is not for the target
	organizer store.Key // that a membership is of
}

// due reports whether a process that watches the table takes the record up.
func (e *entry) due() bool {
	partition := e.item.Entry(record.ByWork).Partition
	return partition == record.DuePartition || strings.HasPrefix(partition, record.QueuePartition(""))
}

// quota reports whether the record is the quota of a user.
func (e *entry) quota() bool {
	_, ok := e.record.(*record.Usage)
	return ok
}

func (m *Import) entry(l *line) (*entry, error) {
	from, users := store.Key{Partition: l.Partition, Sort: l.Sort}, &m.report.Users
	k, err := kindOf(from)
	if err != nil {
		return nil, err
	}
	if k.new == nil {
		return nil, fmt.Errorf("%s is not moved between stores", k.name())
	}
	key := store.Key{Partition: users.replace(l.Partition), Sort: users.replace(l.Sort)}
	e := &entry{kind: k, record: k.new(key)}
	if err := record.Decode(store.Item{Key: key, Data: []byte(users.replace(string(l.Data)))}, e.record); err != nil {
		return nil, err
	}
	foreign := key != from || !m.Folder.Scope.whole()
	switch r := e.record.(type) {
	case *record.User:
		if foreign {
			r.AdminSeenAt = nil // which the issuer of the target has not said
		}
	case *record.Usage:
		if r.Quota.IsZero() || !m.Folder.Scope.whole() { // as no export has it
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

// Bounds of what is written at once: each record adds at most three others to the transaction, what its organizer has, or what its user
// has with the place in the list by storage, as it was and as it is.
const (
	maxEntries    = store.MaxWrites / 4
	maxEntryBytes = store.MaxWriteBytes / 2
)

// putRecords puts the records of the folder that are wanted.
func (m *Import) putRecords(ctx context.Context, wanted func(*entry) bool) error {
	var some []*entry
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

// put compares the entries with what the target has, and creates those that are new, in one transaction with what users and organizers
// have more.
func (m *Import) put(ctx context.Context, some []*entry) error {
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

// there returns what the target has under the keys of the entries, and the organizers that memberships are of.
func (m *Import) there(ctx context.Context, some []*entry) (map[store.Key]store.Item, error) {
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

// compare decides what becomes of the entry. A record that was moved before, and was changed in the target since, stays.
func (e *entry) compare(there map[store.Key]store.Item) (Outcome, error) {
	it := there[e.item.Key]
	deleted := there[record.TrashKey(e.item.Key)]
	organizer := there[e.organizer]
	if u, ok := e.record.(*record.Usage); ok && it.Exists() {
		return e.compareQuota(u.Quota, it)
	}
	switch {
	case deleted.Exists(): // it would be restored over what is moved, or purged with the files of both
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

// compareQuota decides what becomes of the quota of a user for whom the target counts already.
func (e *entry) compareQuota(quota record.UserQuota, it store.Item) (Outcome, error) {
	counted, err := records.Decode[record.Usage](it)
	switch {
	case err != nil:
		return New, err
	case reflect.DeepEqual(counted.Quota, quota):
		return Same, nil
	case !counted.Quota.IsZero():
		return Stays, nil
	}
	counted.Quota, e.record = quota, counted
	return New, nil
}

// createdAt is when the record was created that has the data.
func createdAt(data []byte) string {
	var m struct{ CreatedAt string }
	_ = json.Unmarshal(data, &m) // empty when there is none
	return m.CreatedAt
}
