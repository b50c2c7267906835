package functions_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/auth"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

// sent is a request: to read an organizer, to change it if it still has the tag, to create another one under a key, or to revoke
// the token.
type sent struct{ kind, given string }

// received is the answer: its status, and the tag of the organizer or the id of the created one.
type received struct {
	status int
	text   string
}

// platformState is the state on which these requests depend: the tag of the organizer, the ids created under each key, and
// whether the token works.
type platformState struct {
	tag     string
	made    [2]string
	revoked bool
}

func requestsModel(tag string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return platformState{tag: tag} },
		Step: func(state, input, output any) (bool, any) {
			s := state.(platformState)
			r := input.(sent)
			got := output.(received)
			if r.kind == "revoke" {
				was := s.revoked
				s.revoked = true
				return got.status == map[bool]int{false: http.StatusNoContent, true: http.StatusNotFound}[was], s
			}
			if s.revoked || got.status == http.StatusUnauthorized {
				return s.revoked && got.status == http.StatusUnauthorized, s
			}
			switch r.kind {
			case "see":
				return got == received{http.StatusOK, s.tag}, s
			case "change":
				if r.given != s.tag {
					return got.status == http.StatusPreconditionFailed, s
				}
				changed := got.text != s.tag
				s.tag = got.text
				return got.status == http.StatusOK && changed, s
			default:
				made := &s.made[r.given[0]-'0']
				if *made == "" {
					*made = got.text
				}
				return got == received{http.StatusCreated, *made}, s
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}

// TestRequests_AreLinearizable lets many callers send requests with If-Match, with idempotency keys, and with a token that is
// revoked at the same time. The answers must equal those to the same requests in some sequence.
func TestRequests_AreLinearizable(t *testing.T) {
	eachSlowStore(t, func(t *testing.T, slow store.Store) {
		s := newServer(t)
		s.Use(slow)
		var asked atomic.Int64 // the clock of the authenticator: it advances so much for each request that no token stays cached
		now := func() time.Time { return time.Now().Add(time.Duration(asked.Add(1)) * time.Minute) }
		s.Verify = auth.NewAuthenticator(func(_ context.Context, user string) (access.Caller, error) {
			return access.Caller{ID: recordtest.UserID(user), Name: user}, nil
		}, s.Store, now, nil).Caller
		statuses := map[string]int{}
		for round := range raceRounds {
			raceRequests(t, s, fmt.Sprint("ada", round), statuses)
		}
		for _, must := range []string{"see 200", "change 200", "change 412", "make 201", "make 401", "revoke 204"} {
			if statuses[must] == 0 {
				t.Errorf("no %s among %v", must, statuses)
			}
		}
		t.Log(statuses)
	})
}

func raceRequests(t *testing.T, s *servertest.Server, user string, statuses map[string]int) {
	t.Helper()
	var token struct{ ID, Secret string }
	s.Want(http.StatusOK, nil, user, http.MethodPatch, "/v1/user", map[string]any{})
	s.Want(http.StatusCreated, &token, user, http.MethodPost, "/v1/user/tokens", map[string]any{"name": "t", "scopes": []string{"organize"}})
	var made record.Organizer
	s.Want(http.StatusCreated, &made, user, http.MethodPost, "/v1/organizers", map[string]any{"name": "First"})
	path := "/v1/organizers/" + made.ID
	first := s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Header.Get("ETag")
	history := storetest.NewHistory()
	var mu sync.Mutex
	var all sync.WaitGroup
	ask := func(r sent) (any, bool) {
		var a servertest.Answer
		switch r.kind {
		case "see":
			a = s.Do(token.Secret, http.MethodGet, path, nil)
		case "change":
			a = s.Do(token.Secret, http.MethodPatch, path, map[string]any{"name": record.NewID(s.Now())}, "If-Match", r.given)
		case "make":
			a = s.Do(token.Secret, http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}, "Idempotency-Key", r.given)
		case "revoke":
			a = s.Do(user, http.MethodDelete, "/v1/user/tokens/"+token.ID, nil)
		}
		got := received{status: a.Status}
		switch {
		case a.Status == http.StatusCreated:
			got.text = a.Header.Get("Location")
		case a.Status == http.StatusOK:
			got.text = a.Header.Get("ETag")
		}
		mu.Lock()
		defer mu.Unlock()
		statuses[fmt.Sprint(r.kind, " ", a.Status)]++
		// A request that got 503 changed nothing, and neither did the repetition of a request in progress.
		return got, a.Status != http.StatusServiceUnavailable && (r.kind != "make" || a.Status != http.StatusConflict)
	}
	send := func(client int, r sent) received {
		return history.Call(client, r, func() (any, bool) { return ask(r) }).(received)
	}
	random := storetest.Random(t)
	for client := range racers {
		all.Go(func() {
			tag := first
			for n := range raceCalls {
				r := sent{kind: []string{"see", "change", "change", "make"}[random.IntN(4)]}
				switch {
				case client == 0 && n == raceCalls-2:
					r.kind = "revoke"
				case r.kind == "change":
					r.given = tag
				case r.kind == "make":
					r.given = fmt.Sprint(random.IntN(2))
				}
				if got := send(client, r); got.status == http.StatusOK {
					tag = got.text
				}
			}
			send(client, sent{"make", "0"})
		})
	}
	all.Wait()
	history.CheckLinearizable(t, requestsModel(first))
}
