// Package comparison says how two rankings of the same topic differ: how much, as one number from either of two
// well-known coefficients, and in what, document by document.
//
// # Ties
//
// A ranking is a strict order, as a run is once documents of equal score stand in the order of their ids
// (assay/shared/measure/retrieval says which). RankBiasedOverlap, Tau and Difference take it as it stands; TauB alone
// looks at the scores again and counts documents of equal score as tied.
package comparison

import (
	"fmt"
	"math"
)

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

// NewRanking takes documents, best first. It is an error for one to stand twice, for a score to be no number, and for
// one to be higher than that before it. The documents must not be changed afterwards.
func NewRanking(documents []Document) (*Ranking, error) {
	r := &Ranking{documents, make(map[string]int, len(documents))}
	for i, d := range documents {
		switch first, twice := r.places[d.ID]; {
		case twice:
			return nil, fmt.Errorf("document %q stands at rank %d and at rank %d; a ranking has each once", d.ID, first+1, i+1)
		case math.IsNaN(d.Score):
			return nil, fmt.Errorf("the score of document %q at rank %d is not a number", d.ID, i+1)
		case i > 0 && d.Score > documents[i-1].Score:
			return nil, fmt.Errorf("document %q at rank %d has a higher score than the one before it; sort by score, highest first", d.ID, i+1)
		}
		r.places[d.ID] = i
	}
	return r, nil
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

// Change is a document that two rankings have at different ranks, counted from 1; 0 means that one does not have it.
type Change struct {
	Document string `json:"document" doc:"id of the document"`
	From     int    `json:"from,omitempty" minimum:"1" doc:"rank in the first ranking; absent when it is not there"`
	To       int    `json:"to,omitempty" minimum:"1" doc:"rank in the second ranking; absent when it is not there"`
}

// Difference is what turns one ranking into another.
type Difference struct {
	Moved []Change `json:"moved" doc:"documents that both have at different ranks, in the order of the second"`
	Came  []Change `json:"came" doc:"documents that only the second has, in its order"`
	Went  []Change `json:"went" doc:"documents that only the first has, in its order"`
	Kept  int      `json:"kept" minimum:"0" doc:"number of documents that both have at the same rank"`
}

// Difference compares the first depth documents of each ranking; a depth of 0 is all of them. A document that stands
// below the depth in one counts as one that this ranking does not have. Lists without elements are empty, not nil.
func (r *Ranking) Difference(second *Ranking, depth int) Difference {
	if depth <= 0 {
		depth = max(r.Len(), second.Len())
	}
	d := Difference{Moved: []Change{}, Came: []Change{}, Went: []Change{}}
	for i, doc := range second.documents[:min(depth, second.Len())] {
		switch from, ok := r.places[doc.ID]; {
		case !ok || from >= depth:
			d.Came = append(d.Came, Change{Document: doc.ID, To: i + 1})
		case from == i:
			d.Kept++
		default:
			d.Moved = append(d.Moved, Change{doc.ID, from + 1, i + 1})
		}
	}
	for i, doc := range r.documents[:min(depth, r.Len())] {
		if to, ok := second.places[doc.ID]; !ok || to >= depth {
			d.Went = append(d.Went, Change{Document: doc.ID, From: i + 1})
		}
	}
	return d
}
