package attack

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// slowTime is how long slow callers hold their connections in each form.
func (s *site) slowTime() time.Duration {
	if s.form.full {
		return 2 * s.form.flood
	}
	return time.Second
}

// hold opens connections, sends each the beginning, and then drops a byte from time to time until the time is over.
func (s *site) hold(ctx context.Context, y *tally, n int, beginning []byte, drop string) {
	ctx, cancel := context.WithTimeout(ctx, s.slowTime())
	defer cancel()
	var all sync.WaitGroup
	d := &net.Dialer{Timeout: s.slowTime()}
	for range n {
		all.Go(func() {
			c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(s.program.url, "http://"))
			if err != nil {
				return // refused, which is an answer
			}
			defer func() { _ = c.Close() }()
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // what the kernel does not take, the server keeps
			y.mu.Lock()
			y.requests, y.sent = y.requests+1, y.sent+int64(len(beginning))
			y.mu.Unlock()
			_ = c.SetDeadline(time.Now().Add(s.slowTime()))
			_, err = c.Write(beginning)
			for err == nil && ctx.Err() == nil {
				time.Sleep(200 * time.Millisecond)
				_, err = c.Write([]byte(drop))
			}
		})
	}
	all.Wait()
}

func slowHeaders(ctx context.Context, s *site, y *tally) {
	s.hold(ctx, y, 400, []byte("GET /v1/tasks HTTP/1.1\r\nHost: a\r\nX-Slow: "+repeat("x", 48<<10)), "x")
}

// slowBodies have all but the last bytes of large bodies sent at once.
func slowBodies(ctx context.Context, s *site, y *tally) {
	n := 40
	if s.form.full {
		n = 120
	}
	head := fmt.Sprintf("POST /v1/tools/evaluator HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		maxBody)
	s.hold(ctx, y, n, []byte(head+`{"runs":"`+repeat("x", maxBody-4<<10)), "x")
}

// slowReaders ask for the largest answers that there are, and read none of them.
func slowReaders(ctx context.Context, s *site, y *tally) {
	n := 20
	if s.form.full {
		n = 150
	}
	var all sync.WaitGroup
	for _, p := range []string{"/v1/organizers?limit=200", "/openapi.json", "/docs", s.task + "/evaluations?limit=200"} {
		all.Go(func() { s.hold(ctx, y, n, []byte("GET "+p+" HTTP/1.1\r\nHost: a\r\n\r\n"), "") })
	}
	all.Wait()
}

func idleConnections(ctx context.Context, s *site, y *tally) { s.hold(ctx, y, 800, nil, "") }
