package acceptancetest

import (
	"net/http"

	"assay/shared/problem"
	"assay/shared/record"
)

func (st *scenario) registrations() {
	all := st.public + "/registrations"
	ann := map[string]any{"team": st.annTeam(), "anonymous": true, "affiliation": "Shore University", "contact": st.annContact()}
	var made record.Registration
	a := st.want(http.StatusCreated, &made, st.ann, http.MethodPost, all, ann)
	st.annRegistration = a.header.Get("Location")
	if made.State != record.Accepted || made.UserID != st.ann.id || made.Alias == "" || made.Alias == made.Team {
		st.t.Errorf("%+v, want an accepted registration with an alias", made)
	}

	st.patch(st.olivia, st.public, nil, map[string]any{"registration": map[string]any{"mode": "approval"}})
	st.benRegistration = st.want(http.StatusCreated, &made, st.ben, http.MethodPost, all, map[string]any{
		"team": "Otter " + st.tail}).header.Get("Location")
	if made.State != record.Pending {
		st.t.Errorf("%+v, want a registration that waits", made)
	}
	st.carlRegistration = st.post(st.carl, all, map[string]any{"team": "Coot " + st.tail})
	st.patch(st.olivia, st.benRegistration, &made, map[string]any{"state": "accepted"})
	if made.State != record.Accepted || made.Version != 2 {
		st.t.Errorf("%+v, want it accepted", made)
	}
	st.patch(st.olivia, st.carlRegistration, nil, map[string]any{"state": "rejected"})

	st.patch(st.olivia, st.public, nil, map[string]any{
		"registration": map[string]any{"mode": "open", "closesAt": "2020-01-01T00:00:00.000Z", "opensAt": nil}})
	st.says(st.refused(problem.OutsideWindow, st.sam, http.MethodPost, all, map[string]any{"team": "Late"}), "2020-01-01T00:00:00.000Z")
	st.patch(st.olivia, st.public, nil, map[string]any{"registration": map[string]any{"mode": "closed", "closesAt": nil}})

	st.listed(st.olivia, all, id(st.carlRegistration), id(st.benRegistration), id(st.annRegistration))
	st.listed(st.ben, all, id(st.benRegistration))
	st.listed(st.sam, all)
	st.refused(problem.NotFound, st.ben, http.MethodGet, st.annRegistration, nil)
	st.guest()
}

// guest registers somebody else for the private task, which is the way into it.
func (st *scenario) guest() {
	st.t.Helper()
	st.refused(problem.NotFound, st.pia, http.MethodGet, st.private, nil)
	plover := map[string]any{"team": "Plover", "userId": st.pia.id}
	unknown := st.refused(problem.Invalid, st.olivia, http.MethodPost, st.private+"/registrations", plover)
	st.names(unknown, "/userId", st.pia.id)
	st.says(unknown, "PATCH /v1/user")
	st.patch(st.pia, "/v1/user", nil, map[string]any{})
	st.post(st.olivia, st.private+"/registrations", plover)
	st.get(st.pia, st.private, nil)
	st.get(st.pia, "/v1/datasets/"+st.hidden, nil)
	st.listed(st.pia, "/v1/tasks?filter[organizerId]="+id(st.organizerPath), id(st.limited), id(st.private), id(st.public))
	made := st.post(st.pia, st.private+"/submissions", upload("public", csvFile("run.csv", "id,label\n1,a\n2,b\n", st.hidden)))
	var s record.Submission
	st.get(st.pia, made, &s)
	st.run("/v1/runs/"+s.RunIDs[0], record.Completed)
	for _, path := range []string{made, "/v1/runs/" + s.RunIDs[0]} {
		st.refused(problem.NotFound, st.ben, http.MethodGet, path, nil)
	}
}
