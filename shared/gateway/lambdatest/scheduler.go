package lambdatest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Scheduler stands for EventBridge Scheduler: it keeps one-time schedules and calls the function when their instant comes.
type Scheduler struct {
	URL string

	t        testing.TB
	function *Function
	mu       sync.Mutex
	created  map[string]time.Time
	running  sync.WaitGroup
	stop     context.CancelFunc
	ctx      context.Context //nolint:containedctx // of the schedules, which outlive the requests that made them
}

// NewScheduler returns an endpoint of the service; call Target before it is used.
func NewScheduler(t testing.TB) *Scheduler {
	s := &Scheduler{t: t, created: map[string]time.Time{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(s.create))
	s.URL = server.URL
	t.Cleanup(func() {
		s.stop()
		s.running.Wait()
		server.Close()
	})
	return s
}

// Target names the function that schedules call.
func (s *Scheduler) Target(f *Function) { s.function = f }

// Created returns the schedules that were made, with their instants.
func (s *Scheduler) Created() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.created)
}

func (s *Scheduler) create(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/schedules/")
	var in struct {
		GroupName, ScheduleExpression, ActionAfterCompletion string
		FlexibleTimeWindow                                   struct{ Mode string }
		Target                                               struct{ Arn, RoleArn, Input string }
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	at, timeErr := time.Parse("at(2006-01-02T15:04:05)", in.ScheduleExpression)
	if !ok || r.Method != http.MethodPost || err != nil || timeErr != nil || in.GroupName == "" || in.ActionAfterCompletion != "DELETE" ||
		in.FlexibleTimeWindow.Mode != "OFF" || in.Target.Arn == "" || in.Target.RoleArn == "" || !at.After(time.Now()) ||
		!strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		s.t.Errorf("a schedule that the service would refuse: %s %s %+v, %v, %v", r.Method, r.URL, in, err, timeErr)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	_, there := s.created[name]
	s.created[name] = at
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if there {
		w.Header().Set("X-Amzn-ErrorType", "ConflictException")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"Message":"it is there"}`))
		return
	}
	s.running.Go(func() { s.wait(at, in.Target.Input) })
	_, _ = io.WriteString(w, `{"ScheduleArn":"arn:aws:scheduler:us-east-1:000000000000:schedule/group/name"}`)
}

// wait calls the function at the instant.
func (s *Scheduler) wait(at time.Time, input string) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		if _, err := s.function.Invoke(s.ctx, []byte(input)); err != nil && s.ctx.Err() == nil {
			s.t.Errorf("a schedule's call failed: %v", err)
		}
	case <-s.ctx.Done():
	}
}
