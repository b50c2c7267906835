package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/wait"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// ended reports whether a run has ended.
func ended(run object) bool {
	return slices.Contains([]string{"completed", "failed", "cancelled"}, run.text("state"))
}

// The wait between two reads of a run grows from firstLook to lastLook.
const firstLook, lastLook = 100 * time.Millisecond, 3 * time.Second

// watch calls each with the run after every change, until the run has ended. With once, it calls each only with the current run.
func (c *call) watch(ctx context.Context, id string, once bool, each func(run object) error) (r object, err error) {
	for pause, tag := firstLook, ""; ; pause = min(pause*3/2, lastLook) {
		a, err := c.Do(ctx, client.Request{Method: http.MethodGet, Path: client.Path("runs", id), Known: tag})
		if err == nil && a.Status != http.StatusNotModified {
			tag = a.Header.Get("ETag")
			r = nil // Decoding must not keep members of an earlier answer.
			if err = json.Unmarshal(a.Body, &r); err == nil {
				err = each(r)
			}
		}
		if err != nil || once || ended(r) {
			return r, err
		}
		if !wait.Sleep(ctx, pause) {
			return r, ctx.Err()
		}
	}
}

// outcome is a run with its evaluation and its place on the leaderboard.
type outcome struct {
	Run        object `json:"run"`
	Evaluation object `json:"evaluation,omitempty"`
	Entry      object `json:"leaderboard,omitempty"` // entry on the leaderboard, if it is among the first 200 that the caller sees
}

func showRuns(c *call) {
	task := c.text("task")
	if task == "" {
		c.connect("")
	} else {
		task = c.task(task).id()
	}
	if c.err != nil {
		return
	}
	if len(c.args) > 0 {
		c.await(c.args, nil)
		return
	}
	c.list(client.Query(client.Path("runs"), "filter[userId]", c.me().ID, "filter[taskId]", task),
		"You have no run here yet. Submit one with: assay submit TASK FILE",
		"ID id|STATE state|TITLE label,title,runTag|SUBMITTED createdAt|FINAL final")
}

// await prints the outcomes of runs. With --wait, it waits until they have ended.
func (c *call) await(ids []string, quota object) {
	ctx, stop := c.ctx, func() {}
	if limit, err := c.flags.GetDuration("timeout"); err == nil && limit > 0 {
		ctx, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	var outcomes []outcome
	for _, id := range ids {
		r, err := c.watch(ctx, id, !c.yes("wait"), func(r object) error {
			if c.terminal && !c.json {
				c.note("%s", r.text("state"))
			}
			return nil
		})
		if errors.Is(err, context.DeadlineExceeded) && c.ctx.Err() == nil { // After the time-out, print the current state.
			r, err = c.watch(c.ctx, id, true, func(object) error { return nil })
		}
		if c.fail(err) {
			return
		}
		outcomes = append(outcomes, c.outcome(r))
	}
	c.report(outcomes, quota)
}

// outcome returns a run with its evaluation and its place on the leaderboard, if they exist.
func (c *call) outcome(r object) outcome {
	o := outcome{Run: r}
	id := memberAs[string](r, "evaluationId")
	if id == "" {
		return o
	}
	o.Evaluation = c.get(client.Path("evaluations", id))
	board := ask[struct{ Entries []object }](c, http.MethodPost, client.Path("tools", "leaderboard"),
		map[string]any{"datasetId": r["datasetId"], "limit": 200, "best": false}).Entries
	if i := slices.IndexFunc(board, func(e object) bool { return e["runId"] == r["id"] }); i >= 0 {
		o.Entry, board[i]["of"] = board[i], float64(len(board))
	}
	return o
}

// report prints outcomes, and fails if a run is not completed.
func (c *call) report(outcomes []outcome, quota object) {
	var lines [][]string
	var ill error
	for _, o := range outcomes {
		id, state := o.Run.id(), o.Run.text("state")
		lines = append(lines, []string{"Run " + id, state})
		switch {
		case !ended(o.Run):
			ill = &refusal{waiting, fmt.Sprintf("The run %s is still %s.", line(id), state), "assay runs --wait " + id}
		case state != "completed":
			why := []string{fmt.Sprintf("The run %s is %s.", line(id), state)}
			for _, diagnostic := range offline.Lines(memberAs[[]measure.Diagnostic](o.Run, "diagnostics")) {
				why = append(why, indented(diagnostic)) // A diagnostic can have several lines, from the output of a program.
			}
			if inAll := measure.InAll(memberAs[[]measure.Diagnostic](o.Run, "diagnostics")); inAll != "" {
				why = append(why, indented(inAll))
			}
			why = append(why, line(memberAs[string](o.Run, "notice")))
			ill = &refusal{runFailed, strings.TrimSpace(strings.Join(why, "\n")), "assay logs " + id}
		case o.Evaluation == nil:
			lines = append(lines, []string{"", "It is valid. Its scores are shown once the organizers show them."})
		default:
			lines = append(lines, o.scores()...)
			c.explain("", "has no value: ", memberAs[map[string]string](o.Evaluation, "reasons"))
		}
		if state == "completed" && !c.json {
			for _, warning := range offline.Lines(memberAs[[]measure.Diagnostic](o.Run, "diagnostics")) {
				c.note("%s", warning)
			}
		}
	}
	for _, of := range []struct{ remaining, most, said string }{{"remainingToday", "perDay", "today"}, {"remaining", "total", "in all"}} {
		if quota[of.most] != nil {
			lines = append(lines, []string{"Left to submit", fmt.Sprintf("%s of %s %s", quota.text(of.remaining), quota.text(of.most), of.said)})
		}
	}
	c.print(outcomes, lines...)
	c.fail(ill)
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
	if o.Entry != nil {
		lines = append(lines, []string{"Rank", o.Entry.text("rank") + " of " + o.Entry.text("of")})
	}
	return lines
}

func showLogs(c *call) {
	seen, text := "", strings.Builder{}
	out := io.Writer(transform.NewWriter(c.out, runes.Map(visible)))
	if c.json {
		out = &text
	}
	log := map[bool]string{true: "evaluationLog", false: "log"}[c.yes("evaluation")]
	r, err := c.watch(c.ctx, c.arg(0), !c.yes("follow"), func(r object) error {
		before := seen
		seen = memberAs[string](r, log+"Tail")
		if whole := memberAs[record.File](r, log); before == "" && whole.URL != "" {
			return client.Copy(c.ctx, out, whole.URL)
		}
		_, err := io.WriteString(out, unseen(before, seen))
		return err
	})
	if c.fail(err) {
		return
	}
	if c.json {
		c.print(map[string]any{"id": r["id"], "state": r["state"], "log": text.String()})
	} else if memberAs[string](r, "logTail")+memberAs[string](r, "evaluationLogTail") == "" {
		c.note("The run, which is %s, has written nothing, or its organizers alone may read it.", r.text("state"))
	}
}

// unseen returns the part of a tail that is new since the tail before. Lines are added at its end and removed at its start.
func unseen(seen, tail string) string {
	for at := range seen {
		if rest, ok := strings.CutPrefix(tail, seen[at:]); ok {
			return rest
		}
	}
	return strings.TrimSuffix(tail, "\n") + strings.Repeat("\n", min(len(tail), 1))
}

// change patches resources below a path by their ids, and prints them.
func (c *call) change(below string, ids []string, body map[string]any) {
	var changed []object
	for _, id := range ids {
		now := c.patch(below+"/"+url.PathEscape(id), body)
		if c.err == nil {
			changed = append(changed, now)
		}
	}
	c.table(changed, "", "ID id|STATE state|TEAM team|FINAL final")
}
