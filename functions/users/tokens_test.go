package users_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

const tokens = "/v1/user/tokens"

func draft(scopes ...string) map[string]any { return map[string]any{"name": "CI", "scopes": scopes} }

func makeToken(s *servertest.Server, user string, body map[string]any) (made users.NewToken) {
	s.Want(http.StatusCreated, &made, user, http.MethodPost, tokens, body)
	return made
}

func TestCreateToken_ShowsTheSecretOnce(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	var made users.NewToken
	first := s.Want(http.StatusCreated, &made, "alice", http.MethodPost, tokens, draft("read"), "Idempotency-Key", "k")
	if !regexp.MustCompile(`^assay_[0-7][0-9A-HJKMNP-TV-Z]{25}[A-Z2-7]{33}$`).MatchString(made.Secret) {
		t.Errorf("the secret has not the form that scanners know: %s", made.Secret)
	}
	if want := record.At(s.Now().Add(record.DefaultTokenLifetime)); made.ExpiresAt.Sub(want.Time).Abs() > time.Minute {
		t.Errorf("expires at %s, want about %s", made.ExpiresAt, want)
	}
	if first.Header.Get("Location") != tokens+"/"+made.ID {
		t.Errorf("Location is %s", first.Header.Get("Location"))
	}
	again := s.Want(http.StatusCreated, nil, "alice", http.MethodPost, tokens, draft("read"), "Idempotency-Key", "k")
	list := s.Want(http.StatusOK, nil, "alice", http.MethodGet, tokens, nil)
	for _, a := range []servertest.Answer{again, list} {
		if body := string(a.Body); !strings.Contains(body, made.ID) || strings.Contains(body, "assay_") || strings.Contains(body, "digest") {
			t.Errorf("the answer lacks the token, or has a secret: %s", body)
		}
	}
	if got := servertest.Get[users.Current](s, made.Secret, "/v1/user"); got.ID != recordtest.UserID("alice") || !got.Known {
		t.Errorf("the bearer of the token is %+v", got)
	}
	s.Want(http.StatusNoContent, nil, "bob", http.MethodGet, tokens, nil)
}

func TestCreateToken_RefusesWhatItsUserMayNot(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	mine, others := s.Records().Organizer("alice"), s.Records().Organizer("bob")
	with := func(member string, value any, scopes ...string) map[string]any {
		d := draft(scopes...)
		d[member] = value
		return d
	}
	for name, tt := range map[string]struct {
		body    map[string]any
		pointer string
	}{
		"no name":                 {with("name", " ", "read"), "/name"},
		"no scope":                {draft(), "/scopes"},
		"a scope twice":           {draft("read", "read"), "/scopes/1"},
		"an unknown scope":        {draft("admin"), "/scopes/0"},
		"an instant that is past": {with("expiresAt", s.Now().Add(-time.Minute), "read"), "/expiresAt"},
		"more than a year":        {with("expiresAt", s.Now().AddDate(1, 0, 1), "read"), "/expiresAt"},
		"all pools":               {draft("work"), "/pools"},
		"another organizer's":     {with("pools", []string{mine.ID + "/gpu", others.ID + "/gpu"}, "work"), "/pools/1"},
		"the platform's pool":     {with("pools", []string{"default"}, "work"), "/pools/0"},
		"pools without work":      {with("pools", []string{mine.ID + "/gpu"}, "read"), "/pools"},
	} {
		var p problem.Document
		s.Want(http.StatusUnprocessableEntity, &p, "alice", http.MethodPost, tokens, tt.body)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != tt.pointer {
			t.Errorf("%s: %+v, want one error at %s", name, p.Errors, tt.pointer)
		}
	}
	makeToken(s, "alice", with("pools", []string{mine.ID + "/gpu"}, "work"))
	makeToken(s, "root", draft("work"))
}

func TestCreateToken_BoundsTheirNumber(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	for range record.MaxAccessTokens {
		makeToken(s, "alice", draft("read"))
	}
	s.Want(http.StatusConflict, nil, "alice", http.MethodPost, tokens, draft("read"))
	all := servertest.List[record.AccessToken](s, "alice", tokens+"?limit=200")
	if len(all) != record.MaxAccessTokens || all[0].ID < all[1].ID {
		t.Errorf("%d tokens, the newest first: %s, %s", len(all), all[0].ID, all[1].ID)
	}
	s.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, tokens+"/"+all[0].ID, nil)
	makeToken(s, "alice", draft("read"))
}

// racingStore blocks requests that list tokens, until racers requests do so.
type racingStore struct {
	store.Store
	racers   int32
	arrived  atomic.Int32
	together chan struct{}
}

func (s *racingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	items, err := s.Store.Query(ctx, q)
	if strings.HasPrefix(q.Partition, "TOKENS#") {
		n := s.arrived.Add(1)
		if n == s.racers {
			close(s.together)
		}
		if n <= s.racers {
			<-s.together
		}
	}
	return items, err
}

func TestCreateToken_RacesDoNotPassTheBound(t *testing.T) {
	const racers = 8
	s := servertest.New(t, users.Operations...)
	for range record.MaxAccessTokens - 1 {
		makeToken(s, "alice", draft("read"))
	}
	s.Store = &racingStore{Store: s.Store, racers: racers, together: make(chan struct{})}
	var created atomic.Int32
	var all sync.WaitGroup
	for range racers {
		all.Go(func() {
			if s.Do("alice", http.MethodPost, tokens, draft("read")).Status == http.StatusCreated {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if created.Load() != 1 {
		t.Errorf("%d of the racing requests made a token, want 1", created.Load())
	}
}

func TestToken_IsRefusedOnceRevokedOrExpired(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	now := time.Now()
	s.Now = func() time.Time { return now }
	revoked := makeToken(s, "alice", draft("read"))
	expired := makeToken(s, "alice", draft("read"))
	for _, made := range []users.NewToken{revoked, expired} {
		s.Want(http.StatusOK, nil, made.Secret, http.MethodGet, "/v1/user", nil)
	}
	s.Want(http.StatusNotFound, nil, "bob", http.MethodDelete, tokens+"/"+revoked.ID, nil)
	s.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, tokens+"/"+revoked.ID, nil)
	now = now.Add(10 * time.Second)
	s.Want(http.StatusUnauthorized, nil, revoked.Secret, http.MethodGet, "/v1/user", nil)
	s.Want(http.StatusOK, nil, expired.Secret, http.MethodGet, "/v1/user", nil)
	now = expired.ExpiresAt.Time
	s.Want(http.StatusUnauthorized, nil, expired.Secret, http.MethodGet, "/v1/user", nil)
	mistyped := "assay_0" + expired.Secret[len("assay_0"):len(expired.Secret)-1] + "A"
	s.Want(http.StatusUnauthorized, nil, mistyped, http.MethodGet, "/v1/user", nil)
}

func TestToken_MakesNoToken(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	made := makeToken(s, "root", draft("read", "submit", "organize", "work"))
	for method, path := range map[string]string{http.MethodGet: tokens, http.MethodPost: tokens, http.MethodDelete: tokens + "/" + made.ID} {
		var p problem.Document
		a := s.Want(http.StatusForbidden, &p, made.Secret, method, path, draft("read"))
		if p.Type != problem.InsufficientScope.Type() || a.Header.Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` {
			t.Errorf("%s %s: %s", method, path, a.Body)
		}
	}
	if got := servertest.Get[users.Current](s, made.Secret, "/v1/user"); slices.Contains(got.Roles, "admin") {
		t.Errorf("an access token has the role admin: %v", got.Roles)
	}
	s.Want(http.StatusForbidden, nil, made.Secret, http.MethodGet, "/v1/users", nil)
}

func TestUserTokens_AdministratorsListAndRevoke(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	now := time.Now()
	s.Now = func() time.Time { return now }
	leaked := makeToken(s, "alice", draft("read"))
	of := "/v1/users/" + recordtest.UserID("alice") + "/tokens"
	byToken := makeToken(s, "root", draft("read", "organize")).Secret
	for caller, want := range map[string]int{"": http.StatusUnauthorized, "bob": http.StatusForbidden, byToken: http.StatusForbidden,
		leaked.Secret: http.StatusForbidden} {
		s.Want(want, nil, caller, http.MethodGet, of, nil)
		s.Want(want, nil, caller, http.MethodDelete, of+"/"+leaked.ID, nil)
		s.Want(want, nil, caller, http.MethodDelete, of+"/"+record.NewID(now), nil)
	}
	for _, caller := range []string{"root", "alice"} {
		a := s.Want(http.StatusOK, nil, caller, http.MethodGet, of, nil)
		if body := string(a.Body); !strings.Contains(body, leaked.ID) || strings.Contains(body, "digest") {
			t.Errorf("%s reads %s", caller, body)
		}
	}
	s.Want(http.StatusNotFound, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("bob")+"/tokens/"+leaked.ID, nil)
	s.Want(http.StatusOK, nil, leaked.Secret, http.MethodGet, "/v1/user", nil)
	s.Want(http.StatusNoContent, nil, "root", http.MethodDelete, of+"/"+leaked.ID, nil)
	now = now.Add(10 * time.Second)
	s.Want(http.StatusUnauthorized, nil, leaked.Secret, http.MethodGet, "/v1/user", nil)
}
