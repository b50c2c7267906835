package server

import (
	"context"
	"sync"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
)

// What is kept of each log that is watched, and how much of what came waits to be looked at.
const (
	recentLines = 4096
	recentBytes = 512 << 10
)

// unknown is the first line of a log that nobody has looked at.
const unknown = -1

// recent keeps the last lines of a log, so that however many follow it the store is read once, or not at all when the lines
// were written here.
type recent struct {
	store store.Store
	files blob.Store
	kind  record.LogKind

	incomingMu    sync.Mutex   // for the store's hook, which must not wait for a read of the store
	incoming      []store.Item // chunks that were not decoded yet
	incomingBytes int          // their bytes

	mu    sync.Mutex // held while the store is read
	first int64      // the number of the first line that is kept
	lines []record.LogLine
	bytes int
}

// numbered is a line with its place in a log.
type numbered struct {
	record.LogLine
	kind   record.LogKind
	number int64
}

// lineBytes is about how many bytes a line takes, here and in a message.
func lineBytes(l record.LogLine) int { return 64 + len(l.Text) }

// put takes a chunk. One too many is left to be read from the store.
func (r *recent) put(chunk store.Item) {
	r.incomingMu.Lock()
	defer r.incomingMu.Unlock()
	if r.incomingBytes+len(chunk.Data) > recentBytes {
		return
	}
	r.incoming = append(r.incoming, chunk)
	r.incomingBytes += len(chunk.Data)
}

// read adds to the batch the lines from the number on, up to the one of the number until, which the run has. It returns the
// number behind them. Lines that are older than those kept are not found, which it says.
func (r *recent) read(ctx context.Context, run *record.RunItem, from, until int64, to *batch) (next int64, found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == unknown {
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
	for next < min(until, r.end()) && to.add(numbered{r.lines[next-r.first], r.kind, next}) {
		next++
	}
	return next, true, nil
}

// begin decides what is kept: a log from its first line on, or, when it is too long, what comes from now on.
func (r *recent) begin(run *record.RunItem) {
	r.first = 0
	state, _, _ := run.Log(r.kind)
	if state.Lines > recentLines || state.Bytes+64*state.Lines > recentBytes {
		r.first = state.Lines
	}
}

func (r *recent) end() int64 { return r.first + int64(len(r.lines)) }

// appendIncoming looks at the chunks that came. What does not follow the lines that are kept is read from the store when somebody
// wants it.
func (r *recent) appendIncoming() error {
	r.incomingMu.Lock()
	came := r.incoming
	r.incoming, r.incomingBytes = nil, 0
	r.incomingMu.Unlock()
	for _, it := range came {
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

// fill reads from the store what is missing of the lines before the one of the number until, or gives up what it keeps when
// that is too much.
func (r *recent) fill(ctx context.Context, run *record.RunItem, until int64) error {
	if until-r.end() > recentLines {
		clear(r.lines)
		r.first, r.lines, r.bytes = until, nil, 0
		return nil
	}
	for l, err := range runlog.From(ctx, r.store, r.files, run, r.kind, r.end()) {
		if err != nil {
			return err
		}
		if r.add(l); r.end() >= until {
			break
		}
	}
	return nil
}

// add keeps lines, and lets the oldest go when they are too many.
func (r *recent) add(more ...record.LogLine) {
	for _, l := range more {
		r.bytes += lineBytes(l)
	}
	r.lines = append(r.lines, more...)
	n := 0
	for len(r.lines)-n > recentLines || r.bytes > recentBytes {
		r.bytes -= lineBytes(r.lines[n])
		r.lines[n] = record.LogLine{}
		n++
	}
	r.first += int64(n)
	r.lines = r.lines[n:]
}
