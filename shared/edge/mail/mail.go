// Package mail sends e-mails in plain text and HTML. Each has one recipient, who can unsubscribe with one click (RFC 8058).
package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"assay/shared/service/config"

	gomail "github.com/wneessen/go-mail"
)

// Message is an e-mail to one recipient.
type Message struct {
	ID          string // letters, digits and hyphens; a repeated message keeps its ID
	To          string // address
	Subject     string
	Text, HTML  string // the same content in two forms
	Unsubscribe string // https URL for a POST of List-Unsubscribe=One-Click; empty: none
}

// Sender sends a message. After an error, the caller tries again later.
type Sender func(ctx context.Context, m Message) error

// ParseFrom parses the sender of messages, such as Assay <assay@lab.example>.
func ParseFrom(address string) (*netmail.Address, error) {
	from, err := netmail.ParseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an e-mail address, such as assay@lab.example: %w", address, err)
	}
	return from, nil
}

// MIME returns the encoded message.
func (m Message) MIME(from *netmail.Address) ([]byte, error) {
	msg, err := m.msg(from)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = msg.WriteTo(&out)
	return out.Bytes(), err
}

// msg builds the message. It removes line breaks from headers, because a line break would begin another header.
func (m Message) msg(from *netmail.Address) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	if err := msg.To(oneLine(m.To)); err != nil {
		return nil, fmt.Errorf("the address of the recipient: %w", err)
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetDate()
	msg.Subject(oneLine(m.Subject))
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Unsubscribe != "" {
		msg.SetGenHeaderPreformatted("List-Unsubscribe", "<"+m.Unsubscribe+">")
		msg.SetGenHeaderPreformatted("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// smtpTime bounds each step of an SMTP connection.
const smtpTime = 30 * time.Second

// SMTP returns a sender for the SMTP server at the URL, smtp://user:password@host:port or smtps://user:password@host:port. smtps uses
// TLS from the start. A password is sent without TLS only to this machine.
func SMTP(server, from string) (Sender, error) {
	sender, err := ParseFrom(from)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("the server of SMTP must be a URL such as smtp://lab.example:587 or smtps://user:password@lab.example")
	}
	options := []gomail.Option{gomail.WithTimeout(smtpTime), gomail.WithTLSPolicy(gomail.TLSOpportunistic), gomail.WithoutNoop()}
	if u.Scheme == "smtps" {
		options = append(options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	}
	if u.Port() != "" {
		port, _ := strconv.Atoi(u.Port()) // url.Parse accepts only digits
		options = append(options, gomail.WithPort(port))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		auth := gomail.SMTPAuthAutoDiscover
		if !config.Loopback(u.Hostname()) {
			options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
		} else {
			auth = gomail.SMTPAuthPlainNoEnc
		}
		options = append(options, gomail.WithSMTPAuth(auth), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	if _, err := gomail.NewClient(u.Hostname(), options...); err != nil {
		return nil, err
	}
	return func(ctx context.Context, m Message) error {
		msg, err := m.msg(sender)
		if err != nil {
			return err
		}
		client, err := gomail.NewClient(u.Hostname(), options...) // a client is not safe for concurrent use
		if err != nil {
			return err
		}
		return client.DialAndSendWithContext(ctx, msg)
	}, nil
}
