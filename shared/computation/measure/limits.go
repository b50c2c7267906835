package measure

import "assay/shared/computation/measure/bounds"

// Limit is a limit of the files of runs and ground truths.
type Limit struct {
	Of   string `json:"of" doc:"what is counted" example:"items of a truth"`
	Most int64  `json:"most" doc:"the greatest number" example:"5000000"`
}

// ofFiles returns the limits of all files, whose lines have at most line bytes, followed by others.
func ofFiles(line int64, others ...Limit) []Limit {
	return append([]Limit{
		{"bytes of a line", line},
		{"bytes of all files of a run or a truth after unpacking", bounds.Files},
		{"bytes of a packed file of more than 64 MiB after unpacking, for each of its bytes", bounds.Ratio},
	}, others...)
}

// ofItems returns the limits of files with a value for each item, followed by others.
func ofItems(line int64, others ...Limit) []Limit {
	return ofFiles(line, append([]Limit{
		{"items of a truth", bounds.Items},
		{"bytes of an id", bounds.Name},
		{"bytes of all ids of a truth", bounds.IDs},
	}, others...)...)
}

// ofLabelledItems returns the limits of files with labels, whose lines have at most line bytes, followed by others.
func ofLabelledItems(line int64, others ...Limit) []Limit {
	return ofItems(line, append([]Limit{
		{"different labels of a truth, and of a run", bounds.Labels},
		{"bytes of a label", bounds.Name},
	}, others...)...)
}

// ofRankings returns the limits of rankings, followed by others.
func ofRankings(others ...Limit) []Limit {
	return ofFiles(bounds.Line, append([]Limit{
		{"judgments of a truth", bounds.Judgments},
		{"bytes of all document ids of a truth", bounds.JudgedText},
		{"topics of a truth, and of a run", bounds.Topics},
		{"lines of a run", bounds.RunLines},
		{"rank of a cutoff", maxDepth},
	}, others...)...)
}
