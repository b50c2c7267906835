package evaluations

import (
	"cmp"
	"slices"
	"strconv"

	"assay/shared/record"
)

// columns is a list as a table of text. The measures are those of the first evaluation in its dataset's order, then
// what others have in addition.
func columns(list []record.Evaluation) [][]string {
	var names []string
	for _, e := range list {
		for _, name := range e.MeasureNames() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	rows := [][]string{append([]string{"rank", "team", "userId", "runId", "submissionId", "datasetId", "taskId", "createdAt", "baseline",
		"audience", "alias", "affiliation", "title", "label", "runTag", "paperUrl", "submittedAt"}, names...)}
	for _, e := range list {
		row := []string{"", e.Team, e.UserID, e.RunID, e.SubmissionID, e.DatasetID, e.TaskID, e.CreatedAt.String(),
			strconv.FormatBool(e.Baseline),
			e.Audience, e.Alias, e.Affiliation, e.Title, e.Label, e.RunTag, e.PaperURL, e.SubmittedAt.String()}
		if e.Rank > 0 {
			row[0] = strconv.Itoa(e.Rank)
		}
		for _, name := range names {
			cell := ""
			if v := e.Measures[name]; v != nil {
				cell = strconv.FormatFloat(*v, 'g', -1, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if !slices.ContainsFunc(list, func(e record.Evaluation) bool { return e.User != nil }) {
		return rows
	}
	for i := range rows { // organizers see who the users are
		user := &record.Person{Name: "userName", Email: "userEmail"}
		if i > 0 {
			user = cmp.Or(list[i-1].User, new(record.Person))
		}
		rows[i] = slices.Insert(rows[i], slices.Index(rows[0], "userId")+1, user.Name, user.Email)
	}
	return rows
}
