package server

import (
	"context"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
	"assay/shared/service/runview"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Durations of a stream.
const (
	maxStreamDuration = time.Hour   // after which the client resumes the stream, so that streams move to other servers
	maxGrantsAge      = time.Minute // of the caller's grants when a message is sent
	servingInterval   = time.Minute // how often to look whether a worker serves a run that waits for one
)

// Limits of the lines of a message, which stays in memory until the client takes it. With the last line, which may exceed the bytes,
// a message fits into gRPC's buffer of 32 KiB. The next larger buffer has 1 MiB.
const (
	maxBatchLines = 200
	maxBatchBytes = 16 << 10
)

// errResume ends a stream that the client can resume on any server.
var errResume error = problem.Unavailable.New("The stream has lasted long enough. Watch the run again with the resume_token of the last " +
	"message that came: nothing is lost.").After(time.Second)

// watchStream is a stream of WatchRun. It belongs to one goroutine.
type watchStream struct {
	run    *watchedRun
	now    func() time.Time
	viewer visibility.Viewer
	caller compute.Caller
	send   func(*assayv1.WatchRunResponse) error

	position
	pages     [logCount]logPage // that the stream reads
	granted   time.Time         // when the grants were read
	unserved  bool              // whether the run was last sent with the diagnostic that no worker serves it
	settled   int64             // the stored version of the run that has nothing to send any more
	settledAt time.Time
}

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
	w := &watchStream{position: from, now: s.env.Now, viewer: *s.viewer(stream.Context()), send: stream.Send,
		caller: compute.Caller{Name: caller, LoggedIn: class != anonymousCallers}}
	return w.watch(stream.Context(), s.watched, in.GetRunId(), maxStreamDuration)
}

// watch sends everything after the position until the run has ended; then it returns nil. It returns visibility.Missing if the run does
// not exist or the caller may not see it any more, and errResume after the duration.
func (s *watchStream) watch(ctx context.Context, all *watchedRuns, runID string, d time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d, errResume)
	defer cancel()
	err := s.begin(ctx, runID)
	if err == nil {
		s.run = all.join(runID)
		defer s.run.leave()
		err = s.follow(ctx)
	}
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return err
}

// begin checks the caller's rights and the position. It makes the same reads as GetRun, so that its duration reveals neither which runs
// exist nor which are watched.
func (s *watchStream) begin(ctx context.Context, runID string) error {
	s.granted = s.now()
	s.viewer.Consistency = store.Strong
	run, roles, err := visibility.Get[record.RunItem](ctx, &s.viewer, runID, record.RunKey)
	if err != nil {
		return err
	}
	return problem.Check(s.checkReached(run, roles))
}

// follow sends message after message. While there is nothing to send, it waits until the run is written, or for an interval.
func (s *watchStream) follow(ctx context.Context) error {
	for maxAge := time.Duration(0); ctx.Err() == nil; maxAge = s.run.interval {
		run, woken, err := s.run.read(ctx, maxAge)
		if err != nil {
			return err
		}
		if !s.isSettled(run) {
			sent, err := s.sendNext(ctx, run)
			if err != nil {
				return err
			}
			if sent {
				continue
			}
			s.settled = run.Stored()
			s.settledAt = s.now()
		}
		if run.State.Ended() {
			return nil
		}
		select {
		case <-woken:
		case <-time.After(s.run.interval):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// isSettled reports whether there is nothing to send. That ends in an interval while the run waits for a worker, because workers come and
// go without a change of the run.
func (s *watchStream) isSettled(run *record.RunItem) bool {
	return s.settled == run.Stored() && (!run.AwaitsWorker() || s.now().Sub(s.settledAt) < servingInterval)
}

// sendNext sends the next message, and reports false if there is nothing more that the caller may see. It decides for each message what
// the caller may see now.
func (s *watchStream) sendNext(ctx context.Context, run *record.RunItem) (sent bool, err error) {
	roles, err := s.roles(ctx, run)
	if err != nil {
		return false, err
	}
	if !access.Sees(roles, run.Scope().Audience) {
		return false, visibility.Missing
	}
	out := &assayv1.WatchRunResponse{}
	if out.Run, err = s.nextRun(ctx, run, roles); err != nil {
		return false, err
	}
	if out.Lines, err = s.nextLines(ctx, run, roles); err != nil {
		return false, err
	}
	if out.Run == nil && len(out.Lines) == 0 {
		return false, nil
	}
	out.ResumeToken = s.token(run.ID)
	return true, s.send(out)
}

// roles returns the caller's roles for the run, by grants that are not older than maxGrantsAge.
func (s *watchStream) roles(ctx context.Context, run *record.RunItem) (access.Role, error) {
	if now := s.now(); now.Sub(s.granted) > maxGrantsAge {
		s.viewer.Forget()
		s.granted = now
	}
	return s.viewer.Roles(ctx, run.Scope())
}

// nextRun returns the run as the caller sees it, or nil if the client has that already.
func (s *watchStream) nextRun(ctx context.Context, run *record.RunItem, roles access.Role) (*assayv1.Run, error) {
	reader := runview.Reader{Viewer: &s.viewer, Now: s.now()}
	unserved, err := reader.Unserved(ctx, run, roles)
	if err != nil || run.Version < s.version || run.Version == s.version && unserved == s.unserved {
		return nil, err
	}
	shown, err := reader.Show(ctx, run, roles)
	if err != nil {
		return nil, err
	}
	if err := s.viewer.ResolvePeople(ctx, shown.People()); err != nil {
		return nil, err
	}
	s.version = run.Version
	s.unserved = unserved
	return protoRun(shown), nil
}

// logNames holds the protocol's name of each log.
var logNames = map[record.LogKind]assayv1.Log{
	record.ExecutionLog:  assayv1.Log_LOG_EXECUTION,
	record.EvaluationLog: assayv1.Log_LOG_EVALUATION,
}

// nextLines returns lines for a message, of the logs that the roles allow to read. It advances the position.
func (s *watchStream) nextLines(ctx context.Context, run *record.RunItem, roles access.Role) (batch []*assayv1.LogLine, err error) {
	bytes := 0
	for i, k := range record.LogKinds {
		if !run.ReadsLog(k, roles) {
			continue
		}
		var lines []record.LogLine
		number := &s.lines[i]
		for ; *number < lineCount(run, k) && len(batch) < maxBatchLines && bytes < maxBatchBytes; *number++ {
			if len(lines) == 0 {
				if lines, err = s.pageLines(ctx, run, i); err != nil {
					return nil, err
				}
			}
			line := lines[0]
			lines = lines[1:]
			stream, _ := keyOf(streams, line.Stream)
			batch = append(batch, &assayv1.LogLine{Log: logNames[k], Number: *number, Time: timestamppb.New(line.At.Time), Stream: stream,
				Text: line.Text})
			bytes += lineBytes(line)
		}
	}
	return batch, nil
}

// lineBytes returns about how many bytes a line takes in memory or in a message.
func lineBytes(l record.LogLine) int { return 64 + len(l.Text) }
