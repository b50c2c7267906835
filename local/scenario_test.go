package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"assay/functions/acceptancetest"
)

// TestScenario runs the whole scenario with real tokens against the program as a user starts it, which logs no warning.
func TestScenario(t *testing.T) {
	args := []string{"-addr", "127.0.0.1:0", "-grpc-addr", "127.0.0.1:0", "-data", t.TempDir(), "-demo=false", "-rates", noRates}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	var logs bytes.Buffer
	go func() { ended <- run(ctx, args, noEnv, io.Discard, &logs, func(url string) { ready <- url }) }()
	s := &running{client: http.DefaultClient}
	select {
	case s.url = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		checkLog(t, logs.String())
	})
	acceptancetest.Scenario(t, acceptancetest.Setup{
		URL:    s.url,
		Token:  func(user string, groups ...string) string { return s.token(t, user, groups...) },
		Client: http.DefaultClient,
	})
}
