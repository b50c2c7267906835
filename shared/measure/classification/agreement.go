package classification

import "math"

// matthews is Gorodkin's R_K, which for two labels is Matthews' coefficient: (c s - Σ p t) / sqrt((s² - Σ p²)(s² - Σ t²))
// with c correct of s samples, and each label p times predicted and t times true. It is 0 when either side has only one label.
func (t *counts) matthews() float64 {
	chance, predicted, actual := t.products()
	all := t.samples * t.samples
	if all == predicted || all == actual {
		return 0
	}
	return float64(t.correct*t.samples-chance) / math.Sqrt(float64(all-predicted)*float64(all-actual))
}

// kappa is Cohen's (po - pe) / (1 - pe): agreement beyond what the two label frequencies give by chance. It is not
// defined when chance alone explains everything, that is when both sides have one and the same label throughout.
func (t *counts) kappa() (float64, string) {
	chance, _, _ := t.products()
	all := t.samples * t.samples
	if all == chance {
		return 0, "truth and predictions have one and the same label throughout, so chance alone explains the agreement"
	}
	return float64(t.correct*t.samples-chance) / float64(all-chance), ""
}

// products are Σ p t, Σ p² and Σ t² over the labels: exact, since a sample count is far below 2^31.
func (t *counts) products() (chance, predicted, actual int64) {
	for _, m := range t.labels {
		chance += m.predicted * m.actual
		predicted += m.predicted * m.predicted
		actual += m.actual * m.actual
	}
	return chance, predicted, actual
}
