package api

import (
	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// EffectOfClose adds an effect if the end of the window of the datasets moves, unless it has passed before and after the change.
func (c *Call) EffectOfClose(subject string, datasets []problem.Part, was, is *record.Instant) {
	passed := func(at *record.Instant) bool { return at != nil && !c.Now().Before(at.Time) }
	of := Consequence{Kind: EffectWindow, Subject: subject}
	switch {
	case len(datasets) == 0, was == nil && is == nil, was != nil && is != nil && was.Equal(is.Time), passed(was) && passed(is):
		return
	case passed(is):
		c.Effect(of, problem.Sentence("Teams without an exception can submit nothing more to: %s.", datasets))
	case is == nil:
		c.Effect(of, problem.Sentence("Teams can submit without an end instead of until %s to: %s.", was, datasets))
	case was == nil:
		c.Effect(of, problem.Sentence("Teams without an exception can submit until %s instead of without an end to: %s.", is, datasets))
	default:
		c.Effect(of, problem.Sentence("Teams without an exception can submit until %s instead of %s to: %s.", is, was, datasets))
	}
}

// Limit is the number of runs that a team may have, before and after a change. 0 means no limit.
type Limit struct {
	Was, Is int
	Within  string // the time that the limit concerns, such as "in 24 hours"
}

// EffectsOfLimits adds an effect for each limit of runs of a task or a dataset that changes.
func (c *Call) EffectsOfLimits(subject string, on problem.Part, limits ...Limit) {
	for _, l := range limits {
		if l.Is == l.Was {
			continue
		}
		then := "."
		if l.Is > 0 && (l.Was == 0 || l.Is < l.Was) {
			then = ": teams without an exception that have as many or more can submit no further run then."
		}
		c.Effect(Consequence{Kind: EffectQuota, Subject: subject}, problem.Sentence("A team can have %s on %s %s instead of %s%s",
			allowedRuns(l.Is), on, l.Within, allowedRuns(l.Was), then))
	}
}

// allowedRuns returns how many runs a limit allows. 0 means no limit.
func allowedRuns(limit int) string {
	if limit == 0 {
		return "any number of runs"
	}
	return plural.Count(limit, "run")
}
