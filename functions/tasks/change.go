package tasks

import (
	"context"
	"reflect"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// checkFeatured allows only administrators to change `featured`, because featured tasks come first on the landing page.
func checkFeatured(c *api.Call, before, after bool) error {
	if before == after || c.Caller.Admin {
		return nil
	}
	return problem.InvalidMember("/featured", "can only be changed by administrators of the platform. Leave it out, and ask them")
}

func change(ctx context.Context, c *api.Call, t *record.TaskItem, d record.TaskDraft) (*record.TaskItem, error) {
	if d.OrganizerID != t.OrganizerID {
		return nil, problem.InvalidMember("/organizerId", "never changes")
	}
	if err := checkFeatured(c, t.Featured, d.Featured); err != nil {
		return nil, err
	}
	changed := *t
	changed.TaskDraft = d
	if err := changed.NumberTerms(t.Terms); err != nil {
		return nil, err
	}
	if d.Visibility != t.Visibility {
		changed.PendingWork = record.NewPendingWork(record.PropagateTask, c.Now().Add(record.RequestTime))
		c.Effect(api.Consequence{Kind: api.EffectAudience, Subject: "/v1/tasks/" + t.ID}, problem.Sentence("The datasets of the task, and the "+
			"submissions, runs and evaluations that others see, get the same visibility."))
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Task, t.Key())
	}
	if err := noteEffects(ctx, c, t, &changed); err != nil {
		return nil, err
	}
	c.Tx.Save(&changed, c.Now())
	if !reflect.DeepEqual(d.Submissions.ClosesAt, t.Submissions.ClosesAt) {
		if err := propagation.RenewEmbargo(ctx, c.Store, c.Tx, t.ID, c.Now(), nil); err != nil {
			return nil, err
		}
	}
	if err := records.CreateMissing[record.Event](ctx, c.Store, c.Tx, changed.ClosingEvent(c.Now())); err != nil {
		return nil, err
	}
	was, is := t.Audited().TaskRules, changed.Audited().TaskRules
	if reflect.DeepEqual(was, is) {
		return &changed, nil
	}
	return &changed, c.Audit(ctx, t.Scope(), record.TaskRulesChanged, "/v1/tasks/"+t.ID, was, is)
}

// noteEffects adds to a preview what changed terms and rules of the task mean for teams, and until when scores are withheld.
func noteEffects(ctx context.Context, c *api.Call, t, changed *record.TaskItem) error {
	terms := changed.TermsVersion != t.TermsVersion
	rules := !reflect.DeepEqual(t.Submissions, changed.Submissions)
	if !c.Previewing() || !terms && !rules {
		return nil
	}
	sets, err := records.Datasets(ctx, c.Store, t.ID)
	if err != nil {
		return err
	}
	sets = slices.DeleteFunc(sets, (*record.DatasetItem).Deleting)
	if terms {
		if err := noteTerms(ctx, c, t, sets); err != nil {
			return err
		}
	}
	if !rules {
		return nil
	}
	noteRules(c, t, changed, sets)
	e, err := records.Get[record.Embargo](ctx, c.Store, store.Strong, record.EmbargoKey(t.ID))
	if err != nil {
		return err
	}
	return c.EffectsOfColumns(ctx, sets, t, changed, e, e)
}

// noteRules adds to a preview what a change of the task's window and quota means for teams, and the datasets whose advice for organizers
// changes with it.
func noteRules(c *api.Call, t, changed *record.TaskItem, sets []*record.DatasetItem) {
	var windows []api.WindowChange
	for _, d := range sets {
		c.EffectOfAdvice(d, d, t, changed)
		windows = append(windows, api.WindowChange{
			Dataset: d.Part(),
			Was:     api.WindowOf(d, t),
			Is:      api.WindowOf(d, changed),
		})
	}
	was, is := t.Submissions, changed.Submissions
	path := "/v1/tasks/" + t.ID
	c.EffectsOfWindows(path, windows)
	c.EffectsOfLimits(path, problem.Resource("task", t.ID).Named(changed.Name),
		api.Limit{Was: was.PerDay, Is: is.PerDay, Daily: true}, api.Limit{Was: was.Total, Is: is.Total})
}

// noteTerms adds to a preview the number of teams that must accept changed terms.
func noteTerms(ctx context.Context, c *api.Call, t *record.TaskItem, sets []*record.DatasetItem) error {
	inputs := problem.Text{} // of datasets that have some for teams that have accepted the terms
	bound := slices.DeleteFunc(slices.Clone(sets), func(d *record.DatasetItem) bool {
		return d.InputsFor != record.InputsForRegistrants || len(d.Inputs) == 0
	})
	if len(bound) > 0 {
		inputs = problem.Sentence(", and before they get the input files of %s", lists.Map(bound, (*record.DatasetItem).Part))
	}
	of := api.Consequence{Kind: api.EffectTerms, Subject: "/v1/tasks/" + t.ID}
	return api.CountEffect(ctx, c, of, "team", []records.Source{records.Registrations(t.ID)},
		func(r *record.RegistrationItem) bool { return r.State != record.Rejected },
		func(teams string) problem.Text {
			return problem.Sentence("%s must accept the new terms before they can submit%s.", teams, inputs)
		})
}
