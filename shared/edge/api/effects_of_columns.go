package api

import (
	"context"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// EffectOfColumns adds effects if a change moves who sees columns of the dataset now, or from when others than the organizers see them. was
// and is are the rules before and after the change.
func (c *Call) EffectOfColumns(ctx context.Context, d *record.DatasetItem, was, is *record.ValueRules) error {
	if d.Deleting() {
		return nil
	}
	if err := c.effectsOnRuns(ctx, d, was, is); err != nil {
		return err
	}
	now := c.Now()
	reviewsDecide := is.AreAlike(now) && is.Wait(access.Registrants, now).Over && !is.AwaitPublication(now)
	text := waitText(d, was.Wait(access.Owners, now), is.Wait(access.Owners, now), reviewsDecide)
	if text.Detail != "" {
		c.Effect(Consequence{Kind: EffectAudience, Subject: "/v1/datasets/" + d.ID}, text)
	}
	before := was.Wait(access.Registrants, now)
	after := is.Wait(access.Registrants, now)
	if !was.AreAlike(now) || !is.AreAlike(now) || before.Never != after.Never && !after.Over {
		c.effectsOnColumns(d, was, is)
	}
	return nil
}

// waitText says for how long nobody but the organizers sees scores on the dataset, if that changes. reviewsDecide reports whether
// reviews alone decide afterwards who sees them.
func waitText(d *record.DatasetItem, before, after record.Wait, reviewsDecide bool) (none problem.Text) {
	set, closes := d.Part(), ""
	if after.Close {
		closes = ", when the last window closes"
	}
	switch {
	case before.Equal(after), before.Over && after.Over:
		return none
	case after.Over && reviewsDecide:
		return problem.Sentence("Scores on %s are no longer withheld. The review of each run says who sees them.", set)
	case after.Over:
		return problem.Sentence("Scores on %s are no longer withheld. The review of each run and the columns say who sees them.", set)
	case after.Never:
		return problem.Sentence("Only the organizers see scores on %s: teams learn only whether their runs are valid.", set)
	case after.Unknown:
		return problem.Sentence("No window closes, so only the organizers see scores on %s, without an end: teams learn only whether their runs "+
			"are valid.", set)
	case before.Over, before.Never, before.Unknown:
		return problem.Sentence("Until %s%s, only the organizers see scores on %s: teams learn only whether their runs are valid.", after.At,
			closes, set)
	default:
		return problem.Sentence("Until %s instead of %s%s, only the organizers see scores on %s.", after.At, before.At, closes, set)
	}
}

// effectsOnColumns says of each column who sees it now and from when others see it, where that changes.
func (c *Call) effectsOnColumns(d *record.DatasetItem, was, is *record.ValueRules) {
	subject, now := "/v1/datasets/"+d.ID, c.Now()
	for _, key := range is.Keys() {
		for _, published := range []bool{true, false} {
			runs := &record.AccessAttributes{Published: published, PrivateTask: d.PrivateTask}
			adjective := map[bool]string{true: "published", false: "unpublished"}[published]
			c.EffectOfAudience(subject, problem.Sentence("Who sees %s of %s runs on %s now", key, adjective, d.Part()),
				was.Audience(runs, key, now), is.Audience(runs, key, now))
		}
		if text := columnWaitText(d, key, was, is, now); text.Detail != "" {
			c.Effect(Consequence{Kind: EffectAudience, Subject: subject}, text)
		}
	}
}

// columnWaitText says from when others than the organizers see the column, if that or who they are changes.
func columnWaitText(d *record.DatasetItem, key string, was, is *record.ValueRules, now time.Time) (none problem.Text) {
	before := was.WaitFor(key, access.Owners, now)
	after := is.WaitFor(key, access.Owners, now)
	others := is.WaitFor(key, access.Registrants, now)
	sameReaders := others.Equal(was.WaitFor(key, access.Registrants, now))
	whom := "others"
	if others.Never {
		whom = "the team of each run"
	}
	switch same := before.Equal(after); {
	case same && sameReaders, after.Over, after.Never:
		return none
	case after.Unknown:
		return problem.Sentence("No window closes, so %s on %s is never shown to %s.", key, d.Part(), whom)
	case same, before.Over, before.Never, before.Unknown:
		return problem.Sentence("%s on %s is shown to %s from %s on.", key, d.Part(), whom, after.At)
	default:
		return problem.Sentence("%s on %s is shown to %s from %s on, instead of %s.", key, d.Part(), whom, after.At, before.At)
	}
}

// effectsOnRuns adds who sees scores of the existing runs on the dataset now, if that changes. Blinded runs, and runs without scores, look
// the same before and after.
func (c *Call) effectsOnRuns(ctx context.Context, d *record.DatasetItem, was, is *record.ValueRules) error {
	now := c.Now()
	seers := func(r *record.ValueRules, published bool) access.Audience {
		return r.Widest(&record.AccessAttributes{Published: published, PrivateTask: d.PrivateTask}, now)
	}
	moves := func(published bool) bool { return seers(was, published) != seers(is, published) }
	if !moves(true) && !moves(false) {
		return nil
	}
	count := map[bool]int{} // by whether the review is published
	sources := records.Of(record.KindDataset, d.ID, record.KindRun)
	exact, err := EachCounted(ctx, c, sources, func(r *record.RunItem) bool {
		if r.ListedID() != "" && !r.Access.Blinded && (r.Access.Published || !r.Unregistered()) {
			count[r.Access.Published]++
		}
		return count[true]+count[false] < maxCounted
	})
	if err != nil {
		return err
	}
	for _, published := range []bool{true, false} {
		if count[published] == 0 && exact {
			continue
		}
		noun := map[bool]string{true: "published run", false: "unpublished run"}[published]
		who := problem.Sentence("Who sees the scores of %s on %s now", Counted(count[published], exact, noun), d.Part())
		c.EffectOfAudience("/v1/datasets/"+d.ID, who, seers(was, published), seers(is, published))
	}
	return nil
}

// EffectsOfColumns adds the effects of EffectOfColumns for each of the datasets after a change of their task or its embargo. The embargoes
// are nil if the task has none.
func (c *Call) EffectsOfColumns(ctx context.Context, sets []*record.DatasetItem, t, changed *record.TaskItem,
	was, is *record.Embargo) error {
	for _, d := range sets {
		if err := c.EffectOfColumns(ctx, d, d.ValueRules(t, was), d.ValueRules(changed, is)); err != nil {
			return err
		}
	}
	return nil
}
