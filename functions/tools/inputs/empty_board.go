package inputs

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/evaluation"
)

// EmptyReason says why a leaderboard has no entries.
type EmptyReason string

// The reasons. They depend only on rules of the dataset that its readers see, and for organizers on the missing entries themselves. So they
// do not tell readers whether runs exist.
const (
	EmptyResults     EmptyReason = "results"
	EmptyAfterClose  EmptyReason = "afterClose"
	EmptyBlinded     EmptyReason = "blinded"
	EmptyUnpublished EmptyReason = "unpublished"
	EmptyFinal       EmptyReason = "final"
)

// EmptyBoard says why a leaderboard has no entries.
type EmptyBoard struct {
	Reason EmptyReason     `json:"reason" enum:"results,afterClose,blinded,unpublished,final" doc:"results: no run has a result against truthVersion; afterClose: no scores are shown before the window of every team has closed, and from then on those of runs that are published and not blinded; blinded: runs on the dataset start blinded, and the organizers show no results against truthVersion; unpublished: the organizers show no results against truthVersion; final: with final, you see only runs of teams whose final runs you do not see"`
	Until  *record.Instant `json:"until,omitempty" doc:"for afterClose: when the last window closes, as far as is known now; absent without a close"`
}

// Sentence returns the reason for a page. After a change of the ground truth (qrels, labels) or evaluator, it names the version of the
// missing results: earlier results can exist, and runs can have failed since.
func (e *EmptyBoard) Sentence(truthVersion int64) string {
	missing := "yet"
	if truthVersion > 1 {
		missing = "against " + record.TruthVersionName(truthVersion)
	}
	switch e.Reason {
	case EmptyResults:
		return "No run has a result " + missing + "."
	case EmptyAfterClose:
		opens := "Nothing is shown before the dataset has closed for every team, and the organizers have not set a time yet."
		if e.Until != nil {
			opens = "Nothing is shown before " + e.Until.String() + ", when the dataset has closed for every team."
		}
		return opens + " From then on, runs that are published and not blinded are shown."
	case EmptyBlinded:
		return "Runs on this dataset start blinded, and the organizers show no results " + missing + "."
	case EmptyFinal:
		return "No final run is shown: the teams marked other runs as final than the published ones."
	default:
		return "The organizers show no results " + missing + "."
	}
}

// Empty says why the ranking has no entries. It returns nil if it has some.
func (r *Ranking) Empty(ctx context.Context, public bool) (*EmptyBoard, error) {
	if len(r.Entries) > 0 {
		return nil, nil
	}
	e, err := r.empty(ctx, public)
	if err == nil {
		r.resolver.addDependency("empty %s %v", e.Reason, e.Until)
	}
	return e, err
}

// hasOthers reports whether the caller sees runs on the board that the ranking leaves out, since they are not final.
func (r *Ranking) hasOthers(ctx context.Context) (others bool, err error) {
	if !r.final {
		return false, nil
	}
	b := r.leaderboard(RankingRequest{Limit: 1}, r.Board.TruthVersion)
	err = forEachEntry(ctx, b, "", false, func(*evaluation.Entry, *record.EvaluationItem, access.Role) bool {
		others = true
		return false
	})
	return others, err
}

func (r *Ranking) empty(ctx context.Context, public bool) (*EmptyBoard, error) {
	call := r.resolver.call
	if others, err := r.hasOthers(ctx); err != nil || others {
		return &EmptyBoard{Reason: EmptyFinal}, err
	}
	roles, err := call.Roles(ctx, r.Dataset.Scope())
	if err != nil {
		return nil, err
	}
	if organizes := roles&(access.Organizer|access.Admin) != 0; organizes && !public {
		return &EmptyBoard{Reason: EmptyResults}, nil
	}
	release, err := call.Release(ctx, r.Task.ID, r.Dataset.ID)
	switch {
	case err != nil:
		return nil, err
	case r.Dataset.Scores == record.ScoresAfterClose && release.Unknown:
		return &EmptyBoard{Reason: EmptyAfterClose}, nil
	case release.Withholds(call.Now()):
		return &EmptyBoard{Reason: EmptyAfterClose, Until: &release.At}, nil
	case r.Dataset.StartsBlinded():
		return &EmptyBoard{Reason: EmptyBlinded}, nil
	case r.Dataset.Publish == record.PublishOnCompletion:
		return &EmptyBoard{Reason: EmptyResults}, nil
	default:
		return &EmptyBoard{Reason: EmptyUnpublished}, nil
	}
}
