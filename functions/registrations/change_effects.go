package registrations

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// noteNames adds to a preview what others see of the team under its changed details, wherever they see it.
func noteNames(c *api.Call, old, changed *record.RegistrationItem) {
	of := api.Consequence{Kind: api.EffectAudience, Subject: team.Path(old)}
	was, is := shownName(old), shownName(changed)
	if was != is {
		c.Effect(of, problem.Sentence("Others see the team as %s instead of %s, also with its earlier runs.", is, was))
	}
	switch before, after := shownAffiliation(old), shownAffiliation(changed); {
	case before == after:
	case after == "":
		c.Effect(of, problem.Sentence("Others no longer see the affiliation of the team, %s.", before))
	default:
		c.Effect(of, problem.Sentence("Others see the team with the affiliation %s.", after))
	}
}

// shownName returns the name under which others see the team.
func shownName(r *record.RegistrationItem) string {
	if r.Anonymous {
		return r.Alias
	}
	return r.Team
}

// shownAffiliation returns the affiliation that others see.
func shownAffiliation(r *record.RegistrationItem) string {
	if r.Anonymous {
		return ""
	}
	return r.Affiliation
}

// noteResults adds to a preview the published results of a team that no longer takes part, because they stay published.
func noteResults(ctx context.Context, c *api.Call, old, changed *record.RegistrationItem) error {
	if !c.Previewing() || changed.State == old.State || changed.State == record.Accepted {
		return nil
	}
	sources := records.Of(record.KindTeam, old.ID, record.KindRun)
	for _, id := range slices.Concat(old.Members, old.FormerIDs) { // their lists have the public runs
		sources = append(sources, records.OfAudiences(record.KindUser, id, record.KindRun, access.Everyone)...)
	}
	runs := map[string]int{} // by dataset
	exact, err := api.EachCounted(ctx, c, sources, func(r *record.RunItem) bool {
		if r.Access.RegistrationID == old.ID && r.Access.Published && !r.Access.Blinded && r.ListedID() != "" {
			runs[r.DatasetID]++
		}
		return true
	})
	if len(runs) == 0 || err != nil {
		return err
	}
	var t *record.TaskItem
	var e *record.Embargo
	err = records.Read(ctx, c.Store, store.Strong, records.Into(&t, record.TaskKey(old.TaskID)),
		records.Into(&e, record.EmbargoKey(old.TaskID)))
	if t == nil || err != nil {
		return err
	}
	sets, err := datasetsOf(ctx, c, old.TaskID)
	for _, d := range sets {
		if runs[d.ID] == 0 {
			continue
		}
		counted := api.Counted(runs[d.ID], exact, "run")
		which := problem.Sentence("results of %s of %s on %s", counted, old.TeamName(), d.Part())
		text := problem.Sentence("Others still see the %s.", which)
		switch w := d.ValueRules(t, e).Wait(access.Registrants, c.Now()); {
		case w.Never:
			continue
		case !w.Over:
			text = problem.Sentence("Once %s, others still see the published %s.", w.Condition(), which)
		}
		c.Effect(api.Consequence{Kind: api.EffectAudience, Subject: "/v1/datasets/" + d.ID}, text)
	}
	return err
}
