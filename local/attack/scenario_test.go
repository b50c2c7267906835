package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scenario is one attack: what is sent, by how many at a time, and what may be answered.
type scenario struct {
	name string
	// requests are sent in their order, again and again in the full form. A scenario that is more than requests has send.
	requests func(*site) []request
	send     func(context.Context, *site, *tally)
	senders  int
	allow    []int // statuses; none of them says that the server failed
	most     int   // bytes of an answer
	// factor is how many bytes may be allocated for each byte sent, in addition to allowance for each request; zero: not judged.
	factor    int64
	fullOnly  bool
	smallDisk bool
}

// allowance is what any request may allocate besides: reading grants, rendering a page.
const allowance = 4 << 20

func (sc *scenario) allocates(o outcome) int64 { return sc.factor*o.sent + allowance*o.requests }

// Statuses that refuse a request. 429 and 503 say when to try again, 507 that there is no room.
var (
	refused  = []int{400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 414, 415, 416, 422, 429, 431, 503, 507}
	accepted = append([]int{200, 201, 204, 303}, refused...)
)

// request is what a user sends; one without a user comes from an anonymous caller.
type request struct {
	from         *user
	method, path string
	media        string
	body         []byte
	header       map[string]string
	acknowledged func(http.Header)
}

// drainTime is how long answers may take that were asked for when a scenario ended. Operations give up after 25 seconds.
const drainTime = 40 * time.Second

// tally is what came of the requests of a scenario.
type tally struct {
	mu                        sync.Mutex
	requests, sent, unreached int64
	statuses                  map[int]int
	faults                    []string
}

// maxFaults is how many faults a scenario names.
const maxFaults = 5

func (y *tally) fault(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.faults) < maxFaults {
		y.faults = append(y.faults, fmt.Sprintf(format, args...))
	}
}

// outcome is what a scenario did to the server and to the bystander.
type outcome struct {
	*tally
	p99             time.Duration
	peak, allocated int64
}

// run sends what the scenario has while the bystander works.
func (s *site) run(t *testing.T, sc scenario) outcome {
	t.Helper()
	y := &tally{statuses: map[int]int{}}
	send := sc.send
	if send == nil {
		requests := sc.requests(s)
		send = func(ctx context.Context, s *site, y *tally) { s.flood(ctx, &sc, requests, y) }
	}
	s.program.resetPeak()
	before := s.program.log.allocated.Load()
	w := s.watch()
	ctx, cancel := context.WithTimeout(t.Context(), s.form.flood+drainTime)
	defer cancel()
	send(ctx, s, y)
	o := outcome{tally: y, peak: s.program.memory("VmHWM"), allocated: s.program.log.allocated.Load() - before}
	o.p99 = w.stop(y)
	return o
}

// calm observes the bystander while nothing else happens.
func (s *site) calm(t *testing.T) outcome {
	t.Helper()
	return s.run(t, scenario{send: func(context.Context, *site, *tally) { time.Sleep(s.form.calm) }})
}

// flood sends the requests until the time of the form is over.
func (s *site) flood(ctx context.Context, sc *scenario, requests []request, y *tally) {
	end := time.Now().Add(s.form.flood)
	var next atomic.Int64
	var senders sync.WaitGroup
	for range min(sc.senders, len(requests)) {
		senders.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(requests) && !time.Now().Before(end) {
					return
				}
				y.exchange(ctx, s, sc, requests[n%len(requests)])
			}
		})
	}
	senders.Wait()
}

// exchange sends one request, and holds its answer to what the scenario allows.
func (y *tally) exchange(ctx context.Context, s *site, sc *scenario, q request) {
	status, header, n, err := s.send(ctx, q)
	y.mu.Lock()
	y.requests++
	y.sent += int64(len(q.body))
	if err != nil {
		y.unreached++
	} else {
		y.statuses[status]++
	}
	y.mu.Unlock()
	what := fmt.Sprintf("%s %.80s with %d bytes (%.40q)", q.method, q.path, len(q.body), q.body)
	switch {
	case err != nil && ctx.Err() == nil && !refusedWhileSending(err):
		y.fault("%s: %v", what, err)
	case err != nil:
	case !slices.Contains(sc.allow, status):
		y.fault("%s: status %d, want one of %v", what, status, sc.allow)
	case n > sc.most:
		y.fault("%s: status %d with %d bytes, more than %d", what, status, n, sc.most)
	case status >= http.StatusBadRequest && status != http.StatusRequestHeaderFieldsTooLarge && q.method != http.MethodHead &&
		!isProblem(q, header.Get("Content-Type")):
		if header.Get("X-Request-Id") != "" { // net/http refuses by itself what it cannot read
			y.fault("%s: status %d as %s", what, status, header.Get("Content-Type"))
		}
	}
	if err == nil && status < http.StatusMultipleChoices && q.acknowledged != nil {
		q.acknowledged(header)
	}
}

// isProblem reports whether a problem may be answered to the request as this media type: callers who take pages get a page of it.
func isProblem(q request, mediaType string) bool {
	return strings.HasPrefix(mediaType, "application/problem+json") ||
		strings.HasPrefix(mediaType, "text/html") && strings.Contains(q.header["Accept"], "text/html")
}

// refusedWhileSending reports whether the server closed the connection instead of reading a body that it had refused.
func refusedWhileSending(err error) bool {
	text := err.Error()
	return errors.Is(err, io.EOF) || strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe")
}

// send sends a request and reads its answer to the end.
func (s *site) send(ctx context.Context, q request) (status int, header http.Header, n int, err error) {
	u := q.from
	if u == nil {
		u = s.anonymous
	}
	r, err := http.NewRequestWithContext(ctx, q.method, s.program.url+q.path, bytes.NewReader(q.body))
	if err != nil {
		return 0, nil, 0, err
	}
	if q.media != "" {
		r.Header.Set("Content-Type", q.media)
	}
	if u.token != "" {
		r.Header.Set("Authorization", "Bearer "+u.token)
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	resp, err := u.client.Do(r)
	if err != nil {
		return 0, nil, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	read, err := io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header, int(read), err
}

// byStatus renders the statuses in their order.
func (y *tally) byStatus() string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(y.statuses)) {
		parts = append(parts, fmt.Sprintf("%d×%d", y.statuses[status], status))
	}
	if y.unreached > 0 {
		parts = append(parts, fmt.Sprintf("%d unanswered", y.unreached))
	}
	return strings.Join(parts, ", ")
}
