package server

import (
	"context"
	"sync"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
)

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
		r.first, r.lines, r.bytes = until, nil, 0
		return nil
	}
	for l, err := range r.stored.Lines(ctx, run, r.kind, r.end()) {
		if err != nil {
			return err
		}
		if r.add(l); r.end() >= until {
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
