// Package runlog stores the logs of runs. While a run is worked on, its lines are chunks in the table, written in the transaction that
// checks the worker's lease, so that only its holder appends lines, each once. When the run has ended its logs are sealed: they
// become text files, and the chunks are deleted.
//
// record.RunItem.ReadsLog decides who may read a log.
package runlog

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/lists"
	"assay/shared/record"
	"assay/shared/records"
)

// Append adds to tx lines at the end of a log, and counts them in the run, which the transaction has to replace. Lines get the instant
// now. A line that is too long is cut; lines beyond the limit of a log are only counted, and shown by its tail.
func Append(tx *records.Tx, run *record.RunItem, k record.LogKind, lines []record.LogLine, now time.Time) {
	if len(lines) == 0 {
		return
	}
	state, tail, _ := run.Log(k)
	at := record.At(now)
	clean := lists.Map(lines, func(l record.LogLine) record.LogLine {
		return record.LogLine{At: at, Stream: l.Stream, Text: line(l.Text)}
	})
	*tail = record.Tailed(*tail, clean)
	record.Touch(run, now)
	kept := clean
	for i, l := range clean {
		if state.Dropped > 0 || state.Bytes+int64(len(l.Text)) > record.MaxLogBytes {
			kept = clean[:i]
			if state.Dropped == 0 {
				kept = append(kept[:i:i], record.LogLine{At: at, Stream: record.StreamWorker, Text: fmt.Sprintf(
					"The log has reached its limit of %d MiB. What comes after this line is not kept, except its end.", record.MaxLogBytes>>20)})
			}
			state.Dropped += int64(len(clean) - i)
			break
		}
		state.Bytes += int64(len(l.Text))
	}
	for _, c := range record.Chunks(now, run.ID, k, state.Lines, kept) {
		tx.Create(c)
	}
	state.Lines += int64(len(kept))
}

// line returns a text as one line of valid UTF-8 that is not too long.
func line(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\n", " ")
	if len(text) <= record.MaxLineBytes {
		return text
	}
	text = text[:record.MaxLineBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
