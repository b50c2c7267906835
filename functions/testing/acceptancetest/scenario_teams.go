package acceptancetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// team lets three users join one anonymous team by invitations. The task has terms and normally requires approval of
// registrations.
func (st *scenario) team() {
	st.phased = st.post(st.olivia, "/v1/tasks", map[string]any{
		"organizerId": id(st.organizerPath), "name": st.phasedName(), "terms": map[string]any{"text": "Be *fair*."},
		"registration": map[string]any{"mode": "approval"}})
	st.refused(problem.Invalid, st.gil, http.MethodPost, st.phased+"/registrations", map[string]any{"team": st.gilTeam()})
	invitation, secret := st.api.invite(st.t, st.olivia.token, st.phased, map[string]any{"uses": 2})
	st.grebes = st.post(st.gil, "/v1/user/memberships", map[string]any{"secret": secret, "registration": map[string]any{
		"team": st.gilTeam(), "anonymous": true, "acceptedTerms": 1}})
	st.remove(st.olivia, invitation)
	_, secret = st.api.invite(st.t, st.gil.token, st.grebes, map[string]any{"uses": 2})
	for _, u := range []user{st.hal, st.ida} {
		st.post(u, "/v1/user/memberships", map[string]any{"secret": secret})
	}
	st.refused(problem.Invalid, st.sam, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret})
	var r record.Registration
	st.get(st.ida, st.grebes, &r)
	if r.State != record.Accepted || r.AcceptedTerms != 1 || r.UserID != st.gil.id ||
		!slices.Equal(r.Members, []string{st.gil.id, st.hal.id, st.ida.id}) {
		st.t.Errorf("%+v, want the accepted team of gil with hal and ida", r)
	}
}

// gilTeam returns the name of the anonymous team of three.
func (st *scenario) gilTeam() string { return "Grebe " + st.tail }

func (st *scenario) phasedName() string { return "Phases " + st.tail }

// phases submits to a dataset with its own window and quota, uses an exception from the quota, and marks a final run.
func (st *scenario) phases() {
	draft := newDataset(id(st.phased), "test")
	draft["submissions"] = map[string]any{"closesAt": record.At(time.Now().Add(time.Hour)), "total": 2}
	draft["columns"] = []any{map[string]any{"key": "Accuracy", "from": "close"}}
	draft["finalRuns"] = 1
	st.previewed(st.olivia, http.MethodPost, "/v1/datasets", draft, http.StatusCreated, "audience")
	st.listed(st.olivia, "/v1/datasets?filter[taskId]="+id(st.phased))
	st.phase = st.post(st.olivia, "/v1/datasets", draft)

	right := csvFile("run.csv", "id,label\n1,a\n2,a\n", id(st.phase))
	half := csvFile("run.csv", "id,label\n1,a\n2,b\n", id(st.phase))
	st.halfRight, _ = st.submit(st.hal, st.phased, upload("public", half))
	st.allRight, _ = st.submit(st.ida, st.phased, upload("public", right))
	st.refused(problem.QuotaExhausted, st.gil, http.MethodPost, st.phased+"/submissions", upload("public", right))
	grant := map[string]any{"datasetId": id(st.phase), "total": 1, "reason": "The store was down."}
	st.refused(problem.Forbidden, st.gil, http.MethodPost, st.grebes+"/exceptions", grant)
	st.post(st.olivia, st.grebes+"/exceptions", grant)
	st.patch(st.olivia, st.phased, nil, map[string]any{"terms": map[string]any{"text": "Be *very* fair."}})
	st.refused(problem.Forbidden, st.gil, http.MethodPost, st.phased+"/submissions", upload("public", right))
	st.patch(st.ida, st.grebes, nil, map[string]any{"acceptedTerms": 2})
	excepted, _ := st.submit(st.gil, st.phased, upload("public", right))
	var r record.Registration
	st.get(st.hal, st.grebes, &r)
	if len(r.Exceptions) != 1 || r.Exceptions[0].Reason != "The store was down." || r.AcceptedTerms != 2 {
		st.t.Errorf("%+v, want the exception and the new terms", r)
	}
	st.run(st.halfRight.runs[0], record.Completed)
	st.run(st.allRight.runs[0], record.Completed)
	st.run(excepted.runs[0], record.Completed)
	st.patch(st.gil, st.halfRight.runs[0], nil, map[string]any{"final": true})

	st.patch(st.gil, st.grebes, nil, map[string]any{"userId": st.hal.id})
	st.refused(problem.Conflict, st.hal, http.MethodDelete, st.grebes+"/members/"+st.hal.id, nil)
	st.remove(st.gil, st.grebes+"/members/"+st.gil.id)
	st.want(http.StatusNotFound, nil, st.gil, http.MethodGet, st.grebes, nil)
	st.refused(problem.Forbidden, st.gil, http.MethodPost, st.phased+"/submissions", upload("public", right))
}

// previewed requests a preview and checks its status and that it has an effect of the kind.
func (st *scenario) previewed(caller user, method, path string, body any, status int, effect string) {
	st.t.Helper()
	var p struct {
		Status  int
		Effects []struct{ Kind string }
	}
	st.want(http.StatusOK, &p, caller, method, path+"?preview=true", body)
	if p.Status != status || !slices.Contains(p.Effects, struct{ Kind string }{effect}) {
		st.t.Errorf("the preview of %s %s is %+v, want the status %d and an effect on %s", method, path, p, status, effect)
	}
}

// announced sends an event by a webhook and publishes the runs in one request. Scores are visible once the window has closed.
func (st *scenario) announced() {
	hook := st.post(st.olivia, st.phased+"/webhooks", map[string]any{"url": unreachable, "kinds": []string{"announcement.published"}})
	announcement := st.post(st.olivia, st.phased+"/announcements", map[string]any{"title": "The results are near"})
	st.listed(st.sam, st.phased+"/announcements", id(announcement))
	st.await("the delivery of the announcement", func() error {
		var sent struct{ Data []struct{ Type, Path string } }
		st.get(st.olivia, hook+"/deliveries", &sent)
		if d := sent.Data[0]; d.Type != "announcement.published" || d.Path != announcement {
			return fmt.Errorf("the newest is %+v", d)
		}
		return nil
	})

	reviews := st.phase + "/reviews"
	batch := map[string]any{"filter": map[string]any{"states": []string{"completed"}}, "review": map[string]any{
		"published": true, "blinded": false}}
	st.previewed(st.olivia, http.MethodPatch, reviews, batch, http.StatusOK, "audit")
	st.run(st.allRight.runs[0], record.Completed)
	var review record.Review
	st.get(st.olivia, st.allRight.runs[0]+"/review", &review)
	if review.Published {
		st.t.Errorf("the preview has published %+v", review)
	}
	var answered struct{ Data []struct{ Status int } }
	st.patch(st.olivia, reviews, &answered, batch)
	if len(answered.Data) != 3 || answered.Data[0].Status != http.StatusOK {
		st.t.Errorf("%+v, want three reviews", answered)
	}
	board := st.phased + "/evaluations?sort=rank&final=true&filter[datasetId]=" + id(st.phase)
	for _, u := range []user{st.anyone, st.ida} {
		st.listed(u, board)
		st.want(http.StatusNotFound, nil, u, http.MethodGet, "/v1/evaluations/"+st.evaluationOf(st.halfRight.runs[0]), nil)
	}
	st.patch(st.olivia, st.phase, nil, map[string]any{"submissions": map[string]any{"closesAt": record.At(time.Now())}})
	st.refused(problem.OutsideWindow, st.ida, http.MethodPatch, st.allRight.runs[0], map[string]any{"final": true})
	var team record.Registration
	st.get(st.hal, st.grebes, &team)
	st.ranked(st.anyone, board, rankedRun{1, team.Alias, st.halfRight.runs[0]})

	st.refused(problem.Conflict, st.olivia, http.MethodDelete, st.phased, nil)
	st.remove(st.olivia, st.deletePhased())
	st.want(http.StatusNotFound, nil, st.olivia, http.MethodGet, st.phased, nil)
	st.remove(st.olivia, "/v1/deletions/"+st.list(st.olivia, "/v1/deletions?filter[kind]=task")[0])
	st.ranked(st.anyone, board, rankedRun{1, team.Alias, st.halfRight.runs[0]})
}

// deletePhased returns the address that deletes the task with phases and its submissions.
func (st *scenario) deletePhased() string {
	return st.phased + "?with=submissions&name=" + url.QueryEscape(st.phasedName())
}
