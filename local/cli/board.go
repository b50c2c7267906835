package main

import (
	"fmt"
	"strconv"
	"strings"

	"assay/local/cli/client"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

func leaderboard(c *call, task object) {
	d := c.dataset(task, c.text("dataset"))
	body := map[string]any{"datasetId": d.id(), "limit": c.number("limit"), "best": c.yes("best")}
	c.fill(body, map[string]string{"measure": "measure", "final": "final"})
	if c.yes("public") {
		if c.err == nil && !c.signedIn() {
			c.fail(&refusal{failed, "--public does nothing here: you are not signed in, so you see what everyone sees.",
				"the same command without --public"})
		}
		body["view"] = "public"
	}
	b := c.post(client.Path("tools", "leaderboard"), body)
	columns := memberAs[[]record.Column](b, "columns")
	lines := [][]string{append([]string{"RANK", "GROUP", "TEAM", "RUN"}, lists.Map(columns, heading)...)}
	entries := memberAs[[]object](b, "entries")
	hidden := false
	for _, e := range entries {
		hidden = hidden || strings.HasPrefix(rankOf(e), "(")
		line := []string{rankOf(e), e.text("group"), marked(e), e.first("label", "title", "runTag", "runId")}
		values := memberAs[object](e, "measures")
		lines = append(lines, append(line, lists.Map(columns, func(of record.Column) string { return score(values, of) })...))
	}
	if empty := memberAs[*problem.Text](b, "empty"); empty != nil && !c.json && c.err == nil {
		c.note("%s", c.words.text(*empty))
		return
	}
	if memberAs[bool](b, "more") && !c.json {
		c.note("There are more: --limit shows up to 200.")
	}
	if hidden && !c.json {
		c.note("Others do not see the runs whose ranks are in parentheses. All ranks count them. " +
			"The ranks shown to all who see the task: --public.")
	}
	c.noteReevaluation(d, b)
	for _, member := range []string{"groupsNote", "finalsNote"} {
		if note := memberAs[string](b, member); note != "" && !c.json {
			c.note("%s", note)
		}
	}
	c.print(b, lines...)
}

// noteReevaluation says of a leaderboard that its dataset has a newer version of the ground truth and evaluator, or that some runs have not
// been evaluated against the shown version yet. The dataset was read before the leaderboard, which can show a later version.
func (c *call) noteReevaluation(dataset, b object) {
	if c.err != nil || c.json {
		return
	}
	shown := memberAs[int64](b, "truthVersion")
	newest := memberAs[int64](dataset, "truthVersion")
	again := memberAs[*record.Progress](dataset, "reevaluation")
	ended := ""
	if again != nil && again.Runs > 0 {
		ended = fmt.Sprintf(": %d of %d have", again.Runs-again.Waiting, again.Runs)
	}
	switch {
	case shown < newest:
		c.note("Shown are the results against %s. They stand until the runs have been evaluated against version %d%s.",
			record.TruthVersionName(shown), newest, ended)
	case shown == newest && again != nil && again.Waiting > 0 && memberAs[int64](dataset, "boardVersion") == newest:
		c.note("Some runs have not been evaluated against %s yet%s.", record.TruthVersionName(shown), ended)
	}
}

// marked returns the team of an entry. In parentheses follow the alias of an anonymous team, whether the entry is a baseline, and why
// others do not see it.
func marked(entry object) string {
	var marks []string
	if alias := memberAs[string](entry, "alias"); alias != "" && alias != entry.text("team") {
		marks = append(marks, "alias "+alias)
	}
	if memberAs[bool](entry, "baseline") && entry.text("team") != record.BaselineTeam {
		marks = append(marks, "baseline")
	}
	if !isShown(entry) {
		of := record.Entry{Hidden: memberAs[record.Hidden](entry, "hidden"), Published: memberAs[bool](entry, "published")}
		marks = append(marks, of.Mark())
	}
	if len(marks) == 0 {
		return entry.text("team")
	}
	return entry.text("team") + " (" + strings.Join(marks, ", ") + ")"
}

// rankOf returns the rank of an entry among all entries that the caller sees. It is in parentheses if others do not see the entry.
func rankOf(entry object) string {
	rank := entry.text("rank")
	if rank != "-" && !isShown(entry) {
		return "(" + rank + ")"
	}
	return rank
}

func compare(c *call) {
	body := map[string]any{"seed": 1, "runs": lists.Map(c.args, func(id string) object { return object{"runId": id} })}
	c.fill(body, map[string]string{"measure": "measure"})
	d := c.post(client.Path("tools", "significance"), body)
	p, rounded := "P ("+d.text("correction")+")", memberAs[bool](d, "rounded")
	if rounded {
		p += ", AT MOST"
	}
	lines := [][]string{{"RUN", "AND", d.text("measure"), p, "DIFFERENT"}}
	names := object{}
	for i, r := range memberAs[[]object](d, "runs") {
		names[strconv.Itoa(i)] = r["name"]
	}
	for _, pair := range memberAs[[]object](d, "pairs") {
		lines = append(lines, []string{names.text(pair.text("first")), names.text(pair.text("second")), pair.text("difference"),
			pair.text("p"), pair.text("different")})
	}
	if rounded && !c.json && c.err == nil {
		c.note("p is rounded up, because exact values would tell the truth of single examples. Only the organizers see them.")
	}
	c.print(d, append(lines, []string{d.text("conclusion")})...)
}
