package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/panics"
	"assay/shared/problem"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"
)

// call is the state of one call.
type call struct {
	server      *Server
	method      string
	requestID   string
	started     time.Time
	caller      access.Caller
	releaseSlot func() // called when the first message was received, or there is none
}

type callKey struct{}

// callIn returns the call that tap has put into the context.
func callIn(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// callerOf returns the caller of the call.
func callerOf(ctx context.Context) access.Caller { return callIn(ctx).caller }

const (
	firstMessageTimeout = 20 * time.Second // in which a call's first message must arrive
	slotRetryDelay      = time.Second      // suggested to a call that gets no slot
)

// Call rates are not limited: only workers may call WorkerService, RunService only reads, and refusing an invalid token costs less
// than a read. Only concurrent calls are limited, by slots.

// tap authenticates and authorizes a call, and acquires a slot for it, before any of its message is read.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	c := &call{server: s, method: info.FullMethodName, started: time.Now()}
	md, _ := metadata.FromIncomingContext(ctx)
	sent := ""
	if ids := md.Get(requestIDKey); len(ids) > 0 {
		sent = ids[0]
	}
	c.requestID = auth.RequestID(sent, c.started)
	err := panics.Catch(func() error {
		if err := c.authenticate(ctx, md.Get(authorizationKey)); err != nil {
			return err
		}
		return authorize(c.caller, c.method)
	})
	if err == nil {
		ctx, err = c.acquireSlot(context.WithValue(ctx, callKey{}, c))
	}
	if err != nil {
		return ctx, c.end(ctx, err)
	}
	return ctx, nil
}

// acquireSlot takes a slot until the first message is received, which must be within firstMessageTimeout.
func (c *call) acquireSlot(ctx context.Context) (context.Context, error) {
	receiving, cancel := context.WithCancel(ctx)
	of, caller := slotOwner(ctx, c.caller)
	end, ok := c.server.slots.acquire(of, caller, cancel)
	if !ok {
		cancel()
		return ctx, problem.Unavailable.New("Too many calls are on their way at the moment. Try again in a second.").After(slotRetryDelay)
	}
	timeout := time.AfterFunc(firstMessageTimeout, cancel)
	release := sync.OnceFunc(func() {
		timeout.Stop()
		end()
	})
	unlink := context.AfterFunc(receiving, release)
	c.releaseSlot = func() {
		unlink()
		release()
	}
	return receiving, nil
}

// authenticate identifies the caller. Every method refuses an invalid token, since a client that sends one expects to be
// identified.
func (c *call) authenticate(ctx context.Context, values []string) error {
	token, err := auth.BearerToken(values)
	if err != nil || token == "" {
		return err
	}
	c.caller, err = c.server.env.Verify(ctx, token)
	return err
}

// end returns the status of the call, and logs the call.
func (c *call) end(ctx context.Context, err error) error {
	attrs := []slog.Attr{
		slog.String("requestId", c.requestID), slog.String("method", c.method), slog.String("user", c.caller.ID),
		slog.Duration("took", time.Since(c.started)),
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
