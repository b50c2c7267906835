package transfer

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// UserMap maps the users of an export to users of the target. Users have other IDs there if the target has another issuer. Users
// without an entry keep their IDs.
type UserMap struct {
	Rows []UserRow
	// ByEmail maps users without a row to users of the target with the same address, if only one user has the address on each side.
	ByEmail bool
	// ID returns the ID of the user with the subject at the target's issuer.
	ID func(subject string) (string, error)
}

// UserRow maps one user. From is an ID, or an address in a profile of the export. To is an ID or a subject in the target.
type UserRow struct{ From, To string }

// Mapping is the result of a UserMap for an export.
type Mapping struct {
	IDs              map[string]string // the IDs in the target, by the IDs in the export
	Mapped, Unmapped []*record.User
	Unused           int // rows whose address no user of the export has, or more than one
}

var (
	anyID = regexp.MustCompile(`\b` + strings.Trim(record.IDPattern, "^$") + `\b`)
	// wholeID matches IDs that are whole JSON strings. It does not match IDs within texts, which can name any user.
	wholeID = regexp.MustCompile(`"` + strings.Trim(record.IDPattern, "^$") + `"`)
)

// replace replaces the IDs of users in the text with their IDs in the target. IDs are unique, so that each occurrence means the user:
// in members of records, in audit entries, and in keys.
func (m *Mapping) replace(text string) string {
	if len(m.IDs) == 0 {
		return text
	}
	return anyID.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(m.IDs[id], id) })
}

// addresses maps e-mail addresses to IDs of users, or to "" if several users have the address.
type addresses map[string]string

func (a addresses) add(u *record.User) {
	address := strings.ToLower(u.Email)
	if _, twice := a[address]; twice || address == "" {
		a[address] = ""
	} else {
		a[address] = u.ID
	}
}

// resolve maps the users of the folder. It fails rather than merge two users.
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
			from = byAddress[strings.ToLower(from)]
			if from == "" {
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
