//go:build !race

package functions_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/functions/notifier"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/mail"
	"assay/shared/edge/mail/mailtest"
	"assay/shared/testing/nightlytest"
)

// secretive are the members of an anonymous team. Their names and all their texts contain the secret.
var secretive = []string{"quagga1", "quagga2", "quagga3"}

const secret = "quagga"

// withTeam is a platform with a public and a private task. A team of three takes part in both. Each member submitted runs of each
// visibility and review.
type withTeam struct {
	*servertest.Server
	ids map[string][]string // ids of all resources, by the name of the parameter
}

func newWithTeam(t *testing.T) *withTeam {
	t.Helper()
	p := &withTeam{Server: newServer(t), ids: map[string][]string{"organizerId": nil, "userId": {recordtest.UserID("bob")}}}
	b := p.Records()
	b.User(append([]string{"bob", "olga", "rival", "pending"}, secretive...)...)
	add := func(name, task, id string) {
		p.ids[name] = append(p.ids[name], id)
		if task != "" {
			p.ids[name+task] = append(p.ids[name+task], id)
		}
	}
	b.Organizer("rival")
	for i, option := range []func(*record.TaskItem){func(*record.TaskItem) {}, recordtest.Private} {
		task := b.Task(option)
		d := task.Dataset()
		add("taskId", "", task.ID)
		add("datasetId", task.ID, d.ID)
		p.ids["organizerId"] = []string{task.OrganizerID}
		team := task.Register(secretive[i], func(r *record.RegistrationItem) {
			recordtest.With(slices.Delete(slices.Clone(secretive), i, i+1)...)(r)
			r.Anonymous = true
			r.Team = "Quagga Trio"
			r.Affiliation = "Quagga Institute"
			r.Country = "Quagga Land"
			r.Contact = "quagga@example.org"
		})
		bobs := task.Register("bob")
		task.Register("pending", func(r *record.RegistrationItem) { r.State = record.Pending })
		add("registrationId", task.ID, team.ID)
		add("registrationId", task.ID, bobs.ID)
		describe := func(r *recordtest.Run) {
			r.Submission.Title = "quagga title"
			r.Submission.Description = "quagga description"
			r.Submission.Notes = "quagga notes"
			r.Submission.PaperURL = "https://quagga.example.org/paper"
			r.Label = "quagga label"
			r.RunTag = "quagga-tag"
			r.Evaluation.Label, r.Evaluation.RunTag = r.Label, r.RunTag
			r.Diagnostics, r.Review.Comment = nil, "fine"
		}
		for n, user := range append([]string{"bob"}, slices.Repeat(secretive, 4)...) {
			options := []recordtest.RunOption{describe}
			for bit, option := range []recordtest.RunOption{recordtest.Public, recordtest.Published, recordtest.Blinded} {
				if (n/2)>>bit&1 == 1 {
					options = append(options, option)
				}
			}
			if user == "bob" {
				options = []recordtest.RunOption{recordtest.Public, recordtest.Published}
			}
			r := d.Run(user, options...)
			add("submissionId", task.ID, r.SubmissionID)
			add("runId", task.ID, r.ID)
			add("evaluationId", task.ID, r.EvaluationID)
			if user != "bob" {
				for _, kind := range []record.EventKind{record.EventRunCompleted, record.EventRunFailed, record.EventReviewPublished} {
					b.Put(record.NewEvent(p.Now(), kind, r.Scope(), "/v1/runs/"+r.ID))
				}
			}
		}
		for _, kind := range []record.EventKind{record.EventRegistrationPending, record.EventRegistrationDecided} {
			b.Put(record.NewEvent(p.Now(), kind, team.Scope(), task.Path()+"/registrations/"+team.ID))
		}
		b.Put(record.NewEvent(p.Now(), record.EventTruthChanged, d.Scope(), d.Path()))
		at := p.Create("olga", task.Path()+"/announcements", map[string]any{"title": "Topics", "body": "They are here."})
		add("announcementId", task.ID, servertest.ID(at))
	}
	for _, user := range secretive {
		p.ids["userId"] = append(p.ids["userId"], recordtest.UserID(user))
	}
	for _, name := range []string{"tokenId", "unsubscriptionId", "invitationId", "webhookId", "deliveryId", "deletionId", "exceptionId"} {
		p.ids[name] = append(p.ids[name], p.ids["taskId"][0])
	}
	return p
}

// identifies returns a part of the text that identifies the team.
func identifies(text string) string {
	if at := strings.Index(strings.ToLower(text), secret); at >= 0 {
		return text[max(0, at-60):min(len(text), at+60)]
	}
	for _, user := range secretive {
		if strings.Contains(text, recordtest.UserID(user)) {
			return "the id of " + user
		}
	}
	return ""
}

// TestAnonymousTeam_StaysAnonymous sends all requests for all resources that change nothing, for data, pages and tables. Answers
// to callers other than the team, its organizers and administrators must not contain names, addresses, ids or texts of its
// members. A request with the id of a member must get the same answer as one with an unknown id.
func TestAnonymousTeam_StaysAnonymous(t *testing.T) {
	p := newWithTeam(t)
	asked, found := 0, map[string]int{}
	for _, r := range sampled(t, requestsFor(p.Server, p.ids)) {
		if r.method != http.MethodGet && !strings.HasPrefix(r.path, "/v1/tools/") {
			continue
		}
		ask := func(caller, path string) string {
			asked++
			a := p.Do(caller, r.method, path, r.body, r.headers...)
			if a.Status >= http.StatusInternalServerError {
				t.Errorf("%s %s as %q: %d %s", r.method, path, caller, a.Status, a.Body)
			}
			return fmt.Sprint(a.Status, a.Header["Link"], a.Header["Location"], string(a.Body))
		}
		for _, caller := range append(slices.Clone(secretive), "olga", "root") {
			if identifies(ask(caller, r.path)) != "" {
				found[caller]++
			}
		}
		for _, caller := range []string{"", "outsider", "bob", "pending", "rival", "robot"} {
			answer, path := ask(caller, r.path), r.path
			for _, user := range secretive {
				path = strings.ReplaceAll(path, recordtest.UserID(user), unknown)
			}
			if path != r.path { // links and problems repeat the path of the request
				answer = withoutIDs(answer)
				if other := withoutIDs(ask(caller, path)); other != answer {
					t.Errorf("%s %s %v as %q: about a member\n%s\nabout nobody\n%s", r.method, r.path, r.headers, caller, answer, other)
				}
			}
			if leak := identifies(answer); leak != "" {
				t.Errorf("%s %s %v %v as %q has %q", r.method, r.path, r.body, r.headers, caller, leak)
			}
		}
	}
	t.Logf("%d requests; answers with the team by caller: %v", asked, found)
	for _, caller := range append(slices.Clone(secretive), "olga", "root") {
		if found[caller] < nightlytest.Count(15, 50) {
			t.Errorf("%s finds the team in %d answers: the search finds too little", caller, found[caller])
		}
	}
}

var (
	unknown   = recordtest.UserID("somebody else")
	requestID = regexp.MustCompile(`req_[0-9a-zA-Z]+|[0-9A-HJKMNP-TV-Z]{26}`)
)

// withoutIDs returns the answer without ids of people and of requests.
func withoutIDs(answer string) string { return requestID.ReplaceAllString(answer, "") }

// TestAnonymousTeam_IsNamedInNoNews delivers events of the team and of its tasks. E-mails to users other than its members and
// organizers do not name it. Webhooks do not name it either, because they may go to a channel that many people read.
func TestAnonymousTeam_IsNamedInNoNews(t *testing.T) {
	p, smtp := newWithTeam(t), mailtest.New(t)
	send, err := mail.SMTP(smtp.URL, "Assay <assay@lab.example>")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	kinds := map[string]int{} // of the events that webhooks received
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var event struct{ Type string }
		if leak := identifies(fmt.Sprint(r.URL, r.Header, string(body))); err != nil || json.Unmarshal(body, &event) != nil || leak != "" {
			t.Errorf("a webhook is sent %s %v: it has %q", body, r.Header, leak)
		}
		kinds[event.Type]++
	}))
	t.Cleanup(receiver.Close)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	p.Info.WebhookNetworks = loopback
	tasks := p.ids["taskId"]
	for _, list := range []string{"/v1/organizers/" + p.ids["organizerId"][0], "/v1/tasks/" + tasks[0], "/v1/tasks/" + tasks[1]} {
		p.Create("olga", list+"/webhooks", map[string]any{"url": receiver.URL})
	}
	for i, task := range p.ids["taskId"] {
		team := "/v1/tasks/" + task + "/registrations/" + p.ids["registrationId"+task][0]
		p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/runs/"+p.ids["runId"+task][0], nil)
		p.Want(http.StatusCreated, nil, secretive[i], http.MethodPost, team+"/invitations", map[string]any{"email": "quagga4@example.org"})
		p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, team+"/members/"+recordtest.UserID(secretive[2]), nil)
	}
	w := notifier.New(p.Store, p.Now, p.Log)
	w.Mail = send
	w.URL = "https://assay.example"
	w.WebhookNetworks = loopback
	for next := p.Now(); !next.IsZero() && !next.After(p.Now()); {
		if err := w.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if next, err = w.NextDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mails, named := map[string]int{}, map[string]int{}
	for _, m := range smtp.Take() {
		user, _, _ := strings.Cut(m.To, "@")
		mails[user]++
		switch leak := identifies(fmt.Sprint(m)); {
		case leak == "":
		case slices.Contains(secretive, user), user == "olga", user == "quagga4": // their own address contains the secret
			named[user]++
		default:
			t.Errorf("%s is sent %q", m.To, leak)
		}
	}
	if mails["bob"] == 0 || len(named) < len(secretive) {
		t.Errorf("of the mails to %v, those to %v name the team", mails, named)
	}
	for _, kind := range record.EventKinds {
		if unsent := kind == record.EventTokenExpiring || kind == record.EventWebhookDisabled || kind == record.EventWorkersMissing ||
			kind == record.EventWindowClosing; kinds[string(kind)] == 0 && !unsent {
			t.Errorf("no webhook was sent a %s: %v", kind, kinds)
		}
	}
}
