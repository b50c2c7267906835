package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record/recordtest"
)

// Organizers see name and address of a user next to every id; no other caller does, not even tom in answers about himself.
func TestPeople_AreNamedToOrganizersAlone(t *testing.T) {
	s := newWithSubmission(t)
	s.change("olga", s.runPath+"/review", map[string]any{"published": true, "blinded": false})
	s.change("tom", s.submission, map[string]any{"visibility": "public"})
	evaluation := s.evaluated()
	const tom, olga = `"name":"tom","email":"tom@example.org"`, `"name":"olga","email":"olga@example.org"`
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
	// What was shown can be sent back as it is, with the change.
	var shown map[string]any
	s.Want(http.StatusOK, &shown, "olga", http.MethodGet, s.registration, nil)
	shown["state"] = "rejected"
	s.Want(http.StatusOK, &shown, "olga", http.MethodPatch, s.registration, shown)
	if user, ok := shown["user"].(map[string]any); !ok || user["email"] != "tom@example.org" {
		t.Errorf("%v", shown)
	}
}

// Anyone can found an organizer and add known users to it and to its tasks. That shows no address before the user has acted
// there.
func TestPeople_AddedByOthersKeepTheirAddresses(t *testing.T) {
	s := newWithSubmission(t)
	tom := recordtest.UserID("tom")
	lab := s.Create("mia", "/v1/organizers", map[string]any{"name": "Mia's", "members": []string{tom}})
	task := s.Create("mia", "/v1/tasks", map[string]any{"organizerId": servertest.ID(lab), "name": "Bait"})
	registration := s.Create("mia", task+"/registrations", map[string]any{"team": "Tom's", "userId": tom})
	reads := []string{lab, "/v1/organizers", lab + "/members", lab + "/members/" + tom, registration, task + "/registrations",
		lab + "/audit-entries", task + "/audit-entries"}
	shows := func(path string) (shown bool) {
		for _, accept := range []string{"application/json", "text/csv, application/json;q=0.1"} {
			a := s.Want(http.StatusOK, nil, "mia", http.MethodGet, path, nil, "Accept", accept)
			shown = shown || strings.Contains(string(a.Body), "tom@example.org")
		}
		return shown
	}
	for _, path := range reads {
		if shows(path) {
			t.Errorf("%s has the address of a user who was added", path)
		}
	}
	s.Create("tom", "/v1/tasks", map[string]any{"organizerId": servertest.ID(lab), "name": "Tom's own"})
	for _, path := range reads {
		if !shows(path) {
			t.Errorf("%s lacks the address of a member who has acted as one", path)
		}
	}
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, lab+"/members/"+tom, nil)
}
