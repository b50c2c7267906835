package transfer

import (
	"cmp"
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
	return anyID.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(m.IDs[id], id) })
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
	people := map[string]*record.User{}
	here := addresses{}
	there := addresses{}
	err := f.each(ctx, func(l *line) error {
		key := store.Key{Partition: l.Partition, Sort: l.Sort}
		if key != record.UserKey(strings.TrimPrefix(l.Partition, record.UserPartition(""))) {
			return nil
		}
		p := new(record.User)
		err := record.Decode(store.Item{Key: key, Data: l.Data}, p)
		people[p.ID] = p
		here.add(p)
		return err
	})
	if err == nil && u.ByEmail {
		err = records.Each(ctx, target, page, records.OfKind(record.KindUser, access.Nobody), func(p *record.User) error {
			there.add(p)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	for address, id := range here {
		if id != "" && there[address] != "" {
			m.IDs[id] = there[address]
		}
	}
	if err := u.matchRows(here, m); err != nil {
		return nil, err
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
	for id, p := range people {
		if m.IDs[id] == "" {
			m.Unmapped = append(m.Unmapped, p)
		} else {
			m.Mapped = append(m.Mapped, p)
		}
	}
	return m, nil
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
