package probabilities

import (
	"fmt"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// binary holds the scores of the examples with a label, and of the examples without it.
type binary struct {
	label         int
	with, without []float64
}

// value returns a measure of a label.
func (e *Examples) value(label int, m measure.Measure) (float64, string) {
	edition := m.Param("edition")
	switch m.Name {
	case "AUC":
		c, reason := e.curvesOf(label)
		if reason == "" && c.negatives == 0 {
			reason = oneLabel
		}
		return c.area, reason
	case "AP":
		c, reason := e.curvesOf(label)
		return c.precision, reason
	case "PAN":
		return e.pan(label, edition)
	}
	b, reason := e.binary(label)
	if reason != "" {
		return 0, reason
	}
	a := b.answers(e.counter)
	switch m.Name {
	case "F1":
		return a.f1(edition), ""
	case "CAt1":
		return a.rightAtOne(b.len(), edition), ""
	case "F05u":
		return a.missing(), ""
	case "FNR":
		return share(b.with, a.falseNegative+a.unansweredPositive)
	case "FPR":
		return share(b.without, a.falsePositive)
	default:
		return share(b.without, a.trueNegative+a.unansweredNegative)
	}
}

// share returns n divided by the number of scores. The scores belong to the examples with the label, or to those without it.
func share(of []float64, n float64) (value float64, reason string) {
	if len(of) == 0 {
		return 0, oneLabel
	}
	return n / float64(len(of)), ""
}

// oneLabel is the reason of measures that need examples with the label and examples without it.
const oneLabel = "all examples of the truth have one and the same label"

func (b *binary) len() float64 { return float64(len(b.with) + len(b.without)) }

// curves holds the area under the ROC curve, the average precision, the Brier score, and the numbers of examples with and without the
// label. The area is only defined if there are both.
type curves struct{ area, precision, brier, positives, negatives float64 }

// curvesOf returns the curves of a label. It computes them once for each label.
func (e *Examples) curvesOf(label int) (curves, string) {
	if c, known := e.curves[label]; known {
		return c, ""
	}
	b, reason := e.binary(label)
	if reason != "" {
		return curves{}, reason
	}
	if len(b.with) == 0 {
		return curves{}, fmt.Sprintf("no example of the truth has the label %q", e.Labels[label])
	}
	c := b.curves(e.counter)
	if e.needsBrier {
		c.brier = b.brier(e.counter)
	}
	e.curves[label] = c
	return c, ""
}

// brier returns the Brier score.
func (b *binary) brier(counter *steps.Counter) float64 {
	var sum measure.Sum
	for _, s := range b.with {
		if counter.Add(1) != nil {
			break
		}
		sum.Add((1 - s) * (1 - s))
	}
	for _, s := range b.without {
		if counter.Add(1) != nil {
			break
		}
		sum.Add(s * s)
	}
	return sum.Total() / b.len()
}

// curves computes the area and the precision. It sorts the scores, and goes through groups of equal scores in descending order. There must
// be an example with the label.
func (b *binary) curves(counter *steps.Counter) curves {
	steps.Sort(counter, b.with)
	steps.Sort(counter, b.without)
	positives, negatives := float64(len(b.with)), float64(len(b.without))
	var pairs, sum measure.Sum
	with, without := b.with, b.without // the scores below the groups so far
	for len(with) > 0 {
		score := with[len(with)-1]
		n := len(with)
		for n > 0 && with[n-1] == score {
			n--
		}
		m := len(without)
		for m > 0 && without[m-1] > score {
			m--
		}
		lower := m
		for lower > 0 && without[lower-1] == score {
			lower--
		}
		if counter.Add(len(with)-n+len(without)-lower) != nil {
			break
		}
		equal := float64(len(with) - n)
		pairs.Add(equal * (float64(lower) + float64(m-lower)/2))
		found := positives - float64(n)
		sum.Add(equal * found / (found + negatives - float64(lower)))
		with, without = with[:n], without[:lower]
	}
	return curves{
		area: measure.Ratio(pairs.Total()/positives, negatives), precision: sum.Total() / positives, positives: positives, negatives: negatives,
	}
}

// answers counts decisions. A score of exactly 0.5 is unanswered.
type answers struct {
	truePositive, falsePositive, falseNegative, trueNegative float64
	unansweredPositive, unansweredNegative                   float64 // by the true label
}

func (b *binary) answers(counter *steps.Counter) (a answers) {
	count := func(scores []float64, above, even, below *float64) {
		for _, s := range scores {
			if counter.Add(1) != nil {
				break
			}
			switch {
			case s > 0.5:
				*above++
			case s < 0.5:
				*below++
			default:
				*even++
			}
		}
	}
	count(b.with, &a.truePositive, &a.unansweredPositive, &a.falseNegative)
	count(b.without, &a.falsePositive, &a.unansweredNegative, &a.trueNegative)
	return a
}

// Values of the parameter edition.
const (
	edition2021 = "2021"
	edition2024 = "2024"
)

// f1 returns F1 as of an edition of PAN.
func (a answers) f1(edition string) float64 {
	missed := a.falseNegative
	if edition != edition2021 {
		missed += a.unansweredPositive
	}
	return measure.Ratio(2*a.truePositive, 2*a.truePositive+a.falsePositive+missed)
}

// rightAtOne returns C@1 for n examples as of an edition of PAN.
func (a answers) rightAtOne(n float64, edition string) float64 {
	right := a.truePositive + a.trueNegative
	if edition == edition2024 {
		right += a.unansweredNegative
	}
	return (right + a.unanswered()*right/n) / n
}

func (a answers) unanswered() float64 { return a.unansweredPositive + a.unansweredNegative }

// missing returns F0.5u.
func (a answers) missing() float64 {
	return measure.Ratio(1.25*a.truePositive, 1.25*a.truePositive+0.25*(a.falseNegative+a.unanswered())+a.falsePositive)
}

// pan returns the mean of PAN's five measures as of an edition.
func (e *Examples) pan(label int, edition string) (float64, string) {
	c, reason := e.curvesOf(label)
	switch {
	case reason != "":
		return 0, reason
	case c.negatives == 0:
		return 0, oneLabel
	}
	b, reason := e.binary(label)
	if reason != "" {
		return 0, reason
	}
	a := b.answers(e.counter)
	var sum measure.Sum
	for _, value := range []float64{c.area, a.rightAtOne(b.len(), edition), a.missing(), a.f1(edition), 1 - c.brier} {
		sum.Add(value)
	}
	return sum.Total() / 5, ""
}
