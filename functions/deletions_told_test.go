package functions_test

import (
	"net/http"
	"slices"
	"testing"

	"assay/shared/edge/api/servertest"
)

// TestDelete_TellsTheTeamThatOrganizersDeletedItsRun deletes runs and submissions as their team and as organizers. A baseline has no team.
func TestDelete_TellsTheTeamThatOrganizersDeletedItsRun(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	body := servertest.Image(servertest.ID(p.newDataset(nil)))
	body["again"] = true
	run := "/v1/runs/" + p.submit("tom", body).RunIDs[0]
	own := "/v1/runs/" + p.submit("tom", body).RunIDs[0]
	submission := p.task + "/submissions/" + p.submit("tom", body).ID
	body["baseline"] = true
	baseline := "/v1/runs/" + p.submit("olga", body).RunIDs[0]
	for path, users := range map[string][]string{run: {"olga", "tom"}, submission: {"olga", "tom"}, own: {"tom"}, baseline: {"root"}} {
		takeEvents(t, p.Server)
		p.Want(http.StatusNoContent, nil, users[0], http.MethodDelete, path, nil)
		var want []string
		if len(users) > 1 {
			want = []string{"deletion.created /v1/deletions/" + deletionOf(p, users[1], path).ID}
		}
		if got := takeEvents(t, p.Server); !slices.Equal(got, want) {
			t.Errorf("%s deletes %s: the events are %q, want %q", users[0], path, got, want)
		}
	}
}
