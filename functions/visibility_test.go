package functions_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

func TestUpdateTask_PropagatesVisibility(t *testing.T) {
	s := newServer(t)
	task := s.Records().Task(recordtest.Private)
	task.Register("tom")
	r := task.Dataset().Run("tom", recordtest.Public, recordtest.Published)
	for _, step := range []struct {
		visibility string
		seen       int
		status     int
	}{
		{"private", 0, http.StatusNotFound}, {"public", 1, http.StatusOK}, {"private", 0, http.StatusNotFound}, {"public", 1, http.StatusOK},
	} {
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, task.Path(), map[string]any{"visibility": step.visibility})
		for _, list := range []string{"/v1/tasks", "/v1/datasets", "/v1/runs", "/v1/evaluations"} {
			if got := s.IDs("", list); len(got) != step.seen {
				t.Errorf("%s: anyone sees %v at %s", step.visibility, got, list)
			}
		}
		s.Want(step.status, nil, "", http.MethodGet, "/v1/runs/"+r.ID, nil)
		s.Want(step.status, nil, "", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
		s.Want(http.StatusOK, nil, "tom", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
	}
}

// A team that becomes anonymous shows its alias everywhere at once, except to itself and the organizers. If it is no
// longer anonymous, it shows its name again.
func TestUpdateRegistration_PropagatesAlias(t *testing.T) {
	s := newServer(t)
	task := s.Records().Task()
	registration := task.Register("tom")
	r := task.Dataset().Run("tom", recordtest.Public, recordtest.Published)
	tom, alias := recordtest.UserID("tom"), registration.Alias
	for _, step := range []struct {
		patch map[string]any
		shown string
		named bool
	}{
		{map[string]any{"anonymous": true}, alias, false},
		{map[string]any{"team": "Heron"}, alias, false},
		{map[string]any{"anonymous": false}, "Heron", true},
		{map[string]any{"team": "Otter", "anonymous": true}, alias, false},
	} {
		s.Want(http.StatusOK, nil, "tom", http.MethodPatch, task.Path()+"/registrations/"+registration.ID, step.patch)
		for _, path := range []string{"/v1/runs", "/v1/runs/" + r.ID, "/v1/evaluations", "/v1/evaluations/" + r.EvaluationID, task.Path() +
			"/submissions", task.Path() + "/evaluations"} {
			for _, user := range []string{"", "uma", "tom", "olga"} {
				body := string(s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Body)
				knows := step.named || user == "tom" || user == "olga"
				if strings.Contains(body, tom) != knows || !strings.Contains(body, `"team":"`+step.shown+`"`) != (step.shown == alias && knows) {
					t.Errorf("after %v %s shows %q %s", step.patch, path, user, body)
				}
			}
		}
		status := http.StatusNoContent
		if step.named {
			status = http.StatusOK
		}
		for _, path := range []string{"/v1/runs?filter[userId]=" + tom, "/v1/evaluations?filter[userId]=" + tom, "/v1/users/" + tom +
			"/submissions"} {
			s.Want(status, nil, "", http.MethodGet, path, nil)
		}
	}
}

// Organizers see the name and address of a user next to every id. Other callers do not, not even tom in answers about himself.
func TestPeople_AreNamedToOrganizersAlone(t *testing.T) {
	s := newWithSubmission(t)
	s.change("olga", s.runPath+"/review", map[string]any{"published": true, "blinded": false})
	s.change("tom", s.submission, map[string]any{"visibility": "public"})
	evaluation := s.evaluated()
	const (
		tom  = `"name":"tom","email":"tom@example.org"`
		olga = `"name":"olga","email":"olga@example.org"`
	)
	for path, want := range map[string]string{
		s.organizer: olga, "/v1/organizers": olga, s.organizer + "/members": olga, s.organizer + "/members/" + recordtest.UserID("olga"): olga,
		s.registration: tom, s.task + "/registrations": tom, s.submission: tom, s.task + "/submissions": tom,
		s.runPath: tom, "/v1/runs": tom, s.runPath + "/review": olga, s.organizer + "/audit-entries": tom, s.task + "/audit-entries": olga,
		evaluation: tom, "/v1/evaluations": tom, s.task + "/evaluations": tom, s.task + "/evaluations?best=true": tom,
	} {
		for _, user := range []string{"olga", "root", "", "uma", "tom"} {
			a := s.Do(user, http.MethodGet, path, nil)
			organizes := user == "olga" || user == "root"
			if body := string(a.Body); organizes && !strings.Contains(body, want) || !organizes &&
				(strings.Contains(body, "@example.org") || strings.Contains(body, `"name":"tom"`)) {
				t.Errorf("%s as %q: %d %s", path, user, a.Status, a.Body)
			}
		}
	}
	for path, want := range map[string]string{
		s.task + "/registrations": ",tom,tom@example.org,", s.task + "/evaluations": ",tom,tom@example.org,"} {
		for _, user := range []string{"olga", "tom"} {
			a := s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil, "Accept", "text/csv")
			if strings.Contains(string(a.Body), want) != (user == "olga") {
				t.Errorf("%s as %s: %s", path, user, a.Body)
			}
		}
	}
	// The representation of a resource can be sent back unchanged, except for the change.
	var shown map[string]any
	s.Want(http.StatusOK, &shown, "olga", http.MethodGet, s.registration, nil)
	shown["state"] = "rejected"
	s.Want(http.StatusOK, &shown, "olga", http.MethodPatch, s.registration, shown)
	if user, ok := shown["user"].(map[string]any); !ok || user["email"] != "tom@example.org" {
		t.Errorf("%v", shown)
	}
}

// Unconfirmed addresses are shown to nobody.
func TestPeople_HaveConfirmedAddressesOnly(t *testing.T) {
	s := newWithSubmission(t)
	tom := recordtest.Get[record.User](t, s.Store, record.UserKey(recordtest.UserID("tom")))
	tom.EmailConfirmed = false
	s.Records().Replace(tom)
	for _, path := range []string{s.registration, s.task + "/registrations", s.submission, s.runPath, "/v1/users/" + tom.ID} {
		if a := s.Do("root", http.MethodGet, path, nil); a.Status != http.StatusOK || strings.Contains(string(a.Body), tom.Email) {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// TestPrivateTask_IsForbiddenToApplicants sends requests as users whose registration is pending or rejected. The task, its
// datasets and the lists below it answer 403. Nothing else of the task is shown, but the users still see their own submissions.
func TestPrivateTask_IsForbiddenToApplicants(t *testing.T) {
	s := newServer(t)
	private := s.Records().Task(recordtest.Private)
	d := private.Dataset()
	private.Register("member")
	others := d.Run("member", recordtest.Public, recordtest.Published)
	task, submissions := private.Path(), private.Path()+"/submissions"
	for name, state := range map[string]record.RegistrationState{"rejected": record.Rejected, "pending": record.Pending} {
		registration := private.Register(name, func(r *record.RegistrationItem) { r.State = state })
		own := d.Run(name, recordtest.Public, recordtest.Published)
		for _, path := range []string{task, d.Path(), submissions, task + "/registrations", task + "/evaluations", task + "/audit-entries"} {
			s.Want(http.StatusForbidden, nil, name, http.MethodGet, path, nil)
		}
		s.Want(http.StatusForbidden, nil, name, http.MethodPost, submissions, servertest.Image(d.ID))
		for _, path := range []string{
			submissions + "/" + others.SubmissionID, "/v1/runs/" + others.ID, "/v1/runs/" + others.ID + "/review",
			"/v1/evaluations/" + others.EvaluationID,
		} {
			s.Want(http.StatusNotFound, nil, name, http.MethodGet, path, nil)
		}
		s.Want(http.StatusNotFound, nil, name, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": d.ID})
		for _, path := range []string{
			"/v1/tasks", "/v1/datasets", "/v1/datasets?filter[taskId]=" + private.ID, "/v1/tasks?filter[organizerId]=" + private.OrganizerID,
			"/v1/evaluations?sort=rank&filter[datasetId]=" + d.ID,
		} {
			s.Want(http.StatusNoContent, nil, name, http.MethodGet, path, nil)
		}
		for _, path := range []string{
			"/v1/runs", "/v1/runs?filter[taskId]=" + private.ID, "/v1/runs?filter[datasetId]=" + d.ID, "/v1/evaluations",
			"/v1/evaluations?filter[datasetId]=" + d.ID, "/v1/evaluations?filter[taskId]=" + private.ID,
		} {
			got := s.Want(http.StatusOK, nil, name, http.MethodGet, path, nil)
			if bytes.Contains(got.Body, []byte(others.ID)) || !bytes.Contains(got.Body, []byte(own.ID)) {
				t.Errorf("%s as %s: %s", path, name, got.Body)
			}
		}
		for _, path := range []string{
			task + "/registrations/" + registration.ID, submissions + "/" + own.SubmissionID, "/v1/runs/" + own.ID, "/v1/runs/" + own.ID + "/review",
			"/v1/evaluations/" + own.EvaluationID, "/v1/user",
		} {
			s.Want(http.StatusOK, nil, name, http.MethodGet, path, nil)
		}
	}
	s.Want(http.StatusOK, nil, "member", http.MethodGet, d.Path(), nil)
	s.Want(http.StatusNotFound, nil, "outsider", http.MethodGet, task, nil)
}

func TestReview_RefusesContradictingFlags(t *testing.T) {
	s := newWithSubmission(t)
	for _, flag := range []string{"missingOutput", "extraneousOutput", "invalidOutput", "hasErrorOutput", "otherErrors"} {
		a := s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, s.runPath+"/review", map[string]any{
			"noErrors": true, flag: true})
		if !strings.Contains(string(a.Body), `"pointer":"/`+flag+`"`) {
			t.Errorf("%s", a.Body)
		}
		s.change("olga", s.runPath+"/review", map[string]any{flag: true})
		s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, s.runPath+"/review", map[string]any{"noErrors": true})
		s.change("olga", s.runPath+"/review", map[string]any{flag: false})
	}
	s.change("olga", s.runPath+"/review", map[string]any{"noErrors": true})
}

func TestReview_SaysWhatLeaderboardsDoNotShow(t *testing.T) {
	s := newWithSubmission(t)
	type patch = map[string]any
	review := s.runPath + "/review"
	for _, c := range []struct {
		path   string
		patch  patch
		notice string // a part of it; "" for none
	}{
		{review, patch{"comment": "good"}, ""},
		{review, patch{"published": true}, "the run is blinded"}, // a run on a test split is blinded from the start
		{review, patch{"blinded": false}, "without team, affiliation, title, label, run tag and paper. Others see neither the submission nor"},
		{s.submission, patch{"visibility": "public"}, "files of the run are shown, and what stands in them can name the team"},
		{review, patch{"blinded": true}, "the run is blinded"},
		{review, patch{"blinded": false}, "others are shown the alias anonymous-"},
		{s.registration, patch{"anonymous": false}, ""},
		{s.submission, patch{"visibility": "private"}, "without title, label, run tag and paper. Those who submitted it can"},
		{s.submission, patch{"visibility": "public"}, ""},
		{s.runPath, patch{"state": "cancelled"}, "the run was cancelled, so leaderboards show nothing of it"},
		{review, patch{"published": false}, ""},
		{review, patch{"published": true}, "the run was cancelled, so leaderboards show nothing of it"},
	} {
		var answered, shown map[string]any
		user := "olga"
		if c.path == s.registration || c.path == s.submission {
			user = "tom"
		}
		s.Want(http.StatusOK, &answered, user, http.MethodPatch, c.path, c.patch)
		s.Want(http.StatusOK, &shown, "olga", http.MethodGet, review, nil)
		notice, _ := shown["notice"].(string)
		if c.path == review && answered["notice"] != shown["notice"] || !strings.Contains(notice, c.notice) ||
			(notice == "") != (c.notice == "") {
			t.Errorf("%s %v: %v, answered %v", c.path, c.patch, shown, answered)
		}
	}
}
