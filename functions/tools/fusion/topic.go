package fusion

import (
	"bufio"
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"assay/shared/measure"
	"assay/shared/measure/retrieval"
)

// fuser fuses one topic after the other and keeps its memory between them.
type fuser struct {
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

// fuse ranks the documents of a topic, and says whether every score is finite.
func (f *fuser) fuse(topic string) bool {
	f.parts, f.fused = f.parts[:0], f.fused[:0]
	for _, run := range f.runs {
		first := len(f.parts)
		f.scores = f.scores[:0]
		for doc, score := range run.Ranking(topic) {
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
	slices.SortFunc(f.parts, func(a, b scored) int {
		if c := bytes.Compare(b.doc, a.doc); c != 0 {
			return c
		}
		return cmp.Compare(a.score, b.score)
	})
	for from := 0; from < len(f.parts); {
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
	slices.SortFunc(f.fused, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	unifyScores(f.fused)
	return true
}

// unifyScores gives documents whose scores are the same but for rounding one score, the highest of them, and puts them in the order
// of their ids, descending: 0.1 + 0.7 is 0.2 + 0.6. The scores are descending.
func unifyScores(fused []scored) {
	for from := 0; from < len(fused); {
		first, to := fused[from], from+1
		for to < len(fused) && first.score-fused[to].score <= max(first.near, fused[to].near) {
			fused[to].score = first.score
			to++
		}
		slices.SortFunc(fused[from:to], func(a, b scored) int { return bytes.Compare(b.doc, a.doc) })
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
