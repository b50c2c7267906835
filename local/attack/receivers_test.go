//go:build attack

package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"time"
)

// Webhooks of the scenario.
const (
	hangingWebhooks = 10           // webhooks of the attacker's task, the most that a task may have
	hangingShare    = 16           // simultaneous attempts of one payer
	deliveryTime    = time.Second  // p99 of the time until the webhook of another payer gets an event; only the full profile checks it
	deliveryWait    = time.Minute  // time after which an event counts as lost
	okWebhook       = "/bystander" // paths of the receivers
	hangingWebhook  = "/attacker/"
)

// receivers receive events of webhooks. The attacker's receivers answer only their first event.
type receivers struct {
	*httptest.Server
	end chan struct{}

	mu            sync.Mutex
	proven        map[string]bool
	hanging, most int                      // open attempts of the attacker, and their largest number
	delays        map[string]time.Duration // time from an event to its arrival, by the path of its resource
}

func newReceivers() *receivers {
	r := &receivers{end: make(chan struct{}), proven: map[string]bool{}, delays: map[string]time.Duration{}}
	r.Server = httptest.NewServer(r)
	return r
}

func (r *receivers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var event struct {
		Timestamp time.Time
		Data      struct{ Path string }
	}
	err := json.NewDecoder(request.Body).Decode(&event)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch target := request.URL.Path; {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case target == okWebhook:
		r.delays[event.Data.Path] = time.Since(event.Timestamp)
	case !r.proven[target]:
		r.proven[target] = true
	default:
		r.hanging++
		r.most = max(r.most, r.hanging)
		r.mu.Unlock()
		select {
		case <-r.end:
		case <-request.Context().Done():
		}
		r.mu.Lock()
		r.hanging--
	}
}

// wait waits until the bystander's webhook has received a number of events, and a number of the attacker's attempts hang.
func (r *receivers) wait(ctx context.Context, events, hanging int) bool {
	reached := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.delays) >= events && r.hanging >= hanging
	}
	for end := time.Now().Add(deliveryWait); !reached(); time.Sleep(scoreInterval) {
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
	return true
}

func (r *receivers) close() {
	close(r.end)
	r.Close()
}

// hangingReceivers makes many events of the attacker wait for receivers that do not answer. Meanwhile the little user submits to a task
// with a webhook.
func hangingReceivers(ctx context.Context, s *server, res *results) {
	r := newReceivers()
	defer r.close()
	hook, err := s.make(s.organizer, s.task+"/webhooks", object{"url": r.URL + okWebhook, "kinds": []string{"run.completed"}}, nil)
	if err != nil {
		res.fault("the webhook of the bystander: %v", err)
		return
	}
	defer s.remove(res, s.organizer, hook)
	task, err := s.makeHangingTask(r.URL)
	if err != nil {
		res.fault("webhooks of the attacker: %v", err)
		return
	}
	defer s.remove(res, s.attacker, task)
	if !r.wait(ctx, 0, hangingShare) {
		res.fault("the attacker has not %d attempts that hang", hangingShare)
	}
	s.floodTime(ctx, scoresBeside)
	if !r.wait(ctx, scoresBeside, 0) {
		res.fault("fewer than %d events arrived at the webhook of the bystander", scoresBeside)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most > hangingShare {
		res.fault("%d attempts of one payer hung at the same time, more than %d", r.most, hangingShare)
	}
	delays := slices.Collect(maps.Values(r.delays))
	if took := p99(delays); s.profile.full && took > deliveryTime {
		res.fault("the p99 of %d events of the bystander is %v, more than %v", len(delays), took, deliveryTime)
	}
}

// makeHangingTask makes a task of the attacker with webhooks and events.
func (s *server) makeHangingTask(receiver string) (task string, err error) {
	task, err = s.make(s.attacker, "/v1/tasks", object{"organizerId": path.Base(s.ownOrganizer), "name": "Webhooks that hang"}, nil)
	for n := range hangingWebhooks {
		if err == nil {
			_, err = s.make(s.attacker, task+"/webhooks", object{"url": fmt.Sprint(receiver, hangingWebhook, n)}, nil)
		}
	}
	for range pick(s.profile, 26, 96) {
		if err == nil {
			_, err = s.make(s.attacker, task+"/announcements", object{"title": "Nothing new"}, nil)
		}
	}
	return task, err
}
