package server

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"assay/shared/access"
	"assay/shared/panics"
	"assay/shared/problem"
	"assay/shared/record"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"
)

// maxRequestID is how long an id of a request may be; it is taken from the caller as over HTTP.
const maxRequestID = 128

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// call is what is known of one call on its way.
type call struct {
	server    *Server
	method    string
	requestID string
	started   time.Time
	caller    access.Caller
	received  func() // says that the first message is there, or is none
}

type callKey struct{}

// callIn returns the call of a context that tap has made.
func callIn(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// callerOf returns who called.
func callerOf(ctx context.Context) access.Caller { return callIn(ctx).caller }

const (
	receiveTime   = 20 * time.Second // for the first message of a call
	receivingWait = time.Second      // after which to try again when too many are on their way
)

// Rates of calls are not limited: WorkerService takes workers alone, RunService only reads, and a token that is not valid
// costs less to refuse than a read to answer. What counts is what is on its way at a time.

// tap decides about a call before anything of its message is read: who calls, whether he may, and whether there is room.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	c := &call{server: s, method: info.FullMethodName, started: time.Now()}
	md, _ := metadata.FromIncomingContext(ctx)
	if ids := md.Get(requestIDKey); len(ids) > 0 {
		c.requestID = ids[0]
	}
	if len(c.requestID) > maxRequestID || !requestIDs.MatchString(c.requestID) {
		c.requestID = record.NewID(c.started)
	}
	err := panics.Catch(func() error {
		if err := c.authenticate(ctx, md.Get(authorizationKey)); err != nil {
			return err
		}
		return authorize(c.caller, c.method)
	})
	if err == nil {
		ctx, err = c.receive(context.WithValue(ctx, callKey{}, c))
	}
	if err != nil {
		return ctx, c.end(ctx, err)
	}
	return ctx, nil
}

// receive lets the first message come, for a while.
func (c *call) receive(ctx context.Context) (context.Context, error) {
	receiving, cancel := context.WithCancel(ctx)
	of, caller := placeOf(ctx, c.caller)
	end, ok := c.server.arrivals.begin(of, caller, cancel)
	if !ok {
		cancel()
		return ctx, problem.Unavailable.New("Too many calls are on their way at the moment. Try again in a second.").After(receivingWait)
	}
	late := time.AfterFunc(receiveTime, cancel)
	over := sync.OnceFunc(func() {
		late.Stop()
		end()
	})
	unlink := context.AfterFunc(receiving, over)
	c.received = func() {
		unlink()
		over()
	}
	return receiving, nil
}

// authenticate finds out who calls. A token that is not valid is refused everywhere, for whoever sends one means to be known.
func (c *call) authenticate(ctx context.Context, values []string) (err error) {
	if len(values) == 0 {
		return nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") {
		return problem.InvalidToken.New("Send one value of the metadata authorization, of the form: Bearer <token>.")
	}
	c.caller, err = c.server.env.Verify(ctx, strings.TrimSpace(token))
	return err
}

// end returns the status of the call, and logs the call.
func (c *call) end(ctx context.Context, err error) error {
	attrs := []slog.Attr{
		slog.String("requestId", c.requestID), slog.String("method", c.method), slog.String("user", c.caller.ID), slog.Duration("took", time.Since(c.started)),
	}
	level := slog.LevelInfo
	code := codes.OK
	if err != nil {
		st := statusOf(ctx, err, c.requestID)
		switch code = st.Code(); code {
		case codes.Internal, codes.Unknown:
			level = slog.LevelError
		case codes.Unavailable:
			level = slog.LevelWarn
		}
		attrs = append(attrs, slog.Any("error", err))
		err = st.Err()
	}
	attrs = append(attrs, slog.String("code", code.String()))
	c.server.env.Log.LogAttrs(ctx, level, "call", attrs...)
	return err
}
