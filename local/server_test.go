package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
)

// running is the program, serving on free ports until the test ends.
type running struct {
	url     string
	grpc    string // address of gRPC
	program *program
}

// start serves with the flags over a fresh folder.
func start(t testing.TB, flags ...string) *running {
	t.Helper()
	return startIn(t, t.TempDir(), flags...)
}

func startIn(t testing.TB, data string, flags ...string) *running {
	t.Helper()
	c, err := parse(append([]string{"-addr", "127.0.0.1:0", "-grpc-addr", "127.0.0.1:0", "-data", data}, flags...), noEnv, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	c.url = "http://" + listener.Addr().String()
	p, err := newProgram(t.Context(), c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if p.listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", c.grpc); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- p.serve(ctx, listener, io.Discard, func(string) { close(ready) })
	}()
	<-ready
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.close()
	})
	return &running{url: c.url, grpc: p.listener.Addr().String(), program: p}
}

// token returns a token of the development issuer, as a client gets it.
func (s *running) token(t testing.TB, user string, groups ...string) string {
	t.Helper()
	r := request(t, http.MethodPost, s.url+"/dev/token", map[string]any{"user": user, "groups": groups})
	var answer struct {
		Token string `json:"access_token"`
	}
	s.do(t, r, &answer)
	return answer.Token
}

// post creates something and returns its path.
func (s *running) post(t testing.TB, token, path string, body any) string {
	t.Helper()
	r := request(t, http.MethodPost, s.url+path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	return s.do(t, r, nil).Get("Location")
}

func (s *running) do(t testing.TB, r *http.Request, v any) http.Header {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: status %d, %v\n%s", r.Method, r.URL, resp.StatusCode, err, body)
	}
	if v != nil && len(body) > 0 {
		if err := json.Unmarshal(body, v); err != nil {
			t.Fatal(err)
		}
	}
	return resp.Header
}
