package datasets

import (
	"context"
	"fmt"
	"reflect"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// noteEffects says, in a preview, what a change of a dataset means for participants and runs.
func noteEffects(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) error {
	if !c.Previewing() {
		return nil
	}
	path := "/v1/datasets/" + old.ID
	all := record.AudienceName(old.Scope().Audience)
	note := func(was, is bool, without, with, what string) {
		if was != is {
			e := api.Effect{Kind: api.EffectAudience, Subject: path, Before: without, After: with, Detail: what}
			if was {
				e.Before, e.After = with, without
			}
			c.Effect(e)
		}
	}
	note(!old.ReadsInputs(access.Anyone), !changed.ReadsInputs(access.Anyone), all, record.AudienceName(access.Registrants),
		"Who gets the input files; links that were given out work for some minutes more.")
	note(old.TruthsPublic, changed.TruthsPublic, record.AudienceName(access.Organizers), all,
		"Who gets the truth files, as far as they get the inputs.")
	note(old.Scores == record.ScoresAfterClose, changed.Scores == record.ScoresAfterClose, all, record.AudienceName(access.Organizers),
		"Who is shown scores of runs before the window of the last team has closed, as far as reviews show them.")
	var t *record.TaskItem
	var e *record.Embargo
	err := records.Read(ctx, c.Store, store.Strong,
		records.Into(&t, record.TaskKey(old.TaskID)), records.Into(&e, record.EmbargoKey(old.TaskID)))
	if err != nil {
		return err
	}
	if t != nil {
		noteRelease(c, t, e, old, changed)
		c.EffectOfAdvice(old.ID, old.Advise(t), changed.Advise(t))
	}
	if changed.Publish != old.Publish && changed.Publish == record.PublishOnCompletion {
		c.Effect(api.Effect{Kind: api.EffectAudience, Subject: path,
			Detail: "From then on, the review of a run that completes for the first time is published; other runs stay as they are."})
	}
	if reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith) {
		return nil
	}
	again := api.Effect{Kind: api.EffectEvaluation, Subject: path, Detail: "The runs are evaluated again, once all truth files were read."}
	return api.CountEffect(ctx, c, again, records.Of(record.KindDataset, old.ID, record.KindRun),
		func(r *record.RunItem) bool { return r.State == record.Completed || r.State == record.Failed })
}

// noteRelease says when scores that wait for the last close would be shown, where the change moves that close.
func noteRelease(c *api.Call, t *record.TaskItem, e *record.Embargo, old, changed *record.DatasetItem) {
	was, is := old.Release(t, e), changed.Release(t, e)
	if old.Scores != changed.Scores || was == is {
		return
	}
	seen := map[bool]string{true: record.AudienceName(access.Organizers), false: record.AudienceName(old.Scope().Audience)}
	effect := api.Effect{Kind: api.EffectAudience, Subject: "/v1/datasets/" + old.ID, Before: seen[was.Withholds(c.Now())],
		After: seen[is.Withholds(c.Now())], Detail: "Who is shown scores of runs, as far as reviews show them: no window closes."}
	if !is.Unknown {
		effect.Detail = fmt.Sprintf("Who is shown scores of runs, as far as reviews show them: from %s on, when the last window closes.", is.At)
	}
	c.Effect(effect)
}
