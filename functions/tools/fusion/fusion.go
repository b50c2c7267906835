// Package fusion makes one run of several: it scores each document of a topic by what all runs say of it.
//
// The rank of a document in a run is that of assay/shared/measure/retrieval: by score, and documents of equal score by
// id, descending; the rank field of the file is ignored. The fused run stands in the same order, so that its own rank
// field agrees with every evaluation of it. The order in which runs are given does not matter.
//
// Sums that are equal but for rounding are equal, whatever parts they have.
//
// A run that does not have a document adds nothing to its score. A topic is fused from the runs that have it.
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

	"assay/shared/measure"
	"assay/shared/measure/retrieval"
	"assay/shared/measure/steps"
	"assay/shared/plural"
	"assay/shared/problem"
)

// Method says how the scores of a document are put together.
type Method string

const (
	// ReciprocalRank is the sum of 1 / (k + rank) over the runs (G. V. Cormack, C. L. A. Clarke, S. Büttcher, Reciprocal
	// rank fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009). Scores do not matter.
	ReciprocalRank Method = "rrf"
	// CombSUM is the sum of normalized scores (E. A. Fox, J. A. Shaw, Combination of multiple searches, TREC-2, 1994).
	CombSUM Method = "combsum"
	// CombMNZ is CombSUM multiplied by the number of runs that have the document (the same).
	CombMNZ Method = "combmnz"
)

const (
	// DefaultK is the k of Cormack, Clarke and Büttcher.
	DefaultK = 60
	// MaxTag is the greatest length of a tag in bytes.
	MaxTag = 100
)

// Settings say how to fuse.
type Settings struct {
	Method        Method
	K             int           // for ReciprocalRank, 0 is DefaultK
	Normalization Normalization // for CombSUM and CombMNZ
	Depth         int           // documents that are written of each topic; 0 is all
	Tag           string        // names the fused run in the last field of its lines
}

// Check reports settings that are none or do not go together, and a tag that no line can have. Pointers name the settings in lower case.
func (s Settings) Check() (problems problem.Fields) {
	methods := []Method{ReciprocalRank, CombSUM, CombMNZ}
	normalizations := []Normalization{Unchanged, MinMax, Sum, ZScore, Rank}
	problems.AddIf(!slices.Contains(methods, s.Method), "/method", "there is no method %q; there are %v", s.Method, methods)
	problems.AddIf(s.K < 0, "/k", "must be 1 or more")
	problems.AddIf(s.Depth < 0, "/depth", "must be 1 or more")
	if s.Method == ReciprocalRank {
		problems.AddIf(s.Normalization != "", "/normalization", "method %s looks at ranks and not at scores; leave the normalization out",
			s.Method)
	} else {
		problems.AddIf(s.K > 0, "/k", "method %s has no k; leave it out", s.Method)
		problems.AddIf(!slices.Contains(normalizations, s.Normalization), "/normalization", "there is no normalization %q; there are %v",
			s.Normalization, normalizations)
	}
	spaced := strings.ContainsFunc(s.Tag, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	problems.AddIf(s.Tag == "" || len(s.Tag) > MaxTag || spaced, "/tag",
		"the tag is %q; choose a name of 1 to %d bytes without white space", s.Tag, MaxTag)
	return problems
}

// Run is a run to be fused, in one or more files.
type Run []measure.File

// Fuse writes the fused run to w, by settings that pass Check, topic by topic in byte order of their ids, as lines of topic, Q0, document,
// rank, score and tag. Each file is read once; memory is what retrieval.Rankings take, about half the size of the runs, and one
// topic.
//
// The diagnostics are those of all runs, in their order and at most measure.MaxDiagnostics. If one is an error the run is
// of no use, and what was written has to be thrown away. The error is one of a reader, w or the context.
func Fuse(ctx context.Context, w io.Writer, settings Settings, runs []Run) ([]measure.Diagnostic, error) {
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

// warnOfMissingTopics warns which runs do not have every topic.
func warnOfMissingTopics(report *measure.Report, runs []Run, rankings []*retrieval.Rankings, topics []string) {
	for i, r := range rankings {
		if missing := len(topics) - len(r.Topics()); missing > 0 {
			first := slices.IndexFunc(topics, func(topic string) bool { return r.Len(topic) == 0 })
			report.Warnf(runs[i][0].Name, 0, "the run lacks %d of %s, of which %q is the first; those are fused from the other runs",
				missing, plural.Count(len(topics), "topic"), topics[first])
		}
	}
}

// Normalization says how the scores that a run has for a topic are made comparable with those of other runs. In the
// definitions s is a score, and min, max, mean and deviation are those of the run's n documents of the topic.
type Normalization string

const (
	// Unchanged takes scores as they are, as Fox and Shaw 1994 did with runs of one system.
	Unchanged Normalization = "none"
	// MinMax is (s - min) / (max - min), from 0 to 1 (J. H. Lee, Analyses of multiple evidence combination, SIGIR 1997);
	// 1 when all scores are equal.
	MinMax Normalization = "min-max"
	// Sum is (s - min) divided by the sum of all s - min, so that a run's scores add up to 1 (M. Montague, J. A. Aslam,
	// Relevance score normalization for metasearch, CIKM 2001); 1 / n when all scores are equal.
	Sum Normalization = "sum"
	// ZScore is (s - mean) / deviation, with n in the divisor of the variance (the zero-mean, unit-variance of the
	// same); 0 when all scores are equal. It is negative for the worse half of a run.
	ZScore Normalization = "z-score"
	// Rank is 1 - (rank - 1) / n, from 1 down to 1 / n (Lee 1997).
	Rank Normalization = "rank"
)

// apply normalizes the scores of one ranking, best first, in place.
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
				scores[i] = 0 // although the mean may be rounded
			}
		}
	case Rank:
		for i := range scores {
			scores[i] = (size - float64(i)) / size
		}
	}
}

// ratio is part / whole, and otherwise what stands for it when there is no spread.
func ratio(part, whole, otherwise float64) float64 {
	if whole == 0 {
		return otherwise
	}
	return part / whole
}

// fuser fuses one topic after the other and keeps its memory between them.
type fuser struct {
	counter  *steps.Counter
	settings Settings
	runs     []*retrieval.Rankings
	scores   []float64
	parts    []scored
	fused    []scored
	line     []byte
}

// scored is a document with its score, in one run or in the fused one.
type scored struct {
	doc   []byte
	score float64
	near  float64 // of a fused score: how far an equal one may lie apart
}

// rounding is how far sums may lie apart that are the same but for rounding, relative to the sizes of their terms: some
// thousand times what arithmetic loses.
const rounding = 1e-12

// fuse ranks the documents of a topic, and says whether every score is finite. If the counter has an error, they are of no use.
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
	// What the runs say of a document comes together in an order that does not depend on theirs, so that neither does
	// the last bit of the sum.
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

// unifyScores gives documents whose scores are the same but for rounding one score, the highest of them, and puts them in the order
// of their ids, descending: 0.1 + 0.7 is 0.2 + 0.6. The scores are descending.
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

// weight turns the scores of a ranking, best first, into what the run adds to the fused ones.
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
