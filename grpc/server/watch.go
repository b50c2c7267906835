package server

import (
	"context"
	"errors"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/runs"
	"assay/shared/store"
	"assay/shared/visibility"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Times of a stream.
const (
	watchTime = time.Hour   // until it is ended, to be taken up again: so a server's streams move on to its successors
	grantTime = time.Minute // how old the grants of its caller may be when something is sent
)

// watcher is one who watches a run: the caller, and how far the stream is. It serves one goroutine.
type watcher struct {
	hub   *hub
	now   func() time.Time
	topic *topic
	place
	seen     int64 // order of the image that was told last
	viewer   visibility.Viewer
	granted  time.Time     // when the grants were read
	look     time.Duration // how often a run that waits for a worker is looked at again
	unserved bool          // whether the run was sent last with the diagnostic that no worker serves it
	older    [logs]older   // lines that the topic has no more
	send     func(watchUpdate) error
}

// watchUpdate is what a message shows.
type watchUpdate struct {
	run   *record.Run // nil when there are only lines
	lines []numbered
	token string
}

// errResume ends a stream that can go on elsewhere.
var errResume error = problem.Unavailable.New("The stream has lasted long enough. Watch the run again with the resume_token of the last message that came: nothing is lost.").After(time.Second)

// WatchRun implements assayv1.RunServiceServer.
func (s *runService) WatchRun(in *assayv1.WatchRunRequest, stream grpc.ServerStreamingServer[assayv1.WatchRunResponse]) error {
	fields := checkID("/run_id", in.GetRunId())
	var from place
	if len(fields) == 0 && in.GetResumeToken() != "" {
		from, fields = parseToken(in.GetRunId(), in.GetResumeToken())
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	w := &watcher{hub: s.hub, now: s.env.Now, place: from, viewer: *s.viewer(stream.Context()), look: grantTime}
	w.send = func(m watchUpdate) error { return stream.Send(protoUpdate(m)) }
	return w.watch(stream.Context(), in.GetRunId(), watchTime)
}

// watch sends the run, as it is or from the watcher's place on, and what becomes of it, until it has ended. It returns nil
// then, visibility.Missing when there is no such run or the caller may not see it any more, and errResume when the stream
// has lasted for so long.
func (w *watcher) watch(ctx context.Context, runID string, long time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(long, func() { cancel(errResume) })
	defer timer.Stop()
	w.topic = w.hub.join(runID) // before the run is read, so that nothing that is written since is missed
	defer w.hub.leave(w.topic)
	defer w.rest()
	err := w.begin(ctx, runID)
	if err == nil {
		err = w.follow(ctx)
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errResume) {
		return cause
	}
	return err
}

// begin reads the run and finds the place to begin at. It reads what showing the run reads, so that nobody learns from it
// which runs there are, or are watched; what the topic then lacks is not older than the token.
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
		w.version, w.seen = newest.run.Version-1, newest.order-1
		return nil
	}
	return problem.Check(w.ahead(newest.run, roles))
}

// follow sends each image of the run with the lines that it counts, and waits for more.
func (w *watcher) follow(ctx context.Context) error {
	for {
		next, newest, changed, err := w.topic.after(w.seen)
		if err != nil {
			return err
		}
		if err := w.tell(ctx, next.run); err != nil {
			return err
		}
		w.seen = next.order
		if next != newest {
			continue
		}
		if newest.run.State.Ended() {
			return nil
		}
		var later <-chan time.Time
		if newest.run.AwaitsWorker() {
			later = time.After(w.look)
		}
		select {
		case <-changed:
		case <-later:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tell sends the image, unless it was sent, and the lines up to those that it counts, in as many messages as that takes. Who
// may see what is decided for each of them, by the run as it is known then, and also when there is nothing to send: what decides
// it may be all that has changed.
func (w *watcher) tell(ctx context.Context, run *record.RunItem) error {
	for more := true; more; more = run.Version > w.version || w.behind(run) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		known, err := w.topic.newest()
		if err != nil {
			return err
		}
		newest := known.run
		roles, err := w.roles(ctx, newest)
		if err != nil {
			return err
		}
		if !access.Sees(roles, newest.Scope().Audience) {
			return visibility.Missing
		}
		var s watchUpdate
		at := w.place
		if s.run, err = w.show(ctx, run, newest.Access, roles); err != nil {
			return err
		}
		at.version = max(at.version, run.Version)
		var b batch
		for i, k := range record.LogKinds {
			if until := counted(run, k); at.lines[i] < until && newest.ReadsLog(k, roles) {
				if at.lines[i], err = w.read(ctx, i, newest, at.lines[i], until, &b); err != nil {
					return err
				}
			}
		}
		if s.lines = b.lines; s.run == nil && len(s.lines) == 0 {
			return nil // what there is is not for the caller
		}
		s.token = at.token(run.ID)
		if err := w.send(s); err != nil {
			return err
		}
		w.place = at
	}
	return nil
}

// show returns the run as the caller is shown it now, or nil when it was sent like that.
func (w *watcher) show(ctx context.Context, run *record.RunItem, now record.AccessAttributes, roles access.Role) (*record.Run, error) {
	reader := runs.Reader{Viewer: &w.viewer, Now: w.now()}
	unserved, err := reader.Unserved(ctx, run, roles)
	if err != nil || run.Version < w.version || run.Version == w.version && unserved == w.unserved {
		return nil, err
	}
	w.unserved = unserved
	item := *run
	item.Access = now
	shown, err := reader.Show(ctx, &item, roles)
	if err != nil {
		return nil, err
	}
	return &shown, w.viewer.Name(ctx, shown.People())
}

// behind reports whether the run has lines that were not sent.
func (w *watcher) behind(run *record.RunItem) bool {
	for i, k := range record.LogKinds {
		if w.lines[i] < counted(run, k) {
			return true
		}
	}
	return false
}

// counted is how many lines the log of the run has.
func counted(run *record.RunItem, k record.LogKind) int64 {
	state, _, _ := run.Log(k)
	return state.Lines
}

// roles returns what the caller is to the run, by grants that are not too old.
func (w *watcher) roles(ctx context.Context, run *record.RunItem) (access.Role, error) {
	if now := w.now(); now.Sub(w.granted) > grantTime {
		w.viewer.Forget()
		w.granted = now
	}
	return w.viewer.Roles(ctx, run.Scope())
}

// logNames are the logs as they travel.
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
		out.Lines = append(out.Lines, &assayv1.LogLine{Log: logNames[l.kind], Number: l.number, Time: timestamppb.New(l.At.Time), Stream: stream, Text: l.Text})
	}
	return out
}
