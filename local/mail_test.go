package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"assay/shared/edge/mail/mailtest"
	"assay/shared/testing/waittest"
)

// A registrant gets an announcement through the mail server of the flags, and stops the e-mails with the link for e-mail programs.
func TestMail_TellsRegistrantsUntilTheyUnsubscribe(t *testing.T) {
	smtp := mailtest.New(t)
	s := start(t, "-smtp", smtp.URL, "-mail-from", "Assay <assay@lab.example>", "-demo=false")
	olga, ann := s.token(t, "olga"), s.person(t, "ann")
	task := s.task(t, olga, "Lakes")
	s.post(t, ann, task+"/registrations", map[string]any{"team": "Anns"})
	announce := func(title string) {
		s.post(t, olga, task+"/announcements", map[string]any{"title": title, "body": "See [the page](https://lab.example)."})
	}
	announce("The topics are there")
	var got []mailtest.Received
	waittest.Until(t, "an e-mail has arrived", func() bool {
		got = append(got, smtp.Take()...)
		return len(got) > 0
	})
	m := got[0]
	if len(got) != 1 || m.To != "ann@example.org" || !strings.Contains(m.Text, s.url+task+"/announcements/") ||
		!strings.Contains(m.HTML, `href="https://lab.example"`) {
		t.Fatalf("%+v", got)
	}
	link := regexp.MustCompile(`^<(.*)>$`).FindStringSubmatch(m.Header.Get("List-Unsubscribe"))[1]
	response, err := http.PostForm(link, url.Values{"List-Unsubscribe": {"One-Click"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	var choices struct{ Email []string }
	s.get(t, ann, "/v1/user/notifications", &choices)
	var info struct{ Mail bool }
	s.get(t, "", "/info", &info)
	if !info.Mail {
		t.Error("/info does not say that the server sends e-mails")
	}
	if response.StatusCode != http.StatusOK || len(choices.Email) > 0 {
		t.Fatalf("%s %v", response.Status, choices)
	}
	announce("The runs are due")
	waittest.Until(t, "the outbox is empty", func() bool {
		next, err := s.program.news.NextDue(t.Context())
		return err == nil && next.IsZero()
	})
	if late := smtp.Take(); len(late) > 0 {
		t.Errorf("%+v", late)
	}
}

func TestMail_NeedsServerAndSender(t *testing.T) {
	for _, flags := range [][]string{{"-smtp", "smtp://localhost"}, {"-mail-from", "a@lab.example"}} {
		if _, err := parse(flags, noEnv, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "together") {
			t.Errorf("%v: %v", flags, err)
		}
	}
	for _, flags := range [][]string{
		{"-smtp", "localhost:25", "-mail-from", "a@lab.example"}, {"-smtp", "smtp://localhost", "-mail-from", "lab"},
		{"-smtp", "http://localhost", "-mail-from", "a@lab.example"},
	} {
		c := settingsOf(t, t.TempDir(), flags...)
		if _, err := newProgram(t.Context(), c, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "-smtp, -mail-from") {
			t.Errorf("%v: %v", flags, err)
		}
	}
}
