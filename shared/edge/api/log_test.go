package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/shared/language/problem"
)

// logLines is a log writer that sends each line to a channel. A client may read a long answer before the server logs the request.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestLog_ClipsLongPaths(t *testing.T) {
	s := serve(t)
	log := make(logLines, 1)
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, "/v1/"+strings.Repeat("x", 60<<10), nil)
	if line := <-log; len(line) < 1<<10 || len(line) > 4<<10 {
		t.Errorf("a request for a path of 60 KiB logs %d bytes", len(line))
	}
}

// Clients preview the parts of a new task one by one, and parts that need a missing part are refused. Such refusals are expected.
func TestLog_CallsTheProblemOfAPreviewARefusal(t *testing.T) {
	s := serve(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, c := range []struct {
		path, name string
		has        []string
		lacks      []string
	}{
		{"/v1/notes", "forbidden", []string{"status=422", "problem="}, []string{"preview", "refusal"}},
		{"/v1/notes?preview=true", "forbidden", []string{"status=422", "preview=true", "refusal="}, []string{"problem"}},
		{"/v1/notes?preview=true", "one", []string{"status=200", "preview=true"}, []string{"problem", "refusal"}},
		{"/v1/notes?preview=false", "one", []string{"status=201"}, []string{"preview"}},
	} {
		log.Reset()
		s.Do("alice", http.MethodPost, c.path, map[string]any{"name": c.name})
		for _, part := range c.has {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s of %q: the log has no %s: %s", c.path, c.name, part, log.String())
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(log.String(), part) {
				t.Errorf("%s of %q: the log has %s: %s", c.path, c.name, part, log.String())
			}
		}
	}
}

// TestLog_HasNoFaultOfCallersWhoHangUp closes the connection of a request before its answer.
func TestLog_HasNoFaultOfCallersWhoHangUp(t *testing.T) {
	s := serve(t)
	log := make(logLines, 2)
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	server := httptest.NewServer(s.handler())
	defer server.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/failures/hangUp", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-log
		hangUp()
	}()
	if answer, err := server.Client().Do(request); err == nil {
		_ = answer.Body.Close()
		t.Errorf("there is an answer: %s", answer.Status)
	}
	if line := <-log; !strings.Contains(line, "level=INFO") || !strings.Contains(line, "status=499") {
		t.Errorf("the log has %s", line)
	}
}

// The details of an internal error appear only in the log.
func TestFail_AnswersAndLogs(t *testing.T) {
	s := serve(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for kind, want := range map[string]*problem.Kind{"panic": problem.Internal, "error": problem.Internal, "deadline": problem.Unavailable,
		"wait": problem.QuotaToday} {
		log.Reset()
		a := s.Do("alice", http.MethodGet, "/v1/failures/"+kind, nil, "X-Request-Id", "trace-1")
		refused(t, a, want)
		if bytes.Contains(a.Body, []byte("secret")) {
			t.Errorf("%s: %s", kind, a.Body)
		}
		level := "INFO"
		if want.Status >= http.StatusInternalServerError {
			level = "ERROR"
		}
		for _, part := range []string{"level=" + level, "requestId=trace-1", "operation=fail", "path=/v1/failures/" + kind, "status=", "user="} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s: the log has no %s: %s", kind, part, log.String())
			}
		}
		if want == problem.Internal && !strings.Contains(log.String(), "a secret of the server") {
			t.Errorf("%s: the log does not say what happened: %s", kind, log.String())
		}
		if wait := map[string]string{"wait": "2", "deadline": "1"}[kind]; a.Header.Get("Retry-After") != wait {
			t.Errorf("%s: Retry-After is %q", kind, a.Header.Get("Retry-After"))
		}
	}
}
