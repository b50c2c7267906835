package evaluations

import (
	"context"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/evaluation"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// withTopics is an evaluation with its values per topic, which one call reads, and with the rules of its dataset.
type withTopics struct {
	*record.EvaluationItem
	topics *record.Topics
	rules  *record.ValueRules
	now    time.Time
}

// Scope returns the scope of the evaluation, with the audience of its values.
func (e withTopics) Scope() access.Scope {
	s := e.EvaluationItem.Scope()
	s.Audience = e.rules.Widest(&e.Access, e.now)
	return s
}

func single(ctx context.Context, c *api.Call) (withTopics, error) {
	id := c.Param("evaluationId")
	if !record.IsID(id) {
		return withTopics{}, visibility.Missing
	}
	e := withTopics{now: c.Now()}
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&e.EvaluationItem, record.EvaluationKey(id)),
		records.Into(&e.topics, record.TopicsKey(id)))
	if err != nil {
		return e, err
	}
	of, err := visibility.RulesRef(ctx, &c.Viewer, e.EvaluationItem, id)
	if err != nil {
		return e, err
	}
	e.rules, err = c.Rules(ctx, of)
	if err == nil && e.EvaluationItem == nil {
		err = visibility.Missing
	}
	return e, err
}

func show(ctx context.Context, c *api.Call, e withTopics) (record.Evaluation, error) {
	roles, err := c.Roles(ctx, e.Scope())
	if err != nil {
		return record.Evaluation{}, err
	}
	v := e.For(e.rules.For(e.Access, roles, e.now))
	if evaluation.Hides(e.Evaluator.Kind, roles) {
		return v, nil
	}
	if e.topics != nil && e.topics.ObjectKey != "" {
		if err := c.BeginListing(ctx); err != nil {
			return record.Evaluation{}, err
		}
	}
	topics, err := evaluation.ReadTopics(ctx, c.Files, e.Evaluator.Kind, roles, e.topics)
	topics.Keep(v.Columns)
	v.PerTopic, v.Classes = topics.Shown(), topics.Classes()
	return v, err
}
