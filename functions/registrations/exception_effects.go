package registrations

import (
	"context"
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// noteException adds to a preview what the team gets by its newest exception, and which limits still bind it.
func noteException(ctx context.Context, c *api.Call, r *record.RegistrationItem, a *record.Allowance) error {
	if !c.Previewing() {
		return nil
	}
	t, err := records.Require[record.TaskItem](ctx, c.Store, store.Strong, record.TaskKey(r.TaskID), visibility.Missing)
	if err != nil {
		return err
	}
	all := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(t.ID), Limit: record.MaxTaskDatasets}
	sets, err := records.Query[record.DatasetItem](ctx, c.Store, all)
	if err != nil {
		return err
	}
	before := *a
	before.Exceptions = a.Exceptions[1:]
	e := a.Exceptions[0]
	was := before.Quota(t, sets, r.Participation(t), c.Now())
	is := a.Quota(t, sets, r.Participation(t), c.Now())
	if e.ClosesAt != nil {
		extended := later(t, sets, &before, a)
		noteClose(c, r, e, parts(extended))
		noteUsedUp(c, r, e, extended, is)
	}
	if e.PerDay+e.Total > 0 {
		noteQuotas(c, r, e, sets, was, is)
	}
	return nil
}

// later returns the datasets to which the team can submit until later after an exception.
func later(t *record.TaskItem, sets []*record.DatasetItem, before, after *record.Allowance) (found []*record.DatasetItem) {
	for _, d := range sets {
		_, was := before.Window(t, d)
		_, is := after.Window(t, d)
		if was != nil && is.After(was.Time) {
			found = append(found, d)
		}
	}
	return found
}

func noteClose(c *api.Call, r *record.RegistrationItem, e record.Exception, sets []problem.Part) {
	of := api.Consequence{Kind: api.EffectWindow, Subject: "/v1/tasks/" + r.TaskID}
	if len(sets) == 0 {
		c.Effect(of, problem.Sentence("The later close changes nothing: the windows of the team close no earlier than %s.", e.ClosesAt))
		return
	}
	c.Effect(of, problem.Sentence("The team %s can submit until %s to: %s.", r.TeamName(), e.ClosesAt, sets))
}

// noteUsedUp adds the datasets to which the team cannot submit in spite of the later close, because it has used up its quota. It names the
// quota that binds, unless noteQuotas does.
func noteUsedUp(c *api.Call, r *record.RegistrationItem, e record.Exception, extended []*record.DatasetItem, is record.Quota) {
	usedUp := slices.DeleteFunc(slices.Clone(extended), func(d *record.DatasetItem) bool {
		i := slices.IndexFunc(is.Datasets, func(q record.DatasetQuota) bool { return q.DatasetID == d.ID })
		left := is.Datasets[i].Left
		return left == nil || *left > 0
	})
	if len(usedUp) == 0 {
		return
	}
	of := api.Consequence{Kind: api.EffectQuota, Subject: "/v1/tasks/" + r.TaskID}
	c.Effect(of, problem.Sentence("The team %s has used up its quota, so no run is left now on: %s.", r.TeamName(), parts(usedUp)))
	switch {
	case e.PerDay+e.Total > 0:
	case is.Left != nil && *is.Left == 0:
		noteTaskQuota(c, of, is)
	default:
		noteDatasetQuotas(c, of, parts(usedUp))
	}
}

func noteTaskQuota(c *api.Call, of api.Consequence, is record.Quota) {
	c.Effect(of, problem.Sentence("The quota of the task still applies to the team: %s.", allowed(is.QuotaLeft)))
}

func noteDatasetQuotas(c *api.Call, of api.Consequence, sets []problem.Part) {
	c.Effect(of, problem.Sentence("The quotas of these datasets still apply to the team: %s.", sets))
}

// noteQuotas adds the limits that change, and those of the task or the datasets that the exception leaves unchanged.
func noteQuotas(c *api.Call, r *record.RegistrationItem, e record.Exception, sets []*record.DatasetItem, was, is record.Quota) {
	ofTask := api.Consequence{Kind: api.EffectQuota, Subject: "/v1/tasks/" + r.TaskID}
	if e.DatasetID == "" {
		c.Effect(ofTask, problem.Sentence("The team %s can have %s in the task instead of %s.", r.TeamName(), allowed(is.QuotaLeft),
			allowed(was.QuotaLeft)))
	}
	var binding []problem.Part
	for i, d := range sets {
		limits := allowed(is.Datasets[i].QuotaLeft)
		if limits != "" {
			binding = append(binding, partOf(d))
		}
		if d.ID == e.DatasetID {
			c.Effect(api.Consequence{Kind: api.EffectQuota, Subject: "/v1/datasets/" + d.ID}, problem.Sentence(
				"The team %s can have %s on %s instead of %s.", r.TeamName(), limits, partOf(d), allowed(was.Datasets[i].QuotaLeft)))
		}
	}
	switch {
	case e.DatasetID != "" && allowed(is.QuotaLeft) != "":
		noteTaskQuota(c, ofTask, is)
	case e.DatasetID == "" && len(binding) > 0:
		noteDatasetQuotas(c, ofTask, binding)
	}
}

// allowed says how many runs a quota allows. It returns "" for a quota without limits.
func allowed(q record.QuotaLeft) string {
	var limits []string
	if q.PerDay != nil {
		limits = append(limits, plural.Count(*q.PerDay, "run")+" in 24 hours")
	}
	if q.Total != nil {
		limits = append(limits, plural.Count(*q.Total, "run")+" in all")
	}
	return strings.Join(limits, " and ")
}

func parts(sets []*record.DatasetItem) []problem.Part { return lists.Map(sets, partOf) }

// partOf returns the part for the dataset.
func partOf(d *record.DatasetItem) problem.Part {
	return problem.Resource("dataset", d.ID).Named(d.Name)
}
