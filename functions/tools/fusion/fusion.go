// Package fusion makes one run from several runs. It scores each document of a topic by its scores or ranks in all runs.
//
// The rank of a document in a run follows assay/shared/computation/measure/retrieval: by score, and for equal scores by id, descending. The
// rank field of the file is ignored. The fused run has the same order, so its rank field agrees with every evaluation of the run.
// The order in which the runs are given does not matter.
//
// Sums that differ only by rounding count as equal.
//
// A run that lacks a document adds nothing to its score. A topic is fused from the runs that have it.
package fusion

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// Method says how to combine the scores of a document.
type Method string

const (
	// ReciprocalRank is the sum of 1 / (k + rank) over the runs (G. V. Cormack, C. L. A. Clarke, S. Büttcher, Reciprocal rank
	// fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009). Scores do not matter.
	ReciprocalRank Method = "rrf"
	// CombSUM is the sum of normalized scores (E. A. Fox, J. A. Shaw, Combination of multiple searches, TREC-2, 1994).
	CombSUM Method = "combsum"
	// CombMNZ is CombSUM multiplied by the number of runs that have the document (Fox and Shaw 1994).
	CombMNZ Method = "combmnz"
)

const (
	// DefaultK is the k of Cormack, Clarke and Büttcher.
	DefaultK = 60
	// MaxTag is the greatest length of a tag in bytes.
	MaxTag = 100
)

// Options say how to fuse.
type Options struct {
	Method        Method
	K             int           // for ReciprocalRank; 0 means DefaultK
	Normalization Normalization // for CombSUM and CombMNZ
	Depth         int           // documents to write for each topic; 0 means all
	Tag           string        // name of the fused run in the last field of its lines
}

// Check reports unknown settings, settings that contradict each other, and tags that a line cannot have. Pointers name the
// settings in lower case.
func (s Options) Check() (problems problem.Fields) {
	methods := []Method{ReciprocalRank, CombSUM, CombMNZ}
	normalizations := []Normalization{Unchanged, MinMax, Sum, ZScore, Rank}
	problems.AddIf(!slices.Contains(methods, s.Method), "/method", "there is no method %q; use %s", s.Method, lists.Or(methods))
	problems.AddIf(s.K < 0, "/k", "must be 1 or more")
	problems.AddIf(s.Depth < 0, "/depth", "must be 1 or more, or 0 for all documents")
	if s.Method == ReciprocalRank {
		problems.AddIf(s.Normalization != "", "/normalization", "method %s looks at ranks and not at scores; leave {normalization} out",
			s.Method)
	} else {
		problems.AddIf(s.K > 0, "/k", "method %s has no {k}; leave it out", s.Method)
		problems.AddIf(!slices.Contains(normalizations, s.Normalization), "/normalization", "there is no normalization %q; use %s",
			s.Normalization, lists.Or(normalizations))
	}
	spaced := strings.ContainsFunc(s.Tag, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	problems.AddIf(s.Tag == "" || len(s.Tag) > MaxTag || spaced, "/tag",
		"the tag is %q; choose a name of 1 to %s without white space", s.Tag, problem.Size(MaxTag))
	return problems
}

// Run is a run to fuse, in one or more files.
type Run []measure.File

// Fuse writes the fused run to w, by settings that pass Check. It writes the topics in the byte order of their ids, as lines of
// topic, Q0, document, rank, score and tag. It reads each file once. It needs the memory of retrieval.Rankings, about half the
// size of the runs, and memory for one topic.
//
// The diagnostics come from all runs in their order, at most measure.MaxDiagnostics. If one is an error, the output is incomplete
// and must be discarded. The returned error comes from a reader, w or the context.
func Fuse(ctx context.Context, w io.Writer, settings Options, runs []Run) ([]measure.Diagnostic, error) {
	var report measure.Report
	rankings := make([]*retrieval.Rankings, 0, len(runs))
	for _, files := range runs {
		read, diagnostics, err := retrieval.ReadRankings(ctx, files...)
		if err != nil {
			return nil, err
		}
		for _, d := range diagnostics {
			report.Add(d)
		}
		rankings = append(rankings, read)
	}
	if report.Failed() {
		return report.Diagnostics(), nil
	}
	counter := steps.Of(ctx)
	topics := retrieval.AllTopics(counter, rankings)
	warnOfMissingTopics(&report, runs, rankings, topics)
	out := bufio.NewWriterSize(w, 64<<10)
	f := fuser{settings: settings, runs: rankings, counter: counter}
	for _, topic := range topics {
		finite := f.fuse(topic)
		if err := counter.Err(); err != nil {
			return nil, err
		}
		if !finite {
			report.Errorf("", 0, "the scores of topic %q are so large that they have no finite sum; scale the scores of the runs down", topic)
			break
		}
		if err := f.write(out, topic); err != nil {
			return nil, err
		}
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return report.Diagnostics(), nil
}

// warnOfMissingTopics warns of runs that lack topics.
func warnOfMissingTopics(report *measure.Report, runs []Run, rankings []*retrieval.Rankings, topics []string) {
	for i, r := range rankings {
		if missing := len(topics) - len(r.Topics()); missing > 0 {
			first := slices.IndexFunc(topics, func(topic string) bool { return r.Len(topic) == 0 })
			report.Warnf(runs[i][0].Name, 0, "the run lacks %d of %s, of which %q is the first; those are fused from the other runs",
				missing, plural.Count(len(topics), "topic"), topics[first])
		}
	}
}

// Normalization says how to make the scores of a run for a topic comparable with the scores of other runs. In the definitions s
// is a score. min, max, mean and deviation describe the scores of the run's n documents for the topic.
type Normalization string

const (
	// Unchanged does not change scores. Fox and Shaw 1994 did so with runs of one system.
	Unchanged Normalization = "none"
	// MinMax is (s - min) / (max - min), from 0 to 1 (J. H. Lee, Analyses of multiple evidence combination, SIGIR 1997). It is 1
	// if all scores are equal.
	MinMax Normalization = "min-max"
	// Sum is (s - min) divided by the sum of all s - min, so that a run's scores add up to 1 (M. Montague, J. A. Aslam, Relevance
	// score normalization for metasearch, CIKM 2001). It is 1 / n if all scores are equal.
	Sum Normalization = "sum"
	// ZScore is (s - mean) / deviation, with n in the divisor of the variance (the zero-mean, unit-variance normalization of
	// Montague and Aslam 2001). It is 0 if all scores are equal, and negative for scores below the mean.
	ZScore Normalization = "z-score"
	// Rank is 1 - (rank - 1) / n, from 1 down to 1 / n (Lee 1997).
	Rank Normalization = "rank"
)

// apply normalizes the scores of one ranking in place. The scores are descending.
func (n Normalization) apply(scores []float64) {
	if len(scores) == 0 {
		return
	}
	size := float64(len(scores))
	highest := scores[0]
	lowest := scores[len(scores)-1]
	equal := highest == lowest
	switch n {
	case Unchanged:
	case MinMax:
		for i, s := range scores {
			scores[i] = ratio(s-lowest, highest-lowest, 1)
		}
	case Sum:
		var sum measure.Sum
		for _, s := range scores {
			sum.Add(s - lowest)
		}
		total := sum.Total()
		for i, s := range scores {
			scores[i] = ratio(s-lowest, total, 1/size)
		}
	case ZScore:
		var sum, squares measure.Sum
		for _, s := range scores {
			sum.Add(s)
		}
		mean := sum.Total() / size
		for _, s := range scores {
			squares.Add((s - mean) * (s - mean))
		}
		deviation := math.Sqrt(squares.Total() / size)
		for i, s := range scores {
			scores[i] = ratio(s-mean, deviation, 0)
			if equal {
				scores[i] = 0 // the computed mean may differ by rounding
			}
		}
	case Rank:
		for i := range scores {
			scores[i] = (size - float64(i)) / size
		}
	}
}

// ratio returns part / whole, or otherwise if whole is 0.
func ratio(part, whole, otherwise float64) float64 {
	if whole == 0 {
		return otherwise
	}
	return part / whole
}

// fuser fuses one topic after another and reuses its memory.
type fuser struct {
	counter  *steps.Counter
	settings Options
	runs     []*retrieval.Rankings
	scores   []float64
	parts    []scored
	fused    []scored
	line     []byte
}

// scored is a document with its score in one run or in the fused run.
type scored struct {
	doc   []byte
	score float64
	near  float64 // for a fused score: the largest distance of an equal score
}

// rounding bounds the distance of sums that differ only by rounding, relative to the sizes of their terms. It is some thousand
// times the error of arithmetic.
const rounding = 1e-12

// fuse ranks the documents of a topic in f.fused. It reports whether all scores are finite. If the counter has an error, the
// scores are not usable.
func (f *fuser) fuse(topic string) bool {
	f.parts, f.fused = f.parts[:0], f.fused[:0]
	for _, run := range f.runs {
		first := len(f.parts)
		f.scores = f.scores[:0]
		for doc, score := range run.Ranking(f.counter, topic) {
			f.parts = append(f.parts, scored{doc: doc})
			f.scores = append(f.scores, score)
		}
		f.weight(f.scores)
		for i, score := range f.scores {
			f.parts[first+i].score = score
		}
	}
	// The scores of a document are added in an order that does not depend on the order of the runs. The sums are then the same to
	// the last bit.
	steps.SortFunc(f.counter, f.parts, func(a, b scored) int {
		if c := bytes.Compare(b.doc, a.doc); c != 0 {
			return c
		}
		return cmp.Compare(a.score, b.score)
	})
	for from := 0; from < len(f.parts) && f.counter.Add(1) == nil; {
		to := from
		var sum measure.Sum
		near := 0.0
		for to < len(f.parts) && bytes.Equal(f.parts[to].doc, f.parts[from].doc) {
			sum.Add(f.parts[to].score)
			near += rounding * math.Abs(f.parts[to].score)
			to++
		}
		score := sum.Total()
		if f.settings.Method == CombMNZ {
			score *= float64(to - from)
			near *= float64(to - from)
		}
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return false
		}
		f.fused = append(f.fused, scored{f.parts[from].doc, score, near})
		from = to
	}
	steps.SortFunc(f.counter, f.fused, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	unifyScores(f.counter, f.fused)
	return true
}

// unifyScores gives documents whose scores differ only by rounding the same score, the highest of them, as for 0.1 + 0.7 and 0.2
// + 0.6. It orders these documents by id, descending. The scores are in descending order.
func unifyScores(counter *steps.Counter, fused []scored) {
	for from := 0; from < len(fused) && counter.Add(1) == nil; {
		first, to := fused[from], from+1
		for to < len(fused) && first.score-fused[to].score <= max(first.near, fused[to].near) {
			fused[to].score = first.score
			to++
		}
		steps.SortFunc(counter, fused[from:to], func(a, b scored) int { return bytes.Compare(b.doc, a.doc) })
		from = to
	}
}

// weight replaces the scores of a ranking, best first, by the values that the run adds to the fused scores.
func (f *fuser) weight(scores []float64) {
	if f.settings.Method != ReciprocalRank {
		f.settings.Normalization.apply(scores)
		return
	}
	k := cmp.Or(f.settings.K, DefaultK)
	for i := range scores {
		scores[i] = 1 / float64(k+i+1)
	}
}

func (f *fuser) write(w *bufio.Writer, topic string) error {
	for i, d := range f.fused {
		if f.settings.Depth > 0 && i == f.settings.Depth {
			break
		}
		line := append(append(f.line[:0], topic...), " Q0 "...)
		line = append(append(line, d.doc...), ' ')
		line = append(strconv.AppendInt(line, int64(i+1), 10), ' ')
		line = append(strconv.AppendFloat(line, d.score, 'g', -1, 64), ' ')
		f.line = append(append(line, f.settings.Tag...), '\n')
		if _, err := w.Write(f.line); err != nil {
			return err
		}
	}
	return nil
}
