package notifier

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

const (
	sendTime = 5 * time.Minute // after which sending an e-mail is taken to have failed
	maxNews  = 50              // in one e-mail; the others come with the next
)

// sendMail sends one e-mail with what waits in the mailbox. It claims the mailbox first, so that no other process sends the same; one
// that ends in between leaves it to be sent again after sendTime.
func (w *Worker) sendMail(ctx context.Context, key store.Key) error {
	var box *record.Mailbox
	claimed, err := records.Update(ctx, w.Store, key, func(b *record.Mailbox, _ *records.Tx) (bool, error) {
		box = b
		if b.NotBefore == nil || b.NotBefore.After(w.Now()) {
			return false, nil
		}
		b.NotBefore = new(record.At(w.Now().Add(sendTime)))
		return true, nil
	})
	if err != nil || !claimed {
		return err
	}
	mails, err := w.mailsOf(ctx, box.ID)
	if err != nil {
		return err
	}
	if w.Mail == nil { // a server that sent e-mails before
		return w.settle(ctx, key, mails, false, false)
	}
	message, err := w.compose(ctx, box, mails)
	if err == nil && message != nil {
		sending, cancel := context.WithTimeout(ctx, sendTime/2)
		defer cancel()
		err = w.Mail(sending, *message)
	}
	if err != nil {
		w.Log.WarnContext(ctx, "an e-mail was not sent; it is tried again later", "recipient", box.ID, "error", err)
	}
	return w.settle(context.WithoutCancel(ctx), key, mails, message != nil && err == nil, err != nil)
}

// mailsOf reads the mails that wait in a mailbox, the oldest first, as many as one e-mail takes.
func (w *Worker) mailsOf(ctx context.Context, userID string) ([]*record.Mail, error) {
	return records.Query[record.Mail](ctx, w.Store, store.Query{Partition: record.MailboxPartition(userID), From: record.MailPrefix,
		To: record.MailEnd, Limit: maxNews, Consistency: store.Strong})
}

// settle records what became of an e-mail. The mails that were in it go, also when sending has failed for record.MailTime. Every new mail
// changes the mailbox too, so that none that comes meanwhile is left behind.
func (w *Worker) settle(ctx context.Context, key store.Key, mails []*record.Mail, sent, failed bool) error {
	_, err := records.Update(ctx, w.Store, key, func(b *record.Mailbox, tx *records.Tx) (bool, error) {
		now := w.Now()
		if failed && (b.FailingSince == nil || now.Sub(b.FailingSince.Time) < record.MailTime) {
			b.Attempts++
			b.NotBefore = new(record.At(now.Add(delay(b.Attempts))))
			if b.FailingSince == nil {
				b.FailingSince = new(record.At(now))
			}
			return true, nil
		}
		waiting, err := w.mailsOf(ctx, b.ID)
		if err != nil {
			return false, err
		}
		for _, m := range mails {
			tx.DeleteKey(m.Key())
		}
		b.Attempts, b.FailingSince, b.NotBefore = 0, nil, nil
		if sent {
			b.SentAt = new(record.At(now))
		}
		if len(waiting) > len(mails) || len(mails) == maxNews {
			b.Wait(now)
		}
		return true, nil
	})
	return err
}
