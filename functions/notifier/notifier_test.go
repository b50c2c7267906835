package notifier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"assay/functions/notifier"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/mail"
	"assay/shared/edge/mail/mailtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
)

// fixture is a notifier with a server of SMTP, and a clock that the test sets.
type fixture struct {
	*recordtest.Builder
	*notifier.Worker
	t    *testing.T
	smtp *mailtest.Server
	now  time.Time

	receivers []*receiver
}

func newFixture(t *testing.T) *fixture {
	return newFixtureOf(t, recordtest.OpenStore(t, embedded.Options{}))
}

// onBothStores runs the test over the embedded store and over DynamoDB.
func onBothStores(t *testing.T, test func(*testing.T, *fixture)) {
	t.Run("embedded", func(t *testing.T) { test(t, newFixture(t)) })
	t.Run("DynamoDB", func(t *testing.T) { test(t, newFixtureOf(t, dynamotest.Open(t, dynamotest.Start(t)))) })
}

func newFixtureOf(t *testing.T, s store.Store) *fixture {
	f := &fixture{t: t, smtp: mailtest.New(t), now: record.At(time.Now()).Time}
	now := func() time.Time { return f.now }
	f.Builder = recordtest.New(t, s)
	f.Builder.Now = now
	send, err := mail.SMTP(f.smtp.URL, "Assay <assay@lab.example>")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	f.Worker = notifier.New(s, now, log)
	f.Mail = send
	f.URL = "https://assay.example"
	return f
}

// runDue does all due work, and returns the time from which on more is due.
func (f *fixture) runDue(ctx context.Context) (time.Time, error) {
	if err := f.RunDue(ctx); err != nil {
		return time.Time{}, err
	}
	return f.NextDue(ctx)
}

// deliver does all due work, and returns the e-mails that arrived.
func (f *fixture) deliver() []mailtest.Received {
	f.t.Helper()
	for range 100 {
		next, err := f.runDue(context.Background())
		if err != nil {
			f.t.Fatal(err)
		}
		if next.IsZero() || next.After(f.now) {
			all := f.smtp.Take()
			for _, m := range all {
				f.checkWords(m)
			}
			return all
		}
	}
	f.t.Fatal("the outbox does not become empty")
	return nil
}

// one returns the only e-mail that a delivery sends.
func (f *fixture) one() mailtest.Received {
	f.t.Helper()
	all := f.deliver()
	if len(all) != 1 {
		f.t.Fatalf("%d e-mails: %+v", len(all), all)
	}
	return all[0]
}

// announce makes an announcement of the task with its event.
func (f *fixture) announce(t *recordtest.Task, title, body string) *record.Announcement {
	a := &record.Announcement{Meta: record.NewMeta(f.now), TaskID: t.ID,
		AnnouncementDraft: record.AnnouncementDraft{Title: title, Body: body}}
	f.Put(a, record.NewEvent(f.now, record.EventAnnouncementPublished, t.Scope(), t.Path()+"/announcements/"+a.ID))
	return a
}

func TestFanOut_TellsEachRegistrantOnce(t *testing.T) {
	onBothStores(t, testFanOutTellsEachRegistrantOnce)
}

func testFanOutTellsEachRegistrantOnce(t *testing.T, f *fixture) {
	task := f.Task()
	const registrants = 130 // more than two pages
	want := map[string]int{}
	f.Batch(func() {
		for i := range registrants {
			user := fmt.Sprintf("user%d", i)
			f.User(user)
			task.Register(user)
			want[user+"@example.org"] = 1
		}
		f.User("pending", "unrelated")
		task.Register("pending", func(r *record.RegistrationItem) { r.State = record.Pending })
		task.Register("unknown") // a user without a profile, and so without an address
	})
	f.announce(task, "Topics", "Here they *are*.")
	for _, m := range f.deliver() {
		want[m.To]--
	}
	for to, missing := range want {
		if missing != 0 {
			t.Errorf("%s lacks %d e-mails", to, missing)
		}
	}
	if again := f.deliver(); len(again) > 0 {
		t.Errorf("%d e-mails were sent again", len(again))
	}
}

func TestMail_HasTwoFormsAndEndsWithOneClick(t *testing.T) {
	f := newFixture(t)
	f.User("ann")
	task := f.Task(func(t *record.TaskItem) { t.Name = "Lakes <script>alert(1)</script>\r\nBcc: eve@example.org" })
	task.Register("ann")
	f.announce(task, "Topics\r\nBcc: eve@example.org\r\n\r\n<b>", "Here they *are*. <img src=x onerror=alert(1)>")
	m := f.one()
	if m.To != "ann@example.org" || m.From != "assay@lab.example" || len(m.Header["Bcc"]) > 0 || m.Header.Get("To") != "<ann@example.org>" {
		t.Errorf("%+v", m.Header)
	}
	if strings.ContainsAny(m.Subject, "\r\n") || !strings.HasPrefix(m.Subject, "“Topics Bcc: eve@example.org <b>”") {
		t.Errorf("subject %q", m.Subject)
	}
	box := recordtest.Get[record.Mailbox](t, f.Builder.Store, record.MailboxKey(recordtest.UserID("ann")))
	link := "https://assay.example/v1/users/" + box.ID + "/unsubscriptions/" + box.Secret
	if m.Header.Get("List-Unsubscribe") != "<"+link+">" || m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
		m.Header.Get("Auto-Submitted") != "auto-generated" || !strings.HasSuffix(m.Header.Get("Message-Id"), "@lab.example>") {
		t.Errorf("%+v", m.Header)
	}
	for _, part := range []string{"“Lakes <script>", "Here they *are*.", task.Path() + "/announcements/", link} {
		if !strings.Contains(m.Text, part) {
			t.Errorf("the text lacks %q:\n%s", part, m.Text)
		}
	}
	for _, part := range []string{"Lakes &lt;script&gt;", "Here they <em>are</em>.", task.Path() + "/announcements/", link} {
		if !strings.Contains(m.HTML, part) {
			t.Errorf("the HTML lacks %q:\n%s", part, m.HTML)
		}
	}
	if strings.Contains(m.HTML, "<script") || strings.Contains(m.HTML, "<img") {
		t.Errorf("what users wrote is markup:\n%s", m.HTML)
	}
}

func TestMail_IsOneInTenMinutes(t *testing.T) { onBothStores(t, testMailIsOneInTenMinutes) }

func testMailIsOneInTenMinutes(t *testing.T, f *fixture) {
	f.User("ann")
	task := f.Task()
	task.Register("ann")
	f.announce(task, "First", "")
	f.one()
	f.announce(task, "Second", "")
	f.announce(task, "Third", "")
	if all := f.deliver(); len(all) > 0 {
		t.Fatalf("%d e-mails at once", len(all))
	}
	f.now = f.now.Add(record.MailInterval)
	if m := f.one(); !strings.Contains(m.Text, "Second") || !strings.Contains(m.Text, "Third") || strings.Contains(m.Text, "First") {
		t.Errorf("%s", m.Text)
	}
}

// Users with one address get no more e-mails there at once than one user, and each gets its news in the end.
func TestMail_IsOneInTenMinutesToAnAddress(t *testing.T) {
	onBothStores(t, testMailIsOneInTenMinutesToAnAddress)
}

func testMailIsOneInTenMinutesToAnAddress(t *testing.T, f *fixture) {
	const users = 5
	task := f.Task()
	for i := range users {
		name := fmt.Sprint("user", i)
		email := []string{"ann@example.org", "Ann@Example.org"}[i%2]
		f.Put(&record.User{Meta: record.MetaOf(recordtest.UserID(name), f.now), Name: name, Email: email, EmailConfirmed: true})
		task.Register(name)
	}
	f.announce(task, "Topics", "")
	f.smtp.Fail(errors.New("try again"))
	if all := f.deliver(); len(all) > 0 {
		t.Fatalf("%+v", all)
	}
	f.smtp.Fail(nil)
	f.now = f.now.Add(record.MailInterval)
	for range users {
		f.one()
		f.now = f.now.Add(record.MailInterval - time.Second)
		if all := f.deliver(); len(all) > 0 {
			t.Fatalf("%d more e-mails within %v", len(all), record.MailInterval)
		}
		f.now = f.now.Add(time.Second)
	}
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("%d more e-mails than users", len(all))
	}
}

// An address that nobody confirmed gets no e-mail.
func TestMail_GoesToConfirmedAddressesOnly(t *testing.T) {
	f := newFixture(t)
	f.User("bob")
	f.Put(&record.User{Meta: record.MetaOf(recordtest.UserID("ann"), f.now), Name: "ann", Email: "victim@example.org"})
	task := f.Task()
	task.Register("ann")
	task.Register("bob")
	a := f.announce(task, "Topics", "")
	e := record.NewEvent(f.now, record.EventAnnouncementPublished, task.Scope(), task.Path()+"/announcements/"+a.ID)
	e.End()
	box := record.NewMailbox(recordtest.UserID("ann"), f.now)
	box.Add(e, f.now)
	f.Put(e, box)
	if m := f.one(); m.To != "bob@example.org" {
		t.Errorf("%+v", m)
	}
}

// What waits when a server is started again without a mail server goes, and nothing is tried for ever.
func TestMail_EndsWithoutAMailServer(t *testing.T) {
	f := newFixture(t)
	f.User("ann")
	task := f.Task()
	task.Register("ann")
	f.smtp.Fail(errors.New("try again"))
	f.announce(task, "First", "")
	if all := f.deliver(); len(all) > 0 {
		t.Fatalf("%+v", all)
	}
	f.Mail, f.now = nil, f.now.Add(time.Hour)
	f.deliver()
	if next, err := f.runDue(t.Context()); err != nil || !next.IsZero() && next.Before(f.now.Add(record.Day)) {
		t.Errorf("the next attempt is at %v, %v", next, err)
	}
}

func TestMail_IsTriedAgainForThreeDays(t *testing.T) {
	onBothStores(t, testMailIsTriedAgainForThreeDays)
}

func testMailIsTriedAgainForThreeDays(t *testing.T, f *fixture) {
	f.User("ann")
	task := f.Task()
	task.Register("ann")
	f.smtp.Fail(errors.New("try again"))
	f.announce(task, "First", "")
	attempts, failing := 0, f.now
	var wait time.Duration
	for {
		next, err := f.runDue(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if next.IsZero() {
			break
		}
		attempts++
		if attempts > 100 {
			t.Fatal("it is never given up")
		}
		if next.After(f.now) {
			if next.Sub(f.now) < wait {
				t.Errorf("after %d attempts the wait is %v, and was %v", attempts, next.Sub(f.now), wait)
			}
			wait = next.Sub(f.now)
			f.now = next
		}
	}
	if lasted := f.now.Sub(failing); lasted < record.MailTime || lasted > record.MailTime+12*time.Hour {
		t.Errorf("it was given up after %v", lasted)
	}
	f.smtp.Fail(nil)
	f.announce(task, "Second", "")
	if m := f.one(); strings.Contains(m.Text, "First") {
		t.Errorf("%s", m.Text)
	}
}

func TestMail_FollowsChoices(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "bob", "cyd")
	task := f.Task()
	for user, choose := range map[string]func(*record.Mailbox){
		"ann": func(m *record.Mailbox) { m.Muted = []record.EventKind{record.EventAnnouncementPublished} },
		"bob": func(m *record.Mailbox) { m.Stopped = true },
		"cyd": func(m *record.Mailbox) { m.Muted = []record.EventKind{record.EventRunFailed} },
	} {
		task.Register(user)
		box := record.NewMailbox(recordtest.UserID(user), f.now)
		choose(box)
		f.Put(box)
	}
	f.announce(task, "Topics", "")
	if m := f.one(); m.To != "cyd@example.org" {
		t.Errorf("%+v", m)
	}
}

// The notifier reads the content of an e-mail when it sends it. Recipients who lost the right to see something are not told of it.
func TestMail_TellsNoMoreThanALoginShows(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "olga")
	task := f.Task(recordtest.Private)
	team := task.Register("ann")
	f.announce(task, "Topics", "")
	team.State = record.Rejected
	grant := recordtest.Get[record.Registered](t, f.Builder.Store, record.RegisteredKey(team.UserID, task.ID))
	grant.State = record.Rejected
	f.Mail = func(context.Context, mail.Message) error { return errors.New("later") }
	if _, err := f.runDue(context.Background()); err != nil { // the announcement waits in the mailbox
		t.Fatal(err)
	}
	f.Replace(team, grant)
	f.now = f.now.Add(time.Hour)
	send, err := mail.SMTP(f.smtp.URL, "assay@lab.example")
	if err != nil {
		t.Fatal(err)
	}
	f.Mail = send
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	f.Put(record.NewEvent(f.now, record.EventRegistrationDecided,
		access.Scope{OrganizerID: task.OrganizerID, TaskID: task.ID, OwnerID: team.UserID}, task.Path()+"/registrations/"+team.ID))
	if m := f.one(); !strings.Contains(m.Text, "rejected") || m.To != "ann@example.org" {
		t.Errorf("%+v", m)
	}
}

// An anonymous team of three: each member is told, and nobody else is, of the team by its alias or of what it did.
func TestFanOut_TellsTheMembersOfATeamAlone(t *testing.T) {
	onBothStores(t, testFanOutTellsTheMembersOfATeamAlone)
}

func testFanOutTellsTheMembersOfATeamAlone(t *testing.T, f *fixture) {
	f.User("ann", "bob", "cyd", "dan", "olga")
	task := f.Task()
	task.Register("ann", recordtest.With("bob", "cyd"), func(r *record.RegistrationItem) { r.Anonymous = true })
	task.Register("dan")
	run := task.Dataset().Run("bob", recordtest.Published, recordtest.Public)
	for _, kind := range []record.EventKind{record.EventRunCompleted, record.EventReviewPublished} {
		f.Put(record.NewEvent(f.now, kind, run.Scope(), "/v1/runs/"+run.ID))
	}
	told := map[string]string{}
	for _, m := range f.deliver() {
		told[m.To] += m.Text
	}
	for _, member := range []string{"ann", "bob", "cyd"} {
		text := told[member+"@example.org"]
		if !strings.Contains(text, "is completed") || !strings.Contains(text, "is published") {
			t.Errorf("%s is told %q", member, text)
		}
	}
	if len(told) != 3 {
		t.Errorf("%v", told)
	}
}
