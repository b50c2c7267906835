package submissions

import (
	"context"
	"time"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
)

// retryWaiting is when to submit again what would have too many runs wait.
const retryWaiting = 30 * time.Second

// limitUnfinished adds the runs to those of the team that have not ended, or refuses them when those are too many. Only then it
// reads which runs have ended since.
func limitUnfinished(ctx context.Context, c *api.Call, a *record.Allowance, runIDs []string) error {
	most := c.Rates.Limits().WaitingRuns
	if most == 0 {
		return nil
	}
	if len(a.Waiting)+len(runIDs) > most {
		var err error
		if a.Waiting, err = unfinished(ctx, c, a.Waiting); err != nil {
			return err
		}
	}
	if n := len(a.Waiting); n+len(runIDs) > most {
		return problem.TooManyRequests.New("%d of your runs in this task have not ended, and this submission makes %d more; at most %d may be "+
			"under way at a time. Submit again when some have ended, or cancel those that wait for an upload.", n, len(runIDs),
			most).After(retryWaiting)
	}
	a.Waiting = append(a.Waiting, runIDs...)
	return nil
}

// unfinished returns those of the runs that have not ended.
func unfinished(ctx context.Context, c *api.Call, runIDs []string) (left []string, err error) {
	runs, err := runsOf(ctx, c, runIDs, store.Strong)
	for _, run := range runs {
		if !run.State.Ended() {
			left = append(left, run.ID)
		}
	}
	return left, err
}
