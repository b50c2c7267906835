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
	"context"
	"io"
	"slices"
	"strings"
	"unicode"

	"assay/shared/measure"
	"assay/shared/measure/retrieval"
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

// Methods lists every method.
func Methods() []Method { return []Method{ReciprocalRank, CombSUM, CombMNZ} }

const (
	// DefaultK is the k of Cormack, Clarke and Büttcher.
	DefaultK = 60
	// MaxK bounds k.
	MaxK = 1_000_000
	// MaxTag is the greatest length of a tag in bytes.
	MaxTag = 100
)

// Settings say how to fuse.
type Settings struct {
	Method        Method
	K             int           // for ReciprocalRank, from 1 to MaxK; 0 is DefaultK
	Normalization Normalization // for CombSUM and CombMNZ
	Depth         int           // documents that are written of each topic; 0 is all
	Tag           string        // names the fused run in the last field of its lines
}

// Check says what is wrong with the settings; nothing, when Fuse can use them. Pointers name them in lower case.
func (s Settings) Check() (problems problem.Fields) {
	switch {
	case !slices.Contains(Methods(), s.Method):
		problems.Add("/method", "there is no method %q; choose one of %v", s.Method, Methods())
	case s.Method == ReciprocalRank:
		problems.AddIf(s.Normalization != "", "/normalization", "method %s looks at ranks and not at scores; leave the normalization out",
			s.Method)
		problems.AddIf(s.K < 0 || s.K > MaxK, "/k", "k is %d; choose from 1 to %d, such as %d", s.K, MaxK, DefaultK)
	default:
		problems.AddIf(s.K != 0, "/k", "method %s has no k; leave it out", s.Method)
		problems.AddIf(!slices.Contains(Normalizations(), s.Normalization), "/normalization",
			"there is no normalization %q; choose one of %v", s.Normalization, Normalizations())
	}
	problems.AddIf(s.Depth < 0, "/depth", "the depth is %d; choose how many documents to keep for each topic, or 0 for all", s.Depth)
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
	topics := retrieval.AllTopics(rankings)
	warnOfMissingTopics(&report, runs, rankings, topics)
	out := bufio.NewWriterSize(w, 64<<10)
	f := fuser{settings: settings, runs: rankings}
	for _, topic := range topics {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !f.fuse(topic) {
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
