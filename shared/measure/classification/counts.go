package classification

// counts counts what every measure of this package is made of. There is no confusion matrix: with ten thousand
// labels it would have a hundred million cells, and no measure here needs more than its diagonal and margins.
type counts struct {
	samples, correct int64
	labels           []labelCounts // by label code
}

// labelCounts is what became of one label.
type labelCounts struct {
	hits      int64 // predicted and true
	predicted int64
	actual    int64 // in the truth: the label's support
}

// newCounts counts truth[i] against predicted[i]; all are codes below labels.
func newCounts(labels int, truth, predicted []int32) *counts {
	t := &counts{samples: int64(len(truth)), labels: make([]labelCounts, labels)}
	for i, actual := range truth {
		t.labels[actual].actual++
		t.labels[predicted[i]].predicted++
		if actual == predicted[i] {
			t.labels[actual].hits++
		}
	}
	for _, m := range t.labels {
		t.correct += m.hits
	}
	return t
}

// ratio is a/b, with 0/0 = 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (m labelCounts) precision() float64 { return ratio(m.hits, m.predicted) }
func (m labelCounts) recall() float64    { return ratio(m.hits, m.actual) }
func (m labelCounts) f1() float64        { return ratio(2*m.hits, m.predicted+m.actual) }

// Weights of the label in means: support is how many examples truly have it, isTrue is 1 when any has, and occurs is 1 when it is in
// the truth or among the predictions.
func (m labelCounts) support() int64 { return m.actual }
func (m labelCounts) isTrue() int64  { return min(m.actual, 1) }
func (m labelCounts) occurs() int64  { return min(m.actual+m.predicted, 1) }
