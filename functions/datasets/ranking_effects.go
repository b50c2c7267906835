package datasets

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

// ranked is the measure that ranks for a class of readers, and its direction. It is zero if they see no column.
type ranked struct {
	measure       string
	lowerIsBetter bool
}

// rankedFor returns the measure that ranks for readers of the class, once leaderboards show results of the dataset's evaluator.
func rankedFor(c *api.Call, class access.Audience, d *record.DatasetItem, of *record.DatasetConditions) ranked {
	next := *d
	next.BoardTruth = nil
	columns := next.ValueRules(of.Task, of.Embargo).Sorting(class, c.Now())
	if len(columns) == 0 {
		return ranked{}
	}
	return ranked{columns[0].Key, next.LowerIsBetter(columns[0].Key)}
}

// noteRanking says which measure ranks and in which direction, if that changes or the measures change. Organizers see columns that others
// do not see, so it can differ for them.
func noteRanking(c *api.Call, path string, old, changed *record.DatasetItem, of *record.DatasetConditions) {
	measures := !slices.Equal(old.Evaluator.Measures, changed.Evaluator.Measures)
	tell := func(whose string, was, is ranked) {
		if text := rankingText(whose, was, is, measures); text.Detail != "" {
			c.Effect(api.Consequence{Kind: api.EffectEvaluation, Subject: path}, text)
		}
	}
	was := rankedFor(c, access.Organizers, old, of)
	is := rankedFor(c, access.Organizers, changed, of)
	wasOthers := rankedFor(c, access.Registrants, old, of)
	isOthers := rankedFor(c, access.Registrants, changed, of)
	if was == wasOthers && is == isOthers {
		tell("", was, is)
		return
	}
	tell(" for the organizers", was, is)
	tell(" for others", wasOthers, isOthers)
}

// rankingText says which measure ranks for whose leaderboards. It is empty if nothing changes.
func rankingText(whose string, was, is ranked, measures bool) (none problem.Text) {
	switch {
	case was.measure == "" || is.measure == "": // Other effects say who sees columns.
		return none
	case was.measure != is.measure:
		return problem.Sentence("%s becomes the measure that ranks%s, instead of %s.", is.measure, whose, was.measure)
	case was.lowerIsBetter != is.lowerIsBetter:
		better := map[bool]string{true: "lower", false: "higher"}[is.lowerIsBetter]
		return problem.Sentence("Leaderboards rank %s values of %s first%s.", better, is.measure, whose)
	case measures:
		return problem.Sentence("%s stays the measure that ranks%s.", is.measure, whose)
	default:
		return none
	}
}
