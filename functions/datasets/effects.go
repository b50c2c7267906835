package datasets

import (
	"context"
	"reflect"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// noteEffects adds to a preview how a change of a dataset affects participants and runs.
func noteEffects(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents) error {
	if !c.Previewing() {
		return nil
	}
	path := "/v1/datasets/" + old.ID
	all := record.AudienceName(old.Scope().Audience)
	note := func(was, is bool, without, with string, who problem.Text) {
		if was != is {
			e := api.Effect{Kind: api.EffectAudience, Subject: path, Before: without, After: with}
			if was {
				e.Before, e.After = with, without
			}
			c.Effect(e.Saying(who))
		}
	}
	note(!old.ReadsInputs(access.Anyone), !changed.ReadsInputs(access.Anyone), all, record.AudienceName(access.Registrants),
		problem.Sentence("Other users get the input files. Links that were handed out already work for some more minutes."))
	note(old.TruthsPublic, changed.TruthsPublic, record.AudienceName(access.Organizers), all,
		problem.Sentence("Other users get the truth files, if they also get the inputs."))
	note(old.Scores == record.ScoresAfterClose, changed.Scores == record.ScoresAfterClose, all, record.AudienceName(access.Organizers),
		problem.Sentence("Other users see scores of published runs before the window of the last team closes."))
	var t *record.TaskItem
	var e *record.Embargo
	err := records.Read(ctx, c.Store, store.Strong,
		records.Into(&t, record.TaskKey(old.TaskID)), records.Into(&e, record.EmbargoKey(old.TaskID)))
	if err != nil {
		return err
	}
	if t != nil {
		if old.Scores == changed.Scores {
			c.EffectOfRelease(old, old.Release(t, e), changed.Release(t, e))
		}
		c.EffectOfAdvice(old, changed, t, t)
	}
	if changed.Publish != old.Publish && changed.Publish == record.PublishOnCompletion {
		c.Effect(api.Effect{Kind: api.EffectAudience, Subject: path}.Saying(problem.Sentence("From now on, the review of each run is " +
			"published when the run completes for the first time. Other reviews stay unchanged.")))
	}
	if reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith) {
		return nil
	}
	again := api.Effect{Kind: api.EffectEvaluation, Subject: path}.
		Saying(problem.Sentence("All runs are evaluated again once the truth files are read."))
	err = api.CountEffect(ctx, c, again, "run", records.Of(record.KindDataset, old.ID, record.KindRun),
		func(r *record.RunItem) bool { return r.State == record.Completed || r.State == record.Failed })
	if err != nil {
		return err
	}
	return noteTrial(ctx, c, old, changed, inline)
}
