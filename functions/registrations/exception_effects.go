package registrations

import (
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// noteException adds to a preview what the team gets by its newest exception, and what still binds it. refunded is the ID of the dataset
// whose run the exception refunds, or "".
func noteException(c *api.Call, r *record.RegistrationItem, a *record.Allowance, of rules, refunded string) {
	noteParticipation(c, r, of.task)
	before := *a
	before.Exceptions = a.Exceptions[1:]
	e := a.Exceptions[0]
	was := before.Quota(of.task, of.sets, r.Participation(of.task), c.Now())
	is := a.Quota(of.task, of.sets, r.Participation(of.task), c.Now())
	concerned := slices.DeleteFunc(slices.Clone(of.sets), func(d *record.DatasetItem) bool { return d.ID != refunded })
	if e.ClosesAt != nil {
		concerned = later(of.task, of.sets, &before, a)
		noteClose(c, r, e, concerned)
	}
	if e.PerDay+e.Total > 0 {
		concerned = of.sets
		noteQuotas(c, r, e, concerned, was, is)
	}
	noteClosed(c, r, concerned, is)
	noteUsedUp(c, r, e, concerned, is)
}

// noteParticipation says what the team lacks besides the exception to submit.
func noteParticipation(c *api.Call, r *record.RegistrationItem, t *record.TaskItem) {
	of := api.Consequence{Kind: api.EffectWindow, Subject: "/v1/tasks/" + r.TaskID}
	switch p := r.Participation(t); {
	case p.State != record.Accepted:
		c.Effect(of, problem.Sentence("The team %s is %s: it can submit only once the organizers accept it.", r.TeamName(), p.State))
	case p.LacksTerms:
		c.Effect(of, problem.Sentence("The team %s has not accepted the present terms of the task: it can submit only once it does.",
			r.TeamName()))
	}
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

// noteClose says until when the team can submit to the extended datasets. In a task without datasets, it says until when users join the
// team.
func noteClose(c *api.Call, r *record.RegistrationItem, e record.Exception, extended []*record.DatasetItem) {
	of := api.Consequence{Kind: api.EffectWindow, Subject: "/v1/tasks/" + r.TaskID}
	if len(extended) == 0 {
		c.Effect(of, problem.Sentence("Users can join the team %s until %s.", r.TeamName(), e.ClosesAt))
		return
	}
	c.Effect(of, problem.Sentence("For the team %s, submissions to %s close at %s.", r.TeamName(), parts(extended), e.ClosesAt))
}

// noteClosed adds the datasets that the exception concerns, but to which the team cannot submit because of their windows.
func noteClosed(c *api.Call, r *record.RegistrationItem, concerned []*record.DatasetItem, is record.Quota) {
	of := api.Consequence{Kind: api.EffectWindow, Subject: "/v1/tasks/" + r.TaskID}
	if sets := closedBecause(record.ClosedAlways, concerned, is); len(sets) > 0 {
		c.Effect(of, problem.Sentence("Even so, the team cannot submit to %s, because submissions open no earlier than they close.",
			parts(sets)))
	}
	if sets := closedBecause(record.ClosedLate, concerned, is); len(sets) > 0 {
		c.Effect(of, problem.Sentence("Even so, the team cannot submit to %s, because submissions have closed for the team: only a later close "+
			"opens them again.", parts(sets)))
	}
}

func closedBecause(reason record.ClosedReason, sets []*record.DatasetItem, is record.Quota) []*record.DatasetItem {
	return slices.DeleteFunc(slices.Clone(sets), func(d *record.DatasetItem) bool { return quotaOf(d, is).ClosedReason != reason })
}

// quotaOf returns the part of the quota for the dataset.
func quotaOf(d *record.DatasetItem, is record.Quota) record.DatasetQuota {
	return is.Datasets[slices.IndexFunc(is.Datasets, func(q record.DatasetQuota) bool { return q.DatasetID == d.ID })]
}

// noteUsedUp adds the datasets that the exception concerns, but to which the team cannot submit now because it has used up its quota. It
// says when the next run is left, and names the quota that binds, unless noteQuotas does.
func noteUsedUp(c *api.Call, r *record.RegistrationItem, e record.Exception, concerned []*record.DatasetItem, is record.Quota) {
	usedUp := slices.DeleteFunc(slices.Clone(concerned), func(d *record.DatasetItem) bool {
		q := quotaOf(d, is)
		return q.Left == nil || *q.Left > 0 || q.ClosedReason == record.ClosedLate || q.ClosedReason == record.ClosedAlways
	})
	if len(usedUp) == 0 {
		return
	}
	of := api.Consequence{Kind: api.EffectQuota, Subject: "/v1/tasks/" + r.TaskID}
	c.Effect(of, problem.Sentence("The team %s has used up its quota, so no run is left now on: %s.", r.TeamName(), parts(usedUp)))
	noteNext(c, of, usedUp, is)
	switch {
	case e.PerDay+e.Total > 0:
	case is.Left != nil && *is.Left == 0:
		noteTaskQuota(c, of, is)
	default:
		noteDatasetQuotas(c, of, parts(usedUp))
	}
}

// noteNext says when the team can submit its next run to one of the datasets, whose quota it has used up.
func noteNext(c *api.Call, of api.Consequence, usedUp []*record.DatasetItem, is record.Quota) {
	var first *record.Instant
	var next []*record.DatasetItem
	waits := false // whether a dataset takes no runs for another reason, too
	for _, d := range usedUp {
		q := quotaOf(d, is)
		at := nextRun(q)
		switch {
		case at == nil:
			waits = waits || !q.Open
		case first == nil || at.Before(first.Time):
			first, next = at, []*record.DatasetItem{d}
		case at.Equal(first.Time):
			next = append(next, d)
		}
	}
	switch {
	case first != nil:
		c.Effect(of, problem.Sentence("The team can submit its next run at %s, to: %s.", first, parts(next)))
	case !waits:
		c.Effect(of, problem.Sentence("Waiting does not give the team another run."))
	}
}

// nextRun returns when the dataset takes the next run of a team that has used up its quota: not before it opens. It returns nil if waiting
// does not help.
func nextRun(q record.DatasetQuota) *record.Instant {
	if q.NextAt != nil && q.OpensAt != nil && q.OpensAt.After(q.NextAt.Time) {
		return q.OpensAt
	}
	return q.NextAt
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
	if e.DatasetID == "" && allowed(is.QuotaLeft) != allowed(was.QuotaLeft) {
		c.Effect(ofTask, problem.Sentence("The team %s can have %s in the task instead of %s.", r.TeamName(), allowed(is.QuotaLeft),
			allowed(was.QuotaLeft)))
	}
	var binding []problem.Part
	for i, d := range sets {
		limits := allowed(is.Datasets[i].QuotaLeft)
		if limits != "" {
			binding = append(binding, d.Part())
		}
		if d.ID == e.DatasetID && limits != allowed(was.Datasets[i].QuotaLeft) {
			c.Effect(api.Consequence{Kind: api.EffectQuota, Subject: "/v1/datasets/" + d.ID}, problem.Sentence(
				"The team %s can have %s on %s instead of %s.", r.TeamName(), limits, d.Part(), allowed(was.Datasets[i].QuotaLeft)))
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

func parts(sets []*record.DatasetItem) []problem.Part {
	return lists.Map(sets, (*record.DatasetItem).Part)
}
