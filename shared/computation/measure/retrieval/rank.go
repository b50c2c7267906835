package retrieval

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/hashtable"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// rankedRecord is a record of a run in the ranking of its topic.
type rankedRecord struct {
	score         float64
	block, record uint32
	judgment      int32 // index of the judgment, or -1
	grade         int16
}

// segment is a sequence of records of one topic in one block.
type segment struct{ block, first, end uint32 }

// rank ranks the documents of each topic and returns the plan's values. A topic that repeats a document, and topics that the truth lacks,
// get no values. It reports repeated documents to report and to withoutTruth, and too few judged documents only to report.
func (r *run) rank(ctx context.Context, q *Qrels, plan *plan, report, withoutTruth *measure.Report) ([]float64, error) {
	if report.Full() {
		return nil, nil
	}
	segments, starts := r.segments(steps.Of(ctx), len(q.names)+len(r.topics.others))
	scores := make([]float64, len(q.names)*len(plan.scores))
	var (
		repeated repeats
		next     atomic.Int64
		wait     sync.WaitGroup
		covered  judgedCoverage
		ended    firstError
	)
	for range runtime.GOMAXPROCS(0) {
		k := ranker{run: r, qrels: q, counter: steps.Of(ctx)}
		wait.Go(func() {
			for k.counter.Add(1) == nil {
				topic := int(next.Add(1)) - 1
				if topic >= len(starts)-1 {
					return
				}
				found := k.gather(topic, segments[starts[topic]:starts[topic+1]])
				repeated.addAll(found)
				if topic < len(q.names) && len(found.list) == 0 {
					k.sort()
					ranking := k.ranking(topic, plan.judgedOnly)
					for i, s := range plan.scores {
						if k.counter.Add(1) != nil {
							break
						}
						scores[topic*len(plan.scores)+i] = s.of(s.view, ranking)
					}
					covered.count(ranking.grades, ranking.ideal)
				}
			}
			ended.add(k.counter.Err())
		})
	}
	wait.Wait()
	if err := ended.first; err != nil {
		return nil, err
	}
	for _, into := range []*measure.Report{report, withoutTruth} {
		if first, found := repeated.report(r.files, into, ""); found {
			into.Explain(first, r.joined(steps.Of(ctx)))
		}
	}
	return scores, covered.report(steps.Of(ctx), r, q, report)
}

// firstError keeps the first error that is not nil. It is safe for concurrent use.
type firstError struct {
	mu    sync.Mutex
	first error
}

func (f *firstError) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = cmp.Or(f.first, err)
}

// segments returns the segments of all topics, and the index of each topic's first segment in them. The segments of a topic are in the
// order of the files. Both lists are invalid if the counter has an error.
func (r *run) segments(counter *steps.Counter, topics int) ([]segment, []int) {
	starts := make([]int, topics+1)
	for i := range r.blocks {
		if counter.Add(2*len(r.blocks[i].spans)) != nil {
			return nil, nil
		}
		for _, s := range r.blocks[i].spans {
			starts[s.topic+1]++
		}
	}
	for t := range topics {
		starts[t+1] += starts[t]
	}
	list := make([]segment, starts[topics])
	filled := slices.Clone(starts)
	for i := range r.blocks {
		b := &r.blocks[i]
		for j, s := range b.spans {
			list[filled[s.topic]] = segment{uint32(i), s.first, b.end(j)}
			filled[s.topic]++
		}
	}
	return list, starts
}

// ranker ranks one topic after another and reuses its memory.
type ranker struct {
	run     *run
	qrels   *Qrels
	counter *steps.Counter
	items   []rankedRecord
	sorted  bool // the items are in the order of the ranking, as in most runs
	slots   hashtable.Table
	grades  []int16
	judged  []int16
	parts   [][]subtopicGrade
}

func (k *ranker) record(it rankedRecord) (*block, *runRecord) {
	b := &k.run.blocks[it.block]
	return b, &b.records[it.record]
}

func (k *ranker) doc(it rankedRecord) []byte {
	b, r := k.record(it)
	return b.doc(r)
}

// perLookup is the number of steps for finding a document in a table.
const perLookup = 8

// gather collects the records of a topic, with their grades. It returns the repeated documents.
func (k *ranker) gather(topic int, segments []segment) (found repeatList) {
	n := 0
	for _, s := range segments {
		n += int(s.end - s.first)
	}
	size := hashtable.Size(n)
	if cap(k.slots) < size {
		k.slots = make(hashtable.Table, size)
	}
	k.slots = k.slots[:size]
	clear(k.slots)
	k.items = slices.Grow(k.items[:0], n)
	k.sorted = true
	for _, s := range segments {
		b := &k.run.blocks[s.block]
		for i := s.first; i < s.end; i++ {
			if k.counter.Add(perLookup) != nil {
				return repeatList{}
			}
			r := &b.records[i]
			doc := b.doc(r)
			hash := hashtable.Hash(doc)
			it := rankedRecord{score: r.score, block: s.block, record: i, judgment: -1, grade: unjudged}
			first, slot := k.find(doc, hash)
			switch {
			case first < 0:
				k.slots.Put(hash, slot, len(k.items))
			case len(found.list) == measure.MaxDiagnostics:
				found.drop(k.sourceLineOf(it), 1)
			default:
				found.list = append(found.list, repeat{
					second: k.sourceLineOf(it),
					first:  k.sourceLineOf(k.items[first]),
					topic:  k.run.topics.name(topic),
					doc:    string(doc),
				})
			}
			k.addRecord(it, doc)
		}
	}
	k.judge(topic)
	return found
}

// judge sets the grades of the items. It looks up the judged documents in the table of the run, because most runs have more documents than
// the truth has judgments.
func (k *ranker) judge(topic int) {
	if topic >= len(k.qrels.topics) {
		return
	}
	t := k.qrels.topics[topic]
	for n, j := range k.qrels.judgments[t.first:t.last] {
		if k.counter.Add(perLookup) != nil {
			return
		}
		doc := k.qrels.doc(j)
		if i, _ := k.find(doc, hashtable.Hash(doc)); i >= 0 {
			k.items[i].grade, k.items[i].judgment = j.grade, int32(t.first+n)
		}
	}
}

// addRecord adds an item, and clears sorted if the item breaks the order of the ranking.
func (k *ranker) addRecord(it rankedRecord, doc []byte) {
	if k.sorted && len(k.items) > 0 {
		last := k.items[len(k.items)-1]
		k.sorted = last.score > it.score || last.score == it.score && bytes.Compare(k.doc(last), doc) >= 0
	}
	k.items = append(k.items, it)
}

// find returns the item of the document, or -1 and the free slot of the hash.
func (k *ranker) find(doc []byte, hash uint32) (index, slot int) {
	return k.slots.Find(hash, func(i int) bool { return bytes.Equal(k.doc(k.items[i]), doc) })
}

func (k *ranker) sourceLineOf(it rankedRecord) sourceLine {
	b := &k.run.blocks[it.block]
	return sourceLine{b.file, b.line(int(it.record))}
}

func (k *ranker) sort() {
	if k.sorted {
		return
	}
	steps.SortFunc(k.counter, k.items, func(a, b rankedRecord) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return bytes.Compare(k.doc(b), k.doc(a))
	})
}

// ranking returns the ranked topic for the scorers.
func (k *ranker) ranking(topic int, judgedOnly bool) *ranking {
	k.grades, k.judged = k.grades[:0], k.judged[:0]
	_ = k.counter.Add(2 * len(k.items)) // the caller's next Add returns the error
	for _, it := range k.items {
		k.grades = append(k.grades, it.grade)
	}
	if judgedOnly {
		for _, g := range k.grades {
			if g >= 0 {
				k.judged = append(k.judged, g)
			}
		}
	}
	r := &ranking{counter: k.counter, grades: k.grades, judged: k.judged, ideal: k.qrels.ideal(topic)}
	if s := k.qrels.subtopics; s != nil {
		k.parts = k.parts[:0]
		for _, it := range k.items {
			k.parts = append(k.parts, s.of(it.judgment))
		}
		t := k.qrels.topics[topic]
		_ = k.counter.Add(t.last - t.first)
		for j := t.first; j < t.last; j++ {
			r.truth = append(r.truth, s.of(int32(j)))
		}
		r.parts, r.subtopics = k.parts, s.counts[topic]
	}
	return r
}

// Rankings are the documents that a run retrieved, for callers that show documents instead of values. They do not change, so several
// goroutines may read them at the same time.
type Rankings struct {
	run      *run
	topics   []string
	segments []segment
	starts   []int
}

// ReadRankings reads a run from one or more files, without a truth. If one of the diagnostics is an error, the Rankings are nil. The error
// is from a file's reader or the context.
func ReadRankings(ctx context.Context, files ...measure.File) (*Rankings, []measure.Diagnostic, error) {
	var none Qrels
	run, report, err := readRun(ctx, &none, standardLimits, files)
	if err != nil {
		return nil, nil, err
	}
	if _, err := run.rank(ctx, &none, &plan{}, report, new(measure.Report)); err != nil {
		return nil, nil, err
	}
	diagnostics := run.inOrder(report)
	if report.Failed() {
		return nil, diagnostics, nil
	}
	counter := steps.Of(ctx)
	r := &Rankings{run: run, topics: slices.Clone(run.topics.others)}
	steps.Sort(counter, r.topics)
	r.segments, r.starts = run.segments(counter, len(r.topics))
	return r, diagnostics, counter.Err()
}

// Topics returns the ids of the topics in byte order. Callers must not change the slice.
func (r *Rankings) Topics() []string { return r.topics }

// AllTopics returns the topics of all runs, in byte order and without duplicates. The list is invalid if the counter has an error.
func AllTopics(counter *steps.Counter, runs []*Rankings) []string {
	all := slices.Concat(lists.Map(runs, (*Rankings).Topics)...)
	steps.Sort(counter, all)
	return slices.Compact(all)
}

// Len returns the number of documents that were retrieved for a topic. It is 0 for a topic that the run lacks.
func (r *Rankings) Len(topic string) int {
	n := 0
	for _, s := range r.of(topic) {
		n += int(s.end - s.first)
	}
	return n
}

// Ranking returns an iterator over the ids and scores of a topic's documents, best first, in the order that all measures use. It is empty
// for a topic that the run lacks. Callers must not change the ids. Documents are missing if the counter has an error.
func (r *Rankings) Ranking(counter *steps.Counter, topic string) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		k := ranker{run: r.run, counter: counter, sorted: true, items: make([]rankedRecord, 0, r.Len(topic))}
		for _, s := range r.of(topic) {
			b := &r.run.blocks[s.block]
			for i := s.first; i < s.end; i++ {
				if counter.Add(1) != nil {
					return
				}
				record := &b.records[i]
				k.addRecord(rankedRecord{
					score:    record.score,
					block:    s.block,
					record:   i,
					judgment: -1,
					grade:    unjudged,
				}, b.doc(record))
			}
		}
		k.sort()
		if counter.Err() != nil {
			return
		}
		for _, it := range k.items {
			if !yield(k.doc(it), it.score) {
				return
			}
		}
	}
}

func (r *Rankings) of(topic string) []segment {
	i, ok := r.run.topics.index[topic]
	if !ok {
		return nil
	}
	return r.segments[r.starts[i]:r.starts[i+1]]
}
