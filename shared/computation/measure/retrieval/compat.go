package retrieval

import "assay/shared/computation/measure"

// compatibility follows Clarke, Vtyurina and Smucker 2021 and their compatibility.py. The ideal ranking has the documents with grades above
// 0 by descending grade. Documents of equal grade are in the order of the run, and documents that the run lacks come last. The overlap down
// to a rank counts a document from the rank where both rankings contain it. Overlaps are summed to the same depth for all runs. Otherwise
// documents without a judgment at the end of a run would change its value.
func (v *parameters) compatibility(r *ranking) float64 {
	const depth = measure.CompatDepth
	relevant := r.relevant(1)
	if r.counter.Add(len(r.grades)+depth) != nil {
		return 0
	}
	var common [depth]int    // documents that enter the overlap, by rank
	above := map[int16]int{} // documents of the grade so far
	for rank, g := range r.grades[:min(len(r.grades), depth)] {
		if g > 0 {
			if both := max(rank, r.relevant(int(g)+1)+above[g]); both < depth {
				common[both]++
			}
			above[g]++
		}
	}
	overlap := 0
	sum := 0.0
	best := 0.0
	all := 0.0
	weight := 1.0
	for rank, n := range &common {
		overlap += n
		sum += weight * float64(overlap) / float64(rank+1)
		best += weight * float64(min(rank+1, relevant)) / float64(rank+1)
		all += weight
		weight *= v.persistence
	}
	if !v.normalize {
		best = all
	}
	return measure.Ratio(sum, best)
}
