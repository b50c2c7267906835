package runs

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/runview"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Run], err error) {
	f := runview.Filter{
		TaskIDs: c.Page.Values("taskId"), DatasetIDs: c.Page.Values("datasetId"),
		UserIDs: c.Page.Values("userId"), SubmissionIDs: c.Page.Values("submissionId"),
		States: lists.Map(c.Page.Values("state"), func(s string) record.RunState { return record.RunState(s) }),
	}
	reader := runview.Reader{Viewer: &c.Viewer, Now: c.Now()}
	p.Cursor, err = reader.List(ctx, f, c.Page.Cursor, c.Page.Limit, p.Add)
	return p, err
}
