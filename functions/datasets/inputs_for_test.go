package datasets_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestShow_HasTheInputsForRegistrantsAlone(t *testing.T) {
	f := serve(t)
	f.task.Register("waits", func(r *record.RegistrationItem) { r.State = record.Pending })
	draft := f.draft(servertest.Inline("truth.csv", goodTruth))
	draft["split"], draft["truthsPublic"], draft["inputsFor"] = "training", true, "registrants"
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
	f.patch(http.StatusOK, path, map[string]any{"inputsFor": "anyone"})
	if d := f.get("", path); len(d.Inputs) != 1 || d.Inputs[0].URL == "" {
		t.Errorf("%+v", d.Inputs)
	}
	if e := f.entries()[0]; e.Action != record.DatasetChanged || !strings.Contains(string(e.Before), `"inputsFor":"registrants"`) ||
		!strings.Contains(string(e.After), `"inputsFor":"anyone"`) {
		t.Errorf("%+v", e)
	}
}
