package acceptancetest

import (
	"net/http"
	"slices"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
)

const jsonPatch = "application/json-patch+json"

// edits is a JSON Patch of one operation.
func edits(op, path string, value any) []map[string]any {
	return []map[string]any{{"op": op, "path": path, "value": value}}
}

func (st *scenario) organizer() {
	draft := map[string]any{"name": "Lake Lab " + st.tail, "website": "https://lake.example"}
	_, header := st.refusal(problem.Unauthorized, st.anyone, http.MethodPost, "/v1/organizers", draft)
	if header.Get("WWW-Authenticate") != "Bearer" {
		st.t.Errorf("WWW-Authenticate is %q", header.Get("WWW-Authenticate"))
	}
	forged := user{name: "somebody with a forged token", token: tampered(st.olivia.token)}
	st.refused(problem.InvalidToken, forged, http.MethodGet, "/v1/organizers", nil)

	var made struct{ URL string }
	a := st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/organizers", draft)
	st.organizerPath = made.URL
	if made.URL == "" || made.URL != a.header.Get("Location") {
		st.t.Fatalf("the answer has the URL %q, Location %q", made.URL, a.header.Get("Location"))
	}
	var lab record.Organizer
	st.get(st.anyone, st.organizerPath, &lab)
	if !slices.Equal(lab.Members, []string{st.olivia.id}) || lab.Website != "https://lake.example" || lab.Version != 1 {
		st.t.Errorf("%+v, want olivia as the one member", lab)
	}

	p := st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/organizers", map[string]any{"name": "Lake", "website": "lake"})
	st.names(p, "/website", "https")
	st.refused(problem.BadRequest, st.olivia, http.MethodPost, "/v1/organizers", `{"name": "Half`)
}

func (st *scenario) tasks() {
	organizer := id(st.organizerPath)
	draft := func(name string, more ...any) map[string]any {
		d := map[string]any{"organizerId": organizer, "name": name + " " + st.tail, "description": "Rank *documents*."}
		for i := 0; i+1 < len(more); i += 2 {
			d[more[i].(string)] = more[i+1]
		}
		return d
	}
	hour := time.Hour
	soon, past := record.At(time.Now().Add(hour)), record.At(time.Now().Add(-hour))

	var made struct{ URL string }
	st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/tasks",
		draft("Ranking", "submissions", map[string]any{"opensAt": past, "closesAt": soon}, "registration", map[string]any{
			"opensAt": past, "closesAt": soon}))
	st.public = made.URL
	st.private = st.post(st.olivia, "/v1/tasks", draft("Secret", "visibility", "private"))
	st.limited = st.post(st.olivia, "/v1/tasks", draft("Limited", "submissions", map[string]any{"perDay": 3, "total": 4}))
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.private), id(st.public))
	for _, caller := range []user{st.anyone, st.sam} {
		st.listed(caller, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.public))
	}
	var task record.Task
	st.get(st.anyone, st.public, &task)
	if task.Submissions.ClosesAt == nil || *task.Submissions.ClosesAt != soon || task.Registration.Mode != record.Open ||
		task.Visibility != record.Public {
		st.t.Errorf("%+v, want the windows as given and the defaults", task)
	}
}

// missing is an id that nothing has.
func (st *scenario) missing() string { return record.NewID(time.Now()) }
