package main

import (
	"fmt"
	"net/http"
	"strings"

	"assay/local/cli/client"
)

func leaderboard(c *call, task object) {
	body := map[string]any{"datasetId": c.dataset(task, c.text("dataset")).id(), "limit": c.number("limit"), "best": c.yes("best")}
	if c.yes("final") {
		body["final"] = true
	}
	if by := c.text("measure"); by != "" {
		body["measure"] = by
	}
	if c.yes("public") {
		body["view"] = "public"
	}
	b := c.post(client.Path("tools", "leaderboard"), body)
	measures := strings.Fields(b.text("measures"))
	lines := [][]string{append([]string{"RANK", "GROUP", "TEAM", "RUN"}, measures...)}
	entries, _ := b["entries"].([]any)
	for _, one := range entries {
		e := object(one.(map[string]any))
		line := []string{e.text("rank"), e.text("group"), e.text("team"), e.first("label", "title", "runTag", "runId")}
		if baseline, _ := e["baseline"].(bool); baseline {
			line[2] += " (baseline)"
		}
		values, _ := e["measures"].(map[string]any)
		for _, m := range measures {
			value := "-"
			if v, ok := values[m].(float64); ok {
				value = decimals(&v)
			}
			line = append(line, value)
		}
		lines = append(lines, line)
	}
	if more, _ := b["more"].(bool); more && !c.json {
		c.note("There are more: --limit shows up to 200.")
	}
	c.print(b, lines...)
}

// differences is what the tool significance answers, as far as a table shows it.
type differences struct {
	Measure, Conclusion, Correction string
	Runs                            []struct{ Name string }
	Pairs                           []struct {
		First, Second int
		Difference    float64
		P             *float64
		Different     bool
	}
}

func compare(c *call) {
	var runs []object
	for _, id := range c.args {
		runs = append(runs, object{"runId": id})
	}
	body := map[string]any{"seed": 1, "runs": runs}
	if by := c.text("measure"); by != "" {
		body["measure"] = by
	}
	if c.json {
		c.print(c.post(client.Path("tools", "significance"), body))
		return
	}
	d := ask[differences](c, http.MethodPost, client.Path("tools", "significance"), body)
	lines := [][]string{{"RUN", "AND", d.Measure, "P (" + d.Correction + ")", "VERDICT"}}
	for _, r := range d.Pairs {
		verdict := map[bool]string{true: "different", false: "not told apart"}[r.Different]
		lines = append(lines, []string{d.Runs[r.First].Name, d.Runs[r.Second].Name, fmt.Sprintf("%+.4f", r.Difference), decimals(r.P), verdict})
	}
	c.print(nil, append(lines, []string{d.Conclusion})...)
}
