package components

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/edge/api"
)

func list(_ context.Context, c *api.Call, _ api.PublicTarget) (page.Page[Component], error) {
	var shown []Component
	for _, e := range catalogue {
		if c.Page.Matches("kind", e.Kind) && c.Page.MatchesText("name", e.Name) {
			shown = append(shown, e.Component)
		}
	}
	return page.Of(c.Page, shown, func(e Component) string { return e.ID })
}
