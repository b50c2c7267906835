// Package ratelimit bounds how often each caller may use expensive operations, with a token bucket for each caller and class of
// operations. So no caller keeps others from the server by frequent requests.
//
// A caller is a user or, without a login, the address of the request. All addresses of an IPv6 /64 count as one. Full buckets are
// dropped, because a new bucket is full too. Buckets fill within seconds, so their number is bounded by the callers of the last seconds.
// If more than maxBuckets addresses call in that time, the addresses without a bucket share one. The same applies to users.
//
// Buckets belong to one process. On AWS Lambda only those for tokens are used: the gateway throttles requests, and the table counts what
// must hold for each user.
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

	"assay/shared/service/config"

	"golang.org/x/time/rate"
)

// Class is a class of operations with a common limit.
type Class string

// The classes. Reads have no limit.
const (
	Token  Class = "token"  // access tokens that the process has not cached; each costs a read
	Write  Class = "write"  // operations that change the table
	Tool   Class = "tool"   // computations and previews
	Upload Class = "upload" // uploads to signed links
)

// Policy is the limit of one class: an average rate and a burst. The zero Policy means no limit.
type Policy struct {
	PerSecond int `json:"perSecond" doc:"greatest average number of operations of a caller a second; 0: no limit"`
	Burst     int `json:"burst" doc:"greatest number of operations of a caller at once after a pause"`
}

// Rates are the limits of a server for each caller.
type Rates struct {
	Token       Policy `json:"token,omitzero" doc:"for access tokens that the server has not seen before, by the address of the request"`
	Write       Policy `json:"write,omitzero" doc:"for operations that change something"`
	Tool        Policy `json:"tool,omitzero" doc:"for calls of tools and for previews"`
	Upload      Policy `json:"upload,omitzero" doc:"for uploads to the links that the server signs itself, by the address of the request"`
	WaitingRuns int    `json:"waitingRuns" doc:"greatest number of unfinished runs of a team in a task; 0: no limit"`
}

// Default returns limits far above the needs of a script with 50 requests a second, or of a lab before a deadline.
func Default() Rates {
	return Rates{Token: Policy{10, 200}, Write: Policy{100, 500}, Tool: Policy{60, 300}, Upload: Policy{100, 500}, WaitingRuns: 100}
}

// maxWaitingRuns bounds the size of the record with the ids of waiting runs.
const maxWaitingRuns = 1000

// Distributed returns the limits for short-lived processes, each of which sees a part of the requests. It limits waiting runs, which the
// table counts, and unknown access tokens, which cost reads.
func Distributed() Rates { return Rates{Token: Default().Token, WaitingRuns: Default().WaitingRuns} }

// Parse returns Default with the values that the JSON text sets, such as {"tool":{"perSecond":5,"burst":20}}. The text may be empty.
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

// window returns the time in which an empty bucket fills, in whole seconds.
func (p Policy) window() int { return (p.Burst + p.PerSecond - 1) / p.PerSecond }

// maxBuckets is the greatest number of buckets of users in a Limiter. The same number applies to addresses. A bucket takes about 200
// bytes.
const maxBuckets = 50_000

// sweepInterval is the least time between two searches for buckets to drop.
const sweepInterval = time.Second

// Limiter enforces rate limits.
type Limiter struct {
	limits   Rates
	policies map[Class]Policy // of limits
	header   string

	mu        sync.Mutex
	users     buckets
	addresses buckets
}

// New returns a Limiter. If header is not empty, the last address in that header identifies callers without a login. The proxy in front
// of the server must set it.
func New(limits Rates, header string) *Limiter {
	return &Limiter{limits: limits, policies: limits.policies(), header: header, users: newBuckets(maxBuckets),
		addresses: newBuckets(maxBuckets)}
}

// Limits returns the limits that the Limiter enforces. A nil Limiter has none.
func (l *Limiter) Limits() Rates {
	if l == nil {
		return Rates{}
	}
	return l.limits
}

// Caller identifies the caller of a request: by the id of the user or, if that is empty, by the address of the request.
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

// Network returns the range of addresses that counts as one caller. It contains the last address in proxied, which has the values of a
// proxy's header, or otherwise the address of the peer. Network returns "" if that is no address.
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
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}

// Take takes a token for an operation of the class from a caller's bucket. Users and addresses have separate buckets. It sets the
// RateLimit fields in h. It returns 0, or the time until the bucket has a token. A nil Limiter always returns 0.
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
	b := of.get(now, bucketKey{class, caller}, p)
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

// bucketKey identifies the bucket of a caller for a class of requests.
type bucketKey struct {
	class  Class
	caller string
}

// buckets holds the buckets of users or of addresses, up to a maximum.
type buckets struct {
	all     map[bucketKey]*rate.Limiter
	maximum int
	swept   time.Time
}

func newBuckets(maximum int) buckets {
	return buckets{all: map[bucketKey]*rate.Limiter{}, maximum: maximum}
}

// get returns the bucket of the key. If there is no room for it, get returns the shared bucket.
func (b *buckets) get(now time.Time, k bucketKey, p Policy) *rate.Limiter {
	if one, ok := b.all[k]; ok {
		return one
	}
	if len(b.all) >= b.maximum && now.Sub(b.swept) >= sweepInterval {
		b.swept = now
		maps.DeleteFunc(b.all, func(_ bucketKey, one *rate.Limiter) bool { return one.TokensAt(now) >= float64(one.Burst()) })
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
