package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// endedOf returns the teams of a user that others ended, in the form "<team> <byOrganizers> <removed> <task>".
func (p *platform) endedOf(user string) (all []string) {
	p.t.Helper()
	var me users.Current
	p.Want(http.StatusOK, &me, user, http.MethodGet, "/v1/user", nil)
	for _, e := range me.Ended {
		all = append(all, fmt.Sprint(e.Team, " ", e.ByOrganizers, " ", e.Removed, " ", e.TaskName))
	}
	return all
}

// Users whose part in a team somebody else ended find out, and can take part again. Users who end it themselves are told nothing.
func TestRegistrations_EndedByOthersAreTold(t *testing.T) {
	p := newPlatform(t, nil)
	p.newDataset(twoLabels)
	registration := p.register("ada", map[string]any{"team": "Owls"})
	p.join(registration, "bob", "cyd", "dan")
	remove := func(user, path string) {
		t.Helper()
		p.Want(http.StatusNoContent, nil, user, http.MethodDelete, path, nil)
	}
	remove("dan", registration+"/members/"+recordtest.UserID("dan"))
	remove("ada", registration+"/members/"+recordtest.UserID("bob"))
	takeEvents(t, p.Server)
	remove("olga", registration)
	for user, want := range map[string][]string{
		"ada": {"Owls true false Lakes"}, "cyd": {"Owls true false Lakes"}, "bob": {"Owls false true Lakes"}, "dan": nil,
	} {
		if got := p.endedOf(user); !slices.Equal(got, want) {
			t.Errorf("%s is told %q, want %q", user, got, want)
		}
	}
	want := []string{"registration.ended " + registration}
	if got := takeEvents(t, p.Server); !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	run := servertest.Upload(servertest.ID(p.dataset), servertest.Inline("run.csv", twoRuns[0]))
	refused := p.Want(http.StatusForbidden, nil, "ada", http.MethodPost, p.task+"/submissions", run)
	if !strings.Contains(string(refused.Body), "The organizers deleted the registration of your team Owls.") {
		t.Errorf("%s", refused.Body)
	}
	if table := p.IDs("ada", p.task+"/registrations"); len(table) != 0 {
		t.Errorf("an ended registration is listed: %q", table)
	}
	again := p.register("ada", map[string]any{"team": "Owls"})
	if got := p.endedOf("ada"); got != nil {
		t.Errorf("ada takes part again, and is told %q", got)
	}
	secret := inviteTo(p, again)
	p.Want(http.StatusCreated, nil, "bob", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret})
	if got := p.endedOf("bob"); got != nil {
		t.Errorf("bob takes part again, and is told %q", got)
	}
	p.submit("bob", run)
}

// inviteTo returns the secret of an invitation to the team of ada.
func inviteTo(p *platform, registration string) string {
	p.t.Helper()
	var made struct{ Secret string }
	p.Want(http.StatusCreated, &made, "ada", http.MethodPost, registration+"/invitations", map[string]any{})
	return made.Secret
}

// A team of the greatest size, each of whose members has used the quota, is deleted in one transaction, and all of them are told.
func TestRegistrations_OfTheGreatestSizeAreEnded(t *testing.T) {
	p := newPlatform(t, map[string]any{"submissions": map[string]any{"total": 10}})
	p.newDataset(twoLabels)
	registration := p.register("ada", nil)
	var others []string
	for i := range record.MaxTeam - 1 {
		others = append(others, fmt.Sprintf("member%d", i))
	}
	p.join(registration, others...)
	made := p.submit("ada", servertest.Upload(servertest.ID(p.dataset), servertest.Inline("run.csv", twoRuns[0])))
	p.Want(http.StatusCreated, nil, "olga", http.MethodPost, registration+"/exceptions", map[string]any{"total": 3, "reason": "Illness"})
	p.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, p.task+"/submissions/"+made.ID, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, registration, nil, "Idempotency-Key", "once")
	for _, user := range append(others, "ada") {
		if got := p.endedOf(user); len(got) != 1 {
			t.Errorf("%s is told %q", user, got)
		}
	}
}
