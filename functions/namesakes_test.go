package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// TestNamesakes_DifferForOrganizers takes the name of an anonymous team, and then lists the records of both teams. Organizers learn the
// alias and the registration. Others learn neither, so that nothing tells them that the name was taken.
func TestNamesakes_DifferForOrganizers(t *testing.T) {
	s := newServer(t)
	b := s.Records()
	b.User("ann", "ben", "cara", "olga", "outsider")
	task := b.Task()
	d := task.Dataset()
	blue := func(r *record.RegistrationItem) { r.Team = "Blue" }
	hidden := task.Register("ann", blue, func(r *record.RegistrationItem) { r.Anonymous = true })
	shown := task.Register("ben", blue)
	task.Register("cara")
	pending := task.Register("outsider", blue, func(r *record.RegistrationItem) { r.Anonymous, r.State = true, record.Pending })
	for _, user := range []string{"ann", "ben"} {
		d.Run(user, recordtest.Public, recordtest.Published)
	}
	type named struct{ Team, Alias, RegistrationID string }
	lists := []string{"/v1/runs?filter[taskId]=" + task.ID, task.Path() + "/submissions", "/v1/evaluations?filter[taskId]=" + task.ID}
	for caller, want := range map[string][]named{
		"olga": {{"Blue", hidden.Alias, hidden.ID}, {"Blue", "", shown.ID}},
		"ann":  {{"Blue", hidden.Alias, hidden.ID}, {"Blue", "", ""}},
		"ben":  {{hidden.Alias, "", ""}, {"Blue", "", shown.ID}},
		"cara": {{hidden.Alias, "", ""}, {"Blue", "", ""}},
		"":     {{hidden.Alias, "", ""}, {"Blue", "", ""}},
	} {
		for _, list := range lists {
			got := servertest.List[named](s, caller, list)
			if len(got) != 2 || got[1] != want[0] || got[0] != want[1] {
				t.Errorf("%s as %q: %v, want %v", list, caller, got, want)
			}
			answer := string(s.Do(caller, http.MethodGet, list, nil).Body)
			if knows := caller == "olga" || caller == "ann"; strings.Contains(answer, hidden.ID) != knows {
				t.Errorf("%s as %q: %v, that the answer has the id of the anonymous team's registration:\n%s", list, caller, !knows, answer)
			}
		}
	}
	for _, todo := range servertest.List[record.Todo](s, "olga", "/v1/organizers/"+task.OrganizerID+"/todos") {
		if todo.Kind == record.TodoRegistrationPending && todo.Alias != pending.Alias {
			t.Errorf("%v, want the alias %s", todo, pending.Alias)
		}
	}
}
