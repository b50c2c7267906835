package notifications_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"assay/functions/notifications"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

const receiver = "https://ci.example.org/assay"

// webhooksOf returns the addresses of the lists of webhooks of the task and of its organizer.
func webhooksOf(t *recordtest.Task) []string {
	return []string{t.Path() + "/webhooks", "/v1/organizers/" + t.OrganizerID + "/webhooks"}
}

// parents returns the keys of the task and its organizer.
func parents(t *recordtest.Task) []store.Key {
	return []store.Key{record.TaskKey(t.ID), record.OrganizerKey(t.OrganizerID)}
}

func TestWebhook_SecretIsShownOnce(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	task := s.Records().Task()
	for i, list := range webhooksOf(task) {
		var made, rotated notifications.NewWebhook
		body := map[string]any{"url": receiver, "kinds": []string{"run.failed"}}
		s.Want(http.StatusCreated, &made, "olga", http.MethodPost, list, body, "Idempotency-Key", list)
		path := list + "/" + made.ID
		if made.Path() != path || !strings.HasPrefix(made.Secret, "whsec_") || made.URL != receiver {
			t.Errorf("%+v", made)
		}
		answers := []servertest.Answer{
			s.Want(http.StatusCreated, nil, "olga", http.MethodPost, list, body, "Idempotency-Key", list),
			s.Want(http.StatusOK, nil, "olga", http.MethodGet, list, nil), s.Want(http.StatusOK, nil, "olga", http.MethodGet, path, nil),
			s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"url": receiver + "2", "kinds": []string{}}),
		}
		s.Want(http.StatusCreated, &rotated, "olga", http.MethodPost, path+"/secrets", map[string]any{})
		if rotated.Secret == made.Secret || !strings.HasPrefix(rotated.Secret, "whsec_") || rotated.ID != made.ID {
			t.Errorf("%+v", rotated)
		}
		for _, e := range recordtest.AuditEntries(t, s.Store, task.OrganizerID) {
			answers = append(answers, servertest.Answer{Body: append(append(e.Before, e.After...), made.ID...)})
		}
		for _, a := range answers {
			if body := string(a.Body); !strings.Contains(body, made.ID) || strings.Contains(strings.ToLower(body), "secret") ||
				strings.Contains(body, "whsec_") {
				t.Errorf("%s", body)
			}
		}
		stored := recordtest.Get[record.WebhookItem](t, s.Store, record.WebhookKey(parents(task)[i], made.ID))
		if stored.Secret != rotated.Secret || stored.OldSecret != made.Secret || stored.URL != receiver+"2" || len(stored.Kinds) > 0 {
			t.Errorf("%+v", stored)
		}
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
		s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, path, nil)
	}
}

// Webhooks of all organizers of one user, and of their tasks, share connections. So each webhook has the payer of its organizer or task.
func TestWebhook_HasThePayerOfItsOrganizer(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	organizer := s.Records().Organizer("olga")
	organizer.Payer = "PAYER"
	s.Records().Replace(organizer)
	task := s.Records().Task(func(t *record.TaskItem) { t.OrganizerID, t.Payer = organizer.ID, "PAYER" })
	own := s.Records().Task()
	for path, payer := range map[string]string{
		"/v1/organizers/" + organizer.ID: "PAYER", task.Path(): "PAYER", own.Path(): own.OrganizerID,
	} {
		var made record.Webhook
		s.Want(http.StatusCreated, &made, "olga", http.MethodPost, path+"/webhooks", map[string]any{"url": "https://ci.example.org/"})
		stored := recordtest.Get[record.WebhookItem](t, s.Store, (&record.WebhookItem{Webhook: made}).Key())
		if stored.Payer != payer {
			t.Errorf("%s: %+v", path, stored)
		}
	}
}

func TestWebhook_IsRefused(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	for _, list := range webhooksOf(s.Records().Task()) {
		for _, url := range []string{"", "ftp://example.org", "https://user:password@example.org", "example.org", "https://",
			"file:///etc/passwd",
			"https://example.org/\r\nX: y", "https://example.org/" + strings.Repeat("x", 2000)} {
			s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, list, map[string]any{"url": url})
		}
		for _, kinds := range []any{[]string{"weather"}, []string{"run.failed", "run.failed"}, "run.failed"} {
			s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, list, map[string]any{"url": receiver, "kinds": kinds})
		}
		got := servertest.Concurrently(record.MaxWebhooks+5, func(i int) servertest.Answer {
			return s.Do("olga", http.MethodPost, list, map[string]any{"url": fmt.Sprint(receiver, i)})
		})
		if got[http.StatusCreated] != record.MaxWebhooks || got[http.StatusConflict] != 5 {
			t.Errorf("%v", got)
		}
	}
}

// An address that no event can ever reach is refused, unless the operator allows its network.
func TestWebhook_RefusesAddressesThatAreNeverReached(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	list := s.Records().Task().Path() + "/webhooks"
	var known notifications.NewWebhook
	s.Want(http.StatusCreated, &known, "olga", http.MethodPost, list, map[string]any{"url": receiver})
	for _, c := range []struct {
		url      string
		networks []netip.Prefix
		want     int
	}{
		{"https://10.1.2.3/assay", nil, http.StatusUnprocessableEntity},
		{"https://[::1]/", nil, http.StatusUnprocessableEntity},
		{"https://[::ffff:127.0.0.1]/", nil, http.StatusUnprocessableEntity},
		{"https://169.254.169.254/latest", nil, http.StatusUnprocessableEntity},
		{"http://ci.example.org/", nil, http.StatusUnprocessableEntity},
		{"ftp://ci.example.org/", nil, http.StatusUnprocessableEntity},
		{"https://ci.example.org/", nil, http.StatusCreated},
		{"https://8.8.8.8/", nil, http.StatusCreated},
		{"http://10.1.2.3/assay", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.StatusCreated},
		{"http://ci.lab/", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.StatusCreated},
		{"http://8.8.8.8/", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.StatusUnprocessableEntity},
		{"https://192.168.0.1/", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.StatusUnprocessableEntity},
	} {
		s.Info.WebhookNetworks = c.networks
		s.Want(c.want, nil, "olga", http.MethodPost, list, map[string]any{"url": c.url})
		if c.want != http.StatusCreated {
			s.Want(c.want, nil, "olga", http.MethodPatch, list+"/"+known.ID, map[string]any{"url": c.url})
		}
	}
	s.Info.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, list+"/"+known.ID, map[string]any{"url": "http://10.1.2.3/"})
	s.Info.WebhookNetworks = nil
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, list+"/"+known.ID, map[string]any{"disabled": true})
}

// Events without an organizer are sent to no webhook.
func TestWebhook_CanTakeAllKindsOfItsOrganizer(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	for _, list := range webhooksOf(s.Records().Task()) {
		kinds := slices.DeleteFunc(slices.Clone(record.EventKinds), func(k record.EventKind) bool { return k == record.EventTokenExpiring })
		s.Want(http.StatusCreated, nil, "olga", http.MethodPost, list, map[string]any{"url": receiver, "kinds": kinds})
	}
}

func TestDelivery_IsSentAgain(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	task := s.Records().Task()
	for i, list := range webhooksOf(task) {
		var made notifications.NewWebhook
		s.Want(http.StatusCreated, &made, "olga", http.MethodPost, list, map[string]any{"url": receiver})
		path := list + "/" + made.ID
		ids := s.IDs("olga", path+"/deliveries")
		var first record.Delivery
		s.Want(http.StatusOK, &first, "olga", http.MethodGet, path+"/deliveries/"+ids[0], nil)
		if len(ids) != 1 || first.Type != record.EventWebhookCreated || first.Sequence != 1 || first.Path != path {
			t.Errorf("%+v", first)
		}
		hook := recordtest.Get[record.WebhookItem](t, s.Store, record.WebhookKey(parents(task)[i], made.ID))
		for _, state := range []record.DeliveryState{record.DeliveryDelivered, record.DeliveryFailed, record.DeliveryPending} {
			d := record.NewDelivery(s.Now(), hook, record.EventRunFailed, task.ID, "/v1/runs/"+record.NewID(s.Now()))
			d.State = state
			if state != record.DeliveryPending {
				d.NextAttemptAt = nil
			}
			s.Records().Put(d)
			ids = append([]string{d.ID}, ids...)
		}
		if got := s.IDs("olga", path+"/deliveries"); !slices.Equal(got, ids) {
			t.Errorf("%v, want %v", got, ids)
		}
		if got := s.IDs("olga", path+"/deliveries?filter[state]=failed"); !slices.Equal(got, ids[1:2]) {
			t.Errorf("%v, want %v", got, ids[1:2])
		}
		for _, id := range ids {
			var d record.Delivery
			s.Want(http.StatusCreated, &d, "olga", http.MethodPost, path+"/deliveries/"+id+"/attempts", map[string]any{})
			s.Want(http.StatusOK, &d, "olga", http.MethodGet, path+"/deliveries/"+id, nil)
			if d.ID != id || d.State != record.DeliveryPending || d.NextAttemptAt.After(s.Now()) {
				t.Errorf("%+v", d)
			}
		}
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"disabled": true})
		refused := s.Want(http.StatusConflict, nil, "olga", http.MethodPost, path+"/deliveries/"+ids[0]+"/attempts", map[string]any{})
		if !strings.Contains(string(refused.Body), path) {
			t.Errorf("%s", refused.Body)
		}
	}
}

func TestWebhook_IsMissingForOthers(t *testing.T) {
	s := servertest.New(t, notifications.Operations...)
	task, other := s.Records().Task(), s.Records().Task()
	task.Register("reg")
	for i, list := range webhooksOf(task) {
		var made notifications.NewWebhook
		s.Want(http.StatusCreated, &made, "olga", http.MethodPost, list, map[string]any{"url": receiver})
		hook := recordtest.Get[record.WebhookItem](t, s.Store, record.WebhookKey(parents(task)[i], made.ID))
		d := record.NewDelivery(s.Now(), hook, record.EventRunFailed, task.ID, "/v1/runs/x")
		s.Records().Put(d)
		path := list + "/" + made.ID
		for _, user := range []string{"", "uma", "reg"} {
			for address, body := range map[string]any{path: nil, path + "/deliveries": nil, path + "/deliveries/" + d.ID: nil,
				path + "/secrets": map[string]any{}, path + "/deliveries/" + d.ID + "/attempts": map[string]any{}} {
				method := http.MethodGet
				if body != nil {
					method = http.MethodPost
				}
				s.Want(http.StatusNotFound, nil, user, method, address, body)
			}
			s.Want(http.StatusNotFound, nil, user, http.MethodPatch, path, map[string]any{"disabled": true})
			s.Want(http.StatusNotFound, nil, user, http.MethodDelete, path, nil)
			if got := s.Do(user, http.MethodGet, list, nil).Status; got != http.StatusUnauthorized && got != http.StatusForbidden {
				t.Errorf("%q gets %d of the list", user, got)
			}
		}
		s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, webhooksOf(other)[0]+"/"+made.ID, nil)
		s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, webhooksOf(task)[1-i]+"/"+made.ID, nil)
	}
}
