// Package comparison says how two rankings of the same topic differ: how much, as one number from either of two
// well-known coefficients, and in what, document by document.
//
// # Ties
//
// A ranking is a strict order, as a run is once documents of equal score stand in the order of their ids
// (assay/shared/measure/retrieval says which). RankBiasedOverlap, Tau and Difference take it as it stands; TauB alone
// looks at the scores again and counts documents of equal score as tied.
package comparison

// Document is one document of a ranking.
type Document struct {
	ID    string
	Score float64
}

// Ranking is what one run retrieved for one topic, best first. It does not change, so that it can be compared with
// several others at the same time.
type Ranking struct {
	documents []Document
	places    map[string]int // index in documents by id
}

// NewRanking takes documents, best first and each once. They must not be changed afterwards.
func NewRanking(documents []Document) *Ranking {
	r := &Ranking{documents, make(map[string]int, len(documents))}
	for i, d := range documents {
		r.places[d.ID] = i
	}
	return r
}

// Len is the number of documents.
func (r *Ranking) Len() int { return len(r.documents) }

// Rank is where a document stands, counted from 1; 0 means that the ranking does not have it.
func (r *Ranking) Rank(id string) int {
	if i, ok := r.places[id]; ok {
		return i + 1
	}
	return 0
}

// Difference is what turns one ranking into another.
type Difference struct {
	Moved []string // documents that both have at different ranks, in the order of the second
	Came  []string // documents that only the second has, in its order
	Went  []string // documents that only the first has, in its order
	Kept  int      // documents that both have at the same rank
}

// Difference compares the first depth documents of each ranking. A document that stands below the depth in one counts as
// one that this ranking does not have.
func (r *Ranking) Difference(second *Ranking, depth int) (d Difference) {
	for i, doc := range second.documents[:min(depth, second.Len())] {
		switch from, ok := r.places[doc.ID]; {
		case !ok || from >= depth:
			d.Came = append(d.Came, doc.ID)
		case from == i:
			d.Kept++
		default:
			d.Moved = append(d.Moved, doc.ID)
		}
	}
	for _, doc := range r.documents[:min(depth, r.Len())] {
		if to, ok := second.places[doc.ID]; !ok || to >= depth {
			d.Went = append(d.Went, doc.ID)
		}
	}
	return d
}
