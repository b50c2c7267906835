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
	run  *watchedRun
	now  func() time.Time
	send func(*assayv1.WatchRunResponse) error

	viewer    visibility.Viewer
	grantedAt time.Time // when the viewer's grants were read
	caller    compute.Caller

	position                   // of the last message
	unserved bool              // whether the run was last sent with the diagnostic that no worker serves it
	pages    [logCount]logPage // the page of each log that the stream reads

	settled   int64 // the stored version of the run for which there was nothing to send
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
	s.grantedAt = s.now()
	s.viewer.Consistency = store.Strong
	run, roles, err := visibility.Get[record.RunItem](ctx, &s.viewer, runID, record.RunKey)
	if err != nil {
		return err
	}
	sight, err := s.reader().Sight(ctx, run, roles)
	if err != nil {
		return err
	}
	return problem.Check(s.checkReached(run, sight))
}

// follow sends message after message. While there is nothing to send, it waits until the run is written, or for an interval.
func (s *watchStream) follow(ctx context.Context) error {
	maxAge := time.Duration(0) // the first read sees everything that was written before the call
	for ctx.Err() == nil {
		run, woken, err := s.run.read(ctx, maxAge)
		if err != nil {
			return err
		}
		maxAge = s.run.interval
		sent, err := s.sendUnlessSettled(ctx, run)
		switch {
		case err != nil:
			return err
		case sent:
			continue
		case run.State.Ended():
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

// sendUnlessSettled sends the next message, and reports false if there is nothing to send.
func (s *watchStream) sendUnlessSettled(ctx context.Context, run *record.RunItem) (sent bool, err error) {
	if s.isSettled(run) {
		return false, nil
	}
	sent, err = s.sendNext(ctx, run)
	if err == nil && !sent {
		s.settled = run.Stored()
		s.settledAt = s.now()
	}
	return sent, err
}

// isSettled reports whether there was nothing to send for this version of the run. While the run waits for a worker, isSettled holds only
// for servingInterval, because workers come and go without a change of the run.
func (s *watchStream) isSettled(run *record.RunItem) bool {
	return s.settled == run.Stored() && (!run.AwaitsWorker() || s.now().Sub(s.settledAt) < servingInterval)
}

// sendNext sends the next message, and reports false if there is nothing more that the caller may see. It decides for each message what
// the caller may see now, by rules of the dataset that were read after the run.
func (s *watchStream) sendNext(ctx context.Context, run *record.RunItem) (sent bool, err error) {
	roles, err := s.roles(ctx, run)
	if err != nil {
		return false, err
	}
	if !access.Sees(roles, run.Scope().Audience) {
		return false, visibility.Missing
	}
	if roles&(access.Organizer|access.Admin) == 0 { // these see all values
		rules, err := s.run.rules(ctx, run)
		if err != nil {
			return false, err
		}
		s.viewer.UseRules(run.DatasetID, rules)
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
	if now := s.now(); now.Sub(s.grantedAt) > maxGrantsAge {
		s.viewer.Forget()
		s.grantedAt = now
	}
	return s.viewer.Roles(ctx, run.Scope())
}

func (s *watchStream) reader() *runview.Reader {
	return &runview.Reader{Viewer: &s.viewer, Now: s.now()}
}

// nextRun returns the run as the caller sees it, or nil if the client has that already.
func (s *watchStream) nextRun(ctx context.Context, run *record.RunItem, roles access.Role) (*assayv1.Run, error) {
	reader := s.reader()
	unserved, err := reader.Unserved(ctx, run, roles)
	if err != nil || !s.lacks(run, unserved) {
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

// lacks reports whether the client has not received this version of the run, or received it with another diagnostic about workers.
func (s *watchStream) lacks(run *record.RunItem, unserved bool) bool {
	return run.Version > s.version || run.Version == s.version && unserved != s.unserved
}

// logNames holds the protocol's name of each log.
var logNames = map[record.LogKind]assayv1.Log{
	record.ExecutionLog:  assayv1.Log_LOG_EXECUTION,
	record.EvaluationLog: assayv1.Log_LOG_EVALUATION,
}

// nextLines returns lines for a message, of the logs that the caller may read. It advances the position.
func (s *watchStream) nextLines(ctx context.Context, run *record.RunItem, roles access.Role) ([]*assayv1.LogLine, error) {
	sight, err := s.reader().Sight(ctx, run, roles)
	if err != nil {
		return nil, err
	}
	var batch lineBatch
	for log, kind := range record.LogKinds {
		if !sight.ReadsLog(kind) {
			continue
		}
		if err := s.addLines(ctx, &batch, run, log); err != nil {
			return nil, err
		}
	}
	return batch.lines, nil
}

// addLines moves the lines of a log after the position into the batch, until the log ends or the batch is full.
func (s *watchStream) addLines(ctx context.Context, batch *lineBatch, run *record.RunItem, log int) error {
	kind := record.LogKinds[log]
	for {
		left := lineCount(run, kind) - s.lines[log]
		if left <= 0 || batch.full() {
			return nil
		}
		page, err := s.pageLines(ctx, run, log)
		if err != nil {
			return err
		}
		for _, line := range page[:min(int64(len(page)), left)] { // a page may be newer than the run
			if batch.full() {
				return nil
			}
			batch.add(kind, s.lines[log], line)
			s.lines[log]++
		}
	}
}

// lineBatch gathers the lines of a message.
type lineBatch struct {
	lines []*assayv1.LogLine
	bytes int
}

func (b *lineBatch) full() bool { return len(b.lines) >= maxBatchLines || b.bytes >= maxBatchBytes }

func (b *lineBatch) add(kind record.LogKind, number int64, line record.LogLine) {
	stream, _ := keyOf(streams, line.Stream)
	b.lines = append(b.lines, &assayv1.LogLine{
		Log: logNames[kind], Number: number, Time: timestamppb.New(line.At.Time), Stream: stream, Text: line.Text,
	})
	b.bytes += lineBytes(line)
}

// lineBytes returns about how many bytes a line takes in memory or in a message.
func lineBytes(l record.LogLine) int { return 64 + len(l.Text) }
