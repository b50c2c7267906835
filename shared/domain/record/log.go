package record

import (
	"fmt"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/storage/store"
)

// Limits of logs.
const (
	MaxLineBytes  = 8 << 10   // of a line; the rest of the line is cut off
	MaxLogBytes   = 16 << 20  // of a log; further lines are only counted, and the tail keeps the last of them
	MaxTailBytes  = 4 << 10   // of the tail, which the run holds
	maxChunkBytes = 200 << 10 // of a stored LogChunk
	logTime       = 30 * 24 * time.Hour
)

// LogKind names one of a run's logs.
type LogKind string

// The logs of a run.
const (
	// ExecutionLog is the output of executing the image or repository.
	ExecutionLog LogKind = "execution"
	// EvaluationLog is the output of the organizer's own evaluator, which had access to the ground truth (qrels, labels).
	EvaluationLog LogKind = "evaluation"
)

// LogKinds lists the logs of a run.
var LogKinds = []LogKind{ExecutionLog, EvaluationLog}

// The streams that a line is written to.
const (
	StreamStdout = "stdout"
	StreamStderr = "stderr"
	StreamWorker = "worker" // the worker itself, or the platform
)

// LogLine is a line of a log.
type LogLine struct {
	At     Instant `json:"at"` // when it reached the platform
	Stream string  `json:"stream"`
	Text   string  `json:"text"`
}

// LogState is the progress of a log. Its lines are numbered from 0 across all attempts of the run.
type LogState struct {
	Lines   int64 `json:"lines,omitempty"`   // lines that are kept
	Bytes   int64 `json:"bytes,omitempty"`   // size of their texts
	Dropped int64 `json:"dropped,omitempty"` // lines beyond MaxLogBytes
	Sealed  int64 `json:"sealed,omitempty"`  // lines in the file of the whole log
}

// Logs holds the state of each of a run's logs.
type Logs struct {
	Execution  LogState `json:"execution,omitzero"`
	Evaluation LogState `json:"evaluation,omitzero"`
}

// Log returns the run's members for the log of the kind: its state, its tail, and the file of the whole log.
func (r *RunItem) Log(k LogKind) (state *LogState, tail *string, whole **File) {
	if k == EvaluationLog {
		return &r.Logs.Evaluation, &r.EvaluationLogTail, &r.EvaluationLog
	}
	return &r.Logs.Execution, &r.LogTail, &r.ExecutionLog
}

// ReadsLog reports whether the caller may read the log of the kind. Only organizers may read the output of evaluators. Others read the
// log of the execution if they see all values of the run.
func (s Sight) ReadsLog(k LogKind) bool {
	return s.roles&(access.Organizer|access.Admin) != 0 || k == ExecutionLog && s.All()
}

// unsealed reports whether a log has lines that its file does not have.
func (r *RunItem) unsealed() bool {
	return r.Logs.Execution.Lines > r.Logs.Execution.Sealed || r.Logs.Evaluation.Lines > r.Logs.Evaluation.Sealed
}

// Tailed appends lines to a tail. If the result is too long, it drops the beginning, up to the end of a line if possible.
func Tailed(tail string, more []LogLine) string {
	var b strings.Builder
	b.WriteString(tail)
	for _, l := range more {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text)
	}
	tail = b.String()
	if len(tail) <= MaxTailBytes {
		return tail
	}
	tail = tail[len(tail)-MaxTailBytes:]
	if _, rest, ok := strings.Cut(tail, "\n"); ok {
		return rest
	}
	return strings.ToValidUTF8(tail, "")
}

// LogChunk holds consecutive lines of a log that is not sealed. The store deletes it by itself, long after the log is sealed.
type LogChunk struct {
	Meta
	RunID string    `json:"runId"`
	Kind  LogKind   `json:"kind"`
	First int64     `json:"first"` // the number of the first line
	Lines []LogLine `json:"lines"`
}

// Chunks splits lines into chunks that the store accepts. first is the number of the first line.
func Chunks(now time.Time, runID string, k LogKind, first int64, lines []LogLine) []*LogChunk {
	var chunks []*LogChunk
	var c *LogChunk
	size := 0
	for i, l := range lines {
		n := encodedBytes(l.Text)
		if c == nil || size+n > maxChunkBytes {
			c = &LogChunk{Meta: NewMeta(now), RunID: runID, Kind: k, First: first + int64(i)}
			size = 0
			chunks = append(chunks, c)
		}
		c.Lines, size = append(c.Lines, l), size+n
	}
	return chunks
}

// encodedBytes returns the greatest length of a line with the text in JSON, in bytes.
func encodedBytes(text string) int {
	n := 80 + len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f || c >= 0x80: // six bytes for one (\u0000) or for three (\u2028)
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

// Key implements Record.
func (c *LogChunk) Key() store.Key { return LogKey(c.RunID, c.Kind, c.First) }

// LogKey returns the key of the chunk that begins with the line number.
func LogKey(runID string, k LogKind, first int64) store.Key {
	return keyOf(KindRun, runID, fmt.Sprintf("LOG#%s#%012d", k, first))
}

// LogEnd returns a sort key greater than those of all chunks of the log.
func LogEnd(k LogKind) string { return "LOG#" + string(k) + "$" }

// Expiry returns when the store deletes the chunk, if nothing deleted it before.
func (c *LogChunk) Expiry() time.Time { return c.CreatedAt.Add(logTime) }
