package measure

import (
	"fmt"

	"assay/shared/computation/measure/bounds"
)

// Limit is a limit of the files of runs and ground truths, or of what an evaluation computes and holds.
type Limit struct {
	Of   string `json:"of" doc:"what is counted" example:"items of a truth"`
	Most int64  `json:"most" doc:"the greatest number" example:"5000000"`
}

// comparedLabels is the limit of the labels in Classes.
var comparedLabels = Limit{"labels in the classes of an evaluation; an evaluation of more labels has no classes", bounds.Classes}

// ofSteps returns a limit of steps for a computation.
func ofSteps(computation string, most int64) Limit {
	return Limit{fmt.Sprintf("steps of some %d ns for %s", bounds.StepNanoseconds, computation), most}
}

// ofFiles returns the limits of all files, whose lines have at most line bytes, followed by others and by the limits of all evaluations.
func ofFiles(line int64, others ...Limit) []Limit {
	all := append([]Limit{
		{"bytes of a line", line},
		{"bytes of all files of a run or a truth after unpacking", bounds.Files},
		{fmt.Sprintf("bytes of a packed file of more than %d MiB after unpacking, for each of its bytes", bounds.RatioFrom>>20), bounds.Ratio},
	}, others...)
	return append(all,
		Limit{"bytes of the text of a measure", bounds.MeasureName},
		Limit{"errors of a run or a truth, after which it is not read on", bounds.Faults},
		Limit{"bytes of the lines with these errors", bounds.FaultyText},
		Limit{"diagnostics of a run, each of which can stand for many lines", bounds.Diagnostics},
		Limit{"bytes of the message of a diagnostic, before it is cut off", bounds.Message},
		Limit{"warnings in the report on a truth", bounds.Warnings},
		Limit{"bytes of such a warning, before it is cut off", bounds.Warning},
		ofSteps("evaluating a run that is as large as the truth; a truth that takes more is refused", bounds.Steps),
		ofSteps("evaluating a run; a run that takes more fails", bounds.RunSteps),
		ofSteps("scoring a truth against itself; a truth that takes more is not scored against itself", bounds.OwnSteps),
	)
}

// ofItems returns the limits of files with a value for each item, followed by others.
func ofItems(line int64, others ...Limit) []Limit {
	return ofFiles(line, append([]Limit{
		{"items of a truth", bounds.Items},
		{"bytes of an id", bounds.Name},
		{"bytes of all ids of a truth", bounds.IDs},
		{"bytes of a record of csv, which may have several lines", bounds.Record},
		{"levels of arrays and objects in a line of JSON", bounds.Nesting},
		{"items of an evaluation with values by item; an evaluation of more items has no such values", bounds.Examples},
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
		{"grade of a judgment, and its negative", bounds.Grade},
		{"topics of a truth, and of a run", bounds.Topics},
		{"lines of a run", bounds.RunLines},
		{"rank of a cutoff", bounds.Depth},
		{"values by topic of an evaluation, over all measures; an evaluation with more shows none of them", bounds.TopicValues},
		{"bytes of the inputs that tools read for texts of documents and queries, after unpacking", bounds.Inputs},
		{"bytes of a line of the inputs; longer lines are skipped", bounds.InputLine},
		{"characters of a title that tools show", bounds.Title},
		{"characters of the text of a document that tools show", bounds.Passage},
		{"characters of a query that tools show", bounds.Query},
		{"bytes of the inputs whose ids are compared with the truth, after unpacking", bounds.InputIDText},
		{"documents, and queries, of these inputs", bounds.InputIDs},
	}, others...)...)
}
