package service

import (
	"context"
	"time"

	"assay/shared/api"
	"assay/shared/problem"
)

// Health says that the service is up.
type Health struct {
	Status string           `json:"status" enum:"pass" doc:"pass; a service that is not up answers 503"`
	Checks map[string]Check `json:"checks" doc:"what was asked"`
}

// Check is the outcome of asking one part.
type Check struct {
	Status string `json:"status" enum:"pass"`
}

// storeTime is how long the store may take to answer.
const storeTime = 2 * time.Second

func health(ctx context.Context, c *api.Call, _ api.PublicTarget) (Health, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := c.Store.Ping(ctx); err != nil {
		return Health{}, problem.Unavailable.Wrap(err,
			"The store does not answer, so nothing can be read or written now. Try again in a few seconds.").After(5 * time.Second)
	}
	return Health{Status: "pass", Checks: map[string]Check{"store": {Status: "pass"}}}, nil
}
