// Package ratelimit bounds how often each caller may do what costs the server something, with a token bucket for each caller
// and class of operations. It exists so that no caller keeps the others from the server by asking often.
//
// A caller is a user or, without a login, the address that the request came from; all addresses of an IPv6 /64 count as one.
// Buckets that are full again are dropped, because a new one is as full: no caller gains by that, and since buckets are full
// again within seconds, their number is bounded by the callers of the last seconds. When more addresses than maxBuckets call in
// that time, those without a bucket share one; the same goes for users.
//
// Buckets are of one process. Functions of AWS Lambda have none but those of tokens: there the gateway throttles, and what must hold for
// each user is counted in the table.
package ratelimit

import (
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/shared/config"

	"golang.org/x/time/rate"
)

// Class is a class of operations that are limited together.
type Class string

// The classes. Reads have none, for they are not limited.
const (
	Token  Class = "token"  // access tokens that the process has not seen yet, each of which costs a read
	Write  Class = "write"  // what changes the table
	Tool   Class = "tool"   // what computes an answer, previews included
	Upload Class = "upload" // files sent to signed links
)

// Policy is the limit of one class: a rate, and how many operations may come at once. The zero Policy limits nothing.
type Policy struct {
	PerSecond int `json:"perSecond" doc:"operations that a caller may make in a second on average; 0 is not limited"`
	Burst     int `json:"burst" doc:"operations that a caller may make at once after a pause"`
}

// Rates are what a server holds each caller to.
type Rates struct {
	Token       Policy `json:"token,omitzero" doc:"of access tokens that the server has not seen before, by the address that they come from"`
	Write       Policy `json:"write,omitzero" doc:"of operations that change something"`
	Tool        Policy `json:"tool,omitzero" doc:"of invocations of tools, and of previews"`
	Upload      Policy `json:"upload,omitzero" doc:"of files sent to the addresses that the server signs itself, by the address that they come from"`
	WaitingRuns int    `json:"waitingRuns" doc:"runs of one team in one task that have not ended; 0 is not limited"`
}

// Default is far above what a script of 50 requests a second and a lab at a deadline need.
func Default() Rates {
	return Rates{Token: Policy{10, 200}, Write: Policy{100, 500}, Tool: Policy{60, 300}, Upload: Policy{100, 500}, WaitingRuns: 100}
}

// maxWaitingRuns keeps the record that has their ids small.
const maxWaitingRuns = 1000

// Distributed is the Default of processes that come and go by the request: what only the table can count, and what bounds the reads of each
// process, which sees a part of the requests.
func Distributed() Rates { return Rates{Token: Default().Token, WaitingRuns: Default().WaitingRuns} }

// Parse returns the Default, save for what the JSON text sets: {"tool":{"perSecond":5,"burst":20}}. An empty text sets nothing.
func Parse(text string) (Rates, error) {
	l := Default()
	if err := config.ParseJSON(text, &l); err != nil {
		return l, fmt.Errorf("%w; limits.rates of GET /info shows the members", err)
	}
	if l.WaitingRuns < 0 || l.WaitingRuns > maxWaitingRuns {
		return l, fmt.Errorf("waitingRuns is %d, and must be from 0, for no limit, to %d", l.WaitingRuns, maxWaitingRuns)
	}
	for class, p := range l.policies() {
		if p.PerSecond < 0 || p.PerSecond > 0 && p.Burst < 1 {
			return l, fmt.Errorf("%s has perSecond %d and burst %d: perSecond must be 0, for no limit, or more with a burst of 1 or more", class,
				p.PerSecond, p.Burst)
		}
	}
	return l, nil
}

func (l *Rates) policies() map[Class]Policy {
	return map[Class]Policy{Token: l.Token, Write: l.Write, Tool: l.Tool, Upload: l.Upload}
}

// window is how long an empty bucket takes to be full again, in whole seconds.
func (p Policy) window() int { return (p.Burst + p.PerSecond - 1) / p.PerSecond }

// maxBuckets is how many buckets of users a Limiter keeps, and as many of addresses; each takes about 200 bytes.
const maxBuckets = 50_000

// sweepInterval is how often a Limiter that is full looks for buckets to forget.
const sweepInterval = time.Second

// Limiter holds callers to limits.
type Limiter struct {
	limits   Rates
	policies map[Class]Policy // of limits
	header   string

	mu        sync.Mutex
	users     buckets
	addresses buckets
}

// New returns a Limiter. When header is not empty, callers without a login are known by the last address in that header,
// which the proxy in front of the server must set.
func New(limits Rates, header string) *Limiter {
	return &Limiter{limits: limits, policies: limits.policies(), header: header, users: newBuckets(maxBuckets),
		addresses: newBuckets(maxBuckets)}
}

// Limits are what the Limiter holds callers to; a nil Limiter holds them to nothing.
func (l *Limiter) Limits() Rates {
	if l == nil {
		return Rates{}
	}
	return l.limits
}

// Caller tells callers apart: by the id of the user or, without one, by the address that the request came from.
func (l *Limiter) Caller(r *http.Request, userID string) string {
	if userID != "" {
		return userID
	}
	var proxied []string
	if l != nil && l.header != "" {
		proxied = r.Header.Values(l.header)
	}
	return Network(r.RemoteAddr, proxied)
}

// Network returns the addresses that count as one caller with that of the peer or, where a proxy's header has values, with the last
// one in these; empty when it is no address.
func Network(peer string, proxied []string) string {
	from := peer
	if host, _, err := net.SplitHostPort(peer); err == nil {
		from = host
	}
	if len(proxied) > 0 {
		last := proxied[len(proxied)-1]
		from = strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])
	}
	a, err := netip.ParseAddr(from)
	if err != nil {
		return "" // unknown
	}
	if a = a.Unmap().WithZone(""); a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}

// Take takes a token for an operation of the class out of a caller's bucket; users and addresses have their own. It sets the
// RateLimit fields, and returns how long the caller has to wait when the bucket is empty, and else 0. A nil Limiter limits
// nothing.
func (l *Limiter) Take(now time.Time, class Class, caller string, user bool, h http.Header) time.Duration {
	if l == nil || l.policies[class].PerSecond == 0 {
		return 0
	}
	p := l.policies[class]
	l.mu.Lock()
	of := &l.addresses
	if user {
		of = &l.users
	}
	b := of.get(now, key{class, caller}, p)
	l.mu.Unlock()
	allowed := b.AllowN(now, 1)
	tokens := max(0, b.TokensAt(now))
	reset := (float64(p.Burst) - tokens) / float64(p.PerSecond) // until the bucket is full
	var wait time.Duration
	if !allowed {
		reset = (1 - tokens) / float64(p.PerSecond) // until it has a token
		wait = max(time.Duration(reset*float64(time.Second)), time.Millisecond)
	}
	name := `"` + string(class) + `"`
	h.Set("Ratelimit-Policy", name+";q="+strconv.Itoa(p.Burst)+";w="+strconv.Itoa(p.window()))
	h.Set("Ratelimit", name+";r="+strconv.Itoa(int(tokens))+";t="+strconv.Itoa(int(math.Ceil(reset))))
	return wait
}

type key struct {
	class  Class
	caller string
}

// buckets are those of callers of one kind, up to a maximum.
type buckets struct {
	all     map[key]*rate.Limiter
	maximum int
	swept   time.Time
}

func newBuckets(maximum int) buckets { return buckets{all: map[key]*rate.Limiter{}, maximum: maximum} }

// get returns the bucket of the key, or the shared one when there is no room.
func (b *buckets) get(now time.Time, k key, p Policy) *rate.Limiter {
	if one, ok := b.all[k]; ok {
		return one
	}
	if len(b.all) >= b.maximum && now.Sub(b.swept) >= sweepInterval {
		b.swept = now
		maps.DeleteFunc(b.all, func(_ key, one *rate.Limiter) bool { return one.TokensAt(now) >= float64(one.Burst()) })
	}
	if len(b.all) >= b.maximum {
		k.caller = "shared"
		if one, ok := b.all[k]; ok {
			return one
		}
	}
	one := rate.NewLimiter(rate.Limit(p.PerSecond), p.Burst)
	b.all[k] = one
	return one
}
