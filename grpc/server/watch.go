package server

import (
	"context"
	"errors"
	"time"

	"assay/functions/runs"
	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/visibility"
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
	viewer  visibility.Viewer
	granted time.Time   // when the grants were read
	older   [logs]older // lines that the topic has no more
	send    func(sight) error
}

// sight is what a message shows.
type sight struct {
	run   *record.Run // nil when there are only lines
	lines []numbered
	token string
}

// errResume ends a stream that can go on elsewhere.
var errResume error = problem.Unavailable.New("The stream has to be taken up again. Watch the run again with the resume_token of the last message that came: nothing is lost.").After(time.Second)

// watch sends the caller the run, as it is or from where the token stands, and what becomes of it, until it has ended. It
// returns nil then, visibility.Missing when there is no such run or the caller may not see it any more, and errResume
// when the hub stops or the stream has lasted for the duration.
func (h *hub) watch(ctx context.Context, now func() time.Time, last time.Duration, caller access.Caller, runID, token string, send func(sight) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.over, func() { cancel(errResume) })()
	timer := time.AfterFunc(last, func() { cancel(errResume) })
	defer timer.Stop()
	w := watcher{hub: h, now: now, send: send, viewer: visibility.Viewer{Records: h.store, Caller: caller, Consistency: store.Strong}}
	err := w.begin(ctx, runID, token)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errResume) {
		return cause
	}
	return err
}

// begin finds the run and the place to begin at. It does the work that showing the run does, so that nobody learns from it
// which runs there are, or are watched.
func (w *watcher) begin(ctx context.Context, runID, token string) error {
	if !record.IsID(runID) {
		return visibility.Missing
	}
	w.topic = w.hub.join(runID) // before the run is read, so that nothing that is written since is missed
	defer w.hub.leave(w.topic)
	w.granted = w.now()
	run, _, err := runs.Get(ctx, &w.viewer, runID)
	if err != nil {
		return err
	}
	w.topic.add(&image{version: run.Version, run: run})
	newest, err := w.topic.newest()
	if err != nil {
		return err
	}
	w.version = newest.Version - 1
	if token != "" {
		if w.place, err = parseToken(runID, token); err != nil {
			return err
		}
		if err := w.of(newest); err != nil {
			return err
		}
	}
	defer w.rest()
	return w.follow(ctx)
}

// follow sends each image of the run with the lines that it counts, and waits for more.
func (w *watcher) follow(ctx context.Context) error {
	for {
		next, newest, bell, err := w.topic.after(w.version)
		if err != nil {
			return err
		}
		if err := w.tell(ctx, next); err != nil {
			return err
		}
		if next != newest {
			continue
		}
		if newest.State.Ended() {
			return nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tell sends the image, unless it was sent, and the lines up to those that it counts, in as many messages as that takes. Who
// may see what is decided for each of them, by the run as it is known then.
func (w *watcher) tell(ctx context.Context, run *record.RunItem) error {
	for run.Version > w.version || w.behind(run) {
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
		var s sight
		at := w.place
		if run.Version > w.version {
			shown := *run
			shown.Standing = newest.Standing
			seen := shown.For(roles)
			s.run, at.version = &seen, run.Version
		}
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
