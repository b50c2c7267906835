package notifications_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"assay/functions/notifications"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// outbox reads the undelivered events.
func outbox(t *testing.T, s *servertest.Server) (events []*record.Event) {
	t.Helper()
	items, err := s.Store.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		e := new(record.Event)
		if err := record.Decode(it, e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func TestAnnouncement_IsMadeCorrectedAndDeleted(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	task := s.Records().Task()
	list := task.Path() + "/announcements"
	var a record.Announcement
	made := s.Want(http.StatusCreated, &a, "olga", http.MethodPost, list, map[string]any{"title": "Topics", "body": "Here they *are*."})
	path := list + "/" + a.ID
	if made.Header.Get("Location") != path || a.TaskID != task.ID || a.Title != "Topics" {
		t.Errorf("%s %+v", made.Header, a)
	}
	events := outbox(t, s)
	if len(events) != 1 || events[0].Kind != record.EventAnnouncementPublished || events[0].Subject != path || events[0].TaskID != task.ID {
		t.Fatalf("%+v", events)
	}
	s.Want(http.StatusOK, &a, "olga", http.MethodPatch, path, map[string]any{"title": "Test topics"})
	if got := s.IDs("", list); len(got) != 1 || a.Title != "Test topics" || a.Body != "Here they *are*." {
		t.Errorf("%v %+v", got, a)
	}
	page := s.Do("", http.MethodGet, path, nil, "Accept", "text/html")
	if !strings.Contains(string(page.Body), "<em>are</em>") {
		t.Errorf("%s", page.Body)
	}
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, path, nil)
	if len(outbox(t, s)) != 1 {
		t.Error("what is corrected or deleted is announced again")
	}
	var actions []string
	for _, e := range recordtest.AuditEntries(t, s.Store, task.OrganizerID) {
		actions = append(actions, e.Action)
	}
	if !slices.Equal(actions, []string{record.AnnouncementDeleted, record.AnnouncementChanged, record.AnnouncementCreated}) {
		t.Errorf("%v", actions)
	}
	for title, body := range map[string]string{"": "x", "two\nlines": "x", "x": "\x00"} {
		s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, list, map[string]any{"title": title, "body": body})
	}
}

func TestAnnouncement_IsSeenWithItsTask(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	for _, private := range []bool{false, true} {
		var options []func(*record.TaskItem)
		if private {
			options = append(options, recordtest.Private)
		}
		task := s.Records().Task(options...)
		task.Register("reg")
		task.Register("waits", func(r *record.RegistrationItem) { r.State = record.Pending })
		list := task.Path() + "/announcements"
		var a record.Announcement
		s.Want(http.StatusCreated, &a, "olga", http.MethodPost, list, map[string]any{"title": "Topics"})
		for user, sees := range map[string]bool{"": !private, "uma": !private, "waits": !private, "reg": true, "olga": true, "root": true} {
			for _, path := range []string{list, list + "/" + a.ID} {
				if got := s.Do(user, http.MethodGet, path, nil).Status; (got == http.StatusOK) != sees {
					t.Errorf("private %v: %q gets %d of %s", private, user, got, path)
				}
			}
			if user == "olga" || user == "root" {
				continue
			}
			for method, body := range map[string]any{http.MethodPatch: map[string]any{"title": "Mine"}, http.MethodDelete: nil} {
				if got := s.Do(user, method, list+"/"+a.ID, body).Status; got < http.StatusUnauthorized || got > http.StatusNotFound {
					t.Errorf("private %v: %q gets %d of %s", private, user, got, method)
				}
			}
		}
		other := s.Records().Task()
		s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, other.Path()+"/announcements/"+a.ID, nil)
	}
}

func TestChoices_AreTheUsersOwn(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	const path = "/v1/user/notifications"
	var c notifications.Choices
	s.Want(http.StatusOK, &c, "ann", http.MethodGet, path, nil)
	if !slices.Equal(c.Email, record.EventKinds) || c.Address != "" {
		t.Errorf("%+v", c)
	}
	s.Want(http.StatusOK, &c, "ann", http.MethodPatch, path, map[string]any{"email": []string{"run.failed", "window.closing"}})
	s.Want(http.StatusOK, &c, "ann", http.MethodGet, path, nil)
	if !slices.Equal(c.Email, []record.EventKind{record.EventRunFailed, record.EventWindowClosing}) || c.Address != "ann@example.org" {
		t.Errorf("%+v", c)
	}
	s.Want(http.StatusOK, &c, "bob", http.MethodGet, path, nil)
	if len(c.Email) != len(record.EventKinds) {
		t.Errorf("bob has the choices of ann: %+v", c)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "ann", http.MethodPatch, path, map[string]any{"email": []string{"weather"}})
	s.Want(http.StatusUnauthorized, nil, "", http.MethodGet, path, nil)
}

func TestUnsubscribe_NeedsTheSecretAlone(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	box := record.NewMailbox(recordtest.UserID("ann"), s.Now())
	other := record.NewMailbox(recordtest.UserID("bob"), s.Now())
	s.Records().Put(box, other)
	path := box.UnsubscribePath()
	for user, secret := range map[string]string{box.ID: other.Secret, other.ID: box.Secret, "x": "x", recordtest.UserID("cyd"): box.Secret} {
		wrong := "/v1/users/" + user + "/unsubscriptions/" + secret
		s.Want(http.StatusNotFound, nil, "", http.MethodGet, wrong, nil)
		s.Want(http.StatusNotFound, nil, "", http.MethodPost, wrong, nil)
	}
	page := s.Do("", http.MethodGet, path, nil, "Accept", "text/html")
	if !strings.Contains(string(page.Body), `<form method="post"`) || !strings.Contains(page.Header.Get("Content-Security-Policy"), "form-action 'self'") {
		t.Errorf("%s %s", page.Header, page.Body)
	}
	stopped := func() bool { return recordtest.Get[record.Mailbox](t, s.Store, box.Key()).Stopped }
	if stopped() {
		t.Fatal("to look at the page stops the e-mails: programs that check mails open links")
	}
	form := url.Values{"List-Unsubscribe": {"One-Click"}}.Encode()
	answer := s.Do("", http.MethodPost, path, form, "Content-Type", "application/x-www-form-urlencoded")
	if answer.Status != http.StatusOK || !stopped() {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	shown := s.Do("", http.MethodPost, path, form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if shown.Status != http.StatusOK || !strings.Contains(string(shown.Body), "no e-mails") {
		t.Errorf("%d %s", shown.Status, shown.Body)
	}
	var c notifications.Choices
	s.Want(http.StatusOK, &c, "ann", http.MethodGet, "/v1/user/notifications", nil)
	if len(c.Email) > 0 {
		t.Errorf("%+v", c)
	}
	s.Want(http.StatusOK, &c, "ann", http.MethodPatch, "/v1/user/notifications", map[string]any{"email": record.EventKinds})
	if stopped() || recordtest.Get[record.Mailbox](t, s.Store, other.Key()).Stopped {
		t.Error("the choices of a user do not hold")
	}
}
