package record

import (
	"fmt"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/store"
)

// Limits of logs.
const (
	MaxLineBytes  = 8 << 10   // of one line; the rest of it is cut off
	MaxLogBytes   = 16 << 20  // of one log; what comes beyond is counted, and its end is kept in the tail
	MaxTailBytes  = 4 << 10   // of the tail that stands with the run
	maxChunkBytes = 200 << 10 // of one LogChunk as it is stored
	logTime       = 30 * 24 * time.Hour
)

// LogKind says which of a run's logs is meant.
type LogKind string

// The logs of a run.
const (
	// ExecutionLog is what executing the image or repository wrote.
	ExecutionLog LogKind = "execution"
	// EvaluationLog is what the organizer's own evaluator wrote, which had read the truth.
	EvaluationLog LogKind = "evaluation"
)

// LogKinds lists them.
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

// LogState is how far a log has come. Its lines are numbered from 0 over all attempts of the run.
type LogState struct {
	Lines   int64 `json:"lines,omitempty"`   // how many are kept
	Bytes   int64 `json:"bytes,omitempty"`   // of their texts
	Dropped int64 `json:"dropped,omitempty"` // how many are not, for want of room
	Sealed  int64 `json:"sealed,omitempty"`  // how many stand in the file of the whole log
}

// Logs has the state of each of a run's logs.
type Logs struct {
	Execution  LogState `json:"execution,omitzero"`
	Evaluation LogState `json:"evaluation,omitzero"`
}

// Log returns where the run keeps the log of the kind: its state, its tail, and the file of the whole.
func (r *RunItem) Log(k LogKind) (state *LogState, tail *string, whole **File) {
	if k == EvaluationLog {
		return &r.Logs.Evaluation, &r.EvaluationLogTail, &r.EvaluationLog
	}
	return &r.Logs.Execution, &r.LogTail, &r.ExecutionLog
}

// ReadsLog reports whether one who has the roles may read the log of the kind. Nobody but organizers reads what an
// evaluator wrote, and nobody but organizers reads of a run whose results are concealed.
func (r *RunItem) ReadsLog(k LogKind, roles access.Role) bool {
	switch {
	case roles&(access.Organizer|access.Admin) != 0:
		return true
	case k == EvaluationLog, r.Access.Conceals():
		return false
	default:
		return canSeeIdentity(roles) || r.Access.ShowsResults()
	}
}

// unsealed reports whether there are lines that the file of a whole log does not have.
func (r *RunItem) unsealed() bool {
	return r.Logs.Execution.Lines > r.Logs.Execution.Sealed || r.Logs.Evaluation.Lines > r.Logs.Evaluation.Sealed
}

// Tailed returns a tail with more lines behind it, cut to its limit at the beginning of a line where there is one.
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

// LogChunk is some consecutive lines of a log that is not sealed. It goes by itself, long after that.
type LogChunk struct {
	Meta
	RunID string    `json:"runId"`
	Kind  LogKind   `json:"kind"`
	First int64     `json:"first"` // the number of the first line
	Lines []LogLine `json:"lines"`
}

// Chunks splits lines, of which the first has the number, into chunks that the store takes.
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

// encodedBytes is how many bytes a line with the text has at most in JSON.
func encodedBytes(text string) int {
	n := 80 + len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f || c >= 0x80: // \u0000, and \u2028 for three bytes
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

// Key implements Record.
func (c *LogChunk) Key() store.Key { return LogKey(c.RunID, c.Kind, c.First) }

// LogKey is the key of the chunk that begins with the line of the number.
func LogKey(runID string, k LogKind, first int64) store.Key {
	return keyOf(KindRun, runID, fmt.Sprintf("LOG#%s#%012d", k, first))
}

// LogEnd is behind the sort keys of all chunks of the log.
func LogEnd(k LogKind) string { return "LOG#" + string(k) + "$" }

// Expiry is when the chunk goes, should nothing have deleted it.
func (c *LogChunk) Expiry() time.Time { return c.CreatedAt.Add(logTime) }
