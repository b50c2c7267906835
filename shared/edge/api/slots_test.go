package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// Notes with long texts, which are longer in JSON, are listed in pages of about a megabyte. Each way of paging lists every note once.
func TestList_PagesHaveALimitInBytes(t *testing.T) {
	s := serve(t)
	const notes = 30
	text := strings.Repeat(`"`, 60<<10)
	for i := range notes {
		s.Create("alice", "/v1/notes", map[string]any{"name": fmt.Sprint(i), "text": text})
	}
	for _, query := range []string{"limit=200", "filter[name]=1&limit=200", "fields=id,text&limit=200"} {
		seen := map[string]bool{}
		for path := "/v1/notes?" + query; path != ""; {
			a := s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil)
			if most := page.MaxBytes + 200<<10; len(a.Body) > most {
				t.Errorf("%s: a page has %d bytes, want at most %d", query, len(a.Body), most)
			}
			var p struct {
				Data  []struct{ ID string }
				Links page.Links
			}
			if err := json.Unmarshal(a.Body, &p); err != nil {
				t.Fatal(err)
			}
			for _, n := range p.Data {
				if seen[n.ID] {
					t.Errorf("%s: %s is listed twice", query, n.ID)
				}
				seen[n.ID] = true
			}
			path = p.Links.Next
		}
		if want := map[bool]int{true: 12, false: notes}[strings.Contains(query, "name")]; len(seen) != want {
			t.Errorf("%s: %d notes are listed, want %d", query, len(seen), want)
		}
	}
	a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/notes?limit=200", nil, "Accept", "text/csv")
	if most := page.MaxBytes + 200<<10; len(a.Body) > most || a.Header.Get("Link") == "" {
		t.Errorf("as CSV a page has %d bytes, want at most %d; Link %q", len(a.Body), most, a.Header.Get("Link"))
	}
	handler := s.handler()
	n := math.MaxInt
	for range 3 { // The garbage collector empties pools, and under the race detector they drop buffers at random.
		n = min(n, allocated(func() { exchange(t, handler, "alice", http.MethodGet, "/v1/notes?limit=200", nil) }))
	}
	// Reading and rendering all notes takes 28 MiB, and a page 12. The race detector adds half.
	if most := 22 * page.MaxBytes; n > most {
		t.Errorf("a page allocates %d bytes, want at most %d", n, most)
	}
}

// While four lists of a user are being read, a fifth waits. It is refused after a while, and served once a slot is free. Other users'
// lists are read meanwhile, up to eight in total.
func TestList_CallersShareSlots(t *testing.T) {
	s := serve(t)
	var enter chan struct{}
	large := api.Get(api.Spec{ID: "large", Path: "/large", May: access.Anyone}, api.NoTarget,
		func(ctx context.Context, c *api.Call, _ api.PublicTarget) (*Note, error) {
			return &Note{}, errors.Join(c.BeginListing(ctx), c.BeginListing(ctx))
		})
	op := api.List(api.Spec{ID: "slow", Path: "/slow", May: access.Anyone}, api.NoTarget,
		func(context.Context, *api.Call, api.PublicTarget) (p page.Page[*Note], err error) {
			<-enter
			return p, nil
		}, nil)
	synctest.Test(t, func(t *testing.T) {
		enter = make(chan struct{})
		handler := api.New(s.Env, []api.Operation{op, large})
		get := func(user, path string) servertest.Answer {
			return exchange(t, handler, user, http.MethodGet, path, nil)
		}
		var under sync.WaitGroup
		begin := func(user string, lists int) {
			for range lists {
				under.Go(func() {
					if a := get(user, "/slow"); a.Status != http.StatusNoContent {
						t.Errorf("a list of %s: status %d", user, a.Status)
					}
				})
			}
			synctest.Wait()
		}
		tooMany := func(user string) {
			t.Helper()
			if a := get(user, "/slow"); a.Status != problem.Unavailable.Status || a.Header.Get("Retry-After") != "1" {
				t.Errorf("a list too many: status %d, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
			}
		}
		begin("alice", 3)
		if a := get("alice", "/large"); a.Status != http.StatusOK {
			t.Errorf("what is as large as a list: status %d", a.Status)
		}
		begin("alice", 1)
		tooMany("alice")
		if a := get("alice", "/large"); a.Status != problem.Unavailable.Status {
			t.Errorf("what is as large as a list too many: status %d", a.Status)
		}
		begin("bob", 4)
		tooMany("carol")
		begin("carol", 1)
		synctest.Wait()
		close(enter)
		under.Wait()
	})
}

// heldDraft is a body whose check waits until its channel is closed.
type heldDraft struct {
	Text string `json:"text"`
}

var held chan struct{}

func (d *heldDraft) Check() []problem.Field {
	if strings.HasPrefix(d.Text, "wait") {
		<-held
	}
	return []problem.Field{problem.NewField("/text", "was checked")}
}

// TestLargeBodies_AreDecodedInTurn sends large bodies of one user that take long to decode. Only one of them is decoded at a time. Large
// bodies of other users are decoded meanwhile, and small bodies do not wait.
func TestLargeBodies_AreDecodedInTurn(t *testing.T) {
	s := serve(t)
	op := api.Create(api.Spec{ID: "hold", Path: "/held", May: access.User}, api.NoTarget,
		func(context.Context, *api.Call, api.PublicTarget, heldDraft) (string, *Note, error) {
			return "", nil, errors.ErrUnsupported
		})
	synctest.Test(t, func(t *testing.T) {
		held = make(chan struct{})
		handler := api.New(s.Env, []api.Operation{op})
		post := func(user, text string) int {
			return exchange(t, handler, user, http.MethodPost, "/held", strings.NewReader(`{"text":"`+text+`"}`)).Status
		}
		large := strings.Repeat(" ", 100<<10)
		var under sync.WaitGroup
		began := time.Now()
		under.Go(func() {
			if status := post("alice", "wait"+large); status != problem.Invalid.Status {
				t.Errorf("alice's body: status %d", status)
			}
		})
		synctest.Wait()
		for user, text := range map[string]string{"bob": large, "alice": ""} {
			if status := post(user, text); status != problem.Invalid.Status || time.Since(began) > 0 {
				t.Errorf("a body of %d bytes of %s: status %d after %v", len(text), user, status, time.Since(began))
			}
		}
		if status := post("alice", large); status != problem.Unavailable.Status || time.Since(began) < 10*time.Second {
			t.Errorf("alice's next large body: status %d after %v", status, time.Since(began))
		}
		close(held)
		under.Wait()
	})
}

// TestLargeBodies_TakeTheMemoryThatTheyHaveSent sends bodies that do not end. The bytes that have arrived are bounded for each user and in
// total. Bodies that announce much and send little take no room from others. Small bodies are always accepted. The room is free again once
// the bodies end.
func TestLargeBodies_TakeTheMemoryThatTheyHaveSent(t *testing.T) {
	s := serve(t)
	handler := s.handler()
	post := func(user string, body io.Reader) servertest.Answer {
		return exchange(t, handler, user, http.MethodPost, "/v1/notes", body)
	}
	var under sync.WaitGroup
	defer under.Wait()
	var ends []func()
	const chunk, largest = 64 << 10, api.MaxBodyBytes/(64<<10) - 1
	begin := func(user string, chunks int) {
		body, in := io.Pipe()
		under.Go(func() { post(user, body) })
		_, _ = in.Write([]byte(strings.Repeat(" ", chunks*chunk+1))) // returns after the last byte was read, when the chunks are counted
		ends = append(ends, func() { _ = in.Close() })
	}
	large := strings.Repeat(" ", 100<<10)
	refusedTo := func(user string) bool {
		a := post(user, strings.NewReader(large))
		if a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "1" {
			t.Errorf("the refusal says to try again in %q seconds", a.Header.Get("Retry-After"))
		}
		return a.Status == http.StatusServiceUnavailable
	}
	for _, user := range []string{"a", "b", "c", "d"} {
		for range 10 {
			begin(user, 1)
		}
	}
	if refusedTo("e") || refusedTo("a") {
		t.Error("forty bodies of which little has arrived keep others out")
	}
	for _, user := range []string{"f", "g", "h"} {
		for range 4 {
			begin(user, largest)
		}
		begin(user, 4)
		if !refusedTo(user) {
			t.Errorf("%s has sent 20 MiB, and another large body is taken", user)
		}
	}
	for range 3 {
		begin("i", largest)
	}
	begin("i", 80*16-40-3*320-3*largest) // the rest of 80 MiB
	if !refusedTo("e") {
		t.Error("a large body is taken although there is no room for it")
	}
	for _, user := range []string{"e", "f"} {
		if a := post(user, strings.NewReader(`{"name":"`+user+`"}`)); a.Status != http.StatusCreated {
			t.Errorf("a small body of %s: status %d", user, a.Status)
		}
	}
	for _, end := range ends {
		end()
	}
	under.Wait()
	if refusedTo("f") {
		t.Error("a large body is refused although all others are answered")
	}
}

// unreadAnswer is an answer whose receiver reads nothing until goOn is closed.
type unreadAnswer struct {
	*httptest.ResponseRecorder
	goOn chan struct{}
}

func (u unreadAnswer) Write(b []byte) (int, error) {
	<-u.goOn
	return u.ResponseRecorder.Write(b)
}

// TestLargeAnswers_TakeTheMemoryThatIsNotReceived sends large answers to users who read nothing. Their bytes are bounded for each user and
// in total. Small answers, and answers that are cached for everybody, need no room. The room is free again once the answers are received.
func TestLargeAnswers_TakeTheMemoryThatIsNotReceived(t *testing.T) {
	s := serve(t)
	document := func(path string, bytes int) api.Operation {
		return api.Document(api.Spec{ID: path, Path: "/" + path, May: access.Anyone}, []string{"image/png"},
			func(_ context.Context, c *api.Call) error { return c.WriteDocument("image/png", make([]byte, bytes)) })
	}
	kept := api.NewStatic("image/png", func() ([]byte, error) { return make([]byte, 4<<20), nil })
	operations := []api.Operation{document("large", 4<<20), document("huge", 40<<20), document("small", 60<<10),
		api.Document(api.Spec{ID: "kept", Path: "/kept", May: access.Anyone}, []string{"image/png"}, kept.Answer)}
	synctest.Test(t, func(t *testing.T) {
		handler := api.New(s.Env, operations)
		status := func(user, path string) int { return exchange(t, handler, user, http.MethodGet, path, nil).Status }
		goOn := make(chan struct{})
		var under sync.WaitGroup
		receiveNothing := func(user string) {
			for range 8 {
				under.Go(func() {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/large", nil)
					r.Header.Set("Authorization", "Bearer "+user)
					handler.ServeHTTP(unreadAnswer{httptest.NewRecorder(), goOn}, r)
				})
			}
			synctest.Wait()
		}
		receiveNothing("alice")
		for path, want := range map[string]int{"/large": 503, "/huge": 503, "/small": 200, "/kept": 200} {
			if got := status("alice", path); got != want {
				t.Errorf("%s, while alice has not received 32 MiB: status %d, want %d", path, got, want)
			}
		}
		if a := status("bob", "/huge"); a != http.StatusOK {
			t.Errorf("another user: status %d", a)
		}
		for _, user := range []string{"bob", "carol", "dan"} {
			receiveNothing(user)
		}
		if large, small := status("eve", "/large"), status("eve", "/small"); large != 503 || small != 200 {
			t.Errorf("while users have not received 128 MiB: status %d of a large answer, %d of a small one", large, small)
		}
		close(goOn)
		under.Wait()
		if a := status("alice", "/large"); a != http.StatusOK {
			t.Errorf("once all are received: status %d", a)
		}
	})
}
