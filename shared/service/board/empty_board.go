package board

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// EmptyReason says why a leaderboard has no entries.
type EmptyReason string

// The reasons. They depend only on rules of the dataset that its readers see, and for organizers on the missing entries themselves. So they
// do not tell readers whether runs exist: published runs can have failed against a later version, and others can be hidden.
const (
	EmptyResults     EmptyReason = "results"
	EmptyAfterClose  EmptyReason = "afterClose"
	EmptyBlinded     EmptyReason = "blinded"
	EmptyUnpublished EmptyReason = "unpublished"
	EmptyFinal       EmptyReason = "final"
)

// AfterClose says who sees which results from the last close on, of a dataset that withholds scores until then.
const AfterClose = "From then on, a team sees the results of its runs that are not blinded, and others once the run is published as well."

// EmptyBoard says why a leaderboard has no entries. Its text is the reason as a sentence.
type EmptyBoard struct {
	Reason EmptyReason     `json:"reason" enum:"results,afterClose,blinded,unpublished,final" doc:"results: no run has a result against truthVersion; afterClose: no scores are shown before the window of every team has closed; from then on, a team sees those of its runs that are not blinded, and others once the run is published as well; blinded: runs on the dataset start blinded, and you see no result against truthVersion; unpublished: you see no result against truthVersion; final: with final, you see only runs of teams whose final runs you do not see. With the view public, each is about everyone who sees the task, instead of you"`
	Until  *record.Instant `json:"until,omitempty" doc:"for afterClose: when the last window closes, as far as is known now; absent without a close"`
	problem.Text
	public bool // the board shows only what everyone who sees the task sees
}

// Empty says why the caller sees no entries on the board. Call it only if Entries has none.
func (b *Boards) Empty(ctx context.Context, q Query) (*EmptyBoard, error) {
	e, err := b.emptyReason(ctx, q)
	if err != nil {
		return nil, err
	}
	e.public = q.Viewer.Public
	e.Text = e.sentence(q.TruthVersion)
	return e, nil
}

func (b *Boards) emptyReason(ctx context.Context, q Query) (*EmptyBoard, error) {
	if others, err := b.hasOthers(ctx, q); err != nil || others {
		return &EmptyBoard{Reason: EmptyFinal}, err
	}
	roles, err := q.Viewer.Roles(ctx, q.Dataset.Scope())
	if err != nil {
		return nil, err
	}
	if access.Sees(roles, access.Organizers) {
		return &EmptyBoard{Reason: EmptyResults}, nil
	}
	rules, err := q.Viewer.RulesOf(ctx, q.Dataset)
	if err != nil {
		return nil, err
	}
	release, awaited := rules.Awaited(q.Now)
	switch {
	case awaited && release.Unknown:
		return &EmptyBoard{Reason: EmptyAfterClose}, nil
	case awaited:
		return &EmptyBoard{Reason: EmptyAfterClose, Until: &release.At}, nil
	case q.Dataset.StartsBlinded():
		return &EmptyBoard{Reason: EmptyBlinded}, nil
	default:
		return &EmptyBoard{Reason: EmptyUnpublished}, nil
	}
}

// hasOthers reports whether the caller sees runs that the board leaves out because they are not final.
func (b *Boards) hasOthers(ctx context.Context, q Query) (bool, error) {
	if !q.Final {
		return false, nil
	}
	all := Query{Viewer: q.Viewer, Dataset: q.Dataset, TruthVersion: q.TruthVersion, AtOnce: 1, Now: q.Now}
	entries, err := b.Entries(ctx, all)
	if err != nil {
		return false, err
	}
	for _, err := range entries {
		return err == nil, err
	}
	return false, nil
}

// sentence returns the reason as a sentence. After a change of the ground truth (qrels, labels) or evaluator, it names the version of the
// missing results: earlier results can exist, and runs can have failed since. For readers who must not learn of hidden runs, the sentence
// holds with and without them. No sentence says "yet": results can have been deleted or hidden again.
func (e *EmptyBoard) sentence(truthVersion int64) problem.Text {
	missing, failed := "", ""
	if truthVersion > 1 {
		missing = " against " + record.TruthVersionName(truthVersion)
		failed = " A run that failed against this version has none."
	}
	if e.public {
		if text := e.publicSentence(missing, failed); text.Detail != "" {
			return text
		}
	}
	switch e.Reason {
	case EmptyResults:
		return problem.Sentence("No run has a result%s.", missing)
	case EmptyAfterClose:
		if e.Until == nil {
			return problem.Sentence("Nothing is shown before the dataset has closed for every team, and no time is set for that. %s",
				AfterClose)
		}
		return problem.Sentence("Nothing is shown before %s, when the dataset has closed for every team. %s", e.Until, AfterClose)
	case EmptyBlinded:
		return problem.Sentence("You see no result%s. Runs on this dataset start blinded: a team sees its result once the organizers "+
			"have unblinded the run, and others once the run is published as well.%s", missing, failed)
	case EmptyFinal:
		return problem.Sentence("No final run is shown: you see other runs of the teams, but not their final ones.")
	default:
		return problem.Sentence("You see no result%s. A team sees the result of its run unless the organizers have blinded the run, and "+
			"others once the run is published as well.%s", missing, failed)
	}
}

// publicSentence returns the sentence for a board of what everyone sees. It is empty if sentence does not speak of the reader.
func (e *EmptyBoard) publicSentence(missing, failed string) (none problem.Text) {
	switch e.Reason {
	case EmptyBlinded:
		return problem.Sentence("The public leaderboard has no result%s. Runs on this dataset start blinded: others see the result of a run "+
			"once the organizers have unblinded and published it.%s", missing, failed)
	case EmptyUnpublished:
		return problem.Sentence("The public leaderboard has no result%s. Others see the result of a run once it is published, unless the "+
			"organizers have blinded it.%s", missing, failed)
	case EmptyFinal:
		return problem.Sentence("No final run is shown: everyone sees other runs of the teams, but not their final ones.")
	default:
		return none
	}
}
