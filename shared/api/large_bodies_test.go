package api_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"assay/shared/api"
	"assay/shared/api/servertest"
)

// TestLargeBodies_TakeTheMemoryThatTheyHaveSent has users send bodies that do not end. What has arrived of them is bounded, for
// each user and for all; bodies that announce much and send little keep nobody out; small ones are taken from everybody; and
// there is room again once the bodies have ended.
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
		_, _ = in.Write([]byte(strings.Repeat(" ", chunks*chunk+1))) // returns when the last byte was read, so the chunks count
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
