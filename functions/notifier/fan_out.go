package notifier

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// recipientsPage is the number of recipients that one transaction serves. The event and each recipient take a write, and each webhook of
// the task and of its organizer two.
const recipientsPage = store.MaxWrites - 1 - 2*2*record.MaxWebhooks

// fanOut delivers an event that is due to its recipients.
func (w *Worker) fanOut(ctx context.Context, key store.Key) error {
	w.fanOuts.Lock()
	defer w.fanOuts.Unlock()
	for more := true; more; {
		err := records.Change(ctx, w.Store, key, func(e *record.Event, tx *records.Tx) (err error) {
			more, err = w.fanOutPage(ctx, e, tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fanOutPage adds the deliveries to the next recipients of the event to tx, and reports whether more recipients follow. It deletes an event
// that announces something that will not happen any more.
func (w *Worker) fanOutPage(ctx context.Context, e *record.Event, tx *records.Tx) (more bool, err error) {
	if e.Delivered || e.NotBefore.After(w.Now()) {
		return false, nil
	}
	if current, err := w.isCurrent(ctx, e); err != nil || !current {
		tx.Delete(e)
		return false, err
	}
	if e.Cursor == "" {
		if err := w.addDeliveries(ctx, tx, e); err != nil {
			return false, err
		}
	}
	users, next, err := w.recipients(ctx, e)
	if err == nil {
		err = w.addMails(ctx, tx, e, users)
	}
	e.Cursor = next
	if next == "" {
		e.End()
	}
	tx.Save(e, w.Now())
	return next != "", err
}

// isCurrent reports whether an event is not outdated: a window that it announces will still close at that time.
func (w *Worker) isCurrent(ctx context.Context, e *record.Event) (bool, error) {
	if e.Kind != record.EventWindowClosing {
		return true, nil
	}
	var t *record.TaskItem
	var d *record.DatasetItem
	err := records.Read(ctx, w.Store, store.Strong, records.Into(&t, record.TaskKey(e.TaskID)),
		records.Into(&d, record.DatasetKey(path.Base(e.Subject))))
	current := t.ClosingEvent(w.Now())
	if d != nil {
		current = d.ClosingEvent(w.Now())
	}
	return current != nil && current.ID == e.ID, err
}

// recipients returns the next users who are notified of the event, after its cursor, and the cursor after them. The new cursor is empty if
// no users follow.
func (w *Worker) recipients(ctx context.Context, e *record.Event) (users []string, next string, err error) {
	var all []string // registration (or ""), # and user, in the ascending order of cursors
	add := func(registration string, users []string) {
		for _, user := range slices.Sorted(slices.Values(users)) {
			all = append(all, registration+"#"+user)
		}
	}
	switch to := e.Kind.To(); {
	case to == record.ToRegistrants:
		from, _, _ := strings.Cut(e.Cursor, "#")
		var teams []*record.RegistrationItem
		teams, err = records.Query[record.RegistrationItem](ctx, w.Store, store.Query{Partition: record.TaskKey(e.TaskID).Partition,
			From: record.RegistrationPrefix + from, To: record.RegistrationEnd, Limit: recipientsPage, Consistency: store.Strong})
		for _, t := range teams {
			next = t.ID + "$"
			if t.State == record.Accepted { // the cursor is already behind the members
				add(t.ID, t.Members)
			}
		}
	case to == record.ToAddress:
		var i *record.InvitationItem
		i, err = w.invitation(ctx, e.Secret)
		if i != nil {
			add("", []string{record.AddressID(i.Email)})
		}
	case to == record.ToOrganizers:
		var o *record.Organizer
		o, err = records.Get[record.Organizer](ctx, w.Store, store.Strong, record.OrganizerKey(e.OrganizerID))
		if o != nil {
			add("", o.Members)
		}
	case to == record.ToTeam && e.RegistrationID != "":
		var r *record.RegistrationItem
		key := record.RegistrationKey(e.TaskID, e.RegistrationID)
		r, err = records.Get[record.RegistrationItem](ctx, w.Store, store.Strong, key)
		if r != nil {
			add("", r.Members)
		}
	default:
		add("", e.UserIDs)
	}
	done, _ := slices.BinarySearch(all, e.Cursor+"\x00")
	all = all[done:]
	if len(all) > recipientsPage {
		all = all[:recipientsPage]
		next = all[recipientsPage-1]
	}
	return lists.Map(all, func(at string) string { return at[strings.Index(at, "#")+1:] }), next, err
}

// invitation returns the invitation with the secret, or nil if the invitation was withdrawn or used.
func (w *Worker) invitation(ctx context.Context, secret string) (*record.InvitationItem, error) {
	id, digest, _ := auth.ParseInvitation(secret)
	return records.Get[record.InvitationItem](ctx, w.Store, store.Strong, record.InvitationKey(id, digest))
}

// addMails adds the event to the mailboxes of the users who have an address and want such events.
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
		if e.Secret+profiles[i].ConfirmedAddress() == "" || !box.Wants(e.Kind) {
			continue
		}
		box.Add(e, w.Now())
		tx.Save(box, w.Now())
	}
	return nil
}

// noticeToken creates the event that an access token expires, once.
func (w *Worker) noticeToken(ctx context.Context, key store.Key) error {
	return records.Change(ctx, w.Store, key, func(t *record.AccessTokenItem, tx *records.Tx) error {
		if at := t.NoticeAt(); !at.IsZero() && !at.After(w.Now()) {
			t.Noticed = true
			tx.Replace(t).Create(t.ExpiringEvent(w.Now()))
		}
		return nil
	})
}
