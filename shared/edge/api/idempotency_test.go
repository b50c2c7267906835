package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

func TestIdempotencyKey_ReplaysTheFirstAnswer(t *testing.T) {
	s := serve(t)
	post := func(user, path, key string, body any) servertest.Answer {
		return s.Do(user, http.MethodPost, path, body, "Idempotency-Key", key)
	}
	first := post("alice", "/v1/notes", "k", `{"name":"one"}`)
	again := post("alice", "/v1/notes", "k", `{"name":"one"}`)
	if first.Status != http.StatusCreated || again.Status != first.Status || !bytes.Equal(first.Body, again.Body) || s.attempts.Load() != 1 {
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
	refused(t, post("alice", "/v1/copies", "k", map[string]any{"noteId": first.Header.Get("Location")[len("/v1/notes/"):]}),
		problem.IdempotencyMismatch)
	// Users have separate keys.
	s.Want(http.StatusCreated, nil, "bob", http.MethodPost, "/v1/notes", `{"name":"bob's"}`, "Idempotency-Key", "k")
	for _, key := range []string{strings.Repeat("k", 256), "a b", "ä", "a\tb", "a,b", ""} {
		refused(t, post("alice", "/v1/notes", key, `{"name":"two"}`), problem.BadRequest)
		refused(t, post("alice", "/v1/notes?preview=true", key, `{"name":"two"}`), problem.BadRequest)
	}
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", strings.Repeat("k", 255))
}

// A request with two keys is refused, because the client's intention is unknown.
func TestIdempotencyKey_IsOne(t *testing.T) {
	s := serve(t)
	for _, keys := range [][2]string{{"a", "b"}, {"a", "a"}, {"a", ""}} {
		a := exchange(t, s.handler(), "alice", http.MethodPost, "/v1/notes", strings.NewReader(`{"name":"one"}`), "Idempotency-Key", keys[0],
			"Idempotency-Key", keys[1])
		refused(t, a, problem.BadRequest)
	}
}

func TestIdempotencyKey_IsFreeAfterFailure(t *testing.T) {
	s := serve(t)
	s.note("one")
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.Conflict)
	s.fails = errors.New("the handler fails")
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k"), problem.Internal)
	s.fails = nil
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k")
}

// A killed process leaves its request without an answer. If no other process serves the table, the next request with the same key takes
// the key over at once. Otherwise it must wait until the claim expires.
func TestIdempotencyKey_OfAKilledProcessIsTakenOver(t *testing.T) {
	for _, alone := range []bool{true, false} {
		s := serve(t)
		s.Alone = alone
		key := record.IdempotencyKey(recordtest.UserID("alice"), "k")
		var claimed *record.Idempotency
		s.fails = errors.New("the handler fails")
		s.meanwhile = func(int64) { claimed = recordtest.Get[record.Idempotency](t, s.Store, key) }
		refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.Internal)
		s.fails, s.meanwhile = nil, nil
		killed := *claimed
		killed.Meta = record.MetaOf(claimed.ID, s.Now())
		s.Records().Put(&killed)
		refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k"), problem.IdempotencyMismatch)
		send := func() servertest.Answer {
			return s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k")
		}
		if !alone {
			refused(t, send(), problem.UnderWay)
			continue
		}
		table := s.Store
		s.Store = &storetest.Hooked{Store: table, Before: func(c storetest.Call) error {
			if len(c.Writes) > 0 && c.Writes[0].Op == store.OpReplace {
				return store.ErrUnavailable
			}
			return nil
		}}
		refused(t, send(), problem.Unavailable)
		s.Store = table
		a := send()
		again := send()
		if a.Status != http.StatusCreated || again.Header.Get("Idempotent-Replay") != "true" || !bytes.Equal(a.Body, again.Body) {
			t.Errorf("%d %s, then %s", a.Status, a.Body, again.Body)
		}
	}
}

func TestIdempotencyKey_OneOfManyRequestsIsServed(t *testing.T) {
	s := serve(t)
	var created, replayed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch a := s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"); {
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
	if created.Load() != 1 || s.attempts.Load() != 1 {
		t.Errorf("%d created, %d replayed, in %d attempts", created.Load(), replayed.Load(), s.attempts.Load())
	}
}

// If another request takes a key over while the first request still runs, the first request changes nothing.
func TestIdempotencyKey_TakenOverChangesNothing(t *testing.T) {
	s := serve(t)
	key := func() *record.Idempotency {
		return recordtest.Get[record.Idempotency](t, s.Store, record.IdempotencyKey(recordtest.UserID("alice"), "k"))
	}
	s.meanwhile = func(n int64) {
		if n == 1 {
			refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.UnderWay)
			s.Records().Replace(key()) // like another request that takes the key over
		}
	}
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k"), problem.UnderWay)
	if n := s.attempts.Load(); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/notes", nil)
	if k := key(); k.Done {
		t.Errorf("%+v", k)
	}
}

func TestIdempotencyKey_ExpiresAfterADay(t *testing.T) {
	s := serve(t)
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"one"}`, "Idempotency-Key", "k")
	k := recordtest.Get[record.Idempotency](t, s.Store, record.IdempotencyKey(recordtest.UserID("alice"), "k"))
	if left := time.Until(k.Until.Time); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the key is kept for %v", left)
	}
	k.Until = record.At(time.Now().Add(-time.Second))
	s.Records().Replace(k)
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"two"}`, "Idempotency-Key", "k")
	if n := s.attempts.Load(); n != 2 {
		t.Errorf("%d attempts", n)
	}
}
