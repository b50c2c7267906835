package transfer

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// UserMap says who the users of an export are in the target, whose issuer may be another, so that they have other ids there. Users who
// are not in it keep their ids.
type UserMap struct {
	Rows []UserRow
	// ByEmail takes users who are in no row for those of the target with the same address, where one user alone has it on each side.
	ByEmail bool
	// ID is the id of the user whom the issuer of the target calls by the subject.
	ID func(subject string) (string, error)
}

// UserRow maps one user: by the id, or the address in a profile of the export, to the id or the subject in the target.
type UserRow struct{ From, To string }

// Mapping is what a UserMap means for an export.
type Mapping struct {
	IDs              map[string]string // by the ids in the export
	Mapped, Unmapped []*record.User
	Unused           int // rows whose address nobody in the export has, or several have
}

var (
	anyID = regexp.MustCompile(`\b` + strings.Trim(record.IDPattern, "^$") + `\b`)
	// wholeID finds ids that are whole values: what a text says of others takes none of them along.
	wholeID = regexp.MustCompile(`"` + strings.Trim(record.IDPattern, "^$") + `"`)
)

// replace returns the text with the ids of users that they have in the target. Ids are unique, so that wherever one stands it means
// the user: in the members of records, in what audit entries keep of them, and in keys.
func (m *Mapping) replace(text string) string {
	if len(m.IDs) == 0 {
		return text
	}
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		if to, ok := m.IDs[id]; ok {
			return to
		}
		return id
	})
}

// addresses are the ids of users by their e-mail addresses; empty of an address that several have.
type addresses map[string]string

func (a addresses) add(u *record.User) {
	address := strings.ToLower(u.Email)
	if _, twice := a[address]; twice || address == "" {
		a[address] = ""
	} else {
		a[address] = u.ID
	}
}

// resolve finds the users of the folder. Two users never become one.
func (u *UserMap) resolve(ctx context.Context, f *Folder, target store.Store) (*Mapping, error) {
	m := &Mapping{IDs: map[string]string{}}
	if len(u.Rows) == 0 && !u.ByEmail {
		return m, nil
	}
	people, byAddress := map[string]*record.User{}, addresses{}
	err := f.each(ctx, func(l *line) error {
		it := store.Item{Key: store.Key{Partition: l.Partition, Sort: l.Sort}, Data: l.Data}
		if it.Key != record.UserKey(strings.TrimPrefix(l.Partition, record.UserPartition(""))) {
			return nil
		}
		p, err := records.Decode[record.User](store.Item{Key: it.Key, Version: 1, Data: it.Data})
		if err == nil {
			people[p.ID] = p
			byAddress.add(p)
		}
		return err
	})
	if err == nil && u.ByEmail {
		err = m.matchAddresses(ctx, target, byAddress)
	}
	if err == nil {
		err = u.matchRows(byAddress, m)
	}
	if err != nil {
		return nil, err
	}
	for id, p := range people {
		if m.IDs[id] == "" {
			m.Unmapped = append(m.Unmapped, p)
		} else {
			m.Mapped = append(m.Mapped, p)
		}
	}
	of := map[string]string{}
	for from, to := range m.IDs {
		if other := of[to]; other != "" {
			return nil, fmt.Errorf("the users %s and %s would both become %s", from, other, to)
		}
		if people[to] != nil && m.IDs[to] == "" {
			return nil, fmt.Errorf("the user %s would become %s, who is another user of the export", from, to)
		}
		of[to] = from
	}
	return m, nil
}

func (m *Mapping) matchAddresses(ctx context.Context, target store.Store, from addresses) error {
	profiles := store.Query{Index: record.ByKind, Partition: record.KindPartitions(record.KindUser, access.Nobody)[0], Limit: page}
	to := addresses{}
	err := records.EachItem(ctx, target, profiles, func(it store.Item) error {
		p, err := records.Decode[record.User](it)
		if err == nil {
			to.add(p)
		}
		return err
	})
	for address, id := range from {
		if id != "" && to[address] != "" {
			m.IDs[id] = to[address]
		}
	}
	return err
}

func (u *UserMap) matchRows(byAddress addresses, m *Mapping) (err error) {
	for i, row := range u.Rows {
		from, to := row.From, row.To
		if !record.IsID(from) {
			if from = byAddress[strings.ToLower(from)]; from == "" {
				m.Unused++
				continue
			}
		}
		if !record.IsID(to) {
			if to, err = u.ID(to); err != nil {
				return fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		m.IDs[from] = to
	}
	return nil
}
