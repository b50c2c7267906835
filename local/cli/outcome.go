package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/language/problem"
)

// outcome is a run with its evaluation, its place on the leaderboard and its review.
type outcome struct {
	Run        object `json:"run"`
	Evaluation object `json:"evaluation,omitempty"`
	Entry      object `json:"leaderboard,omitempty"` // entry on the leaderboard, if it is among the first 200 that the caller sees
	Review     object `json:"review,omitempty"`      // for the team and the organizers, once organizers have written it
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
	board := ask[struct{ Entries []object }](c, http.MethodPost, client.Path("tools", "leaderboard"),
		map[string]any{"datasetId": r["datasetId"], "limit": 200, "best": false}).Entries
	if i := slices.IndexFunc(board, func(e object) bool { return e["runId"] == r["id"] }); i >= 0 {
		o.Entry = board[i]
		place(o.Entry, board)
	}
	return o
}

// place gives an entry its rank among the ranked published entries of the board. An entry that is not published has none.
func place(entry object, board []object) {
	if !isPublished(entry) {
		delete(entry, "rank")
	}
	if entry["rank"] == nil {
		return
	}
	ranked := slices.DeleteFunc(slices.Clone(board), func(e object) bool { return !isPublished(e) || e["rank"] == nil })
	first := slices.IndexFunc(ranked, func(e object) bool { return e["rank"] == entry["rank"] })
	entry["rank"], entry["of"] = float64(first+1), float64(len(ranked))
}

// isPublished reports whether others than the team and the organizers see an entry of a leaderboard.
func isPublished(entry object) bool {
	return slices.Contains([]string{"everyone", "registrants"}, entry.text("audience"))
}

// reviewOf returns the review of a run if organizers have written it and the caller may read it.
func (c *call) reviewOf(r object) object {
	if c.err != nil {
		return nil
	}
	review, err := client.Get[object](c.ctx, c.Client, client.Path("runs", r.id(), "review"))
	if client.IsKind(err, problem.NotFound, problem.Forbidden, problem.Unauthorized) {
		return nil
	}
	if c.fail(err) || review["reviewedAt"] == nil {
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

// scores returns the lines of an evaluation, the primary measure first.
func (o outcome) scores() (lines [][]string) {
	measures := memberAs[object](o.Evaluation, "measures")
	primary := o.Evaluation.text("primaryMeasure")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(measures)), func(n string) bool { return n == primary })
	for _, name := range append([]string{primary}, names...) {
		value := score(measures, name)
		if name == primary && o.Entry["interval"] != nil {
			value += fmt.Sprintf("  (95 %% interval %.4f to %.4f)", o.Entry.member("interval.low"), o.Entry.member("interval.high"))
		}
		lines = append(lines, []string{name, value})
	}
	switch {
	case o.Entry == nil:
	case isPublished(o.Entry) && o.Entry["rank"] == nil:
		lines = append(lines, []string{"Rank", "none: the run has no value of " + primary})
	case isPublished(o.Entry):
		lines = append(lines, []string{"Rank", o.Entry.text("rank") + " of " + o.Entry.text("of")})
	default:
		lines = append(lines, []string{"Rank", "none yet: the organizers have not published the run"})
	}
	return lines
}
