package datasets_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
)

func TestShow_HasTheInputsForRegistrantsAlone(t *testing.T) {
	f := serve(t)
	f.task.Register("waits", func(r *record.RegistrationItem) { r.State = record.Pending })
	draft := f.draft(servertest.Inline("truth.csv", goodTruth))
	draft["split"] = "training"
	draft["truthsPublic"] = true
	draft["inputsFor"] = "registrants"
	path, _ := f.create(draft)
	for user, sees := range map[string]bool{"": false, "ada": false, "waits": false, "reg": true, "robot": true, "olga": true, "root": true} {
		for _, at := range []string{path, "/v1/datasets", path + "?fields=inputs,truths,name"} {
			a := f.Want(http.StatusOK, nil, user, http.MethodGet, at, nil)
			page := f.Want(http.StatusOK, nil, user, http.MethodGet, at, nil, "Accept", "text/html")
			for _, secret := range []string{"input.txt", servertest.Digest("1\n2\n"), "truth.csv"} {
				if strings.Contains(string(a.Body), secret) != sees || strings.Contains(string(page.Body), secret) && !sees {
					t.Errorf("%q finds %s at %s, want %v", user, secret, at, sees)
				}
			}
		}
	}
	shows := func(user string, want int) (d record.Dataset) {
		t.Helper()
		d = f.get(user, path)
		if len(d.Inputs) != want || len(d.Truths) != want {
			t.Errorf("%s is shown %+v and %+v", user, d.Inputs, d.Truths)
		}
		list := f.Want(http.StatusOK, nil, user, http.MethodGet, "/v1/datasets?filter[taskId]="+f.task.ID, nil)
		if strings.Contains(string(list.Body), "input.txt") != (want > 0) {
			t.Errorf("%s is listed %s", user, list.Body)
		}
		return d
	}
	save := func(r record.Record) {
		t.Helper()
		if err := new(records.Tx).Save(r, f.Now()).Commit(t.Context(), f.Store); err != nil {
			t.Fatal(err)
		}
	}
	terms := func(version int64) {
		task := recordtest.Get[record.TaskItem](t, f.Store, record.TaskKey(f.task.ID))
		task.Terms = &record.Terms{Text: "Delete the files after the task.", Version: version}
		save(task)
	}
	terms(1)
	if d := shows("reg", 0); len(d.Diagnostics) != 1 || !strings.Contains(d.Diagnostics[0].Message, `{"acceptedTerms":1}`) {
		t.Errorf("%+v", d.Diagnostics)
	}
	shows("olga", 1)
	grant := recordtest.Get[record.Registered](t, f.Store, record.RegisteredKey(recordtest.UserID("reg"), f.task.ID))
	r := recordtest.Get[record.RegistrationItem](t, f.Store, record.RegistrationKey(f.task.ID, grant.ID))
	r.AcceptedTerms = 1
	save(r)
	shows("reg", 1)
	terms(2)
	shows("reg", 0)
	f.patch(http.StatusOK, path, map[string]any{"inputsFor": "anyone"})
	if d := f.get("", path); len(d.Inputs) != 1 || d.Inputs[0].URL == "" {
		t.Errorf("%+v", d.Inputs)
	}
	if e := f.entries()[0]; e.Action != record.DatasetChanged || !strings.Contains(string(e.Before), `"inputsFor":"registrants"`) ||
		!strings.Contains(string(e.After), `"inputsFor":"anyone"`) {
		t.Errorf("%+v", e)
	}
}
