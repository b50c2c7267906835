package client

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestRequest_EndsWithoutAnAnswer sends a request to an object store that accepts it and never answers.
func TestRequest_EndsWithoutAnAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	usual := objects.Transport
	defer func() { objects.Transport = usual }()
	if waits := usual.(*http.Transport).ResponseHeaderTimeout; waits != silence {
		t.Fatalf("%v is waited for an answer, want %v", waits, silence)
	}
	shorter := patient(usual)
	shorter.ResponseHeaderTimeout = 50 * time.Millisecond
	objects.Transport = shorter
	res, err := request(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil, nil, 0)
	if err == nil {
		_ = res.Body.Close()
	}
	if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() {
		t.Errorf("%v, want a timeout", err)
	}
}
