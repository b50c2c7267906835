package notifier

import (
	"context"
	"fmt"
	"html"
	"strings"

	"assay/shared/mail"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// sendInvitation sends an invitation to the e-mail address that it is for, and then forgets its secret. It claims it first, as sendMail
// does with a mailbox. Who has the address may have no account and is in no mailbox, and learns nothing of what the invitation is to.
func (w *Worker) sendInvitation(ctx context.Context, key store.Key) error {
	var i *record.InvitationItem
	var secret string
	claimed, err := records.Update(ctx, w.Store, key, func(found *record.InvitationItem, _ *records.Tx) (bool, error) {
		if found.NotBefore == nil || found.NotBefore.After(w.Now()) {
			return false, nil
		}
		i, secret = found, found.Unsent
		i.Attempts++
		i.NotBefore = new(record.At(w.Now().Add(sendTime)))
		if w.Mail == nil || i.Attempts > maxAttempts {
			i.Sent()
		}
		return true, nil
	})
	if err != nil || !claimed || i.NotBefore == nil {
		return err
	}
	sending, cancel := context.WithTimeout(ctx, sendTime/2)
	defer cancel()
	failure := w.Mail(sending, w.invitation(i, secret))
	if failure != nil {
		w.Log.WarnContext(ctx, "an invitation was not sent; it is tried again later", "invitation", i.ID, "error", failure)
	}
	_, err = records.Update(context.WithoutCancel(ctx), w.Store, key, func(i *record.InvitationItem, _ *records.Tx) (bool, error) {
		if i.Sent(); failure != nil {
			i.Send(secret, w.Now().Add(delay(i.Attempts)))
		}
		return true, nil
	})
	return err
}

// invitation is the e-mail with the link. It has nothing that a user wrote.
func (w *Worker) invitation(i *record.InvitationItem, secret string) mail.Message {
	link := w.URL + record.InvitationLink(secret)
	text := fmt.Sprintf("Somebody invites you to Assay at %s, which compares systems on shared tasks.\n\nSign in and join: %s\n\nThe link "+
		"works once, until %s. If you do not want to join, do nothing: this is the only e-mail about it.\n", w.URL, link,
		i.ExpiresAt.Format("2 January 2006"))
	linked := strings.ReplaceAll(html.EscapeString(text), link, `<a href="`+link+`">`+link+`</a>`)
	return mail.Message{ID: messageID(i.ID), To: i.Email, Subject: "You are invited to Assay", Text: text,
		HTML: "<!DOCTYPE html><html lang=\"en\"><title>You are invited</title><body><p>" +
			strings.ReplaceAll(linked, "\n\n", "</p><p>") + "</p></body></html>"}
}
