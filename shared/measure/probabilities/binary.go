package probabilities

import (
	"slices"

	"assay/shared/measure"
)

// binary has the scores of the examples that have a label, and of the others.
type binary struct {
	label         int
	with, without []float64
}

func (b *binary) value(name string) (float64, string) {
	switch name {
	case "AUC":
		area, _, reason := b.curves()
		return area, reason
	case "AP":
		_, precision, reason := b.curves()
		return precision, reason
	case "F1":
		a := b.answers()
		return measure.Ratio(2*a.truePositive, 2*a.truePositive+a.falsePositive+a.falseNegative), ""
	case "CAt1":
		return b.answers().rightAtOne(b.len()), ""
	case "F05u":
		return b.answers().missing(), ""
	default:
		return b.pan()
	}
}

func (b *binary) len() float64 { return float64(len(b.with) + len(b.without)) }

// brier is the Brier score.
func (b *binary) brier() float64 {
	var sum measure.Sum
	for _, s := range b.with {
		sum.Add((1 - s) * (1 - s))
	}
	for _, s := range b.without {
		sum.Add(s * s)
	}
	return sum.Total() / b.len()
}

// curves returns the area under the ROC curve and the average precision. It sorts the scores.
func (b *binary) curves() (area, precision float64, reason string) {
	if len(b.with) == 0 || len(b.without) == 0 {
		return 0, 0, "all examples of the truth have one and the same label"
	}
	slices.Sort(b.with)
	slices.Sort(b.without)
	positives, negatives := float64(len(b.with)), float64(len(b.without))
	var pairs, sum measure.Sum
	with, without := b.with, b.without // whose scores are below those that were seen
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
		equal := float64(len(with) - n)
		pairs.Add(equal * (float64(lower) + float64(m-lower)/2))
		found := positives - float64(n)
		sum.Add(equal * found / (found + negatives - float64(lower)))
		with, without = with[:n], without[:lower]
	}
	return pairs.Total() / positives / negatives, sum.Total() / positives, ""
}

// answers counts decisions; a score of exactly 0.5 is none.
type answers struct{ truePositive, falsePositive, falseNegative, trueNegative, unanswered float64 }

func (b *binary) answers() (a answers) {
	count := func(scores []float64, above, below *float64) {
		for _, s := range scores {
			switch {
			case s > 0.5:
				*above++
			case s < 0.5:
				*below++
			default:
				a.unanswered++
			}
		}
	}
	count(b.with, &a.truePositive, &a.falseNegative)
	count(b.without, &a.falsePositive, &a.trueNegative)
	return a
}

// rightAtOne is C@1 of n examples.
func (a answers) rightAtOne(n float64) float64 {
	right := a.truePositive + a.trueNegative
	return (right + a.unanswered*right/n) / n
}

// missing is F0.5u.
func (a answers) missing() float64 {
	return measure.Ratio(1.25*a.truePositive, 1.25*a.truePositive+0.25*(a.falseNegative+a.unanswered)+a.falsePositive)
}

// pan is the mean of the measures of PAN.
func (b *binary) pan() (float64, string) {
	var sum measure.Sum
	for _, name := range []string{"AUC", "CAt1", "F05u", "F1"} {
		value, reason := b.value(name)
		if reason != "" {
			return 0, reason
		}
		sum.Add(value)
	}
	sum.Add(1 - b.brier())
	return sum.Total() / 5, ""
}
