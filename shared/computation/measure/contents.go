package measure

import "iter"

// Contents describes a ground truth (qrels, labels) to its organizers. Nobody else may read it.
type Contents struct {
	// Text has the counts: 50 topics, 1500 judgments, 619 relevant.
	Text string
	// Faults are probable mistakes, each a sentence without its full stop.
	Faults []string
	// Values iterates over the other column of the files: documents or labels. It may be nil.
	Values iter.Seq[string]
	// Perfect returns the files of a run that repeats the truth. It is nil if the files of the truth are such a run, and if Unscored says
	// why the truth cannot be scored against itself.
	Perfect  func() []File
	Unscored string
}

// IDs are the ids of the topics or items in the inputs or in the ground truth of a dataset.
type IDs struct {
	Noun string // topic or item
	Len  int
	All  iter.Seq[string]
	// Index returns the number of an id, which is below Len, or -1. It is fast if the number is next. Any number of goroutines may call it.
	Index func(id []byte, next int) int
}

// Has reports whether there is the id.
func (s *IDs) Has(id string) bool { return s.Index([]byte(id), 0) >= 0 }

// hundred is the best value of BLEU and chrF, which are percentages as in sacrebleu.
const hundred = 100

// withoutBest are the measures that count, or whose greatest value depends on the depth of a run or on its grades.
var withoutBest = map[string]bool{"NumQ": true, "NumRet": true, "NumRel": true, "ERR": true, "RBP": true, "alpha_DCG": true, "ERR_IA": true,
	"Judged": true}

// Best returns the best value of a measure. ok is false if there is none that holds for every ground truth.
func (m Measure) Best() (best float64, ok bool) {
	switch {
	case withoutBest[m.Name] || m.Name == "Compat" && m.Param("normalize") == "False":
		return 0, false
	case !m.HigherIsBetter():
		return 0, true
	case m.Name == "BLEU" || m.Name == "chrF":
		return hundred, true
	}
	return 1, true
}
