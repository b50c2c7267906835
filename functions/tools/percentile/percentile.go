// Package percentile computes percentiles of samples. It is separate from package significance so that charts do not depend on
// that package's large tables of distributions.
package percentile

// Of returns the value below which the given share of the sorted values lies. There is at least one value. It interpolates
// between neighbours like numpy and R (type 7).
func Of(sorted []float64, share float64) float64 {
	// Conversions round products. Without them, some platforms would use fused multiply-add, which rounds differently.
	at := float64(share * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}
