package tools

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
)

func list(_ context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[Tool], err error) {
	var shown []Tool
	for _, t := range allTools {
		if !c.Page.Matches("kind", t.kind) {
			continue
		}
		d, err := t.describe()
		if err != nil {
			return p, err
		}
		shown = append(shown, d)
	}
	return page.Of(c.Page, shown, func(t Tool) string { return t.Name })
}

func listPage(ctx context.Context, c *api.Call, _ api.PublicTarget) error {
	return webpage.Page{Title: "Tools", Here: toolsPath, Main: toolsPage(allTools)}.Send(ctx, c)
}
