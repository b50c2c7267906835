package board

import (
	"context"
	"time"

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
	EmptyColumns     EmptyReason = "columns"
	EmptyBlinded     EmptyReason = "blinded"
	EmptyUnpublished EmptyReason = "unpublished"
	EmptyFinal       EmptyReason = "final"
)

// EmptyBoard says why a leaderboard has no entries. Its text is the reason as a sentence.
type EmptyBoard struct {
	Reason EmptyReason     `json:"reason" enum:"results,columns,blinded,unpublished,final" doc:"results: no run has a result against truthVersion; columns: no column of the dataset is shown to you now; until says from when one is; blinded: runs on the dataset start blinded, and you see no result against truthVersion; unpublished: you see no result against truthVersion; final: with final, you see only runs of teams whose final runs you do not see. With the view public, each is about everyone who sees the task, instead of you"`
	Until  *record.Instant `json:"until,omitempty" doc:"for columns: from when one is shown, as far as is known now; absent without such an instant"`
	problem.Text
	rules  *record.ValueRules // of the dataset; nil for EmptyFinal, and for organizers
	public bool               // the board shows only what everyone who sees the task sees
}

// Empty says why the caller sees no entries on the board. Call it only if Entries has none.
func (b *Boards) Empty(ctx context.Context, q Query) (*EmptyBoard, error) {
	e, err := b.emptyReason(ctx, q)
	if err != nil {
		return nil, err
	}
	e.public = q.Viewer.Public
	e.Text = e.sentence(q.TruthVersion, q.Now)
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
	class := access.Registrants
	if roles&access.Registrant != 0 && !q.Viewer.Public {
		class = access.Owners
	}
	wait := rules.Wait(class, q.Now)
	switch {
	case !wait.Over && (wait.Never || wait.Unknown):
		return &EmptyBoard{Reason: EmptyColumns, rules: rules}, nil
	case !wait.Over:
		return &EmptyBoard{Reason: EmptyColumns, Until: &wait.At, rules: rules}, nil
	case q.Dataset.StartsBlinded():
		return &EmptyBoard{Reason: EmptyBlinded, rules: rules}, nil
	default:
		return &EmptyBoard{Reason: EmptyUnpublished, rules: rules}, nil
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
func (e *EmptyBoard) sentence(truthVersion int64, now time.Time) problem.Text {
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
	case EmptyColumns:
		return WaitText(e.rules, now, "Nothing is shown")
	case EmptyFinal:
		return problem.Sentence("No final run is shown: you see other runs of the teams, but not their final ones.")
	default:
		return problem.Sentence("You see no result%s. %s%s", missing, e.rule(now), failed)
	}
}

// rule says who sees results, for EmptyBlinded and EmptyUnpublished.
func (e *EmptyBoard) rule(now time.Time) problem.Text {
	blinded := e.Reason == EmptyBlinded
	text := WaitText(e.rules, now, "Nothing is shown")
	switch {
	case text.Detail != "":
		return text
	case e.rules.AwaitPublication(now) && blinded:
		return problem.Sentence("Runs on this dataset start blinded: others than the organizers see the result of a run once the organizers " +
			"have unblinded and published it.")
	case e.rules.AwaitPublication(now):
		return problem.Sentence("Others than the organizers see the result of a run once it is published, unless the organizers have " +
			"blinded it.")
	case blinded:
		return problem.Sentence("Runs on this dataset start blinded: a team sees its result once the organizers have unblinded the run, and " +
			"others once the run is published as well.")
	default:
		return problem.Sentence("A team sees the result of its run unless the organizers have blinded the run, and others once the run is " +
			"published as well.")
	}
}

// WaitText says who sees results of the dataset, and from when, while no column is shown to all who see the task. nothing says what the
// reader is shown while nobody but the organizers sees one. The text is empty if one is shown to others.
func WaitText(rules *record.ValueRules, now time.Time, nothing string) (none problem.Text) {
	teams := rules.Wait(access.Owners, now)
	others := rules.Wait(access.Registrants, now)
	shown := "not blinded"
	if rules.AwaitPublication(now) {
		shown = "published and not blinded"
	}
	switch {
	case others.Over:
		return none
	case teams.Never:
		return problem.Sentence("Only the organizers see results on this dataset.")
	case teams.Over && others.Never:
		return problem.Sentence("A team sees only the results of its own runs on this dataset that are %s.", shown)
	case teams.Over:
		return problem.Sentence("A team sees the results of its runs that are %s. Others see none before %s.", shown, when(others.Until))
	case others.Equal(teams):
		return problem.Sentence("%s before %s. From then on, a team sees the results of its runs that are not blinded, and others once the "+
			"run is published as well.", nothing, when(teams.Until))
	}
	text := problem.Sentence("%s before %s. From then on, a team sees the results of its runs that are not blinded.", nothing,
		when(teams.Until))
	if !others.Never {
		text.Append(problem.Sentence(" Others see none before %s.", when(others.Until)))
	}
	return text
}

// when returns the instant in words.
func when(u record.Until) problem.Text {
	switch {
	case u.Unknown:
		return problem.Sentence("the dataset has closed for every team, and no time is set for that")
	case u.Close:
		return problem.Sentence("%s, when the dataset has closed for every team", u.At)
	default:
		return problem.Sentence("%s", u.At)
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
