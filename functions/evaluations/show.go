package evaluations

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/evaluation"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// withTopics is an evaluation with its values per topic. One call reads both.
type withTopics struct {
	*record.EvaluationItem
	topics *record.Topics
}

func single(ctx context.Context, c *api.Call) (withTopics, error) {
	id := c.Param("evaluationId")
	if !record.IsID(id) {
		return withTopics{}, visibility.Missing
	}
	var e withTopics
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&e.EvaluationItem, record.EvaluationKey(id)).Or(visibility.Missing),
		records.Into(&e.topics, record.TopicsKey(id)))
	if err == nil {
		err = c.ApplyEmbargo(ctx, &e.Access, e.TaskID, e.DatasetID, c.Now())
	}
	return e, err
}

func show(ctx context.Context, c *api.Call, e withTopics) (record.Evaluation, error) {
	roles, err := c.Roles(ctx, e.Scope())
	if err != nil {
		return record.Evaluation{}, err
	}
	v := e.For(roles)
	if evaluation.Hides(e.Evaluator.Kind, roles) {
		return v, nil
	}
	if e.topics != nil && e.topics.ObjectKey != "" {
		if err := c.BeginListing(ctx); err != nil {
			return record.Evaluation{}, err
		}
	}
	topics, err := evaluation.ReadTopics(ctx, c.Files, e.Evaluator.Kind, roles, e.topics)
	v.PerTopic, v.Classes = topics.Shown(), topics.Classes()
	return v, err
}
