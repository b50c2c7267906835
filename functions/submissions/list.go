package submissions

import (
	"context"
	"slices"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
)

func list(ctx context.Context, c *api.Call, t *record.TaskItem) (p page.Page[record.Submission], err error) {
	sources, err := c.VisibleIn(ctx, record.KindSubmission, record.KindTask, t.ID, t.Scope())
	if err != nil {
		return p, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	keep := func(s *record.SubmissionItem) bool {
		v := s.For(rolesOf(s.Scope()))
		return s.TaskID == t.ID && c.Page.Matches("userId", v.UserID) && c.Page.Matches("visibility", string(s.Visibility)) &&
			c.Page.Matches("type", string(s.Type)) &&
			(len(c.Page.Values("datasetId")) == 0 ||
				slices.ContainsFunc(s.DatasetIDs, func(d string) bool { return c.Page.Matches("datasetId", d) }))
	}
	return api.PageOf(ctx, c, sources, keep, func(s *record.SubmissionItem) record.Submission { return s.For(rolesOf(s.Scope())) })
}
