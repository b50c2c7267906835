package notifier_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"assay/shared/auth"
	"assay/shared/mail"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// invite makes an invitation to the e-mail address, and returns it with its secret.
func (f *fixture) invite(task *recordtest.Task, address string) (*record.InvitationItem, string) {
	i := &record.InvitationItem{Invitation: record.Invitation{Meta: record.NewMeta(f.now), OrganizerID: task.OrganizerID, TaskID: task.ID}}
	i.InvitationDraft = record.InvitationDraft{Email: address, Uses: 1, ExpiresAt: new(record.At(f.now.Add(14 * record.Day)))}
	var secret string
	secret, i.Digest = auth.NewInvitation(task.ID)
	i.Send(secret, f.now)
	f.Put(i)
	return i, secret
}

func TestInvitation_IsSentToItsAddress(t *testing.T) {
	f := newFixture(t)
	task := f.Task(recordtest.Private, func(t *record.TaskItem) { t.Name = "Hidden lakes" })
	i, secret := f.invite(task, "tom@example.org")
	m := f.one()
	link := "https://assay.example/sign-in#" + secret
	if m.To != "tom@example.org" || !strings.Contains(m.Text, link) || !strings.Contains(m.HTML, `<a href="`+link+`">`) ||
		len(m.Header["List-Unsubscribe"]) > 0 {
		t.Errorf("%+v\n%s\n%s", m.Header, m.Text, m.HTML)
	}
	if strings.Contains(m.Text+m.HTML+m.Subject, "Hidden") || strings.Contains(m.Text, task.Path()) {
		t.Errorf("it tells what it is to:\n%s", m.Text)
	}
	if stored := recordtest.Get[record.InvitationItem](t, f.Builder.Store, i.Key()); stored.Unsent != "" || stored.NotBefore != nil {
		t.Errorf("the store has the secret: %+v", stored)
	}
	f.now = f.now.Add(time.Hour)
	if again := f.deliver(); len(again) > 0 {
		t.Errorf("%d e-mails were sent again", len(again))
	}
}

func TestInvitation_IsTriedAgain(t *testing.T) {
	f := newFixture(t)
	i, secret := f.invite(f.Task(), "tom@example.org")
	send := f.Mail
	f.Mail = failing
	if sent := f.deliver(); len(sent) > 0 {
		t.Fatalf("%+v", sent)
	}
	f.Mail, f.now = send, f.now.Add(2*time.Minute)
	if m := f.one(); !strings.Contains(m.Text, secret) {
		t.Errorf("%s", m.Text)
	}
	lost, _ := f.invite(f.Task(), "uma@example.org")
	f.Mail = failing
	for range 30 {
		f.deliver()
		f.now = f.now.Add(7 * time.Hour)
	}
	for _, i := range []*record.InvitationItem{i, lost} {
		if stored := recordtest.Get[record.InvitationItem](t, f.Builder.Store, i.Key()); stored.Unsent != "" {
			t.Errorf("the secret is kept for ever: %+v", stored)
		}
	}
}

func failing(context.Context, mail.Message) error { return errors.New("later") }
