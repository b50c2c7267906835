package notifier

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// recipientsPage is how many recipients one transaction serves: each takes two writes, the event one, and webhooks the rest.
const recipientsPage = 35

// fanOut delivers an event that is due to its recipients. When it fails, the event is due again later, and given up after
// record.MailTime.
func (w *Worker) fanOut(ctx context.Context, key store.Key) error {
	for {
		more, err := w.fanOutPage(ctx, key)
		if err != nil {
			return w.postpone(ctx, key, err)
		}
		if !more {
			return nil
		}
	}
}

// fanOutPage delivers an event to the next page of its recipients, and reports whether there are more.
func (w *Worker) fanOutPage(ctx context.Context, key store.Key) (more bool, err error) {
	err = records.Change(ctx, w.Store, key, func(e *record.Event, tx *records.Tx) error {
		more = false
		now := w.Now()
		if e.Delivered || e.NotBefore.After(now) {
			return nil
		}
		current, err := w.isCurrent(ctx, e)
		if err != nil {
			return err
		}
		var users []string
		var next string
		if current {
			if users, next, err = w.recipients(ctx, e); err != nil {
				return err
			}
			if err := w.addMails(ctx, tx, e, users); err != nil {
				return err
			}
			if e.Cursor == "" {
				if err := w.addDeliveries(ctx, tx, e); err != nil {
					return err
				}
			}
		}
		e.Cursor, e.Attempts, more = next, 0, next != ""
		if !more {
			e.End()
		}
		tx.Save(e, now)
		return nil
	})
	return more, err
}

// maxAttempts is how often an event is tried, which takes about three days.
const maxAttempts = 20

// postpone has an event be due again later, after a failure.
func (w *Worker) postpone(ctx context.Context, key store.Key, failure error) error {
	w.Log.WarnContext(ctx, "an event was not delivered; it is tried again later", "event", key.Partition, "error", failure)
	_, err := records.Update(ctx, w.Store, key, func(e *record.Event, _ *records.Tx) (bool, error) {
		now := w.Now()
		e.Attempts++
		e.NotBefore = record.At(now.Add(delay(e.Attempts)))
		if e.Attempts >= maxAttempts {
			e.End()
		}
		record.Touch(e, now)
		return true, nil
	})
	return err
}

// recipients returns the next page of those who are told of the event, behind its cursor, and the cursor behind them; empty when these
// are all.
func (w *Worker) recipients(ctx context.Context, e *record.Event) (users []string, next string, err error) {
	switch e.Kind.To() {
	case record.ToRegistrants:
		return w.registrants(ctx, e)
	case record.ToAddress:
		return []string{record.AddressID(e.Address)}, "", nil
	case record.ToOrganizers:
		o, err := records.Get[record.Organizer](ctx, w.Store, store.Strong, record.OrganizerKey(e.OrganizerID))
		if err != nil || o == nil {
			return nil, "", err
		}
		users = o.Members
	case record.ToTeam:
		if users = e.UserIDs; e.RegistrationID == "" {
			break
		}
		r, err := records.Get[record.RegistrationItem](ctx, w.Store, store.Strong, record.RegistrationKey(e.TaskID, e.RegistrationID))
		if err != nil || r == nil {
			return nil, "", err
		}
		users = r.Members
	default:
		users = e.UserIDs
	}
	users = slices.Compact(slices.Sorted(slices.Values(users)))
	users = users[sort.SearchStrings(users, e.Cursor+"\x00"):]
	if len(users) > recipientsPage {
		users = users[:recipientsPage]
		next = users[recipientsPage-1]
	}
	return users, next, nil
}

// registrants is recipients for those who take part in the task. The cursor is a registration and a member of it.
func (w *Worker) registrants(ctx context.Context, e *record.Event) (users []string, next string, err error) {
	from, _, _ := strings.Cut(e.Cursor, "#")
	last := ""
	q := store.Query{Partition: record.TaskKey(e.TaskID).Partition, From: record.RegistrationPrefix + from, To: record.RegistrationEnd,
		Limit: recipientsPage, Consistency: store.Strong}
	for it, err := range records.Items(ctx, w.Store, q) {
		if err != nil {
			return nil, "", err
		}
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return nil, "", err
		}
		for _, user := range slices.Sorted(slices.Values(r.Members)) {
			at := r.ID + "#" + user
			switch {
			case r.State != record.Accepted || at <= e.Cursor || slices.Contains(users, user):
			case len(users) == recipientsPage:
				return users, last, nil
			default:
				users, last = append(users, user), at
			}
		}
	}
	return users, "", nil
}

// addMails adds to tx that the users are told of the event by e-mail, as far as they have an address and want it.
func (w *Worker) addMails(ctx context.Context, tx *records.Tx, e *record.Event, users []string) error {
	if w.Mail == nil {
		return nil
	}
	profiles, err := records.GetAll[record.User](ctx, w.Store, store.Strong, records.Keys(users, record.UserKey)...)
	if err != nil {
		return err
	}
	boxes, err := records.GetAll[record.Mailbox](ctx, w.Store, store.Strong, records.Keys(users, record.MailboxKey)...)
	if err != nil {
		return err
	}
	for i, user := range users {
		box := cmp.Or(boxes[i], record.NewMailbox(user, w.Now()))
		if e.Address+profiles[i].MailAddress() == "" || !box.Wants(e.Kind) {
			continue
		}
		box.Wait(w.Now())
		mail := &record.Mail{Meta: record.MetaOf(e.ID, w.Now()), UserID: user, Address: e.Address, Secret: e.Secret}
		tx.Create(mail).Save(box, w.Now()) // in any case, as settle relies on
	}
	return nil
}
