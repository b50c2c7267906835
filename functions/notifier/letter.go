package notifier

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/mail"
	"assay/shared/plural"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// letter is an e-mail before it has a form. What is in it comes from users.
type letter struct {
	News        []news
	Server      string // URL
	Choices     string // URL at which to choose what to be told of
	Unsubscribe string // URL that stops all e-mails
}

// news is an event as one recipient is told of it.
type news struct {
	Text string
	URL  string
	Body string // Markdown; of announcements
}

// compose makes the e-mail to the owner of the mailbox of the mails that wait there; nil when there is nothing to tell, or nobody.
func (w *Worker) compose(ctx context.Context, box *record.Mailbox, mails []*record.Mail) (*mail.Message, error) {
	user, err := records.Get[record.User](ctx, w.Store, store.Strong, record.UserKey(box.ID))
	if err != nil || len(mails) == 0 {
		return nil, err
	}
	to := cmp.Or(user.MailAddress(), mails[0].Address)
	if to == "" {
		return nil, nil
	}
	ids := lists.Map(mails, func(m *record.Mail) string { return m.ID })
	events, err := records.GetAll[record.Event](ctx, w.Store, store.Strong, records.Keys(ids, record.EventKey)...)
	if err != nil {
		return nil, err
	}
	l := letter{Server: w.URL, Choices: w.URL + "/v1/user/notifications", Unsubscribe: w.URL + box.UnsubscribePath()}
	r := reader{w, &visibility.Viewer{Store: w.Store, Caller: access.Caller{ID: box.ID}, Consistency: store.Strong}}
	for i, e := range events {
		if e == nil || !box.Wants(e.Kind) {
			continue
		}
		e.Secret = mails[i].Secret
		n, err := r.read(ctx, e)
		if err != nil {
			return nil, err
		}
		if n != nil {
			n.URL = w.URL + n.URL
			l.News = append(l.News, *n)
		}
	}
	if len(l.News) == 0 {
		return nil, nil
	}
	var html strings.Builder
	if err := l.html().Render(ctx, &html); err != nil {
		return nil, err
	}
	return &mail.Message{
		ID: messageID(ids[0] + "-" + box.ID), To: to, Subject: l.subject(), Text: l.text(), HTML: html.String(),
		Unsubscribe: l.Unsubscribe,
	}, nil
}

// messageID keeps of an id what the id of a message may have.
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

// text is the letter in plain text. It has what html has.
func (l letter) text() string {
	var out strings.Builder
	for _, n := range l.News {
		fmt.Fprintf(&out, "%s\n%s\n\n", n.Text, n.URL)
		if n.Body != "" {
			out.WriteString(n.Body + "\n\n")
		}
	}
	fmt.Fprintf(&out, "-- \nThis is an e-mail of Assay at %s\nChoose what you are told of: PATCH %s\nStop all e-mails: %s\n", l.Server,
		l.Choices, l.Unsubscribe)
	return out.String()
}
