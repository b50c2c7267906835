package deletion

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/allowance"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// purgeTrash purges the items of the user that lie in the trash, and replaces the user in those that belong to others too. It reports
// whether it found all of them: it does not while something moves to the trash or back.
func (p userPass) purgeTrash(ctx context.Context) (all bool, err error) {
	all = true
	entries := records.OfKind(record.KindDeletion, access.Owners, access.Organizers)
	err = records.Each(ctx, p.Store, page, entries, func(entry *record.DeletionItem) error {
		return records.Retry(ctx, func() error {
			rests, err := p.purgeEntry(ctx, entry.Key())
			all = all && rests
			return err
		})
	})
	return all, err
}

// purgeEntry does what purgeTrash does for one entry, unless its items still move.
func (p userPass) purgeEntry(ctx context.Context, key store.Key) (rests bool, err error) {
	if err := p.Continue(ctx, key); err != nil {
		return false, err
	}
	entry, err := records.Get[record.DeletionItem](ctx, p.Store, store.Strong, key)
	switch {
	case err != nil:
		return false, err
	case entry == nil || entry.Over():
		return true, nil
	case !entry.PendingWork.Is(record.PurgeTrash):
		return false, nil
	}
	if err := p.each(ctx, entry, func(key store.Key) error { return p.purgeOrReplace(ctx, entry, key) }); err != nil {
		return false, err
	}
	left, err := p.bin(entry).Get(ctx, store.Strong, entry.ResourceKey())
	switch {
	case err != nil:
		return false, records.Failed(err)
	case !left[0].Exists():
		return true, p.purge(ctx, entry)
	case entry.Rename(p.ID, p.ReplacedBy):
		err = new(records.Tx).Replace(entry).Commit(ctx, p.Store)
	}
	return true, err
}

// purgeOrReplace purges an item that only the user submitted, with its contents, or replaces the user in it.
func (p userPass) purgeOrReplace(ctx context.Context, entry *record.DeletionItem, key store.Key) error {
	found, err := p.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil || !bytes.Contains(found[0].Data, []byte(p.ID)) {
		return records.Failed(err)
	}
	it, err := record.Untrash(found[0])
	if err != nil {
		return err
	}
	switch {
	case record.IsGrantKey(key):
		return p.purgeItem(ctx, key)
	case strings.HasPrefix(key.Sort, record.RegistrationPrefix):
		return p.leave(ctx, entry, it)
	case strings.HasPrefix(key.Sort, record.AllowancePrefix):
		a, err := records.Decode[record.Allowance](it)
		if err != nil {
			return err
		}
		tx := new(records.Tx).Delete(a)
		if err := allowance.CarryOverDeleted(ctx, p.bin(entry), tx, a, p.ID, p.Now()); err != nil {
			return err
		}
		return tx.Commit(ctx, p.bin(entry))
	}
	var of struct {
		UserID string
		Access record.AccessAttributes
	}
	if err := json.Unmarshal(it.Data, &of); err != nil {
		return err
	}
	if of.UserID == p.ID && it.Sort != "REVIEW" {
		teams := p.Store
		if entry.Kind == record.TaskInTrash {
			teams = p.bin(entry)
		}
		ofOthers, err := team.BelongsToOthers(ctx, teams, entry.TaskID, p.ID, of.Access)
		switch {
		case err != nil:
			return err
		case !ofOthers:
			return p.purgeContents(ctx, entry, key)
		case of.Access.RegistrationID == "" && it.Sort == "SUBMISSION":
			return records.Change(ctx, p.bin(entry), key, func(s *record.SubmissionItem, tx *records.Tx) error {
				s.UserID, s.Notes = p.ReplacedBy, "" // which nobody else is shown
				tx.Replace(s)
				return nil
			})
		}
	}
	found[0].Data = bytes.ReplaceAll(found[0].Data, []byte(p.ID), []byte(p.ReplacedBy))
	return new(records.Tx).Write(store.Replace(found[0])).Commit(ctx, p.Store)
}

func (p userPass) purgeContents(ctx context.Context, entry *record.DeletionItem, key store.Key) error {
	all, err := records.Contents(ctx, p.bin(entry), key)
	if err != nil {
		return err
	}
	for _, it := range all {
		if err := p.purgeItem(ctx, it.Key); err != nil {
			return err
		}
	}
	return nil
}

// leave removes the user from a team, and deletes the team if it has no other member.
func (p userPass) leave(ctx context.Context, entry *record.DeletionItem, it store.Item) error {
	r, err := records.Decode[record.RegistrationItem](it)
	if err != nil {
		return err
	}
	tx := new(records.Tx)
	used, err := team.LeaveDeleted(ctx, p.bin(entry), tx, r, p.ID, p.ReplacedBy, p.Now())
	if err != nil {
		return err
	}
	if len(r.Members) > 0 {
		return tx.Replace(r).Commit(ctx, p.bin(entry))
	}
	tx.Delete(r).DeleteKeys(r.ReservedNames()...)
	if used != nil && used.ID == r.ID {
		tx.Delete(used)
		if err := propagation.DropExtensions(ctx, p.bin(entry), tx, r.TaskID, p.Now(), used.Exceptions...); err != nil {
			return err
		}
	}
	return tx.Commit(ctx, p.bin(entry))
}
