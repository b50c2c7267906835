package registrations_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/record"
)

func TestList_HasThoseThatTheCallerMaySee(t *testing.T) {
	f := serve(t)
	tom, uma := f.register("tom", "=T"), f.register("uma", "U")
	for user, want := range map[string]int{"tom": 1, "uma": 1, "olga": 2, "root": 2, "vic": 0} {
		if got := f.IDs(user, f.path); len(got) != want {
			t.Errorf("%s sees %d registrations, want %d", user, len(got), want)
		}
	}
	for _, path := range []string{tom, uma} {
		f.Want(http.StatusOK, nil, "root", http.MethodGet, path, nil)
	}
	table := string(f.Want(http.StatusOK, nil, "olga", http.MethodGet, f.path, nil, "Accept", "text/csv").Body)
	if !strings.HasPrefix(table, "id,team,") || strings.Count(table, "\n") != 3 || !strings.Contains(table, ",'=T,") {
		t.Errorf("%s", table)
	}
}

func TestList_SelectsMembersAndPages(t *testing.T) {
	f := serve(t)
	f.Create("tom", f.path, map[string]any{"team": "T", "contact": "tom@example.org"})
	f.register("uma", "U")
	a := f.Want(http.StatusOK, nil, "olga", http.MethodGet, f.path+"?fields=team,contact&limit=1", nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"U"}]`) {
		t.Errorf("%s", a.Body)
	}
	next := strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), `>; rel="next"`)
	a = f.Want(http.StatusOK, nil, "olga", http.MethodGet, next, nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"T","contact":"tom@example.org"}]`) || a.Header.Get("Link") != "" {
		t.Errorf("%s", a.Body)
	}
	f.Want(http.StatusOK, nil, "tom", http.MethodGet, next, nil)
	f.Want(http.StatusBadRequest, nil, "uma", http.MethodGet, next, nil) // the cursor is tom's registration, which uma does not see
	f.Want(http.StatusBadRequest, nil, "olga", http.MethodGet, f.path+"?fields=secret", nil)
}

func TestShow_OfAnotherTaskIsMissing(t *testing.T) {
	f := serve(t)
	made := f.register("tom", "T")
	other := strings.Replace(made, f.task.ID, f.Records().Task().ID, 1)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, other, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, strings.Replace(made, f.task.ID, record.NewID(time.Now()), 1), nil)
}
