// Package percentile computes percentiles of samples. It is apart from package significance, whose distributions are large, so that
// charts have them without those.
package percentile

// Of is the value below which a share of the sorted values lies, of which there must be some, interpolated between
// neighbours as numpy and R (type 7) do.
func Of(sorted []float64, share float64) float64 {
	// Conversions round products, which a platform could else fuse with the sums that they go into.
	at := float64(share * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}
