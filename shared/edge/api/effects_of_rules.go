package api

import (
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// Window is when teams without a later close of their own can submit to a dataset.
type Window struct{ Opens, Closes *record.Instant }

// WindowOf returns the window of the dataset in the task.
func WindowOf(d *record.DatasetItem, t *record.TaskItem) Window {
	opens, closes := d.Window(t)
	return Window{opens, closes}
}

// WindowChange is the window of a dataset before and after a change.
type WindowChange struct {
	Dataset problem.Part
	Was, Is Window
}

// about returns a sentence about datasets.
type about func(datasets []problem.Part) problem.Text

// EffectsOfWindows adds the effects of changed windows. Datasets whose windows change alike share a sentence. EffectOfAdvice names datasets
// that no longer open.
func (c *Call) EffectsOfWindows(subject string, changes []WindowChange) {
	var sentences []about
	var key []string // the sentences without datasets
	of := map[string][]problem.Part{}
	for _, ch := range changes {
		for _, say := range c.windowSentences(ch.Was, ch.Is) {
			text := say(nil).Detail
			if !slices.Contains(key, text) {
				key = append(key, text)
				sentences = append(sentences, say)
			}
			of[text] = append(of[text], ch.Dataset)
		}
	}
	for i, say := range sentences {
		c.Effect(Consequence{Kind: EffectWindow, Subject: subject}, say(of[key[i]]))
	}
}

// windowSentences returns what the change of a window means for teams. They need not be able to submit while it is open: a dataset may have
// no ground truth yet, and a team may not be accepted.
func (c *Call) windowSentences(was, is Window) []about {
	before := record.ReasonClosed(was.Opens, was.Closes, c.Now())
	after := record.ReasonClosed(is.Opens, is.Closes, c.Now())
	over := func(r record.ClosedReason) bool { return r == record.ClosedLate || r == record.ClosedAlways }
	switch {
	case after == record.ClosedAlways, over(before) && over(after):
		return nil
	case over(after):
		return []about{func(of []problem.Part) problem.Text {
			return problem.Sentence("Submissions to %s are closed from now on for teams without a later close of their own.", of)
		}}
	case over(before):
		return []about{reopens(is, after == record.ClosedEarly)}
	}
	return append(opensElse(was, is, before == record.ClosedEarly, after == record.ClosedEarly), closesElse(was, is)...)
}

// reopens says that a window which was over is open, or opens later.
func reopens(is Window, later bool) about {
	return func(of []problem.Part) problem.Text {
		switch {
		case later && is.Closes == nil:
			return problem.Sentence("Submissions to %s open at %s, without an end.", of, is.Opens)
		case later:
			return problem.Sentence("Submissions to %s open at %s, and close at %s for teams without a later close of their own.", of,
				is.Opens, is.Closes)
		case is.Closes == nil:
			return problem.Sentence("Submissions to %s are open from now on, without an end.", of)
		default:
			return problem.Sentence("Submissions to %s are open from now on, until %s for teams without a later close of their own.", of, is.Closes)
		}
	}
}

// opensElse says that a window which is not over opens at another time. wasLater and isLater report whether that time is to come.
func opensElse(was, is Window, wasLater, isLater bool) []about {
	switch {
	case !wasLater && !isLater, wasLater && isLater && was.Opens.Equal(is.Opens.Time):
		return nil
	case !isLater:
		return []about{func(of []problem.Part) problem.Text {
			return problem.Sentence("Submissions to %s are open from now on instead of from %s on.", of, was.Opens)
		}}
	case !wasLater:
		return []about{func(of []problem.Part) problem.Text {
			return problem.Sentence("Submissions to %s, which are open now, are closed for all teams until %s.", of, is.Opens)
		}}
	}
	return []about{func(of []problem.Part) problem.Text {
		return problem.Sentence("Submissions to %s open at %s instead of %s.", of, is.Opens, was.Opens)
	}}
}

// closesElse says that a window which is not over closes at another time.
func closesElse(was, is Window) []about {
	w, i := was.Closes, is.Closes
	switch {
	case w == nil && i == nil, w != nil && i != nil && w.Equal(i.Time):
		return nil
	case i == nil:
		return []about{func(of []problem.Part) problem.Text {
			return problem.Sentence("Submissions to %s have no end any more, instead of closing at %s.", of, w)
		}}
	case w == nil:
		return []about{func(of []problem.Part) problem.Text {
			return problem.Sentence("Submissions to %s close at %s for teams without a later close of their own. They had no end before.",
				of, i)
		}}
	}
	return []about{func(of []problem.Part) problem.Text {
		return problem.Sentence("Submissions to %s close at %s instead of %s for teams without a later close of their own.", of, i, w)
	}}
}

// Limit is the number of runs that a team may have, before and after a change. 0 means no limit.
type Limit struct {
	Was, Is int
	Daily   bool // whether it concerns 24 hours
}

// EffectsOfLimits adds an effect for each limit of runs of a task or a dataset that changes. Teams are also bound by the other one.
func (c *Call) EffectsOfLimits(subject string, of problem.Part, limits ...Limit) {
	for _, l := range limits {
		if l.Is == l.Was {
			continue
		}
		within := "in all"
		then := ": teams without an exception to this quota that have as many or more can submit no further run."
		if l.Daily {
			within = "in 24 hours"
			then = ": teams without an exception to this quota that have as many or more wait until earlier runs are 24 hours old."
		}
		if l.Is == 0 || l.Was > 0 && l.Is > l.Was {
			then = "."
		}
		c.Effect(Consequence{Kind: EffectQuota, Subject: subject}, problem.Sentence("The quota of %s allows a team %s %s instead of %s%s",
			of, allowedRuns(l.Is), within, allowedRuns(l.Was), then))
	}
}

// allowedRuns returns how many runs a limit allows. 0 means no limit.
func allowedRuns(limit int) string {
	if limit == 0 {
		return "any number of runs"
	}
	return plural.Count(limit, "run")
}
