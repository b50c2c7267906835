package main

import (
	"strconv"
	"strings"

	"assay/local/cli/client"
	"assay/shared/lists"
)

func leaderboard(c *call, task object) {
	body := map[string]any{"datasetId": c.dataset(task, c.text("dataset")).id(), "limit": c.number("limit"), "best": c.yes("best")}
	c.fill(body, map[string]string{"measure": "measure", "final": "final"})
	if c.yes("public") {
		body["view"] = "public"
	}
	b := c.post(client.Path("tools", "leaderboard"), body)
	measures := strings.Fields(b.text("measures"))
	lines := [][]string{append([]string{"RANK", "GROUP", "TEAM", "RUN"}, measures...)}
	for _, e := range b.objects("entries") {
		line := []string{e.text("rank"), e.text("group"), e.text("team"), e.first("label", "title", "runTag", "runId")}
		if baseline, _ := e["baseline"].(bool); baseline {
			line[2] += " (baseline)"
		}
		values, _ := e["measures"].(map[string]any)
		lines = append(lines, append(line, lists.Map(measures, func(m string) string { return score(values, m) })...))
	}
	if more, _ := b["more"].(bool); more && !c.json {
		c.note("There are more: --limit shows up to 200.")
	}
	c.print(b, lines...)
}

func compare(c *call) {
	body := map[string]any{"seed": 1, "runs": lists.Map(c.args, func(id string) object { return object{"runId": id} })}
	c.fill(body, map[string]string{"measure": "measure"})
	d := c.post(client.Path("tools", "significance"), body)
	lines, names := [][]string{{"RUN", "AND", d.text("measure"), "P (" + d.text("correction") + ")", "DIFFERENT"}}, object{}
	for i, r := range d.objects("runs") {
		names[strconv.Itoa(i)] = r["name"]
	}
	for _, pair := range d.objects("pairs") {
		lines = append(lines, []string{names.text(pair.text("first")), names.text(pair.text("second")), pair.text("difference"),
			pair.text("p"), pair.text("different")})
	}
	c.print(d, append(lines, []string{d.text("conclusion")})...)
}
