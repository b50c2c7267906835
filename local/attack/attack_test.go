//go:build attack

// Package attack starts the shipped program under limits of memory and disk, and attacks it over its network interfaces while another user
// works with it.
//
// The full profile, `make attack`, floods for minutes and also checks times. The process must not die, and its memory may exceed that of
// the idle process by growthBytes. A bystander waits no longer than late allows. In the end everything that the server acknowledged must
// exist, also after the process was killed. The short profile, `make test-attack`, sends every attack once. It checks only values that do
// not depend on the speed of the machine: statuses, bytes answered and allocated for each byte sent, and resident memory. The gate runs
// it.
//
// Everything stays on loopback addresses. If the system cannot run a check, the log says NOT CHECKED.
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

	"assay/shared/storage/store/storetest"
)

// Variables of the environment: which profile, and a binary to attack instead of a fresh build.
const (
	profileVariable = "ASSAY_ATTACK"
	binaryVariable  = "ASSAY_ATTACK_BINARY"
)

// Bounds of the effects of an attack on the process and on other users.
const (
	growthBytes   = 512 << 20              // resident memory above that of the idle process, without the pages of files
	bystanderTime = 250 * time.Millisecond // p99 of a bystander's GETs; only the full profile checks it
	p99Attempts   = 3                      // The best counts, because other processes also disturb the measurement.
)

// profile is the amount of load.
type profile struct {
	full     bool
	flood    time.Duration // time for which each scenario sends; zero: until everything was sent once
	baseline time.Duration // time for which the bystander is observed without attack
}

var (
	short = profile{baseline: time.Second}
	full  = profile{full: true, flood: 5 * time.Second, baseline: 3 * time.Second}
)

// pick returns the value of the profile.
func pick[T any](p profile, short, full T) T {
	if p.full {
		return full
	}
	return short
}

func TestAttack(t *testing.T) {
	profile := short
	if os.Getenv(profileVariable) == "full" {
		profile = full
	}
	started := time.Now()
	p := newProgram(t, build(t))
	p.start(t)
	s := newServer(t, p, storetest.Random(t), profile)
	j := newJournal(s)
	idle := p.idleMemory(t)
	baseline := s.baseline(t)
	if profile.full && baseline.p99 > bystanderTime/10 {
		t.Logf("The machine has other work: without attack the p99 is %v. The times below say little; run it again without that work.",
			baseline.p99)
	}
	rows := []string{fmt.Sprintf("%-34s %9s %9s %9s %8s %10s %10s %8s  %s", "scenario", "p99", "little", "score", "peak", "allocated", "sent",
		"attempts", "statuses")}
	rows = append(rows, row("idle", baseline, idle))
	for _, sc := range scenarios {
		if sc.fullOnly && !profile.full || sc.smallDisk && !p.disk.small {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			if !sc.fillsDisk {
				s.addUsers(t)
			}
			rows = append(rows, row(sc.name, s.checkBounds(t, sc, s.run(t, sc), idle, baseline), idle))
			t.Log(rows[len(rows)-1])
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
	t.Logf("%s, %d MiB resident when idle, %.0f s; %d acknowledged writes are there after a kill\n%s",
		p.limits(), idle>>20, time.Since(started).Seconds(), j.size(), strings.Join(rows, "\n"))
}

func row(name string, o outcome, idle int64) string {
	shown := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("%-34s %9s %9s %9s %+7dM %9dM %9dM %8d  %v", name, shown(o.p99), shown(o.little), shown(o.score), (o.peak-idle)>>20,
		o.allocated>>20, o.sent>>20, o.attempts, o.byStatus())
}

// checkBounds fails the test if the outcome of a scenario exceeds a bound. It returns the outcome of the last attempt.
func (s *server) checkBounds(t *testing.T, sc scenario, o outcome, idle int64, baseline outcome) outcome {
	t.Helper()
	if grown := o.peak - idle; grown > growthBytes {
		t.Errorf("resident memory grew by %d MiB, more than %d", grown>>20, growthBytes>>20)
	}
	for _, fault := range o.faults {
		t.Error(fault)
	}
	if limit := sc.mayAllocate(o); !s.profile.full && sc.factor > 0 && o.allocated > limit {
		t.Errorf("%d MiB were allocated for %d requests of %d bytes together, more than %d MiB", o.allocated>>20, o.requests, o.sent, limit>>20)
	}
	for attempt := 1; s.profile.full; attempt++ {
		late := strings.Join(o.late(baseline), "; ")
		switch {
		case late == "":
			return o
		case attempt == p99Attempts:
			t.Errorf("%s; without attack they are %v, %v and %v", late, baseline.p99, baseline.little, baseline.score)
			return o
		}
		t.Logf("%s: trying again", late)
		if !sc.fillsDisk {
			s.addUsers(t)
		}
		baseline, o = s.baseline(t), s.run(t, sc)
		o.attempts = attempt + 1
	}
	return o
}

// scenario is one attack: its requests, the number of senders, and the allowed answers.
type scenario struct {
	name string
	// requests are sent in their order, again and again in the full profile. A scenario that is more than requests has send.
	requests  func(*server) []request
	send      func(context.Context, *server, *results)
	senders   int
	allow     []int // statuses; none of them says that the server failed
	maxAnswer int   // bytes of an answer
	// factor bounds the bytes that are allocated for each byte sent, in addition to allowance for each request; zero: not checked.
	factor    int64
	fullOnly  bool
	smallDisk bool
	// fillsDisk says that writes of others may be refused, so that no little user submits meanwhile, and no user joins.
	fillsDisk bool
}

// allowance is the number of bytes that each request may allocate in addition, for example to read grants or to render a page.
const allowance = 4 << 20

func (sc *scenario) mayAllocate(o outcome) int64 { return sc.factor*o.sent + allowance*o.requests }

// Statuses that refuse a request. 429 and 503 say when to try again, 507 that there is no room.
var (
	refused  = []int{400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 414, 415, 416, 422, 429, 431, 503, 507}
	accepted = append([]int{200, 201, 204, 303}, refused...)
)

// request is a request of a user, or of an anonymous caller if from is nil.
type request struct {
	from         *user
	method, path string
	media        string
	body         []byte
	header       map[string]string
	acknowledged func(http.Header)
}

// drainTime bounds the time in which the server answers the open requests at the end of a scenario. Operations give up after 25 seconds.
const drainTime = 40 * time.Second

// results counts the answers to the requests of a scenario.
type results struct {
	mu                        sync.Mutex
	requests, sent, unreached int64
	statuses                  map[int]int
	faults                    []string
}

const maxFaults = 5

func (res *results) fault(format string, args ...any) {
	res.mu.Lock()
	defer res.mu.Unlock()
	if len(res.faults) < maxFaults {
		res.faults = append(res.faults, fmt.Sprintf(format, args...))
	}
}

// outcome is the effect of a scenario on the server and on the bystander.
type outcome struct {
	*results
	p99             time.Duration // p99 of the bystander's GETs
	little, score   time.Duration // the p99 of the requests and of the scores of the little user
	peak, allocated int64
	attempts        int
}

// run sends the requests of the scenario while the bystander works.
func (s *server) run(t *testing.T, sc scenario) outcome {
	t.Helper()
	res := &results{statuses: map[int]int{}}
	send := sc.send
	if send == nil {
		requests := sc.requests(s)
		send = func(ctx context.Context, s *server, res *results) { s.flood(ctx, &sc, requests, res) }
	}
	s.program.resetPeak()
	before := s.program.log.allocated.Load()
	w := s.watch()
	if !sc.fillsDisk {
		s.little = s.startLittleUser()
	}
	ctx, cancel := context.WithTimeout(t.Context(), s.profile.flood+drainTime)
	defer cancel()
	send(ctx, s, res)
	o := outcome{results: res, attempts: 1, peak: s.program.peakMemory(), allocated: s.program.log.allocated.Load() - before}
	if !sc.fillsDisk {
		s.little.report(&o)
	}
	o.p99 = w.stop(res)
	return o
}

// baseline observes the bystander while nothing else happens.
func (s *server) baseline(t *testing.T) outcome {
	t.Helper()
	return s.run(t, scenario{send: func(context.Context, *server, *results) { time.Sleep(s.profile.baseline) }})
}

// flood sends the requests until the time of the profile is over.
func (s *server) flood(ctx context.Context, sc *scenario, requests []request, res *results) {
	end := time.Now().Add(s.profile.flood)
	var next atomic.Int64
	var senders sync.WaitGroup
	for range min(sc.senders, len(requests)) {
		senders.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(requests) && !time.Now().Before(end) {
					return
				}
				res.exchange(ctx, s, sc, requests[n%len(requests)])
			}
		})
	}
	senders.Wait()
}

// exchange sends one request and checks that the scenario allows its answer.
func (res *results) exchange(ctx context.Context, s *server, sc *scenario, q request) {
	status, header, n, err := s.send(ctx, q, io.Discard)
	res.mu.Lock()
	res.requests++
	res.sent += int64(len(q.body))
	if err != nil {
		res.unreached++
	} else {
		res.statuses[status]++
	}
	res.mu.Unlock()
	what := fmt.Sprintf("%s %.80s with %d bytes (%.40q)", q.method, q.path, len(q.body), q.body)
	switch {
	case err != nil && ctx.Err() == nil && !refusedWhileSending(err):
		res.fault("%s: %v", what, err)
	case err != nil:
	case !slices.Contains(sc.allow, status):
		res.fault("%s: status %d, want one of %v", what, status, sc.allow)
	case n > sc.maxAnswer:
		res.fault("%s: status %d with %d bytes, more than %d", what, status, n, sc.maxAnswer)
	case status >= http.StatusBadRequest && status != http.StatusRequestHeaderFieldsTooLarge && q.method != http.MethodHead &&
		!isProblem(q, header.Get("Content-Type")):
		if header.Get("X-Request-Id") != "" { // net/http itself refuses requests that it cannot read.
			res.fault("%s: status %d as %s", what, status, header.Get("Content-Type"))
		}
	}
	if err == nil && status < http.StatusMultipleChoices && q.acknowledged != nil {
		q.acknowledged(header)
	}
}

// isProblem reports whether a problem may be answered to the request as this media type: a caller that accepts HTML gets a page.
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
func (s *server) send(ctx context.Context, q request, answer io.Writer) (status int, header http.Header, n int, err error) {
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

func (res *results) byStatus() string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(res.statuses)) {
		parts = append(parts, fmt.Sprintf("%d×%d", res.statuses[status], status))
	}
	if res.unreached > 0 {
		parts = append(parts, fmt.Sprintf("%d unanswered", res.unreached))
	}
	return strings.Join(parts, ", ")
}
