package predictions

import (
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/language/plural"
)

// outside collects the scores of a file that are below 0 or above 1, where probabilities are needed. Their likely cause shows at the end of
// the file.
type outside struct {
	faults          measure.Report
	scores, strange int     // all scores, and those below 0 or above 1
	least, greatest float64 // of the strange scores
	classes         int     // scores of the last example with a strange one
}

// add adds the scores of an example, and reports whether one of them is below 0 or above 1.
func (o *outside) add(f *file, e example) (found bool) {
	o.scores += len(e.scores)
	isStrange := func(x float64) bool { return x < 0 || x > 1 }
	for _, x := range e.scores {
		if isStrange(x) {
			o.strange++
			o.least = min(o.least, x)
			o.greatest = max(o.greatest, x)
		}
	}
	i := slices.IndexFunc(e.scores, isStrange)
	if i < 0 {
		return false
	}
	o.classes = len(e.scores)
	o.faults.Errorf(f.name, e.line, "the score %v is no probability; expected a number from 0 to 1, which some of the measures need",
		e.scores[i])
	return true
}

// logitShare is the least share of logits that are below 0 or above 1. Probabilities that were rounded exceed both bounds only a little.
const logitShare = 0.25

// leastPercentage is a bound that some of the scores exceed if they are percentages. Ranks and numbers of classes are mostly below it.
const leastPercentage = 10

// report reports the scores: as one fault if they seem to be percentages or logits.
func (o *outside) report(f *file) {
	areLogits := o.least < -tolerance && o.greatest > 1+tolerance && float64(o.strange) >= logitShare*float64(o.scores)
	arePercentages := o.least >= 0 && o.greatest > leastPercentage && o.greatest <= 100 && 2*o.strange > o.scores
	if arePercentages {
		f.errorf(0, "%d of %s are above 1 and none is above 100, and some of the measures need probabilities; they seem to be percentages: "+
			"divide all scores by 100", o.strange, plural.Count(o.scores, "score"))
		return
	}
	if !areLogits {
		f.report.AddAll(f.name, &o.faults)
		return
	}
	heal := "apply 1/(1+exp(-x)) to all scores, also to those from 0 to 1"
	if o.classes > 1 {
		heal = "apply softmax to the scores of each item, also where all are from 0 to 1"
	}
	f.errorf(0, "%d of %s are below 0 or above 1, on both sides, and some of the measures need probabilities; they seem to be logits: %s",
		o.strange, plural.Count(o.scores, "score"), heal)
}
