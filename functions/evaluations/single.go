package evaluations

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/table"
	"assay/shared/topics"
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
	perTopic, err := table.Decode[record.Topics](items[1])
	return withTopics{e, perTopic}, err
}

func show(ctx context.Context, c *api.Call, e withTopics) (record.Evaluation, error) {
	roles, err := c.Roles(ctx, e.Scope())
	if err != nil {
		return record.Evaluation{}, err
	}
	if err := keyTruths(ctx, c, e.EvaluationItem); err != nil {
		return record.Evaluation{}, err
	}
	v := e.For(roles)
	v.PerTopic, err = topics.Values(ctx, c.Files, e.topics)
	return v, err
}
