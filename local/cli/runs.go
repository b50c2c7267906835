package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
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
			return r, c.ofHiddenRun(id, err)
		}
		if !wait.Sleep(ctx, pause) {
			return r, ctx.Err()
		}
	}
}

// ofHiddenRun returns the error of a request for a run. If the run is not found because its submission is private, but the caller sees its
// values on the leaderboard, which has its id, the error says so.
func (c *call) ofHiddenRun(id string, err error) error {
	if !client.IsKind(err, problem.NotFound) {
		return err
	}
	entries, unread := client.List[object](c.ctx, c.Client, client.Query(client.Path("evaluations"), "filter[runId]", id))
	if unread != nil || !slices.ContainsFunc(entries, func(e object) bool { return memberAs[bool](e, "private") }) {
		return err
	}
	r := &refusal{code: notFound, text: fmt.Sprintf(
		"The submission of the run %s is private: you see its values on the leaderboard, but not the run.", line(id))}
	if !c.known {
		r.heal = c.login()
	}
	return r
}

func showRuns(c *call) {
	var task object
	if text := c.text("task"); text == "" {
		c.connect("")
	} else {
		task = c.task(text)
	}
	switch {
	case c.err != nil:
	case len(c.args) > 0:
		c.await(c.args, func() [][]string { return nil })
	default:
		c.listRuns(task)
	}
}

// await prints the outcomes of runs, and more lines that it asks for at the end. With --wait, it waits until the runs have ended.
func (c *call) await(ids []string, more func() [][]string) {
	ctx, stop := c.ctx, func() {}
	if limit, err := c.flags.GetDuration("timeout"); err == nil && limit > 0 {
		ctx, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	var outcomes []outcome
	for _, id := range ids {
		r, err := c.watch(ctx, id, !c.yes("wait"), func(r object) error {
			if c.terminal && !c.json {
				c.note("%s", strings.TrimSuffix(r.text("state")+": "+memberAs[string](r, "notice"), ": "))
			}
			return nil
		})
		if errors.Is(err, context.DeadlineExceeded) && c.ctx.Err() == nil { // After the time-out, print the current state.
			r, err = c.watch(c.ctx, id, true, func(object) error { return nil })
		}
		if c.ctx.Err() != nil {
			text := "Interrupted. The submitted runs continue without this command."
			err = &refusal{interrupted, text, "assay runs " + strings.Join(ids, " ") + " --wait"}
		}
		if c.fail(err) {
			return
		}
		outcomes = append(outcomes, c.outcome(r))
	}
	c.report(outcomes, more())
}

// report prints outcomes and more lines, and fails if a run is not completed.
func (c *call) report(outcomes []outcome, more [][]string) {
	var lines [][]string
	for _, o := range outcomes {
		id, of := o.Run.id(), ""
		if len(outcomes) > 1 {
			of = fmt.Sprintf("Run %s: ", line(id))
		}
		lines = append(lines, []string{"Run " + id, o.Run.text("state")})
		completed := o.Run.text("state") == "completed"
		switch {
		case !completed: // The error says why.
		case o.Evaluation == nil:
			lines = append(lines, []string{"", cmp.Or(memberAs[string](o.Run, "notice"), "It is completed. Its scores are not shown yet.")})
		default:
			lines = append(lines, slices.Concat(o.scores(), o.versionLines(outcomes))...)
			c.explain(of, "has no value: ", memberAs[map[string]string](o.Evaluation, "reasons"))
		}
		if comment := memberAs[string](o.Review, "comment"); comment != "" && !c.json {
			c.note("The organizers say of the run %s: %s", id, comment)
		}
		if completed && !c.json {
			c.warnOfRun(of, memberAs[[]measure.Diagnostic](o.Run, "diagnostics"))
		}
	}
	c.print(outcomes, append(lines, more...)...)
	c.fail(incomplete(outcomes))
}

// incomplete returns an error that says of each run that is not completed why. Its exit code is waiting if one of them has not ended.
func incomplete(outcomes []outcome) error {
	var texts, unended, logs []string
	for _, o := range outcomes {
		id, state := o.Run.id(), o.Run.text("state")
		switch {
		case !ended(o.Run):
			texts = append(texts, o.why(fmt.Sprintf("The run %s is still %s.", line(id), state)))
			unended = append(unended, id)
		case state != "completed":
			texts = append(texts, o.why(fmt.Sprintf("The run %s is %s.", line(id), state)))
			logs = append(logs, o.logs())
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case len(unended) > 0:
		return &refusal{waiting, text, "assay runs " + strings.Join(unended, " ") + " --wait"}
	case len(texts) > 0:
		return &refusal{runFailed, text, strings.Join(lists.Without(logs, ""), " && ")}
	}
	return nil
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
		c.noteNoLog(r)
	}
}

// noteNoLog says why there is no log of a run.
func (c *call) noteNoLog(r object) {
	said := "The run, which is %s, has written nothing."
	if !c.organizes(c.get(client.Path("tasks", r.text("taskId")))) {
		said = "The run, which is %s, has written nothing, or nothing that you may read."
	}
	c.err = nil // The task itself can be hidden.
	c.note(said, r.text("state"))
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

// change patches resources below a path by their ids, and prints them with more columns of the table.
func (c *call) change(below string, ids []string, body map[string]any, columns string) {
	var changed []object
	for _, id := range ids {
		if c.err != nil {
			break
		}
		now := c.patch(below+"/"+url.PathEscape(id), body)
		if below == client.Path("runs") {
			c.err = c.ofHiddenRun(id, c.err)
		}
		if c.err != nil {
			c.err = fmt.Errorf("%s: %w", line(id), c.err)
			break
		}
		changed = append(changed, now)
	}
	c.nameTeams(changed)
	c.table(changed, "", "ID id|STATE state|TEAM teamName"+columns)
}
