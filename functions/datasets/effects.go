package datasets

import (
	"context"
	"reflect"
	"slices"

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
	was, is := inputsFor(old), inputsFor(changed)
	var links []problem.Text
	if is == access.Registrants {
		links = append(links, problem.Sentence(" Links that others have received already work for some more minutes."))
	}
	c.EffectOfAudience(path, problem.Sentence("Who gets the input files"), was, is, links...)
	c.EffectOfAudience(path, problem.Sentence("Who gets the truth files"), truthsFor(old), truthsFor(changed))
	var t *record.TaskItem
	var e *record.Embargo
	err := records.Read(ctx, c.Store, store.Strong,
		records.Into(&t, record.TaskKey(old.TaskID)), records.Into(&e, record.EmbargoKey(old.TaskID)))
	if err != nil {
		return err
	}
	if t != nil {
		c.EffectOfRelease(old, old.Release(t, e), changed.Release(t, e))
		c.EffectOfAdvice(old, changed, t, t)
		noteRules(c, path, old, changed, t)
	}
	if err := noteFinals(ctx, c, path, old, changed); err != nil {
		return err
	}
	noteSplit(c, path, old, changed)
	if changed.Publish != old.Publish && changed.Publish == record.PublishOnCompletion {
		c.Effect(api.Consequence{Kind: api.EffectAudience, Subject: path}, problem.Sentence("From now on, the review of each run is "+
			"published when the run completes for the first time. Other reviews stay unchanged."))
	}
	if reflect.DeepEqual(old.Audited().EvaluatedWith, changed.Audited().EvaluatedWith) {
		return nil
	}
	again := api.Consequence{Kind: api.EffectEvaluation, Subject: path}
	err = api.CountEffect(ctx, c, again, "run", records.Of(record.KindDataset, old.ID, record.KindRun),
		func(r *record.RunItem) bool { return r.State == record.Completed || r.State == record.Failed },
		func(runs string) problem.Text {
			return problem.Sentence("The platform evaluates %s again once the truth files are read.", runs)
		})
	if err != nil {
		return err
	}
	noteRanking(c, again, &old.Evaluator, &changed.Evaluator)
	return noteTrial(ctx, c, old, changed, inline)
}

// noteRules adds what a change of the dataset's window and quota means for teams.
func noteRules(c *api.Call, path string, old, changed *record.DatasetItem, t *record.TaskItem) {
	set := problem.Resource("dataset", old.ID).Named(changed.Name)
	_, was := old.Window(t)
	_, is := changed.Window(t)
	c.EffectOfClose(path, []problem.Part{set}, was, is)
	before, after := old.Submissions, changed.Submissions
	c.EffectsOfLimits(path, set, api.Limit{Was: before.PerDay, Is: after.PerDay, Within: "in 24 hours"},
		api.Limit{Was: before.Total, Is: after.Total, Within: "in all"})
}

// noteFinals says how many runs teams have marked as final, if the dataset takes no final runs any more.
func noteFinals(ctx context.Context, c *api.Call, path string, old, changed *record.DatasetItem) error {
	if old.FinalRuns == 0 || changed.FinalRuns > 0 {
		return nil
	}
	of := api.Consequence{Kind: api.EffectAudience, Subject: path}
	return api.CountEffect(ctx, c, of, "run", records.Of(record.KindDataset, old.ID, record.KindRun),
		func(r *record.RunItem) bool { return r.Final },
		func(runs string) problem.Text {
			return problem.Sentence("Leaderboards show no final runs any more, although teams have marked %s as final.", runs)
		})
}

// noteSplit says whether runs start blinded from now on, if a change of the split changes that. Runs that exist keep their reviews.
func noteSplit(c *api.Call, path string, old, changed *record.DatasetItem) {
	effect := api.Consequence{Kind: api.EffectAudience, Subject: path}
	switch {
	case changed.StartsBlinded() == old.StartsBlinded():
	case changed.StartsBlinded():
		c.Effect(effect, problem.Sentence("Runs that are submitted from now on start blinded: only organizers see their scores until a review "+
			"unblinds them. Earlier runs stay as they are."))
	default:
		c.Effect(effect, problem.Sentence("Runs that are submitted from now on no longer start blinded: their teams see the scores at once. "+
			"Blinded runs stay blinded until a review unblinds them."))
	}
}

// noteRanking says which measure ranks if the measures change, since a change need not name it.
func noteRanking(c *api.Call, effect api.Consequence, old, changed *record.Evaluator) {
	switch was, is := old.PrimaryMeasure, changed.PrimaryMeasure; {
	case was != is:
		c.Effect(effect, problem.Sentence("%s becomes the measure that ranks, instead of %s.", is, was))
	case !slices.Equal(old.Measures, changed.Measures):
		c.Effect(effect, problem.Sentence("%s stays the measure that ranks.", is))
	}
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
