package functions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// Teams accept the terms of a task when they register. Any member accepts changed terms. Until then the team cannot submit.
func TestTerms_AreAcceptedBeforeSubmitting(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	b := s.Records()
	task := b.Task()
	dataset := task.Dataset(recordtest.Labels("Accuracy"), b.Truths("truth.csv", labTruth))
	early := task.Register("early", recordtest.With("friend"))
	patch := func(status int, user, path string, body any) string {
		t.Helper()
		return string(s.Want(status, nil, user, http.MethodPatch, path, body).Body)
	}
	terms := func(text string) {
		patch(http.StatusOK, "olga", task.Path(), map[string]any{"terms": map[string]any{"text": text}})
	}
	submit := func(status int, user string) string {
		t.Helper()
		body := servertest.Upload(dataset.ID, servertest.Inline("run.csv", labTruth))
		return string(s.Want(status, nil, user, http.MethodPost, task.Path()+"/submissions", body).Body)
	}
	submit(http.StatusCreated, "early")
	terms("Be *fair*.")
	shown := servertest.Get[record.Task](s, "", task.Path()).Terms
	if shown == nil || *shown != (record.Terms{Text: "Be *fair*.", Version: 1}) {
		t.Fatalf("%+v", shown)
	}
	if page := s.Want(http.StatusOK, nil, "", http.MethodGet, task.Path(), nil, "Accept", "text/html"); !strings.Contains(string(page.Body),
		"<em>fair</em>") {
		t.Error("the page of the task does not show its terms as Markdown")
	}

	register := func(status int, accepted any) servertest.Answer {
		t.Helper()
		body := map[string]any{"team": "Late"}
		if accepted != nil {
			body["acceptedTerms"] = accepted
		}
		return s.Want(status, nil, "late", http.MethodPost, task.Path()+"/registrations", body)
	}
	for _, accepted := range []any{nil, 0, 2} {
		if got := string(register(http.StatusUnprocessableEntity, accepted).Body); !strings.Contains(got, `"/acceptedTerms"`) ||
			!strings.Contains(got, "must be 1") || !strings.Contains(got, "GET "+task.Path()) {
			t.Error(got)
		}
	}
	late := register(http.StatusCreated, 1).Header.Get("Location")
	if r := servertest.Get[record.Registration](s, "late", late); r.AcceptedTerms != 1 || r.TermsAcceptedAt == nil {
		t.Errorf("%+v", r)
	}
	submit(http.StatusCreated, "late")

	at := task.Path() + "/registrations/" + early.ID
	for _, user := range []string{"early", "friend"} {
		if got := submit(http.StatusForbidden, user); !strings.Contains(got, "PATCH "+at) || !strings.Contains(got, `{\"acceptedTerms\":1}`) {
			t.Error(got)
		}
	}
	patch(http.StatusUnprocessableEntity, "olga", at, map[string]any{"acceptedTerms": 1})
	patch(http.StatusUnprocessableEntity, "friend", at, map[string]any{"acceptedTerms": 2})
	patch(http.StatusOK, "friend", at, map[string]any{"acceptedTerms": 1})
	submit(http.StatusCreated, "early")
	patch(http.StatusOK, "olga", task.Path(), map[string]any{"name": "Renamed"})
	submit(http.StatusCreated, "friend")

	terms("Be fair, and quick.") // the first text again, which is still another version
	terms("Be *fair*.")
	for _, user := range []string{"late", "early"} {
		if got := submit(http.StatusForbidden, user); !strings.Contains(got, "version 3") {
			t.Error(got)
		}
	}
	csv := s.Want(http.StatusOK, nil, "olga", http.MethodGet, task.Path()+"/registrations", nil, "Accept", "text/csv")
	for _, user := range []string{early.ID, servertest.ID(late)} {
		line := csvLine(string(csv.Body), user)
		if r := servertest.Get[record.Registration](s, "olga", task.Path()+"/registrations/"+user); !strings.Contains(line,
			fmt.Sprintf(",1,%s,", r.TermsAcceptedAt)) {
			t.Error(line)
		}
	}
	patch(http.StatusUnprocessableEntity, "olga", task.Path(), map[string]any{"terms": map[string]any{"version": 7}})
	terms("")
	submit(http.StatusCreated, "late")
	terms("New.")
	if shown := servertest.Get[record.Task](s, "", task.Path()).Terms; shown == nil || shown.Version != 4 {
		t.Errorf("%+v", shown)
	}
}

// csvLine returns the line that begins with the cell.
func csvLine(table, cell string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, cell+",") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
