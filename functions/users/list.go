package users

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (page.Page[*Profile], error) {
	keep := func(u *record.User) bool { return c.Page.MatchesText("name", u.Name) }
	return api.PageOf(ctx, c, records.OfKind(record.KindUser, access.Nobody), keep, profile)
}

func listSubmissions(ctx context.Context, c *api.Call, id userTarget) (p page.Page[record.Submission], err error) {
	sources, err := c.VisibleOfUser(ctx, record.KindSubmission, string(id))
	if err != nil {
		return p, err
	}
	keep := func(s *record.SubmissionItem) bool {
		return s.UserID == string(id) && c.Page.Matches("taskId", s.TaskID)
	}
	return api.PageFor(ctx, c, sources, keep)
}
