package retrieval

import (
	"math"
	"slices"
	"sort"

	"assay/shared/computation/measure"
)

// The oracle computes measures with maps and sorted slices, and counts from the start at every rank. It shares no code with the evaluator.

type retrieved struct {
	doc   string
	score float64
}

type oracle struct {
	judged map[string]map[string]int // grades by topic and document
	run    map[string][]retrieved    // in any order
}

// ranked returns the grades in the order of the ranking; ok is false for documents without a grade.
func (o oracle) ranked(topic string, judgedOnly bool) (grades []int, ok []bool) {
	list := slices.Clone(o.run[topic])
	sort.Slice(list, func(i, j int) bool {
		if list[i].score == list[j].score {
			return list[i].doc > list[j].doc
		}
		return list[i].score > list[j].score
	})
	for _, d := range list {
		g, found := o.judged[topic][d.doc]
		if judgedOnly && (!found || g < 0) {
			continue
		}
		grades, ok = append(grades, g), append(ok, found)
	}
	return grades, ok
}

func (o oracle) highest() int {
	highest := 0
	for _, topic := range o.judged {
		for _, g := range topic {
			highest = max(highest, g)
		}
	}
	return highest
}

func (o oracle) value(m measure.Measure, topic string) float64 {
	grades, known := o.ranked(topic, m.Flag("judged_only"))
	rel, depth := int(m.Number("rel")), m.Depth()
	if depth == 0 {
		depth = len(grades)
	}
	depth = min(depth, len(grades))
	relevant := func(i int) bool { return known[i] && grades[i] >= rel }
	nonRelevant := func(i int) bool { return known[i] && grades[i] >= 0 && grades[i] < rel }
	count := func(to int, is func(int) bool) float64 {
		n := 0.0
		for i := range to {
			if is(i) {
				n++
			}
		}
		return n
	}
	var ideal []int
	all, non := 0.0, 0.0
	for _, g := range o.judged[topic] {
		ideal = append(ideal, g)
		if g >= rel {
			all++
		} else if g >= 0 {
			non++
		}
	}
	sort.Sort(sort.Reverse(sort.IntSlice(ideal)))
	over := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	best := func(level float64) (highest float64) {
		for i := range depth {
			if count(i+1, relevant) >= math.Floor(level*all+0.5) {
				highest = max(highest, count(i+1, relevant)/float64(i+1))
			}
		}
		return highest
	}
	sum := 0.0
	setP := over(count(depth, relevant), float64(depth))
	setR := over(count(depth, relevant), all)
	switch m.Name {
	case "AP", "GMAP":
		for i := range depth {
			if relevant(i) {
				sum += count(i+1, relevant) / float64(i+1)
			}
		}
		if m.Name == "GMAP" {
			return max(over(sum, all), 1e-5)
		}
		return over(sum, all)
	case "RR":
		for i := range depth {
			if relevant(i) {
				return 1 / float64(i+1)
			}
		}
		return 0
	case "nDCG":
		gain := func(g int) float64 {
			if own, ok := m.Gains("gains")[g]; ok {
				return own
			}
			if m.Param("dcg") == "exp-log2" {
				return math.Pow(2, float64(max(g, 0))) - 1
			}
			return float64(max(g, 0))
		}
		best := 0.0
		for i := range depth {
			if known[i] {
				sum += gain(grades[i]) / math.Log2(float64(i+2))
			}
		}
		sort.SliceStable(ideal, func(i, j int) bool { return gain(ideal[i]) > gain(ideal[j]) })
		for i, g := range ideal {
			if gain(g) <= 0 {
				break
			}
			if m.Depth() == 0 || i < m.Depth() {
				best += gain(g) / math.Log2(float64(i+2))
			}
		}
		return over(sum, best)
	case "P":
		return count(depth, relevant) / float64(m.Depth())
	case "R", "SetR":
		return setR
	case "Rprec":
		return over(count(min(int(all), len(grades)), relevant), all)
	case "Success":
		return min(count(depth, relevant), 1)
	case "Bpref":
		for i := range depth {
			if above := count(i, nonRelevant); relevant(i) && above == 0 {
				sum++
			} else if relevant(i) {
				sum += 1 - min(above, all)/min(non, all)
			}
		}
		return over(sum, all)
	case "infAP":
		const e = 1e-5
		for i := range depth {
			j := float64(i)
			above := count(i, relevant)
			non := count(i, nonRelevant)
			pool := count(i, func(i int) bool { return known[i] && grades[i] < 0 })
			if relevant(i) && i == 0 {
				sum++
			} else if relevant(i) {
				sum += 1/(j+1) + j/(j+1)*((above+non+pool)/j)*((above+e)/(above+non+2*e))
			}
		}
		return over(sum, all)
	case "IPrec":
		return best(m.Recall())
	case "IAP":
		for level := range 11 {
			sum += best(float64(level)/10) / 11
		}
		return sum
	case "Compat":
		return o.compatibility(m, topic)
	case "SetP":
		if !m.Flag("relative") {
			return setP
		}
		return over(count(depth, relevant), min(float64(depth), all))
	case "SetAP":
		return setP * setR
	case "SetF":
		x := m.Number("beta")
		return over((x+1)*setP*setR, x*setP+setR)
	case "Judged":
		return over(count(depth, func(i int) bool { return known[i] }), float64(depth))
	case "RBP":
		for i := range depth {
			gain := over(float64(max(grades[i], 0)), float64(o.highest()))
			if rel > 0 {
				gain = count(i+1, relevant) - count(i, relevant)
			}
			sum += gain * math.Pow(m.Number("p"), float64(i))
		}
		return (1 - m.Number("p")) * sum
	case "ERR":
		stop := func(i int) float64 { return (math.Pow(2, float64(max(grades[i], 0))) - 1) / 16 }
		for i := range depth {
			chance := stop(i)
			for j := range i {
				chance *= 1 - stop(j)
			}
			sum += chance / float64(i+1)
		}
		return sum
	case "NumQ":
		return 1
	case "NumRel":
		return all
	case "NumRet":
		if rel > 0 {
			return count(depth, relevant)
		}
		return float64(depth)
	}
	panic("oracle_test.go has no definition of " + m.Name)
}

// compatibility builds the ideal ranking, and counts the common documents of both rankings down to each rank.
func (o oracle) compatibility(m measure.Measure, topic string) float64 {
	list := slices.Clone(o.run[topic])
	sort.Slice(list, func(i, j int) bool {
		return list[i].score > list[j].score || list[i].score == list[j].score && list[i].doc > list[j].doc
	})
	rank, ideal := map[string]int{}, []string{}
	for i, d := range list {
		rank[d.doc] = i + 1
	}
	for doc, g := range o.judged[topic] {
		if g > 0 {
			ideal = append(ideal, doc)
		}
		if rank[doc] == 0 {
			rank[doc] = 1_000_000
		}
	}
	sort.Slice(ideal, func(i, j int) bool {
		a, b := o.judged[topic][ideal[i]], o.judged[topic][ideal[j]]
		return a > b || a == b && rank[ideal[i]] < rank[ideal[j]]
	})
	overlap := func(depth int) (n float64) {
		for _, doc := range ideal[:min(depth, len(ideal))] {
			if rank[doc] <= depth {
				n++
			}
		}
		return n / float64(depth)
	}
	sum := 0.0
	self := 0.0
	weights := 0.0
	for depth := 1; depth <= 1000; depth++ {
		weight := math.Pow(m.Number("p"), float64(depth-1))
		sum += weight * overlap(depth)
		self += weight * min(1, float64(len(ideal))/float64(depth))
		weights += weight
	}
	if len(ideal) == 0 {
		return 0
	}
	if m.Flag("normalize") {
		return sum / self
	}
	return sum / weights
}
