package server

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"assay/shared/compute"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/visibility"
	"assay/shared/wait"
)

// Limits of a message, which stays in memory until its client takes it. With the last line, which may exceed the bytes, it fits a buffer of
// 32 KiB of gRPC, whose next ones have 1 MiB.
const (
	maxBatchLines = 200
	maxBatchBytes = 16 << 10
)

// lineBatch is the lines of a message.
type lineBatch struct {
	lines []numberedLine
	bytes int
}

func (b *lineBatch) full() bool { return len(b.lines) >= maxBatchLines || b.bytes >= maxBatchBytes }

func (b *lineBatch) add(l numberedLine) {
	b.lines, b.bytes = append(b.lines, l), b.bytes+lineBytes(l.LogLine)
}

// Watchers that are further behind than what the topics keep read the store. One takes some MB meanwhile, so that callers have shares. It
// gives its place back after a while, and also when its client takes no message for as long.
const (
	allStoredReads  = 8
	userStoredReads = 2
	storedReadWait  = 20 * time.Second
	storedReadTime  = time.Second
)

// storedLines iterates over the lines of a log in the store, for a watcher that is further behind than what the topic keeps.
type storedLines struct {
	next  func() (record.LogLine, error, bool)
	stop  func()
	slot  *compute.Slot
	until time.Time
}

// open begins at the line `from`, in a place of the caller.
func (s *storedLines) open(ctx context.Context, w *watcher, log int, run *record.RunItem, from int64) error {
	w.closeLogs() // nobody waits for a place while having one
	slot, err := w.hub.storedReads.Acquire(ctx, w.caller, compute.Amount{Slots: 1})
	if err != nil {
		return cmp.Or(context.Cause(ctx), errBusy)
	}
	s.slot, s.until = slot, time.Now().Add(storedReadTime)
	s.next, s.stop = iter.Pull2(w.hub.logs().Lines(ctx, run, record.LogKinds[log], from))
	return nil
}

func (s *storedLines) close() {
	if s.next != nil {
		s.stop()
		s.slot.Release()
		*s = storedLines{}
	}
}

// errBusy ends a stream whose caller reads more stored logs than its share.
var errBusy error = problem.Unavailable.New("Many logs are read at the moment. Watch the run again with the resume_token of the last " +
	"message that came: nothing is lost.").After(time.Second)

// closeLogs closes the iterators over stored lines.
func (w *watcher) closeLogs() {
	for i := range w.stored {
		w.stored[i].close()
	}
}

// sendUpdate sends a message. A client that does not take it keeps no place of those who read the store.
func (w *watcher) sendUpdate(update watchUpdate) error {
	var closing sync.WaitGroup
	closing.Add(1)
	timer := time.AfterFunc(storedReadTime, func() {
		defer closing.Done()
		w.closeLogs()
	})
	err := w.send(update)
	if !timer.Stop() {
		closing.Wait()
	}
	return err
}

// readLines adds lines of a log to the batch until it is full: those with numbers from `from` up to, and without, `until`, which
// the run has. It returns the number of the line after them.
func (w *watcher) readLines(ctx context.Context, log int, run *record.RunItem, from, until int64, b *lineBatch) (int64, error) {
	for pause := firstPause; from < until && !b.full(); {
		next, err := w.readStep(ctx, log, run, from, until, b)
		if err != nil {
			return from, err
		}
		if next > from {
			from, pause = next, firstPause
			continue
		}
		if err := w.awaitLine(ctx, record.LogKinds[log], from, pause); err != nil {
			return from, err
		}
		pause *= 2
	}
	if s := &w.stored[log]; from == until || time.Now().After(s.until) {
		s.close()
	}
	return from, nil
}

// readStep is one step of readLines: it reads lines from the topic or, when the topic no longer keeps them, from the store. When it
// returns `from`, the line is in neither.
func (w *watcher) readStep(ctx context.Context, log int, run *record.RunItem, from, until int64, b *lineBatch) (int64, error) {
	s := &w.stored[log]
	if s.next == nil {
		next, found, err := w.topic.logs[log].read(ctx, run, from, until, b)
		if err != nil || found {
			return next, err
		}
		if err := s.open(ctx, w, log, run, from); err != nil {
			return from, err
		}
	}
	for from < until && !b.full() {
		l, err, more := s.next()
		if err != nil {
			return from, err
		}
		if !more {
			s.close()
			break
		}
		b.add(numberedLine{l, record.LogKinds[log], from})
		from++
	}
	return from, nil
}

// Pauses before another look for a line that the run counts and that is not there.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// awaitLine waits for a line that the run counts and that is not there: while DynamoDB applies a transaction, a reader may see the
// changed run before the lines. It fails when the run was deleted, or when the line does not appear.
func (w *watcher) awaitLine(ctx context.Context, k record.LogKind, line int64, pause time.Duration) error {
	run, err := records.Require[record.RunItem](ctx, w.hub.store, store.Strong, w.topic.key, visibility.Missing)
	if err != nil {
		return err
	}
	if pause > longestPause {
		return fmt.Errorf("grpc: the %s log of run %s misses line %d", k, run.ID, line)
	}
	if !wait.Sleep(ctx, pause) {
		return context.Cause(ctx)
	}
	return nil
}

// Limits of what is kept of each watched log, and of the chunks that are not decoded yet.
const (
	maxRecentLines = 4096
	maxRecentBytes = 512 << 10
)

// notBegun is the number of the first kept line before the first read.
const notBegun = -1

// recentLog caches the last lines of a log for all who watch it. It reads the store once for all of them, and not at all for
// lines that this process wrote.
type recentLog struct {
	stored runlog.Logs
	kind   record.LogKind

	incomingMu    sync.Mutex   // for the store's hook, which must not wait for a read of the store
	incoming      []store.Item // chunks that were not decoded yet
	incomingBytes int          // their bytes

	mu    sync.Mutex // held while the store is read
	first int64      // the number of the first line that is kept
	lines []record.LogLine
	bytes int
}

// numberedLine is a line with its number in a log.
type numberedLine struct {
	record.LogLine
	kind   record.LogKind
	number int64
}

// lineBytes is about how many bytes a line takes, here and in a message.
func lineBytes(l record.LogLine) int { return 64 + len(l.Text) }

// put takes a chunk that was just written. One for which there is no room is read from the store later.
func (r *recentLog) put(chunk store.Item) {
	r.incomingMu.Lock()
	defer r.incomingMu.Unlock()
	if r.incomingBytes+len(chunk.Data) > maxRecentBytes {
		return
	}
	r.incoming = append(r.incoming, chunk)
	r.incomingBytes += len(chunk.Data)
}

// read adds lines to the batch until it is full: those with numbers from `from` up to, and without, `until`, which the run has. It
// returns the number of the line after them, and whether the line `from` is not older than the kept ones.
func (r *recentLog) read(ctx context.Context, run *record.RunItem, from, until int64, to *lineBatch) (next int64, found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == notBegun {
		r.begin(run)
	}
	if err := r.appendIncoming(); err != nil {
		return from, false, err
	}
	if until > r.end() && from >= r.first {
		if err := r.fill(ctx, run, until); err != nil {
			return from, false, err
		}
	}
	if from < r.first {
		return from, false, nil
	}
	next = from
	for next < min(until, r.end()) && !to.full() {
		to.add(numberedLine{r.lines[next-r.first], r.kind, next})
		next++
	}
	return next, true, nil
}

// begin decides what is kept: the log from its first line on or, when it is too long for that, only the lines that follow.
func (r *recentLog) begin(run *record.RunItem) {
	r.first = 0
	state, _, _ := run.Log(r.kind)
	if state.Lines > maxRecentLines || state.Bytes+64*state.Lines > maxRecentBytes {
		r.first = state.Lines
	}
}

func (r *recentLog) end() int64 { return r.first + int64(len(r.lines)) }

// appendIncoming decodes the chunks that came. Lines that do not follow the kept ones are read from the store when a watcher
// needs them.
func (r *recentLog) appendIncoming() error {
	r.incomingMu.Lock()
	chunks := r.incoming
	r.incoming, r.incomingBytes = nil, 0
	r.incomingMu.Unlock()
	for _, it := range chunks {
		c, err := records.Decode[record.LogChunk](it)
		if err != nil {
			return err
		}
		if known := r.end() - c.First; known >= 0 && known < int64(len(c.Lines)) {
			r.add(c.Lines[known:]...)
		}
	}
	return nil
}

// fill reads the lines up to `until` that are missing from the store or, when these are too many, forgets the kept lines.
func (r *recentLog) fill(ctx context.Context, run *record.RunItem, until int64) error {
	if until-r.end() > maxRecentLines {
		clear(r.lines)
		r.first = until
		r.lines = nil
		r.bytes = 0
		return nil
	}
	for l, err := range r.stored.Lines(ctx, run, r.kind, r.end()) {
		if err != nil {
			return err
		}
		r.add(l)
		if r.end() >= until {
			break
		}
	}
	return nil
}

// add keeps lines, and forgets the oldest when they are too many.
func (r *recentLog) add(more ...record.LogLine) {
	for _, l := range more {
		r.bytes += lineBytes(l)
	}
	r.lines = append(r.lines, more...)
	n := 0
	for len(r.lines)-n > maxRecentLines || r.bytes > maxRecentBytes {
		r.bytes -= lineBytes(r.lines[n])
		r.lines[n] = record.LogLine{}
		n++
	}
	r.first += int64(n)
	r.lines = r.lines[n:]
}
