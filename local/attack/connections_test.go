//go:build attack

package attack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/grpc/assayv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// slowTime returns the time for which slow callers hold their connections.
func (s *server) slowTime() time.Duration {
	return pick(s.profile, time.Second, 2*s.profile.flood)
}

// holdOpen opens connections, sends the beginning on each, and then trickles bytes until slowTime is over (Slowloris).
func (s *server) holdOpen(ctx context.Context, res *results, n int, beginning []byte, trickle string) {
	ctx, cancel := context.WithTimeout(ctx, s.slowTime())
	defer cancel()
	var all sync.WaitGroup
	d := &net.Dialer{Timeout: s.slowTime()}
	for range n {
		all.Go(func() {
			c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(s.program.url, "http://"))
			if err != nil {
				return // Refusing the connection is a valid answer.
			}
			defer func() { _ = c.Close() }()
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // A small buffer of the kernel makes the server hold the rest.
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

// slowReadersOfUser requests many lists of heavy records as one user, and reads none of them.
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

// refusedPause is the pause of an attacker after a call. Without it, calls that are refused at once would keep the processors busy that the
// bystander also needs.
const refusedPause = 100 * time.Millisecond

// grpcMessages sends messages of the largest size and of more, plain and compressed, without a token.
func grpcMessages(ctx context.Context, s *server, res *results) {
	ctx, cancel := context.WithTimeout(ctx, s.slowTime())
	defer cancel()
	var calls []grpcCall
	for _, text := range []string{repeat("x", 3<<20), repeat("\u202e", 3<<20), repeat("x", 16<<20)} {
		calls = append(calls, newGRPCCalls(assayv1.RunService_ListRuns_FullMethodName, &assayv1.ListRunsRequest{PageToken: text})...)
		calls = append(calls, newGRPCCalls(assayv1.WorkerService_Lease_FullMethodName, &assayv1.LeaseRequest{Worker: text})...)
	}
	var all sync.WaitGroup
	for range pick(s.profile, 2, 8) {
		connection := &http.Client{Transport: &http.Transport{Protocols: unencrypted()}}
		const callers = 4
		for n := range callers {
			all.Go(func() {
				for i := n; ctx.Err() == nil && (s.profile.full || i < len(calls)); i += callers {
					c := calls[i%len(calls)]
					res.addCall(c.method, len(c.frame), s.callGRPC(ctx, connection, c))
					time.Sleep(refusedPause)
				}
			})
		}
	}
	all.Wait()
}

// grpcCall is a call with one message in its wire format. It is encoded and compressed only once, because doing it for each call would keep
// the processors busy that the bystander also needs.
type grpcCall struct {
	method, coding string
	frame          []byte
}

// newGRPCCalls returns the call with its message plain, and compressed.
func newGRPCCalls(method string, m proto.Message) []grpcCall {
	plain, err := proto.Marshal(m)
	if err != nil {
		panic(err) // The messages of this package are valid.
	}
	frame := func(compression byte, message []byte) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{compression}, uint32(len(message))), message...)
	}
	return []grpcCall{
		{method, "identity", frame(0, plain)},
		{method, "gzip", frame(1, compressed(func(w io.Writer) { _, _ = w.Write(plain) }))},
	}
}

// callGRPC makes the call, and returns its status as an error.
func (s *server) callGRPC(ctx context.Context, connection *http.Client, c grpcCall) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.program.grpc+c.method, bytes.NewReader(c.frame))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Grpc-Encoding": {c.coding}}
	resp, err := connection.Do(r)
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	code, err := strconv.Atoi(cmp.Or(resp.Trailer.Get("Grpc-Status"), resp.Header.Get("Grpc-Status")))
	if err != nil {
		return fmt.Errorf("the answer has no status: %s, %v, %v", resp.Status, resp.Header, resp.Trailer)
	}
	return status.Error(codes.Code(code), resp.Trailer.Get("Grpc-Message"))
}

func unencrypted() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
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
