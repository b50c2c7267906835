//go:build attack

package attack

import (
	"context"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"assay/grpc/assayv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
)

// slowTime is how long slow callers hold their connections in each profile.
func (s *server) slowTime() time.Duration {
	return pick(s.profile, time.Second, 2*s.profile.flood)
}

// holdOpen opens connections, sends each the beginning, and then some bytes from time to time until the time is over (Slowloris).
func (s *server) holdOpen(ctx context.Context, res *results, n int, beginning []byte, trickle string) {
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
			res.mu.Lock()
			res.requests, res.sent = res.requests+1, res.sent+int64(len(beginning))
			res.mu.Unlock()
			_ = c.SetDeadline(time.Now().Add(s.slowTime()))
			_, err = c.Write(beginning)
			for err == nil && ctx.Err() == nil {
				time.Sleep(200 * time.Millisecond)
				_, err = c.Write([]byte(trickle))
			}
		})
	}
	all.Wait()
}

func slowHeaders(ctx context.Context, s *server, res *results) {
	s.holdOpen(ctx, res, 400, []byte("GET /v1/tasks HTTP/1.1\r\nHost: a\r\nX-Slow: "+repeat("x", 48<<10)), "x")
}

// slowBodies sends large bodies at once, except for their last bytes.
func slowBodies(ctx context.Context, s *server, res *results) {
	n := pick(s.profile, 40, 120)
	head := fmt.Sprintf("POST /v1/tools/evaluator HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		maxBody)
	s.holdOpen(ctx, res, n, []byte(head+`{"runs":"`+repeat("x", maxBody-4<<10)), "x")
}

// slowReaders requests the largest answers, and reads none of them.
func slowReaders(ctx context.Context, s *server, res *results) {
	n := pick(s.profile, 20, 150)
	var all sync.WaitGroup
	for _, p := range []string{"/v1/organizers?limit=200", "/openapi.json", "/docs", s.task + "/evaluations?limit=200"} {
		all.Go(func() { s.holdOpen(ctx, res, n, []byte("GET "+p+" HTTP/1.1\r\nHost: a\r\n\r\n"), "") })
	}
	all.Wait()
}

// slowReadersOfUser is slowReaders with the login of one user, who reads none of many lists of heavy records.
func slowReadersOfUser(ctx context.Context, s *server, res *results) {
	n := pick(s.profile, 80, 150)
	beginning := "GET /v1/organizers?limit=200 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + s.attacker.token + "\r\n\r\n"
	s.holdOpen(ctx, res, n, []byte(beginning), "")
}

func idleConnections(ctx context.Context, s *server, res *results) {
	s.holdOpen(ctx, res, 800, nil, "")
}

// refusals are the codes with which the server may end a call of an attack.
var refusals = map[codes.Code]bool{
	codes.OK: true, codes.Unauthenticated: true, codes.PermissionDenied: true, codes.InvalidArgument: true, codes.NotFound: true,
	codes.ResourceExhausted: true, codes.Unavailable: true, codes.DeadlineExceeded: true, codes.Canceled: true,
}

// dial opens n connections.
func (s *server) dial(res *results, n int) (connections []*grpc.ClientConn, closeAll func()) {
	for range n {
		c, err := grpc.NewClient(s.program.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			res.fault("%v", err)
			continue
		}
		connections = append(connections, c)
	}
	return connections, func() {
		for _, c := range connections {
			_ = c.Close()
		}
	}
}

func (res *results) addCall(what string, sent int, err error) {
	res.mu.Lock()
	res.requests++
	res.sent += int64(sent)
	res.mu.Unlock()
	if code := status.Code(err); !refusals[code] {
		res.fault("%s: %v", what, err)
	}
}

// refusedPause is what an attacker waits after a call. Calls that are refused at once would keep the attacker's own processors busy,
// which are the bystander's too.
const refusedPause = 100 * time.Millisecond

// grpcMessages sends messages of the largest size and of more, plain and compressed, without a token.
func grpcMessages(ctx context.Context, s *server, res *results) {
	n := pick(s.profile, 2, 8)
	connections, closeAll := s.dial(res, n)
	defer closeAll()
	ctx, cancel := context.WithTimeout(ctx, s.slowTime())
	defer cancel()
	large := []string{repeat("x", 3<<20), repeat("\u202e", 3<<20), repeat("x", 16<<20)}
	var all sync.WaitGroup
	for n, c := range connections {
		for range 8 {
			all.Go(func() {
				for ; ctx.Err() == nil; time.Sleep(refusedPause) {
					text := large[n%len(large)]
					for _, compressor := range []string{encoding.Identity, gzip.Name} {
						_, err := assayv1.NewRunServiceClient(c).ListRuns(ctx, &assayv1.ListRunsRequest{PageToken: text}, grpc.UseCompressor(compressor))
						res.addCall("ListRuns", len(text), err)
						_, err = assayv1.NewWorkerServiceClient(c).Lease(ctx, &assayv1.LeaseRequest{Worker: text}, grpc.UseCompressor(compressor))
						res.addCall("Lease", len(text), err)
					}
					if !s.profile.full {
						return
					}
				}
			})
		}
	}
	all.Wait()
}

// grpcStreams watches a run on as many streams as connections allow.
func grpcStreams(ctx context.Context, s *server, res *results) {
	connections, closeAll := s.dial(res, 10)
	defer closeAll()
	ctx, cancel := context.WithTimeout(ctx, s.slowTime())
	defer cancel()
	var all sync.WaitGroup
	for _, c := range connections {
		for range 100 {
			all.Go(func() {
				for ctx.Err() == nil {
					stream, err := assayv1.NewRunServiceClient(c).WatchRun(ctx, &assayv1.WatchRunRequest{RunId: path.Base(s.oldRun)})
					for err == nil {
						_, err = stream.Recv()
					}
					if err.Error() != "EOF" {
						res.addCall("WatchRun", 0, err)
					}
					time.Sleep(refusedPause)
				}
			})
		}
	}
	all.Wait()
}
