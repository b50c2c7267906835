package api_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
)

func TestAKeyGivesTheFirstAnswerAgain(t *testing.T) {
	sc := serve(t)
	post := func(user, path, key string, body any) servertest.Answer {
		return sc.Do(user, http.MethodPost, path, body, "Idempotency-Key", key)
	}
	first := post("alice", "/v1/notes", "k", `{"name":"one"}`)
	again := post("alice", "/v1/notes", "k", `{"name":"one"}`)
	if first.Status != http.StatusCreated || again.Status != first.Status || !bytes.Equal(first.Body, again.Body) || sc.attempts.Load() != 1 {
		t.Fatalf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	for _, name := range []string{"Location", "ETag", "Content-Type", "Cache-Control"} {
		if first.Header.Get(name) != again.Header.Get(name) || first.Header.Get(name) == "" {
			t.Errorf("%s: %q, then %q", name, first.Header.Get(name), again.Header.Get(name))
		}
	}
	if first.Header.Get("Idempotent-Replay") != "" || again.Header.Get("Idempotent-Replay") != "true" {
		t.Error("an answer does not say whether it was given before")
	}
	refused(t, post("alice", "/v1/notes", "k", `{"name":"two"}`), problem.IdempotencyMismatch)
	refused(t, post("alice", "/v1/notes", "k", `{"name": "one"}`), problem.IdempotencyMismatch)
	refused(t, post("alice", "/v1/copies", "k", map[string]any{"noteId": first.Header.Get("Location")[len("/v1/notes/"):]}), problem.IdempotencyMismatch)
	sc.Want(http.StatusCreated, nil, "bob", http.MethodPost, "/v1/notes", `{"name":"bob's"}`, "Idempotency-Key", "k") // a key is its user's
	for _, key := range []string{strings.Repeat("k", 256), "a b", "ä", "a\tb", "a,b", ""} {
		refused(t, post("alice", "/v1/notes", key, `{"name":"two"}`), problem.BadRequest)
	}
	sc.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", strings.Repeat("k", 255))
}

// Which of two keys is meant cannot be known.
func TestIdempotencyKey_IsOne(t *testing.T) {
	sc := serve(t)
	for _, keys := range [][]string{{"a", "b"}, {"a", "a"}, {"a", ""}} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/notes", strings.NewReader(`{"name":"one"}`))
		r.Header = http.Header{"Authorization": {"Bearer alice"}, "Content-Type": {"application/json"}, "Idempotency-Key": keys}
		api.New(sc.Env, sc.operations).ServeHTTP(w, r)
		refused(t, servertest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}, problem.BadRequest)
	}
}

func TestAKeyIsFreeAgainAfterAFailure(t *testing.T) {
	sc := serve(t)
	sc.note("one")
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.Conflict)
	sc.fails = errors.New("the handler fails")
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k"), problem.Internal)
	sc.fails = nil
	sc.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k")
}

func TestOneOfManyRequestsWithAKeyIsServed(t *testing.T) {
	sc := serve(t)
	var created, replayed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch a := sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"); {
			case a.Status == http.StatusCreated && a.Header.Get("Idempotent-Replay") == "":
				created.Add(1)
			case a.Status == http.StatusCreated:
				replayed.Add(1)
			default:
				refused(t, a, problem.UnderWay)
				if a.Header.Get("Retry-After") == "" {
					t.Error("it does not say when to ask again")
				}
			}
		})
	}
	all.Wait()
	if created.Load() != 1 || sc.attempts.Load() != 1 {
		t.Errorf("%d created, %d replayed, in %d attempts", created.Load(), replayed.Load(), sc.attempts.Load())
	}
}

// A request that died leaves its key held; another takes it over, and should the first one live after all, it makes nothing.
func TestAKeyThatWasTakenOverMakesNothing(t *testing.T) {
	sc := serve(t)
	key := func() *record.Idempotency {
		mine := &record.Idempotency{Name: "k"}
		mine.ID = servertest.UserID("alice")
		k, err := records.Get[record.Idempotency](context.Background(), sc.Store, true, mine.Key())
		if err != nil || k == nil {
			t.Fatal(k, err)
		}
		return k
	}
	sc.meanwhile = func(n int64) {
		if n == 1 {
			refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.UnderWay)
			if err := new(records.Tx).Replace(key()).Commit(context.Background(), sc.Store); err != nil { // another's hold
				t.Error(err)
			}
		}
	}
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.UnderWay)
	if n := sc.attempts.Load(); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
	sc.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/notes", nil)
	if k := key(); k.Done {
		t.Errorf("%+v", k)
	}
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	sc := serve(t)
	sc.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k")
	k, err := records.Get[record.Idempotency](t.Context(), sc.Store, true, record.IdempotencyKey(servertest.UserID("alice"), "k"))
	if err != nil || k == nil {
		t.Fatal(k, err)
	}
	if left := time.Until(k.Until.Time); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the key is kept for %v", left)
	}
	k.Until = record.At(time.Now().Add(-time.Second))
	if err := new(records.Tx).Replace(k).Commit(t.Context(), sc.Store); err != nil {
		t.Fatal(err)
	}
	sc.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k")
	if n := sc.attempts.Load(); n != 2 {
		t.Errorf("%d attempts", n)
	}
}
