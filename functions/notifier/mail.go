package notifier

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/mail"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// sendTime is the time after which an e-mail without a known result is sent again.
const sendTime = 5 * time.Minute

// sendMail sends one e-mail with the events in the mailbox. It claims the mailbox first, so that no other process sends the same e-mail. If
// the process ends in between, the e-mail is sent again after sendTime.
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
	message, failure := w.compose(ctx, box)
	if failure == nil && message != nil {
		at, err := w.claimAddress(ctx, message.To)
		if err != nil {
			return err
		}
		if !at.IsZero() {
			return w.postpone(ctx, key, at)
		}
		sending, cancel := context.WithTimeout(ctx, sendTime/2)
		defer cancel()
		failure = w.Mail(sending, *message)
		if failure != nil {
			w.releaseAddress(ctx, message.To)
		}
	}
	if failure != nil {
		w.Log.WarnContext(ctx, "an e-mail was not sent; it is tried again later", "recipient", box.ID, "error", failure)
	}
	_, err = records.Update(context.WithoutCancel(ctx), w.Store, key, func(b *record.Mailbox, _ *records.Tx) (bool, error) {
		now := record.At(w.Now())
		if failure != nil {
			b.FailingSince = cmp.Or(b.FailingSince, &now)
			if failing := now.Sub(b.FailingSince.Time); failing < record.MailTime {
				b.NotBefore = new(record.At(now.Add(delay(failing))))
				return true, nil
			}
		} else if message != nil {
			b.SentAt = &now
		}
		b.Remove(box, now.Time)
		return true, nil
	})
	return err
}

// claimAddress records that an e-mail is sent to the address now, so that no other e-mail follows within record.MailInterval. If the last
// e-mail was sent within that time, it returns the time for the next.
func (w *Worker) claimAddress(ctx context.Context, address string) (at time.Time, err error) {
	id := record.AddressID(address)
	return at, records.Retry(ctx, func() error {
		last, err := records.Get[record.LastMail](ctx, w.Store, store.Strong, record.LastMailKey(id))
		if err != nil {
			return err
		}
		at = last.NextMail()
		if at.After(w.Now()) {
			return nil
		}
		at = time.Time{}
		last = cmp.Or(last, &record.LastMail{Meta: record.MetaOf(id, w.Now())})
		return new(records.Tx).Save(last, w.Now()).Commit(ctx, w.Store)
	})
}

// releaseAddress undoes claimAddress after an e-mail that was not sent.
func (w *Worker) releaseAddress(ctx context.Context, address string) {
	key := record.LastMailKey(record.AddressID(address))
	if err := w.Store.Write(context.WithoutCancel(ctx), store.Delete(key)); err != nil {
		w.Log.WarnContext(ctx, "the next e-mail to an address waits for its interval", "error", err)
	}
}

// postpone delays the next e-mail of the mailbox until the instant.
func (w *Worker) postpone(ctx context.Context, key store.Key, at time.Time) error {
	_, err := records.Update(ctx, w.Store, key, func(b *record.Mailbox, _ *records.Tx) (bool, error) {
		b.NotBefore = new(record.At(at))
		return true, nil
	})
	return err
}

// letter is the content of an e-mail. Users wrote parts of it.
type letter struct {
	News        []news
	Unlisted    string // a sentence about further notifications
	Server      string // URL
	Choices     string // URL of the recipient's page in the console, which has the choice of notifications
	Unsubscribe string // URL that stops all e-mails
}

// compose returns the e-mail with the events in the mailbox. It returns nil if there is no news, no address, or no mail server any more.
func (w *Worker) compose(ctx context.Context, box *record.Mailbox) (*mail.Message, error) {
	user, err := records.Get[record.User](ctx, w.Store, store.Strong, record.UserKey(box.ID))
	if err != nil || w.Mail == nil {
		return nil, err
	}
	keys := lists.Map(box.Waiting, func(e record.Waiting) store.Key { return record.EventKey(e.EventID) })
	events, err := records.GetAll[record.Event](ctx, w.Store, store.Strong, keys...)
	if err != nil {
		return nil, err
	}
	to := user.ConfirmedAddress()
	l := letter{Server: w.URL, Choices: w.URL + "/console#/me", Unsubscribe: w.URL + box.UnsubscribePath()}
	v := view{w, &visibility.Viewer{Store: w.Store, Caller: access.Caller{ID: box.ID}, Consistency: store.Strong}}
	for i, e := range events {
		if e == nil || !box.Wants(e.Kind) {
			continue
		}
		e.Secret = box.Waiting[i].Secret
		n, err := v.news(ctx, e)
		if err != nil {
			return nil, err
		}
		if n.Text != "" {
			to = cmp.Or(to, n.Address)
			l.News = append(l.News, n)
		}
	}
	if len(l.News) == 0 || to == "" {
		return nil, nil
	}
	if box.Unlisted > 0 {
		l.Unlisted = "There are also " + plural.Count(box.Unlisted, "other notification") + ", which are not listed."
	}
	var html strings.Builder
	err = l.html().Render(ctx, &html)
	return &mail.Message{
		ID: messageID(box.Waiting[0].EventID + "-" + box.ID), To: to, Subject: l.subject(), Text: l.text(), HTML: html.String(),
		Unsubscribe: l.Unsubscribe,
	}, err
}

// messageID replaces the characters that the id of a message may not contain.
func messageID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, id)
}

func (l letter) subject() string {
	if len(l.News) == 1 {
		return l.News[0].Text
	}
	return fmt.Sprintf("%s, and %s", l.News[0].Text, plural.Count(len(l.News)-1, "other notification"))
}

// text returns the letter in plain text, with the same content as html.
func (l letter) text() string {
	var out strings.Builder
	for _, n := range l.News {
		fmt.Fprintf(&out, "%s\n%s\n\n", n.Text, n.URL)
		if n.Body != "" {
			out.WriteString(n.Body + "\n\n")
		}
	}
	if l.Unlisted != "" {
		out.WriteString(l.Unlisted + "\n\n")
	}
	fmt.Fprintf(&out, "-- \nThis is an e-mail of Assay at %s\nChoose what you are notified of: %s\nStop all e-mails: %s\n", l.Server,
		l.Choices, l.Unsubscribe)
	return out.String()
}
