package server

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/compute"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/runs"
	"assay/shared/store"
	"assay/shared/visibility"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Limits of a stream.
const (
	maxStreamDuration = time.Hour   // after which the client has to resume it, so that streams move to other servers
	maxGrantsAge      = time.Minute // of the caller's when a message is sent
)

// watcher is one stream of WatchRun: its caller, and how far it has come. It belongs to one goroutine.
type watcher struct {
	hub   *hub
	now   func() time.Time
	topic *topic
	position
	sent                int64 // order of the revision that was sent last
	viewer              visibility.Viewer
	caller              compute.Caller
	granted             time.Time             // when the grants were read
	servingPollInterval time.Duration         // how often to look whether a worker serves a run that waits for one
	unserved            bool                  // whether the run was last sent with the diagnostic that no worker serves it
	stored              [logCount]storedLines // by log, in the order of record.LogKinds
	send                func(watchUpdate) error
}

// watchUpdate is the content of a message.
type watchUpdate struct {
	run   *record.Run // nil when there are only lines
	lines []numberedLine
	token string
}

// errResume ends a stream that the client can resume on any server.
var errResume error = problem.Unavailable.New("The stream has lasted long enough. Watch the run again with the resume_token of the last " +
	"message that came: nothing is lost.").After(time.Second)

func (s *runService) WatchRun(in *assayv1.WatchRunRequest, stream grpc.ServerStreamingServer[assayv1.WatchRunResponse]) error {
	fields := checkID("/run_id", in.GetRunId())
	var from position
	if len(fields) == 0 && in.GetResumeToken() != "" {
		from, fields = parseToken(in.GetRunId(), in.GetResumeToken())
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	class, caller := callIn(stream.Context()).slotOwner()
	leave, err := s.watches.enter(caller)
	if err != nil {
		return err
	}
	defer leave()
	w := &watcher{hub: s.hub, now: s.env.Now, position: from, viewer: *s.viewer(stream.Context()), servingPollInterval: maxGrantsAge,
		caller: compute.Caller{Name: caller, LoggedIn: class != anonymousCallers}}
	w.send = func(m watchUpdate) error { return stream.Send(protoUpdate(m)) }
	return w.watch(stream.Context(), in.GetRunId(), maxStreamDuration)
}

// watch sends the run as it is now, or from the watcher's position on, and each change until the run has ended; then it returns
// nil. It returns visibility.Missing when there is no such run or the caller may no longer see it, and errResume after the duration.
func (w *watcher) watch(ctx context.Context, runID string, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(d, func() { cancel(errResume) })
	defer timer.Stop()
	w.topic = w.hub.join(runID) // before the run is read, so that no write is missed
	defer w.hub.leave(w.topic)
	defer w.closeLogs()
	err := w.begin(ctx, runID)
	if err == nil {
		err = w.follow(ctx)
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errResume) {
		return cause
	}
	return err
}

// begin reads the run and finds the position to begin at. It makes the same reads as GetRun, so that its duration reveals neither
// which runs exist nor which are watched. What the topic lacks afterwards is not older than the token.
func (w *watcher) begin(ctx context.Context, runID string) error {
	w.granted, w.viewer.Consistency = w.now(), store.Strong
	run, roles, err := visibility.Get[record.RunItem](ctx, &w.viewer, runID, record.RunKey)
	if err != nil {
		return err
	}
	w.topic.add(revisionOf(run))
	newest, err := w.topic.newest()
	if err != nil {
		return err
	}
	if w.version == 0 {
		w.version, w.sent = newest.Version-1, newest.Stored()-1
		return nil
	}
	return problem.Check(w.checkReached(newest, roles))
}

// follow sends each revision of the run with the lines that it counts, and waits for the next.
func (w *watcher) follow(ctx context.Context) error {
	for {
		next, newest, changed, err := w.topic.after(w.sent)
		if err != nil {
			return err
		}
		if err := w.sendRevision(ctx, next); err != nil {
			return err
		}
		w.sent = next.Stored()
		if next != newest {
			continue
		}
		if newest.State.Ended() {
			return nil
		}
		var servingDue <-chan time.Time
		if newest.AwaitsWorker() {
			servingDue = time.After(w.servingPollInterval)
		}
		select {
		case <-changed:
		case <-servingDue:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sendRevision sends the revision, unless it was sent, and the lines that it counts, in as many messages as that takes. For each
// message it decides by the newest revision what the caller may see. It does so even when there is nothing to send, because the
// caller's rights may be all that has changed.
func (w *watcher) sendRevision(ctx context.Context, run *record.RunItem) error {
	for more := true; more; more = run.Version > w.version || w.hasUnsentLines(run) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		newest, err := w.topic.newest()
		if err != nil {
			return err
		}
		roles, err := w.roles(ctx, newest)
		if err != nil {
			return err
		}
		if !access.Sees(roles, newest.Scope().Audience) {
			return visibility.Missing
		}
		var update watchUpdate
		at := w.position
		if update.run, err = w.show(ctx, run, newest.Access, roles); err != nil {
			return err
		}
		at.version = max(at.version, run.Version)
		var b lineBatch
		for i, k := range record.LogKinds {
			if until := lineCount(run, k); at.lines[i] < until && newest.ReadsLog(k, roles) {
				if at.lines[i], err = w.readLines(ctx, i, newest, at.lines[i], until, &b); err != nil {
					return err
				}
			}
		}
		if update.lines = b.lines; update.run == nil && len(update.lines) == 0 {
			return nil // the caller may see nothing of what is left
		}
		update.token = at.token(run.ID)
		if err := w.sendUpdate(update); err != nil {
			return err
		}
		w.position = at
	}
	return nil
}

// show returns the run as the caller sees it now, or nil when it was already sent like that.
func (w *watcher) show(ctx context.Context, run *record.RunItem, current record.AccessAttributes, roles access.Role) (*record.Run, error) {
	reader := runs.Reader{Viewer: &w.viewer, Now: w.now()}
	unserved, err := reader.Unserved(ctx, run, roles)
	if err != nil || run.Version < w.version || run.Version == w.version && unserved == w.unserved {
		return nil, err
	}
	w.unserved = unserved
	item := *run
	item.Access = current
	shown, err := reader.Show(ctx, &item, roles)
	if err != nil {
		return nil, err
	}
	return &shown, w.viewer.ResolvePeople(ctx, shown.People())
}

// hasUnsentLines reports whether the run has lines that were not sent.
func (w *watcher) hasUnsentLines(run *record.RunItem) bool {
	for i, k := range record.LogKinds {
		if w.lines[i] < lineCount(run, k) {
			return true
		}
	}
	return false
}

// counted is how many lines the log of the run has.
func lineCount(run *record.RunItem, k record.LogKind) int64 {
	state, _, _ := run.Log(k)
	return state.Lines
}

// roles returns the caller's roles for the run, by grants that are not older than maxGrantsAge.
func (w *watcher) roles(ctx context.Context, run *record.RunItem) (access.Role, error) {
	if now := w.now(); now.Sub(w.granted) > maxGrantsAge {
		w.viewer.Forget()
		w.granted = now
	}
	return w.viewer.Roles(ctx, run.Scope())
}

// logNames has the protocol's name of each log.
var logNames = map[record.LogKind]assayv1.Log{
	record.ExecutionLog:  assayv1.Log_LOG_EXECUTION,
	record.EvaluationLog: assayv1.Log_LOG_EVALUATION,
}

func protoUpdate(s watchUpdate) *assayv1.WatchRunResponse {
	out := &assayv1.WatchRunResponse{ResumeToken: s.token}
	if s.run != nil {
		out.Run = protoRun(*s.run)
	}
	for _, l := range s.lines {
		stream, _ := keyOf(streams, l.Stream)
		out.Lines = append(out.Lines, &assayv1.LogLine{Log: logNames[l.kind], Number: l.number, Time: timestamppb.New(l.At.Time), Stream: stream,
			Text: l.Text})
	}
	return out
}

// position is what a watcher has received. It grants nothing, so forging one gains nothing.
type position struct {
	version int64           // of the run
	lines   [logCount]int64 // of each log, in the order of record.LogKinds
}

// token encodes the position as a resume token: the run's id, the numbers and a checksum.
func (p position) token(runID string) string {
	b := make([]byte, 0, 48)
	b = append(b, runID...)
	b = binary.AppendUvarint(b, uint64(p.version))
	for _, n := range p.lines {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken decodes a resume token for the run, or returns what is wrong with it.
func parseToken(runID, token string) (p position, faults []problem.Field) {
	const malformed = "was not sent by the server"
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) < len(runID)+crc32.Size {
		return p, badToken(malformed)
	}
	named, rest := string(b[:len(runID)]), b[len(runID):]
	for _, n := range []*int64{&p.version, &p.lines[0], &p.lines[1]} {
		v, size := binary.Uvarint(rest)
		if size <= 0 || v > math.MaxInt64 {
			return position{}, badToken(malformed)
		}
		*n, rest = int64(v), rest[size:]
	}
	switch {
	case p.version == 0 || p.token(named) != token: // which compares the checksum too
		return position{}, badToken(malformed)
	case named != runID:
		return position{}, badToken("is of another run")
	}
	return p, nil
}

// checkReached refuses a position that the run has not reached. Logs that the roles do not allow to read are ignored, since their
// length could reveal their content.
func (p position) checkReached(run *record.RunItem, roles access.Role) []problem.Field {
	ahead := p.version > run.Version
	for i, k := range record.LogKinds {
		ahead = ahead || run.ReadsLog(k, roles) && p.lines[i] > lineCount(run, k)
	}
	if ahead {
		return badToken("names a position that the run has not reached")
	}
	return nil
}

func badToken(fault string) []problem.Field {
	return []problem.Field{{Pointer: "/resume_token", Detail: fault + ": send the token of the last message that you received, or none to " +
		"begin again"}}
}
