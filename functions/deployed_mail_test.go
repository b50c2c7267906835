//go:build s3

package functions_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/testing/waittest"
)

// sentMail is a request to Amazon SES to send an e-mail.
type sentMail struct {
	FromEmailAddress string
	Destination      struct{ ToAddresses []string }
	Content          struct{ Raw struct{ Data []byte } }
}

// receiveMails starts a server in place of SES and returns its URL. The e-mails are in d.mails.
func (d *deployment) receiveMails() string {
	d.mails = make(chan sentMail, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m sentMail
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.URL.Path != "/v2/email/outbound-emails" {
			d.t.Errorf("a request that SES would refuse: %s %s, %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		d.mails <- m
		_, _ = io.WriteString(w, `{"MessageId":"1"}`)
	}))
	d.t.Cleanup(s.Close)
	return s.URL
}

// The stream sends e-mails of the outbox to SES at once. A schedule sends those that are due later.
func TestDeployed_SendsMail(t *testing.T) {
	d := deploy(t, build(t), true)
	task, _ := d.newTask()
	began := time.Now()
	d.ask("olga", http.MethodPost, task+"/announcements", map[string]any{"title": "Topics", "body": "Here they are."}, http.StatusCreated)
	m := waittest.Receive(t, "an e-mail was sent", d.mails)
	content := string(m.Content.Raw.Data)
	if m.FromEmailAddress != `"Assay" <assay@lab.example>` || len(m.Destination.ToAddresses) != 1 ||
		m.Destination.ToAddresses[0] != "ada@example.org" ||
		!strings.Contains(content, "\r\nList-Unsubscribe: <https://assay.example/v1/users/") ||
		!strings.Contains(content, "Here they are.") {
		t.Errorf("%+v\n%s", m, content)
	}
	d.ask("olga", http.MethodPost, task+"/announcements", map[string]any{"title": "Runs"}, http.StatusCreated)
	waittest.Value(t, "a schedule wakes the notifier", func() (created map[string]time.Time, expected bool) {
		created = d.schedules.Created()
		for name, at := range created {
			if strings.HasPrefix(name, "notify-") {
				expected = true
				if at.Before(began.Add(record.MailInterval-time.Minute)) || time.Until(at) > record.MailInterval+time.Minute {
					t.Errorf("the next e-mail is sent at %v, after the one of %v", at, began)
				}
			}
		}
		return created, expected
	})
}
