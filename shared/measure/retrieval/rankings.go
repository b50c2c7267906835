package retrieval

import (
	"context"
	"iter"
	"slices"

	"assay/shared/lists"
	"assay/shared/measure"
)

// Rankings are what a run retrieved, for those who look at documents rather than at values. They do not change once
// read, so that several goroutines can go through them at the same time.
type Rankings struct {
	run      *run
	topics   []string
	segments []segment
	starts   []int
}

// ReadRankings reads a run, which may come in several files, without a truth. If one of the diagnostics, which are those
// of ValidateRun, is an error, there are no Rankings. The error is one of the files' readers or of the context.
func ReadRankings(ctx context.Context, files ...measure.File) (*Rankings, []measure.Diagnostic, error) {
	var none Qrels
	run, report, err := readRun(ctx, &none, standardLimits, files)
	if err != nil {
		return nil, nil, err
	}
	if _, err := run.rank(ctx, &none, &plan{}, report); err != nil {
		return nil, nil, err
	}
	diagnostics := inOrder(report, files)
	if report.Failed() {
		return nil, diagnostics, nil
	}
	r := &Rankings{run: run, topics: slices.Sorted(slices.Values(run.topics.others))}
	r.segments, r.starts = run.segments(len(r.topics))
	return r, diagnostics, nil
}

// Topics are the ids of the topics in byte order; the slice must not be changed.
func (r *Rankings) Topics() []string { return r.topics }

// AllTopics lists the topics that any of the runs has, in byte order.
func AllTopics(runs []*Rankings) []string {
	all := slices.Concat(lists.Map(runs, (*Rankings).Topics)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Len is how many documents were retrieved for a topic; 0 when the run does not have it.
func (r *Rankings) Len(topic string) int {
	n := 0
	for _, s := range r.of(topic) {
		n += int(s.end - s.first)
	}
	return n
}

// Ranking goes through the documents of a topic, best first, with their scores: in the one order that holds for every
// measure. It has none when the run does not have the topic. The ids must not be changed.
func (r *Rankings) Ranking(topic string) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		k := ranker{run: r.run, sorted: true, items: make([]item, 0, r.Len(topic))}
		for _, s := range r.of(topic) {
			b := &r.run.blocks[s.block]
			for i := s.first; i < s.end; i++ {
				record := &b.records[i]
				k.addRecord(item{record.score, s.block, i}, b.doc(record))
			}
		}
		k.sort()
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
