package notifications

import (
	"context"
	"crypto/subtle"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// ChoicesDraft holds the choices that a user sends.
type ChoicesDraft struct {
	Email []record.EventKind `json:"email" maxItems:"20" enum:"registration.pending,registration.decided,registration.ended,invitation.created,run.failed,run.completed,review.published,deletion.created,truth.changed,window.closing,announcement.published,workers.missing,token.expiring,webhook.disabled" doc:"the kinds of events of which you are notified by e-mail; organizers are notified of events in their tasks"`
}

// Choices holds a user's choices of notifications.
type Choices struct {
	ChoicesDraft
	Address string `json:"address,omitempty" doc:"address of e-mails; absent without a confirmed address, and until you change something for the first time"`
	Notice  string `json:"notice,omitempty" doc:"consequences of having no confirmed address, and how to get one"`

	box *record.Mailbox
}

// Scope implements api.Target: the choices belong to the caller.
func (c *Choices) Scope() access.Scope {
	s := access.Scope{Audience: access.Everyone}
	if c.box != nil {
		s.OwnerID = c.box.ID
	}
	return s
}

// Revision returns the number at the start of the entity tag. It is 1 before anything is stored.
func (c *Choices) Revision() int64 { return c.box.Version + 1 }

func choices(ctx context.Context, c *api.Call) (*Choices, error) {
	if c.Caller.Anonymous() {
		return new(Choices), nil
	}
	box, err := records.Get[record.Mailbox](ctx, c.Store, c.Consistency, record.MailboxKey(c.Caller.ID))
	if err != nil {
		return nil, err
	}
	if box == nil {
		box = record.NewMailbox(c.Caller.ID, c.Now())
		box.Version = 0
	}
	return &Choices{box: box}, nil
}

func showChoices(ctx context.Context, c *api.Call, of *Choices) (*Choices, error) {
	g, err := c.Grants(ctx)
	of.Address = g.Profile.ConfirmedAddress()
	if _, email := c.NameAndEmail(g.Profile); email == "" {
		of.Notice = record.NoAddress
	}
	of.Email = slices.DeleteFunc(slices.Clone(record.EventKinds), func(k record.EventKind) bool { return !of.box.Wants(k) })
	return of, err
}

func changeChoices(ctx context.Context, c *api.Call, of *Choices, d ChoicesDraft) (*Choices, error) {
	changed := *of.box
	changed.Stopped = false
	changed.Muted = slices.DeleteFunc(slices.Clone(record.EventKinds), func(k record.EventKind) bool { return slices.Contains(d.Email, k) })
	c.Tx.Save(&changed, c.Now())
	return &Choices{box: &changed}, c.UpsertProfile(ctx)
}

// mailboxTarget is a mailbox whose secret is in the path of the request.
type mailboxTarget struct{ *record.Mailbox }

// Scope implements api.Target: everyone with the secret sees the mailbox.
func (mailboxTarget) Scope() access.Scope { return access.Scope{Audience: access.Everyone} }

// Unsubscription says whether e-mails are stopped.
type Unsubscription struct {
	Stopped bool   `json:"stopped" doc:"no e-mail is sent any more"`
	Notice  string `json:"notice" doc:"how to change it"`
}

func mailbox(ctx context.Context, c *api.Call) (mailboxTarget, error) {
	box, err := visibility.Find[record.Mailbox](ctx, &c.Viewer, c.Param("userId"), record.MailboxKey)
	if err != nil {
		return mailboxTarget{}, err
	}
	if subtle.ConstantTimeCompare([]byte(box.Secret), []byte(c.Param("unsubscriptionId"))) == 0 {
		return mailboxTarget{}, visibility.Missing
	}
	return mailboxTarget{box}, nil
}

func showMailbox(_ context.Context, _ *api.Call, t mailboxTarget) (Unsubscription, error) {
	if t.Stopped {
		return Unsubscription{true, "You get no e-mails from this server any more. To get them again, log in to the console, and " +
			"choose them on the page under your name."}, nil
	}
	return Unsubscription{false, "You get e-mails from this server. POST to this address stops all of them. To stop some of them, log in " +
		"to the console, and choose on the page under your name."}, nil
}

func unsubscribe(_ context.Context, c *api.Call, t mailboxTarget) error {
	if !t.Stopped {
		t.Stopped = true
		c.Tx.Save(t.Mailbox, c.Now())
	}
	return nil
}

func unsubscribePage(ctx context.Context, c *api.Call, t mailboxTarget) error {
	return webpage.Page{Title: "E-mails", Form: true, Main: unsubscribeForm(t.Stopped)}.Send(ctx, c)
}
