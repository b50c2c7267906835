package evaluations

import (
	"context"
	"encoding/json"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/table"
	"assay/shared/visibility"
)

// withTopics is an evaluation with its values per topic, which one call reads together.
type withTopics struct {
	*record.EvaluationItem
	topics *record.Topics
}

func single(ctx context.Context, c *api.Call) (withTopics, error) {
	id := c.Param("evaluationId")
	if !record.IsID(id) {
		return withTopics{}, visibility.Missing
	}
	items, err := c.Store.Get(ctx, c.Consistency, record.EvaluationKey(id), record.TopicsKey(id))
	if err != nil {
		return withTopics{}, table.Failed(err)
	}
	e, err := table.Decode[record.EvaluationItem](items[0])
	if err != nil {
		return withTopics{}, err
	}
	if e == nil {
		return withTopics{}, visibility.Missing
	}
	topics, err := table.Decode[record.Topics](items[1])
	return withTopics{e, topics}, err
}

func show(ctx context.Context, c *api.Call, e withTopics) (record.Evaluation, error) {
	roles, err := c.Roles(ctx, e.Scope())
	if err != nil {
		return record.Evaluation{}, err
	}
	v := e.For(roles)
	if e.topics == nil {
		return v, nil
	}
	v.PerTopic = e.topics.PerTopic
	if e.topics.ObjectKey != "" {
		v.PerTopic, err = readTopics(ctx, c, e.topics.ObjectKey)
	}
	return v, err
}

// readTopics reads values per topic that are too large for the table.
func readTopics(ctx context.Context, c *api.Call, key string) (perTopic map[string]map[string]float64, err error) {
	f, err := c.Files.Open(ctx, key)
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "The values per topic cannot be read at the moment. Try again in a few seconds.")
	}
	defer func() { _ = f.Close() }() // what was decoded is whole
	err = json.NewDecoder(f).Decode(&perTopic)
	return perTopic, err
}
