package functions_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/users"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// TestAccessToken_ActsWithinItsScopes: olga organizes a task, takes part in it, and makes a token for each scope.
func TestAccessToken_ActsWithinItsScopes(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	b := s.Records()
	lab := b.Organizer("olga")
	task := b.Task(recordtest.OwnedBy(lab))
	dataset := task.Dataset()
	task.Register("olga")
	others := task.Register("ada")
	own, others2 := dataset.Run("olga"), dataset.Run("ada")
	secret := func(body map[string]any) string {
		var made users.NewToken
		body["name"] = "a token"
		s.Want(http.StatusCreated, &made, "olga", http.MethodPost, "/v1/user/tokens", body)
		return made.Secret
	}
	callers := map[string]string{"": "olga"}
	for _, scope := range []string{"read", "submit", "organize"} {
		callers[scope] = secret(map[string]any{"scopes": []string{scope}})
	}
	callers["work"] = secret(map[string]any{"scopes": []string{"work"}, "pools": []string{lab.ID + "/gpu"}})
	const stale = http.StatusPreconditionFailed // allowed requests fail on the precondition, so nothing changes
	for _, tt := range []struct {
		method, path string
		status       int
		allowed      []string
	}{
		{http.MethodGet, "/v1/runs/" + others2.ID, http.StatusOK, []string{"", "read", "submit", "organize"}},
		{http.MethodGet, "/v1/runs/" + others2.ID + "/review", http.StatusOK, []string{"", "read", "submit", "organize"}},
		{http.MethodDelete, "/v1/runs/" + own.ID, stale, []string{"", "submit", "organize"}},
		{http.MethodDelete, "/v1/runs/" + others2.ID, stale, []string{"", "organize"}},
		{http.MethodPatch, "/v1/runs/" + others2.ID + "/review", stale, []string{"", "organize"}},
		{http.MethodPatch, task.Path() + "/registrations/" + others.ID, stale, []string{"", "organize"}},
		{http.MethodPatch, "/v1/tasks/" + task.ID, stale, []string{"", "organize"}},
		{http.MethodDelete, "/v1/organizers/" + lab.ID, stale, []string{"", "organize"}},
		{http.MethodPost, "/v1/organizers", http.StatusCreated, []string{"", "organize"}},
		{http.MethodPatch, "/v1/user", stale, []string{"", "submit", "organize"}},
		{http.MethodPost, "/v1/user/tokens", http.StatusCreated, []string{""}},
	} {
		for scope, caller := range callers {
			body := map[string]any{"name": "Lab"}
			var headers []string
			if tt.path == "/v1/user/tokens" {
				body["scopes"] = []string{"read"}
			}
			if tt.method == http.MethodPatch || tt.method == http.MethodDelete {
				body, headers = map[string]any{}, []string{"If-Match", `"0-0"`}
			}
			a := s.Do(caller, tt.method, tt.path, body, headers...)
			if allowed := slices.Contains(tt.allowed, scope); allowed && a.Status != tt.status || !allowed && a.Status != http.StatusForbidden {
				t.Errorf("%s %s with the scope %q: %d\n%s", tt.method, tt.path, scope, a.Status, a.Body)
			}
		}
	}
	s.Want(http.StatusOK, nil, callers["organize"], http.MethodGet, "/v1/runs/"+others2.ID+"?fields=id", nil)
}

// TestAccessToken_ForWorkReadsNoTruths: every user can make such a token for a pool of an own organizer, but the role worker may
// read ground truths.
func TestAccessToken_ForWorkReadsNoTruths(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	b := s.Records()
	dataset := b.Task().Dataset(b.Truths("qrels", "1 0 secret 1\n"))
	own := b.Organizer("mallory")
	var made users.NewToken
	s.Want(http.StatusCreated, &made, "mallory", http.MethodPost, "/v1/user/tokens", map[string]any{"name": "x",
		"scopes": []string{"read", "submit", "organize", "work"}, "pools": []string{own.ID + "/x"}})
	for _, caller := range []string{"mallory", made.Secret} {
		if shown := servertest.Get[record.Dataset](s, caller, dataset.Path()); len(shown.Truths) > 0 {
			t.Errorf("an unrelated user reads the truth: %+v", shown.Truths)
		}
	}
	if me := servertest.Get[users.Current](s, made.Secret, "/v1/user"); len(me.Roles) > 0 {
		t.Errorf("a token has the roles %v", me.Roles)
	}
}

// TestAccessToken_NeverAllowsMoreThanItsUserMay: a token loses each right that its user loses.
func TestAccessToken_NeverAllowsMoreThanItsUserMay(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	b := s.Records()
	lab := b.Organizer("olga", "oskar")
	b.User("oskar")
	task := b.Task(recordtest.OwnedBy(lab), recordtest.Private)
	var made users.NewToken
	s.Want(http.StatusCreated, &made, "oskar", http.MethodPost, "/v1/user/tokens", map[string]any{"name": "x", "scopes": []string{"organize"}})
	s.Want(http.StatusOK, nil, made.Secret, http.MethodGet, task.Path(), nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/organizers/"+lab.ID+"/members/"+recordtest.UserID("oskar"), nil)
	s.Want(http.StatusNotFound, nil, made.Secret, http.MethodGet, task.Path(), nil)
	var p problem.Document
	s.Want(http.StatusForbidden, &p, made.Secret, http.MethodPatch, "/v1/organizers/"+lab.ID, map[string]any{"name": "Mine"})
	if p.Type != problem.Forbidden.Type() {
		t.Errorf("%+v", p)
	}
}

// A GET changes nothing, so only changes are recorded.
func TestAccessToken_NotesTheDayOfTheLastChange(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	now := time.Now()
	s.Now = func() time.Time { return now }
	const tokens = "/v1/user/tokens"
	var made users.NewToken
	s.Want(http.StatusCreated, &made, "alice", http.MethodPost, tokens, map[string]any{"name": "x", "scopes": []string{"organize"}})
	wantUsed := func(day string) {
		t.Helper()
		if got := servertest.List[record.AccessToken](s, "alice", tokens)[0].LastUsedOn; got != day {
			t.Errorf("last used on %q, want %q", got, day)
		}
	}
	s.Want(http.StatusOK, nil, made.Secret, http.MethodGet, "/v1/user", nil)
	s.Want(http.StatusUnprocessableEntity, nil, made.Secret, http.MethodPost, "/v1/organizers", map[string]any{"name": ""})
	wantUsed("")
	for range 2 {
		s.Want(http.StatusCreated, nil, made.Secret, http.MethodPost, "/v1/organizers", map[string]any{"name": "Lab"})
		wantUsed(record.TokenDay(now))
		now = now.Add(record.Day)
	}
}

// TestOperations_SayWhichAccessTokensTheyTake: an operation that changes resources takes no token unless it says so. Other
// operations take all tokens for reading.
func TestOperations_SayWhichAccessTokensTheyTake(t *testing.T) {
	for _, op := range functions.Operations() {
		switch {
		case op.Token == 0 && op.Changes() && !strings.HasSuffix(op.ID, "Token"):
			t.Errorf("%s changes something, and says no scope", op.ID)
		case op.Token != 0 && op.Token != access.SignedIn && op.Token&^(access.ScopeSubmit|access.ScopeOrganize) != 0:
			t.Errorf("%s takes %s", op.ID, op.Token)
		case op.Token&(access.ScopeSubmit|access.SignedIn) == 0 && op.Token != 0 && op.May&access.Owner != 0 && op.ID != "deleteMember":
			t.Errorf("%s is for owners, and takes no token of theirs", op.ID)
		}
	}
}
