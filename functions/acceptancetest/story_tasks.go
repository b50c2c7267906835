package acceptancetest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
)

const jsonPatch = "application/json-patch+json"

// edits is a JSON Patch of one operation.
func edits(op, path string, value any) []map[string]any {
	return []map[string]any{{"op": op, "path": path, "value": value}}
}

func (st *story) organizer() {
	draft := map[string]any{"name": "Lake Lab " + st.tail, "website": "https://lake.example"}
	_, header := st.refusal(problem.Unauthorized, st.nobody, http.MethodPost, "/v1/organizers", draft)
	if header.Get("WWW-Authenticate") != "Bearer" {
		st.t.Errorf("WWW-Authenticate is %q", header.Get("WWW-Authenticate"))
	}
	forged := person{name: "somebody with a forged token", token: tampered(st.olivia.token)}
	st.refused(problem.InvalidToken, forged, http.MethodGet, "/v1/organizers", nil)

	var made struct{ URL string }
	a := st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/organizers", draft)
	st.organizerPath = made.URL
	if made.URL == "" || made.URL != a.header.Get("Location") {
		st.t.Fatalf("the answer has the URL %q, Location %q", made.URL, a.header.Get("Location"))
	}
	var lab record.Organizer
	st.get(st.nobody, st.organizerPath, &lab)
	if !slices.Equal(lab.Members, []string{st.olivia.id}) || lab.Website != "https://lake.example" || lab.Version != 1 {
		st.t.Errorf("%+v, want olivia as the one member", lab)
	}

	st.refused(problem.Unauthorized, st.nobody, http.MethodPatch, st.organizerPath, map[string]any{"name": "Taken"})
	st.refused(problem.Forbidden, st.sam, http.MethodPatch, st.organizerPath, map[string]any{"name": "Taken"})
	p := st.refused(problem.Invalid, st.olivia, http.MethodPatch, st.organizerPath, edits("remove", "/members/0", nil), "Content-Type", jsonPatch)
	st.names(p, "/members", "last")
	p = st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/organizers", map[string]any{"name": " ", "website": "lake", "colour": "blue"})
	st.names(p, "/colour", "")
	p = st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/organizers", map[string]any{"name": " "})
	st.names(p, "/name", "empty")
	p = st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/organizers", map[string]any{"name": "Lake", "website": "lake"})
	st.names(p, "/website", "https")
	st.refused(problem.BadRequest, st.olivia, http.MethodPost, "/v1/organizers", `{"name": "Half`)
}

func (st *story) tasks() {
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
	st.refused(problem.Unauthorized, st.nobody, http.MethodPost, "/v1/tasks", draft("Ranking"))
	st.refused(problem.Forbidden, st.sam, http.MethodPost, "/v1/tasks", draft("Ranking"))
	p := st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/tasks", draft("Ranking", "organizerId", st.missing()))
	st.names(p, "/organizerId", "")
	p = st.refused(problem.Invalid, st.olivia, http.MethodPost, "/v1/tasks", draft("Ranking", "submissions", map[string]any{"opensAt": soon, "closesAt": past}))
	st.names(p, "/submissions/closesAt", "later")

	var made struct{ URL string }
	st.want(http.StatusCreated, &made, st.olivia, http.MethodPost, "/v1/tasks",
		draft("Ranking", "submissions", map[string]any{"opensAt": past, "closesAt": soon}, "registration", map[string]any{"opensAt": past, "closesAt": soon}))
	st.public = made.URL
	st.private = st.post(st.olivia, "/v1/tasks", draft("Secret", "visibility", "private"))
	st.limited = st.post(st.olivia, "/v1/tasks", draft("Limited", "submissions", map[string]any{"perDay": 3, "total": 4}))
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.private), id(st.public))
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+organizer+"&filter[visibility]=private", id(st.private))
	st.listed(st.admin, "/v1/tasks?filter[name]=SECRET%20"+st.tail, id(st.private))
	for _, who := range []person{st.nobody, st.sam} {
		st.listed(who, "/v1/tasks?filter[organizerId]="+organizer, id(st.limited), id(st.public))
		st.listed(who, "/v1/tasks?filter[organizerId]="+organizer+"&filter[visibility]=private")
		st.hides(who, http.MethodGet, st.private, nil)
		st.hides(who, http.MethodPatch, st.private, map[string]any{})
		st.hides(who, http.MethodDelete, st.private, nil)
		st.hides(who, http.MethodGet, st.private+"/submissions", nil)
		st.hides(who, http.MethodPost, st.private+"/registrations", map[string]any{"team": "Guess"})
	}
	var task record.Task
	st.get(st.nobody, st.public, &task)
	if task.Submissions.ClosesAt == nil || *task.Submissions.ClosesAt != soon || task.Registration.Mode != record.Open || task.Visibility != record.Public {
		st.t.Errorf("%+v, want the windows as given and the defaults", task)
	}
}

// missing is an id that nothing has.
func (st *story) missing() string { return record.NewID(time.Now()) }

// hides requires that the answer is the one to the same request about what does not exist.
func (st *story) hides(who person, method, path string, body any) {
	st.t.Helper()
	task := id(st.private)
	other := st.missing()
	hidden := st.want(http.StatusNotFound, nil, who, method, path, body, "X-Request-Id", "same")
	absent := st.want(http.StatusNotFound, nil, who, method, strings.Replace(path, task, other, 1), body, "X-Request-Id", "same")
	if !bytes.Equal(bytes.ReplaceAll(hidden.body, []byte(task), []byte(other)), absent.body) {
		st.t.Errorf("%s %s as %s tells what is hidden from what is missing:\n%s%s", method, path, who.name, hidden.body, absent.body)
	}
}
