//go:build !race

// Package attack starts the program as it is shipped, under limits of memory and disk, and attacks it over its network
// interfaces while another user works with it. It proves for the whole what the tests of the packages prove for the parts.
//
// The full form, `make attack`, floods for minutes and judges by time as well: the process must not die, its memory may grow by
// growthBytes above rest, the p99 of a bystander's GETs stays under bystanderTime, and everything that was acknowledged is there
// in the end, also after the process was killed. The short form is part of the ordinary tests. It sends every attack once and
// judges what does not depend on how fast the machine is: statuses, bytes answered and allocated for each byte sent, resident
// memory, and the bystander's p99 as a multiple of the p99 without attack.
//
// Everything stays on loopback addresses. What the system lacks for a check is written to the log as NOT CHECKED.
package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/store/storetest"
)

// Variables of the environment: which form, and a binary to attack instead of a fresh build.
const (
	formVariable   = "ASSAY_ATTACK"
	binaryVariable = "ASSAY_ATTACK_BINARY"
)

// What an attack may do to the process and to others.
const (
	growthBytes    = 512 << 20              // resident memory above rest
	bystanderTime  = 250 * time.Millisecond // p99 of a bystander's GETs; the full form alone judges it
	bystanderRatio = 150                    // the same p99 in the short form, as a multiple of the p99 without attack
	p99Attempts    = 3                      // of which the best counts, since other processes disturb it too
)

// form is how much is sent.
type form struct {
	full  bool
	flood time.Duration // how long each scenario sends; zero: until everything was sent once
	calm  time.Duration // how long the bystander is observed without attack
}

var (
	short = form{calm: time.Second}
	full  = form{full: true, flood: 5 * time.Second, calm: 3 * time.Second}
)

// pick is the value of the form.
func pick[T any](f form, short, full T) T {
	if f.full {
		return full
	}
	return short
}

func TestAttack(t *testing.T) {
	f := short
	if os.Getenv(formVariable) == "full" {
		f = full
	}
	started := time.Now()
	p := newProgram(t, build(t))
	p.start(t)
	s := newSite(t, p, storetest.Random(t), f)
	j := newJournal(s)
	rest := p.rest(t)
	calm := s.calm(t)
	if f.full && calm.p99 > bystanderTime/10 {
		t.Logf("The machine has other work: without attack the p99 is %v. What follows says little of time; run it again without that work.",
			calm.p99)
	}
	rows := []string{fmt.Sprintf("%-34s %9s %8s %10s %10s  %s", "scenario", "p99", "peak", "allocated", "sent", "statuses")}
	rows = append(rows, row("at rest", calm, rest))
	for _, sc := range scenarios {
		if sc.fullOnly && !f.full || sc.smallDisk && !p.disk.small {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			rows = append(rows, row(sc.name, s.judge(t, sc, s.run(t, sc), rest, calm), rest))
		})
		if p.died() {
			t.Fatalf("the process died during %q:\n%s", sc.name, p.log.tail())
		}
	}
	j.stop()
	j.verify(t)
	p.kill(t)
	p.start(t)
	j.verify(t)
	t.Logf("%s, at rest %d MiB resident, %.0f s; %d acknowledged writes are there after a kill\n%s",
		p.limits(), rest>>20, time.Since(started).Seconds(), j.size(), strings.Join(rows, "\n"))
}

func row(name string, o outcome, rest int64) string {
	return fmt.Sprintf("%-34s %9s %+7dM %9dM %9dM  %v", name, o.p99.Round(100*time.Microsecond), (o.peak-rest)>>20, o.allocated>>20,
		o.sent>>20, o.byStatus())
}

// judge holds the outcome of a scenario to the bounds, and returns the one that counted.
func (s *site) judge(t *testing.T, sc scenario, o outcome, rest int64, calm outcome) outcome {
	t.Helper()
	if grown := o.peak - rest; grown > growthBytes {
		t.Errorf("resident memory grew by %d MiB above rest, more than %d", grown>>20, growthBytes>>20)
	}
	for _, fault := range o.faults {
		t.Error(fault)
	}
	if most := sc.allocates(o); !s.form.full && sc.factor > 0 && o.allocated > most {
		t.Errorf("%d MiB were allocated for %d requests of %d bytes together, more than %d MiB", o.allocated>>20, o.requests, o.sent, most>>20)
	}
	for attempt := 1; ; attempt++ {
		most := bystanderTime
		if !s.form.full {
			most = bystanderRatio * calm.p99
		}
		if o.p99 <= most {
			return o
		}
		if attempt == p99Attempts {
			t.Errorf("the p99 of the bystander's GETs is %v, more than %v; without attack it is %v", o.p99, most, calm.p99)
			return o
		}
		t.Logf("the p99 of the bystander's GETs is %v, more than %v: trying again", o.p99, most)
		calm, o = s.calm(t), s.run(t, sc)
	}
}

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
	status, header, n, err := s.send(ctx, q, io.Discard)
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

// send sends a request and copies its answer, of n bytes.
func (s *site) send(ctx context.Context, q request, answer io.Writer) (status int, header http.Header, n int, err error) {
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
	read, err := io.Copy(answer, resp.Body)
	return resp.StatusCode, resp.Header, int(read), err
}

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
