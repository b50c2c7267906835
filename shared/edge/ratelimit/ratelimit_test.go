package ratelimit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// take takes a token for an address.
func (l *Limiter) take(now time.Time, address string) (bool, http.Header) {
	r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	r.RemoteAddr = address
	h := http.Header{}
	return l.Take(now, Write, l.Caller(r, ""), false, h) == 0, h
}

func TestTake_FieldsTellWhatIsLeft(t *testing.T) {
	l := New(Rates{Write: Policy{PerSecond: 2, Burst: 5}}, "")
	for i, want := range []string{`"write";r=4;t=1`, `"write";r=3;t=1`, `"write";r=2;t=2`, `"write";r=1;t=2`, `"write";r=0;t=3`,
		`"write";r=0;t=1`} {
		allowed, h := l.take(start, "192.0.2.1:1")
		if h.Get("RateLimit") != want || h.Get("RateLimit-Policy") != `"write";q=5;w=3` || allowed != (i < 5) {
			t.Errorf("request %d: %v %v, want %s", i+1, allowed, h, want)
		}
	}
	h := http.Header{}
	if wait := l.Take(start, Write, "192.0.2.1", false, h); wait != 500*time.Millisecond {
		t.Errorf("the next token comes after %v", wait)
	}
	if allowed, _ := l.take(start.Add(500*time.Millisecond), "192.0.2.1:1"); !allowed {
		t.Error("it does not come")
	}
	if wait := l.Take(start, Tool, "192.0.2.1", false, h); wait != 0 {
		t.Error("a class without a policy is limited")
	}
}

func TestCaller_NetworksAndProxies(t *testing.T) {
	for _, tt := range []struct{ remote, header, forwarded, want string }{
		{"192.0.2.1:443", "", "198.51.100.7", "192.0.2.1"},
		{"192.0.2.1:443", "X-Forwarded-For", "203.0.113.9, 198.51.100.7", "198.51.100.7"},
		{"192.0.2.1:443", "X-Forwarded-For", "", "192.0.2.1"},
		{"192.0.2.1:443", "X-Forwarded-For", "nonsense", ""},
		{"[2001:db8:1:2:3::1]:443", "", "", "2001:db8:1:2::/64"},
		{"[2001:db8:1:2:ffff::9]:443", "", "", "2001:db8:1:2::/64"},
		{"[::ffff:192.0.2.1]:443", "", "", "192.0.2.1"},
		{"192.0.2.1", "", "", "192.0.2.1"}, // the form of API Gateway
	} {
		r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		r.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		if got := New(Default(), tt.header).Caller(r, ""); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestTake_ManyAddressesForgetNoBucket calls from many addresses. Memory remains bounded, and a caller with an empty bucket gets no new
// bucket. After the attack the other callers have buckets of their own again.
func TestTake_ManyAddressesForgetNoBucket(t *testing.T) {
	l := New(Rates{Write: Policy{PerSecond: 1, Burst: 2}}, "")
	l.addresses.maximum = 100
	for range 2 {
		l.take(start, "192.0.2.1:1")
	}
	for i := range 10_000 {
		l.take(start.Add(time.Duration(i)*time.Microsecond), fmt.Sprintf("10.0.%d.%d:1", i/250, i%250))
	}
	if n := len(l.addresses.all); n > 101 {
		t.Errorf("%d buckets", n)
	}
	if allowed, _ := l.take(start.Add(20*time.Millisecond), "192.0.2.1:1"); allowed {
		t.Error("the caller with an empty bucket got a new one")
	}
	if allowed, _ := l.take(start.Add(20*time.Millisecond), "198.51.100.1:1"); allowed {
		t.Error("a caller for whom there is no room is not limited")
	}
	later := start.Add(5 * time.Second)
	for range 2 {
		if allowed, _ := l.take(later, "198.51.100.1:1"); !allowed {
			t.Error("the buckets of those who went are kept")
		}
	}
	if n := len(l.addresses.all); n > 2 {
		t.Errorf("%d buckets", n)
	}
}

func TestParse_ChangesWhatIsGiven(t *testing.T) {
	l, err := Parse(`{"tool":{"perSecond":5,"burst":20},"upload":{"perSecond":0},"waitingRuns":7}`)
	want := Default()
	want.Tool = Policy{5, 20}
	want.Upload.PerSecond = 0
	want.WaitingRuns = 7
	if err != nil || l != want {
		t.Errorf("%+v, %v", l, err)
	}
	for text, want := range map[string]string{
		`{"tools":{}}`:                       `{"tools":{}}: json: unknown field "tools"; limits.rates of GET /info`,
		`{"tool":{"perSecond":true}}`:        `{"tool":{"perSecond":true}}: json: cannot unmarshal bool into Go struct field Policy.tool.perSecond of type int;`,
		`{"tool":{"perSecond":5,"burst":0}}`: `tool has perSecond 5 and burst 0: perSecond must be 0,`,
		`{"write":{"perSecond":-1}}`:         `write has perSecond -1 and burst 500:`,
		`{"waitingRuns":1001}`:               `waitingRuns is 1001, and must be from 0, for no limit, to 1000`,
		`5`:                                  `5: json: cannot unmarshal number into Go value`,
	} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
