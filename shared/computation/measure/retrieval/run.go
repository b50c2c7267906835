package retrieval

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// limits bound a run or truth, so that hostile files end with a diagnostic.
type limits struct{ topics, lines int }

var standardLimits = limits{topics: bounds.Topics, lines: bounds.RunLines}

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
	faults   measure.Report      // without the name of the file
	warnings [warningKinds]fault // the first of each kind; line 0 if there is none
	pairs    neighbours
	tags     tags
}

// The kinds of warnings about lines. Only the first of each kind in a file is reported.
const (
	tooLong      = iota // more than six fields
	misordered          // rank and score contradict the line before
	commented           // a comment looks like a line of a topic
	warningKinds        // the number of kinds
)

const (
	tooLongText    = "the line has more than six fields; what follows the sixth is ignored, here and in any other line; no id has spaces"
	misorderedText = "rank and score contradict those of the line before; documents are ranked only by score, the highest first, here and " +
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
	options measure.Options
	names   []string // topics of the truth
	known   map[string]int32
	most    int // limit of others
	mu      sync.Mutex
	index   map[string]int32
	others  []string
	full    atomic.Bool // others exceeded the limit
}

// unselected is the number of all topics that are not selected.
const unselected = -1

// number returns the number of a topic, or unselected. ok is false if there are too many topics.
func (t *topics) number(name []byte, selector measure.Selector) (number int32, ok bool) {
	if i, ok := t.known[string(name)]; ok {
		return i, true
	}
	if !selector.Selects(name) {
		return unselected, true
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
	numbers      fields.Numbers // of the file
}

// runReader reads the files of a run in one pass. The goroutine of readRun reads and unpacks chunks, and parsers run on all cores.
type runReader struct {
	run     *run
	limits  limits
	jobs    chan job
	buffers chan []byte  // memory of parsed chunks
	faults  atomic.Int64 // of all parsed chunks
	records atomic.Int64
	mu      sync.Mutex // guards run.blocks
}

// readRun reads the files. The report is nil only if there is an error.
func readRun(ctx context.Context, q *Qrels, limits limits, files []measure.File) (*run, *measure.Report, error) {
	parsers := runtime.GOMAXPROCS(0)
	r := &runReader{
		run: &run{
			files:  lists.Map(files, func(f measure.File) string { return f.Name }),
			topics: &topics{options: q.options, names: q.names, known: q.index, most: limits.topics, index: map[string]int32{}},
		},
		limits:  limits,
		jobs:    make(chan job, parsers),
		buffers: make(chan []byte, 2*parsers+2),
	}
	var parsing sync.WaitGroup
	for range parsers {
		parsing.Go(r.parseJobs)
	}
	perFile, err := r.readFiles(ctx, files)
	close(r.jobs)
	parsing.Wait()
	if err != nil {
		return nil, nil, err
	}
	report := r.run.report(perFile)
	if len(perFile) > 0 {
		r.reportLimits(report, r.run.files[len(perFile)-1])
	}
	return r.run, report, nil
}

// readFiles passes the chunks of the files to the parsers, until a limit is exceeded. It returns the readers' faults by file, for the files
// that it has read or begun.
func (r *runReader) readFiles(ctx context.Context, files []measure.File) (perFile []*measure.Report, err error) {
	counter := steps.Of(ctx)
	chunks := 0
	counted := int64(0) // faults whose steps were counted
	text := int64(0)    // bytes of the files before
	for i, f := range files {
		if r.full() {
			break
		}
		found := &measure.Report{Text: text}
		perFile = append(perFile, found)
		in := lines.NewReader(ctx, f.Name, f.Content, found)
		numbers := fields.OtherNumbers
		for !r.full() {
			chunk, ok := in.Next(r.buffer())
			if !ok {
				break
			}
			if chunk.First == 1 {
				numbers = fields.NumbersOf(in.Head())
			}
			r.jobs <- job{number: chunks, file: i, chunk: chunk, numbers: numbers}
			chunks++
			faults := r.faults.Load()
			if err := counter.Add(lines.PerFault * int(faults-counted)); err != nil {
				return nil, err
			}
			counted = faults
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		text = found.Text
	}
	return perFile, nil
}

// full reports whether reading on is useless, because a limit is exceeded or there are too many faults.
func (r *runReader) full() bool {
	return r.tooManyLines() || r.run.topics.full.Load() || r.faults.Load() >= measure.MaxFaults
}

func (r *runReader) tooManyLines() bool { return r.records.Load() > int64(r.limits.lines) }

// buffer returns the memory of a parsed chunk, or nil if no parser has finished a chunk.
func (r *runReader) buffer() []byte {
	select {
	case buffer := <-r.buffers:
		return buffer
	default:
		return nil
	}
}

// parseJobs is the work of one parser.
func (r *runReader) parseJobs() {
	p := parser{topics: r.run.topics, selector: r.run.topics.options.Selector()}
	for j := range r.jobs {
		b := p.parse(&j.chunk, j.numbers)
		b.file = j.file
		r.buffers <- j.chunk.Recycle()
		r.faults.Add(int64(b.faults.Errors()))
		r.records.Add(int64(len(b.records)))
		r.put(j.number, b)
	}
}

// put stores the block of a chunk. The parsers finish the chunks in any order.
func (r *runReader) put(number int, b block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.run.blocks) <= number {
		r.run.blocks = append(r.run.blocks, block{})
	}
	r.run.blocks[number] = b
}

// reportLimits reports the limits that the run exceeds. file is the last file that was read or begun.
func (r *runReader) reportLimits(report *measure.Report, file string) {
	if r.tooManyLines() {
		report.Errorf(file, 0, "the run has more than %d lines; leave out low ranks", r.limits.lines)
	}
	if r.run.topics.full.Load() {
		report.Errorf(file, 0, "more than %d topics of the run are not in the truth; check the first field of the lines", r.limits.topics)
	}
}

// report merges the faults of the readers and of the parsers.
func (r *run) report(perFile []*measure.Report) *measure.Report {
	report := &measure.Report{}
	if len(r.files) == 0 {
		report.Errorf("", 0, "there is no file of the run")
	}
	for i, found := range perFile {
		r.reportFile(report, i, found)
	}
	return report
}

// reportFile reports the faults of a file in the order of lines, and then the first warning of each kind. found are the reader's faults.
func (r *run) reportFile(report *measure.Report, file int, found *measure.Report) {
	name := r.files[file]
	all := []*measure.Report{found}
	var warnings [warningKinds]fault
	var pairs neighbours
	records := 0
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.file != file {
			continue
		}
		all = append(all, &b.faults)
		for kind, w := range b.warnings {
			warnings[kind] = cmp.Or(warnings[kind], w)
		}
		pairs.add(b.pairs)
		records += len(b.records)
	}
	if records == 0 && r.topics.options.Only == nil && !slices.ContainsFunc(all, (*measure.Report).Failed) {
		report.Errorf(name, 0, "the file is empty or has no lines; each line needs "+fields.RunLayout)
	}
	report.AddAll(name, all...)
	for _, w := range warnings {
		if w.line > 0 {
			report.Warnf(name, w.line, "%s", w.message)
		}
	}
	if warning := pairs.warning(); warning != "" && warnings[misordered].line == 0 {
		report.Warnf(name, 0, "%s", warning)
	}
}
