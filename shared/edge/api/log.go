package api

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"assay/shared/language/metrics"
	"assay/shared/language/problem"
)

// requestState holds the values of a request that the log records.
type requestState struct {
	requestID string
	path      string // of the request; the handlers of mounts see only a part of it
	operation string
	caller    string
	preview   bool
	failure   error
	codings   codings
}

type requestStateKey struct{}

// log writes one line for each request, and records it in metrics.
func (s *Server) log(r *http.Request, st *requestState, status int, started time.Time) {
	level, took := slog.LevelInfo, s.env.Now().Sub(started)
	s.env.Metrics.Record(metrics.RequestSeconds, took.Seconds(), cmp.Or(st.operation, "other"), strconv.Itoa(status/100)+"xx")
	if p, ok := errors.AsType[*problem.Error](st.failure); ok && (p.Kind == problem.TooManyRequests || slices.Contains(Quotas, p.Kind)) {
		s.env.Metrics.Record(metrics.QuotaRefusals, 1, p.Kind.Slug)
	}
	attrs := []slog.Attr{
		slog.String("requestId", st.requestID), slog.String("method", r.Method),
		slog.String("path", r.URL.Path[:min(len(r.URL.Path), maxLoggedPath)]),
		slog.Int("status", status), slog.Duration("took", took),
	}
	if st.operation != "" {
		attrs = append(attrs, slog.String("operation", st.operation))
	}
	if st.caller != "" {
		attrs = append(attrs, slog.String("user", st.caller))
	}
	if st.preview {
		attrs = append(attrs, slog.Bool("preview", true))
	}
	if st.failure != nil {
		name := "problem"
		_, expected := errors.AsType[*problem.Error](st.failure)
		switch {
		case status >= http.StatusInternalServerError || !expected && status != statusHungUp:
			level = slog.LevelError
		case expected && st.preview:
			name = "refusal" // previews ask whether a change would be refused
		}
		attrs = append(attrs, slog.String(name, st.failure.Error()))
	}
	s.env.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// maxLoggedPath is the number of bytes of a path that the log shows. A flood of requests with paths of 64 KiB would otherwise fill a disk.
const maxLoggedPath = 1 << 10

// statusRecorder records the status of an answer; 0: the answer has not begun.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *statusRecorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
