package notifier_test

import (
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth"
	"assay/shared/storage/store"
)

// invite makes an invitation to the e-mail address ten minutes later, with its event, and returns both.
func (f *fixture) invite(task *recordtest.Task, address string) (*record.InvitationItem, *record.Event) {
	f.now = f.now.Add(record.MailInterval)
	i := &record.InvitationItem{Invitation: record.Invitation{Meta: record.NewMeta(f.now), OrganizerID: task.OrganizerID, TaskID: task.ID}}
	i.InvitationDraft = record.InvitationDraft{Email: address, Uses: 1, ExpiresAt: new(record.At(f.now.Add(14 * record.Day)))}
	e := record.NewEvent(f.now, record.EventInvitationCreated, i.Scope(), i.Path())
	e.Secret, i.Digest = auth.NewInvitation(task.ID)
	f.Put(i, e)
	return i, e
}

// Who is invited need have no account, learns nothing but the link, and can stop further invitations.
func TestInvitation_IsSentToItsAddress(t *testing.T) {
	f := newFixture(t)
	task := f.Task(recordtest.Private, func(t *record.TaskItem) { t.Name = "Hidden lakes" })
	_, e := f.invite(task, "Tom@example.org")
	m := f.one()
	link := "https://assay.example/console#" + e.Secret
	if m.To != "Tom@example.org" || !strings.Contains(m.Text, link) || !strings.Contains(m.HTML, `<a href="`+link+`">`) {
		t.Errorf("%+v\n%s\n%s", m.Header, m.Text, m.HTML)
	}
	if all := m.Text + m.HTML + m.Subject; strings.Contains(all, "Hidden") || strings.Contains(all, task.Path()) {
		t.Errorf("it tells what it is to:\n%s", m.Text)
	}
	if stored := recordtest.Get[record.Event](t, f.Builder.Store, e.Key()); stored.Secret != "" || !stored.Delivered {
		t.Errorf("the store has the secret: %+v", stored)
	}
	box := recordtest.Get[record.Mailbox](t, f.Builder.Store, record.MailboxKey(record.AddressID("tom@EXAMPLE.org")))
	if !strings.Contains(m.Header.Get("List-Unsubscribe"), box.UnsubscribePath()) {
		t.Errorf("%+v", m.Header)
	}
	box.Stopped = true
	f.Replace(box)
	f.invite(task, "tom@example.org")
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

// An invitation that is withdrawn while its e-mail waits is not sent, wherever it waits.
func TestInvitation_IsNotSentOnceItIsWithdrawn(t *testing.T) {
	onBothStores(t, testInvitationIsNotSentOnceItIsWithdrawn)
}

func testInvitationIsNotSentOnceItIsWithdrawn(t *testing.T, f *fixture) {
	task := f.Task()
	withdraw := func(i *record.InvitationItem) {
		if err := f.Builder.Store.Write(t.Context(), store.Delete(i.Key())); err != nil {
			t.Fatal(err)
		}
	}
	f.invite(task, "tom@example.org")
	f.one()
	f.now = f.now.Add(-record.MailInterval)
	second, _ := f.invite(task, "tom@example.org")
	if all := f.deliver(); len(all) > 0 { // it waits in the mailbox
		t.Fatalf("%+v", all)
	}
	withdraw(second)
	third, _ := f.invite(task, "tom@example.org")
	withdraw(third)
	f.now = f.now.Add(record.Day)
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}
