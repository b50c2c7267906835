package retrieval

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// limits bound a run or truth, so that hostile files end with a diagnostic.
type limits struct{ topics, lines int }

var standardLimits = limits{topics: 1_000_000, lines: 50_000_000}

// run is the content of a run's files.
type run struct {
	files  []string
	blocks []block // in the order of the files
	topics *topics
}

// block holds the records of one chunk of a file.
type block struct {
	file     int
	first    int // number of the first line
	records  []runRecord
	docs     []byte // the ids of the records' documents
	spans    []span
	faults   []fault
	warnings [warningKinds]fault // the first of each kind; line 0 if there is none
}

// The kinds of warnings about lines. Only the first of each kind in a file is reported.
const (
	tooLong      = iota // more than six fields
	misordered          // rank and score contradict the line before
	commented           // a comment looks like a line of a topic
	warningKinds        // the number of kinds
)

const (
	tooLongText    = "the line has more than six fields; what follows the sixth is ignored, here and in any other line"
	misorderedText = "rank and score contradict those of the line before; documents are ranked by score alone, the highest first, here and " +
		"in any other line: if less is better in your scores, change their sign"
)

// runRecord is one line of a run. It takes only 16 bytes, because a run has millions of records.
type runRecord struct {
	score float64
	doc   uint32 // where the document's id starts in the block's docs
	size  uint16
}

// span is a sequence of records of one topic in consecutive lines. It ends where the next span starts.
type span struct {
	topic int32
	first uint32
	line  uint32 // line of the first record, relative to the block's first line
}

type fault struct {
	line    int
	message string
}

func (b *block) doc(r *runRecord) []byte { return b.docs[r.doc : r.doc+uint32(r.size)] }

// end returns the index after the last record of a span.
func (b *block) end(span int) uint32 {
	if span+1 < len(b.spans) {
		return b.spans[span+1].first
	}
	return uint32(len(b.records))
}

// line returns the line number of a record.
func (b *block) line(record int) int {
	i, found := slices.BinarySearchFunc(b.spans, uint32(record), func(s span, r uint32) int { return cmp.Compare(s.first, r) })
	if !found {
		i--
	}
	return b.first + int(b.spans[i].line) + record - int(b.spans[i].first)
}

// topics numbers the topics of a run. Topics of the truth have their numbers in the truth. Other topics get the next numbers in the order
// in which the parsers find them. It is safe for concurrent use.
type topics struct {
	names  []string // topics of the truth
	known  map[string]int32
	most   int // limit of others
	mu     sync.Mutex
	index  map[string]int32
	others []string
	full   atomic.Bool // others exceeded the limit
}

// number returns the number of a topic. ok is false if there are too many topics.
func (t *topics) number(name []byte) (int32, bool) {
	if i, ok := t.known[string(name)]; ok {
		return i, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.index[string(name)]; ok {
		return i, true
	}
	if len(t.others) >= t.most {
		t.full.Store(true)
		return 0, false
	}
	i := int32(len(t.known) + len(t.others))
	t.others = append(t.others, string(name))
	t.index[string(name)] = i
	return i, true
}

func (t *topics) name(topic int) string {
	if topic < len(t.names) {
		return t.names[topic]
	}
	return t.others[topic-len(t.names)]
}

// topicNames returns the topics of the run, starting with topics of the truth.
func (r *run) topicNames(counter *steps.Counter) (names []string) {
	found := make([]bool, len(r.topics.names)+len(r.topics.others))
	for _, b := range r.blocks {
		if counter.Add(len(b.spans)) != nil {
			return nil
		}
		for _, s := range b.spans {
			found[s.topic] = true
		}
	}
	for topic, ok := range found {
		if ok {
			names = append(names, r.topics.name(topic))
		}
	}
	return names
}

// job is a chunk on its way to a parser.
type job struct {
	number, file int
	chunk        lines.Chunk
}

// readRun reads the files in one pass. The caller's goroutine reads and unpacks, and parsers run on all cores. The report is nil only if
// there is an error.
func readRun(ctx context.Context, q *Qrels, limits limits, files []measure.File) (*run, *measure.Report, error) {
	r := &run{topics: &topics{names: q.names, known: q.index, most: limits.topics, index: map[string]int32{}},
		files: lists.Map(files, func(f measure.File) string { return f.Name })}
	var (
		parsers = runtime.GOMAXPROCS(0)
		jobs    = make(chan job, parsers)
		buffers = make(chan []byte, 2*parsers+2)
		wait    sync.WaitGroup
		mu      sync.Mutex
		faults  atomic.Int64
		records atomic.Int64
	)
	for range parsers {
		p := parser{topics: r.topics}
		wait.Go(func() {
			for j := range jobs {
				b := p.parse(&j.chunk)
				b.file = j.file
				buffers <- j.chunk.Recycle()
				faults.Add(int64(len(b.faults)))
				records.Add(int64(len(b.records)))
				mu.Lock()
				for len(r.blocks) <= j.number {
					r.blocks = append(r.blocks, block{})
				}
				r.blocks[j.number] = b
				mu.Unlock()
			}
		})
	}
	var perFile []*measure.Report // the readers' faults
	var err error
	count := 0
	text := int64(0) // bytes of the files before
	for i, f := range files {
		found := &measure.Report{Text: text}
		perFile = append(perFile, found)
		in := lines.NewReader(ctx, f.Name, f.Content, found)
		for records.Load() <= int64(limits.lines) && !r.topics.full.Load() && faults.Load() < measure.MaxDiagnostics {
			var buffer []byte
			select {
			case buffer = <-buffers:
			default:
			}
			chunk, ok := in.Next(buffer)
			if !ok {
				break
			}
			jobs <- job{count, i, chunk}
			count++
		}
		text = found.Text
		if err = in.Err(); err != nil {
			break
		}
	}
	close(jobs)
	wait.Wait()
	if err != nil {
		return nil, nil, err
	}
	report := r.report(perFile)
	if records.Load() > int64(limits.lines) {
		report.Errorf(files[len(perFile)-1].Name, 0, "the run has more than %d lines; leave out low ranks", limits.lines)
	}
	if r.topics.full.Load() {
		report.Errorf(files[len(perFile)-1].Name, 0, "more than %d topics of the run are not in the truth; check the first field of the lines",
			limits.topics)
	}
	return r, report, nil
}

// report merges the faults of the readers and of the parsers, in the order of lines.
func (r *run) report(perFile []*measure.Report) *measure.Report {
	report := &measure.Report{}
	if len(r.files) == 0 {
		report.Errorf("", 0, "there is no file of the run")
	}
	for i, found := range perFile {
		var list []measure.Diagnostic
		list = append(list, found.Diagnostics()...)
		var first [warningKinds]fault
		records := 0
		for _, b := range r.blocks {
			if b.file != i {
				continue
			}
			for _, f := range b.faults {
				list = append(list, measure.Diagnostic{Severity: measure.Error, File: r.files[i], Line: f.line, Message: f.message})
			}
			for kind, n := range b.warnings {
				first[kind] = cmp.Or(first[kind], n)
			}
			records += len(b.records)
		}
		if records == 0 && len(list) == 0 {
			report.Errorf(r.files[i], 0, "the file is empty or has no lines; each line needs topic, Q0, document, rank, score and tag")
		}
		slices.SortStableFunc(list, func(a, b measure.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
		for _, d := range list {
			report.Add(d)
		}
		for _, n := range first {
			if n.line > 0 {
				report.Warnf(r.files[i], n.line, "%s", n.message)
			}
		}
	}
	return report
}
