package datasets

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// noteEffects adds to a preview how a change of a dataset affects participants and runs.
func noteEffects(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	if !c.Previewing() {
		return nil
	}
	path := "/v1/datasets/" + old.ID
	conditions, err := conditionsOf(ctx, c, old)
	if err != nil {
		return err
	}
	t, e := conditions.Task, conditions.Embargo
	noteFiles(c, path, old, changed, t)
	withheld := false
	if t != nil {
		is := changed.ValueRules(t, e)
		withheld = !is.Wait(access.Owners, c.Now()).Over
		if err := c.EffectOfColumns(ctx, old, old.ValueRules(t, e), is); err != nil {
			return err
		}
		c.EffectOfAdvice(old, changed, t, t)
		noteRules(c, path, old, changed, t)
	}
	if err := noteFinals(ctx, c, path, old, changed); err != nil {
		return err
	}
	if err := noteSplit(ctx, c, path, old, changed, withheld); err != nil {
		return err
	}
	notePublish(c, path, old, changed)
	noteRanking(c, path, old, changed, conditions)
	if reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith) {
		return nil
	}
	again := api.Consequence{Kind: api.EffectEvaluation, Subject: path}
	return noteEvaluation(ctx, c, again, old, changed, inline, t)
}

// noteFiles says who gets the files of the dataset, if that changes for files that are there or arrive.
func noteFiles(c *api.Call, path string, old, changed *record.DatasetItem, t *record.TaskItem) {
	was, is := inputsFor(old), inputsFor(changed)
	if !slices.ContainsFunc(old.Inputs, func(f record.File) bool { return f.State == record.FileStored }) {
		was = access.Nobody
	}
	var more []problem.Text
	if changed.InputsFor == record.InputsForRegistrants && t != nil && t.Terms != nil {
		more = append(more, problem.Sentence(" Teams get them once they have accepted the terms of the task."))
	}
	if is < was {
		more = append(more, problem.Sentence(" Links that others have received already work for some more minutes."))
	}
	if len(changed.Inputs) > 0 && changed.InputsFor != old.InputsFor {
		c.EffectOfAudience(path, problem.Sentence("Who gets the input files"), was, is, more...)
	}
	if len(changed.Truths) > 0 && len(old.Truths) > 0 {
		c.EffectOfAudience(path, problem.Sentence("Who gets the truth files"), truthsFor(old), truthsFor(changed))
	}
}

// notePublish says when reviews are published from now on.
func notePublish(c *api.Call, path string, old, changed *record.DatasetItem) {
	was := old.Publish == record.PublishOnCompletion
	is := changed.Publish == record.PublishOnCompletion
	of := api.Consequence{Kind: api.EffectAudience, Subject: path}
	switch {
	case is && !was:
		c.Effect(of, problem.Sentence("From now on, the review of a run is published when the run completes for the first time, unless "+
			"organizers have written it or rejected the team. Other reviews stay unchanged."))
	case was && !is:
		c.Effect(of, problem.Sentence("From now on, organizers publish the review of each run. Published reviews stay published."))
	}
}

// noteEvaluation says how many runs are evaluated again, and with which result.
func noteEvaluation(ctx context.Context, c *api.Call, of api.Consequence, old, changed *record.DatasetItem, inline contents,
	t *record.TaskItem) error {
	if len(changed.Truths) == 0 {
		return nil
	}
	runs, err := c.CountRuns(ctx, old.ID, "run", evaluatedAgain)
	if runs == "" || err != nil {
		return err
	}
	who := "The platform evaluates"
	if changed.Evaluator.Kind == record.EvaluatorWorker {
		who = "Workers evaluate"
	}
	c.Effect(of, problem.Sentence("%s %s again once the truth files are read.", who, runs))
	return noteTrial(ctx, c, old, changed, inline, t)
}

// evaluatedAgain reports whether a new ground truth makes the platform evaluate the run again. An earlier ground truth may have queued the
// run again already. A run that has not been evaluated yet is evaluated for the first time.
func evaluatedAgain(r *record.RunItem) bool {
	return r.HasFiles() && (r.State == record.Completed || r.State == record.Failed || waitsAgain(r))
}

// waitsAgain reports whether the run was evaluated before, and its evaluation against an earlier new ground truth is not complete.
func waitsAgain(r *record.RunItem) bool { return !r.State.Ended() && r.TruthVersion > 0 }

// noteRules adds what a change of the dataset's window and quota means for teams.
func noteRules(c *api.Call, path string, old, changed *record.DatasetItem, t *record.TaskItem) {
	set := changed.Part()
	c.EffectsOfWindows(path, []api.WindowChange{{Dataset: set, Was: api.WindowOf(old, t), Is: api.WindowOf(changed, t)}})
	before, after := old.Submissions, changed.Submissions
	c.EffectsOfLimits(path, set, api.Limit{Was: before.PerDay, Is: after.PerDay, Daily: true},
		api.Limit{Was: before.Total, Is: after.Total})
}

// noteFinals says what a smaller number of final runs means for the runs that teams have marked.
func noteFinals(ctx context.Context, c *api.Call, path string, old, changed *record.DatasetItem) error {
	if changed.FinalRuns >= old.FinalRuns {
		return nil
	}
	of := api.Consequence{Kind: api.EffectAudience, Subject: path}
	runs := records.Of(record.KindDataset, old.ID, record.KindRun)
	if changed.FinalRuns == 0 {
		return api.CountEffect(ctx, c, of, "run", runs, func(r *record.RunItem) bool { return r.Final },
			func(runs string) problem.Text {
				return problem.Sentence("Leaderboards show no final runs any more, although teams have marked %s as final.", runs)
			})
	}
	marked := map[string]int{}
	exceeds := func(r *record.RunItem) bool {
		if r.Final {
			marked[r.TeamID()]++
		}
		return r.Final && marked[r.TeamID()] == changed.FinalRuns+1
	}
	counting := "marked run that has a result counts"
	if changed.FinalRuns > 1 {
		counting = fmt.Sprintf("%d marked runs that have a result count", changed.FinalRuns)
	}
	return api.CountEffect(ctx, c, of, "team", runs, exceeds, func(teams string) problem.Text {
		return problem.Sentence("%s marked more than %s as final. Of each such team, only the newest %s. Its other runs stay marked.", teams,
			plural.Count(changed.FinalRuns, "run"), counting)
	})
}

// noteSplit says whether runs start blinded from now on, if a change of the split changes that. Runs that exist keep their reviews.
// withheld reports whether only organizers see scores now, whatever reviews say.
func noteSplit(ctx context.Context, c *api.Call, path string, old, changed *record.DatasetItem, withheld bool) error {
	blinds := changed.StartsBlinded()
	if blinds == old.StartsBlinded() {
		return nil
	}
	text := problem.Sentence("Runs that are submitted from now on no longer start blinded: their teams see the scores %s.", map[bool]string{
		false: "at once", true: "as soon as these are no longer withheld"}[withheld])
	if blinds {
		text = problem.Sentence("Runs that are submitted from now on start blinded: only organizers see their scores until a review "+
			"unblinds them%s.", map[bool]string{true: ", also once scores are no longer withheld"}[withheld])
	}
	others, err := c.CountRuns(ctx, old.ID, "earlier run", func(r *record.RunItem) bool { return r.Access.Blinded != blinds })
	switch {
	case others != "" && blinds:
		text.Append(problem.Sentence(" The change does not blind %s.", others))
	case others != "":
		text.Append(problem.Sentence(" The change does not unblind %s: reviews do.", others))
	}
	c.Effect(api.Consequence{Kind: api.EffectAudience, Subject: path}, text)
	return err
}

// inputsFor returns who gets the input files of the dataset.
func inputsFor(d *record.DatasetItem) access.Audience {
	if d.ReadsInputs(access.Anyone) {
		return d.Scope().Audience
	}
	return access.Registrants
}

// truthsFor returns who gets the truth files of the dataset.
func truthsFor(d *record.DatasetItem) access.Audience {
	if d.TruthsPublic {
		return inputsFor(d)
	}
	return access.Organizers
}
