package functions_test

import (
	"net/http"
	"testing"

	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// A user who deletes the own account and signs in again has the same usage of the quota as before, and is still rejected if the
// user was.
func TestDeleteUser_GivesNothingBack(t *testing.T) {
	p := newPlatform(t, map[string]any{"submissions": map[string]any{"total": 3}})
	first := servertest.ID(p.newDataset(nil))
	deleteOwnAccount := func(user string) {
		t.Helper()
		p.Want(http.StatusNoContent, nil, user, http.MethodDelete, "/v1/user?id="+recordtest.UserID(user), nil)
		for range 3 {
			p.runDue()
			p.advance(record.RequestTime)
		}
		p.Want(http.StatusNotFound, nil, "root", http.MethodGet, "/v1/users/"+recordtest.UserID(user), nil)
	}
	p.register("tom", nil)
	p.submit("tom", servertest.Image(first))
	p.submit("tom", servertest.Image(first))
	deleteOwnAccount("tom")
	own := p.register("tom", nil)
	if q := servertest.Get[record.Registration](p.Server, "tom", own).Quota; q == nil || *q.Remaining != 1 {
		t.Errorf("%d runs are left, want one", *q.Remaining)
	}
	deleteOwnAccount("tom") // once more, without a submission in between
	p.register("tom", nil)
	p.submit("tom", servertest.Image(first))
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, p.task+"/submissions", servertest.Image(first))

	p.change("olga", p.register("una", nil), map[string]any{"state": "rejected"})
	deleteOwnAccount("una")
	again := map[string]any{"team": "Una again"}
	p.Want(http.StatusForbidden, nil, "una", http.MethodPost, p.task+"/registrations", again)
	ofTom := servertest.Get[record.Registration](p.Server, "olga", p.task+"/registrations/"+p.newest("tom"))
	p.Want(http.StatusForbidden, nil, "una", http.MethodPost, "/v1/user/memberships",
		map[string]any{"secret": p.Invite("tom", p.task+"/registrations/"+ofTom.ID, nil)})
	p.Want(http.StatusCreated, nil, "una", http.MethodPost, "/v1/user/memberships",
		map[string]any{"secret": p.Invite("olga", p.task, nil), "registration": again})
	p.submit("una", servertest.Image(first))
}

// newest returns the id of the user's newest registration.
func (p *platform) newest(user string) string {
	p.t.Helper()
	return servertest.Get[users.Current](p.Server, user, "/v1/user").Registrations[0].RegistrationID
}
