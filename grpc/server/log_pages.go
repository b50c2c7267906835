package server

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
	"assay/shared/service/runlog"
	"assay/shared/service/visibility"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Limits of pages. A read takes some MB of memory, so that callers have shares of the reads at a time.
const (
	maxPages      = 64
	maxPageBytes  = 256 << 10
	allPageReads  = 8
	userPageReads = 2
	pageReadWait  = 20 * time.Second
)

// logPages reads logs for streams, and keeps the pages that were used last. Streams that have received the same lines read the same page
// next, so new lines are read once for all streams of a run. A stream keeps no page, so a client that takes no message occupies no memory
// with lines.
type logPages struct {
	logs  runlog.Logs
	reads *compute.Pool
	kept  *lru.Cache[logPage, []record.LogLine]
}

// logPage names the lines of a log from a number on, as many as were there when they were read, up to maxPageBytes.
type logPage struct {
	runID string
	kind  record.LogKind
	first int64
}

func newLogPages(logs runlog.Logs) *logPages {
	kept, _ := lru.New[logPage, []record.LogLine](maxPages) // the size is positive
	return &logPages{logs: logs, reads: compute.NewPool(compute.Halved(allPageReads, userPageReads, pageReadWait)), kept: kept}
}

// errBusy ends a stream that waited too long for its turn to read the store.
var errBusy error = problem.Unavailable.New("Many logs are read at the moment. Watch the run again with the resume_token of the last " +
	"message that came: nothing is lost.").After(time.Second)

// readPage returns the lines of a page of the run. The run counts the first line.
func (r *watchedRun) readPage(ctx context.Context, caller compute.Caller, run *record.RunItem, page logPage) ([]record.LogLine, error) {
	if lines, ok := r.pages.kept.Get(page); ok {
		return lines, nil
	}
	slot, err := r.pages.reads.Acquire(ctx, caller, compute.Amount{Slots: 1})
	if err != nil {
		return nil, errBusy
	}
	defer slot.Release()
	r.readingPage.Lock()
	defer r.readingPage.Unlock()
	if lines, ok := r.pages.kept.Get(page); ok { // another stream of the run has read it meanwhile
		return lines, nil
	}
	var lines []record.LogLine
	bytes := 0
	for line, err := range r.pages.logs.Lines(ctx, run, page.kind, page.first) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		bytes += lineBytes(line)
		if bytes >= maxPageBytes {
			break
		}
	}
	if len(lines) == 0 {
		return nil, visibility.Missing // a run lacks counted lines only if it was deleted
	}
	r.pages.kept.Add(page, lines)
	return lines, nil
}

// pageLines returns lines of a log from the stream's position on.
func (s *watchStream) pageLines(ctx context.Context, run *record.RunItem, log int) ([]record.LogLine, error) {
	number, page := s.lines[log], &s.pages[log]
	if lines, ok := s.run.pages.kept.Get(*page); ok && number-page.first < int64(len(lines)) {
		return lines[number-page.first:], nil
	}
	*page = logPage{run.ID, record.LogKinds[log], number}
	return s.run.readPage(ctx, s.caller, run, *page)
}
