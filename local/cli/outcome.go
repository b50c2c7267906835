package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// outcome is a run with its evaluation, its place on the leaderboard and its review.
type outcome struct {
	Run        object `json:"run"`
	Evaluation object `json:"evaluation,omitempty"`
	Entry      object `json:"leaderboard,omitempty"` // entry on the leaderboard, if it is among the first 200 that the caller sees
	Review     object `json:"review,omitempty"`      // for the team and the organizers, once organizers have written it
	columns    []record.Column
	shown      int64 // truth version of the leaderboard; 0 if it is not known
	unlisted   bool  // the caller does not see the leaderboard, like a team that is not accepted in a private task
}

// board is a leaderboard.
type board struct {
	TruthVersion int64
	Columns      []record.Column
	Entries      []object
	More         bool
}

// outcome returns a run with its evaluation, its place on the leaderboard and its review, if they exist.
func (c *call) outcome(r object) outcome {
	o := outcome{Run: r}
	if ended(r) {
		o.Review = c.reviewOf(r)
	}
	id := memberAs[string](r, "evaluationId")
	if id == "" {
		return o
	}
	o.Evaluation = c.get(client.Path("evaluations", id))
	if c.err != nil {
		return o
	}
	shown, err := client.Call[board](c.ctx, c.Client, http.MethodPost, client.Path("tools", "leaderboard"),
		map[string]any{"datasetId": r["datasetId"], "limit": 200, "best": false})
	o.unlisted = client.IsKind(err, problem.NotFound)
	if !o.unlisted && !c.fail(err) {
		o.compare(shown)
	}
	return o
}

// compare sets the entry of the run on a leaderboard. While runs are evaluated against a new truth version, the leaderboard can show
// another evaluation of the run, whose rank says nothing about these values.
func (o *outcome) compare(b board) {
	o.shown, o.columns = b.TruthVersion, b.Columns
	isOfRun := func(e object) bool { return e["evaluationId"] == o.Evaluation["id"] }
	if i := slices.IndexFunc(b.Entries, isOfRun); i >= 0 {
		o.Entry = b.Entries[i]
		place(o.Entry, b)
	}
}

// truthVersion returns the truth version that the run was evaluated against.
func (o outcome) truthVersion() int64 { return memberAs[int64](o.Evaluation, "truthVersion") }

// versionLines says which truth version the values belong to, if the leaderboard or another run of the dataset has another one.
func (o outcome) versionLines(all []outcome) [][]string {
	version := record.TruthVersionName(o.truthVersion())
	differs := func(other outcome) bool {
		return other.Evaluation != nil && other.Run["datasetId"] == o.Run["datasetId"] && other.truthVersion() != o.truthVersion()
	}
	switch {
	case o.shown > 0 && o.shown != o.truthVersion():
		return [][]string{{"Evaluated against", fmt.Sprintf("%s; the leaderboard shows version %d", version, o.shown)}}
	case slices.ContainsFunc(all, differs):
		return [][]string{{"Evaluated against", version}}
	}
	return nil
}

// place gives an entry its rank among the entries of the board that others see, and their number, unless the board has more. An entry that
// others do not see has none.
func place(entry object, b board) {
	if !isShown(entry) {
		delete(entry, "rank")
	}
	if entry["rank"] == nil {
		return
	}
	shown := slices.DeleteFunc(slices.Clone(b.Entries), func(e object) bool { return !isShown(e) })
	first := slices.IndexFunc(shown, func(e object) bool { return e["rank"] == entry["rank"] })
	entry["rank"] = float64(first + 1) // Entries without a rank come last.
	if !b.More {
		entry["of"] = float64(len(shown))
	}
}

// isShown reports whether others than the team and the organizers see an entry of a leaderboard.
func isShown(entry object) bool { return entry["hidden"] == nil }

// noRankBy says by the member hidden of an entry why it has no rank.
var noRankBy = map[record.Hidden]string{
	record.HiddenBlinded:     "none while the run is blinded: only the organizers see its scores",
	record.HiddenUnpublished: "none while the run is not published",
}

// reviewOf returns the review of a run if organizers have written it and the caller may read it. A comment stays if they want to review the
// run again.
func (c *call) reviewOf(r object) object {
	if c.err != nil {
		return nil
	}
	review, err := client.Get[object](c.ctx, c.Client, client.Path("runs", r.id(), "review"))
	if client.IsKind(err, problem.NotFound, problem.Forbidden, problem.Unauthorized) {
		return nil
	}
	if c.fail(err) || review["reviewedAt"] == nil && review["comment"] == "" {
		return nil
	}
	return review
}

// why returns a sentence with the diagnostics and the notice of the run.
func (o outcome) why(sentence string) string {
	found := memberAs[[]measure.Diagnostic](o.Run, "diagnostics")
	why := []string{sentence}
	for _, diagnostic := range offline.Lines(found) {
		why = append(why, indented(diagnostic)) // A diagnostic can have several lines, from the output of a program.
	}
	if inAll := measure.InAll(found); inAll != "" {
		why = append(why, indented(inAll))
	}
	why = append(why, line(memberAs[string](o.Run, "notice")))
	return strings.TrimSpace(strings.Join(why, "\n"))
}

// logs returns the command that prints what the run wrote. It is empty if there is nothing that the caller can read.
func (o outcome) logs() string {
	if o.Run["log"] == nil && memberAs[string](o.Run, "logTail") == "" {
		return ""
	}
	return "assay logs " + o.Run.id()
}

// rank returns the place of the run among those of its dataset whose results everyone sees, in words.
func (o outcome) rank() string {
	if o.Entry["of"] == nil {
		return o.Entry.text("rank") + " of those shown to all who see the task"
	}
	return o.Entry.text("rank") + " of " + o.Entry.text("of") + " shown to all who see the task"
}

// scores returns the lines of an evaluation in the order of the leaderboard's columns.
func (o outcome) scores() (lines [][]string) {
	measures := memberAs[object](o.Evaluation, "measures")
	columns := lists.Map(memberAs[[]string](o.Evaluation, "columns"), o.column)
	for i, of := range columns {
		value := score(measures, of)
		if i == 0 && o.Entry["interval"] != nil {
			interval := memberAs[object](o.Entry, "interval")
			value += fmt.Sprintf("  (95 %% interval %s to %s)", score(interval, within(of, "low")), score(interval, within(of, "high")))
		}
		lines = append(lines, []string{heading(of), value})
	}
	switch {
	case o.unlisted:
		lines = append(lines, []string{"Rank", "not shown: you do not see the leaderboard of this dataset"})
	case o.Entry == nil:
	case !isShown(o.Entry):
		lines = append(lines, []string{"Rank", o.noRank()})
	case o.Entry["rank"] == nil:
		lines = append(lines, []string{"Rank", "none: the run has no value of " + heading(columns[0])})
	default:
		lines = append(lines, []string{"Rank", o.rank()})
	}
	return lines
}

// noRank says why an entry that others do not see has no rank.
func (o outcome) noRank() string {
	hidden := memberAs[record.Hidden](o.Entry, "hidden")
	if hidden != record.HiddenColumns {
		return noRankBy[hidden]
	}
	until, _ := shownFrom(o.columns, access.Registrants)
	if until == never {
		return "none: no column of the leaderboard is shown to others"
	}
	return "none until " + until + ": no column of the leaderboard is shown to others before"
}

// column returns the column of a measure on the leaderboard.
func (o outcome) column(key string) record.Column {
	if i := slices.IndexFunc(o.columns, func(of record.Column) bool { return of.Key == key }); i >= 0 {
		return o.columns[i]
	}
	return record.Column{Key: key}
}

// within returns the column with another key, for values that are shown like those of the column.
func within(of record.Column, key string) record.Column {
	of.Key = key
	return of
}
