package components

import (
	"context"
	"slices"
	"strings"

	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

// show has no target and finds the component itself. Components are public, so reading the caller's grants would not change the
// answer for a missing component.
func show(_ context.Context, c *api.Call, _ api.PublicTarget) (Component, error) {
	e, err := findEntry(c)
	if err != nil {
		return Component{}, err
	}
	return e.Component, nil
}

func snippet(_ context.Context, c *api.Call) error {
	e, err := findEntry(c)
	if err != nil {
		return err
	}
	var has []string
	for i, s := range e.Snippets {
		if c.Page.Matches(language.Name, s.Language) {
			text, err := snippets.ReadFile("catalogue/" + e.files[i])
			if err != nil {
				return err
			}
			return c.WriteDocument(mediaText+"; charset=utf-8", text)
		}
		has = append(has, s.Language)
	}
	return problem.NotFound.New("%s has no snippet in %s. It has one in %s.", e.Name, strings.Join(c.Page.Values(language.Name), " or "),
		strings.Join(has, " and "))
}

// findEntry returns the component that the path names.
func findEntry(c *api.Call) (*entry, error) {
	i := slices.IndexFunc(catalogue, func(e *entry) bool { return e.ID == c.Param("componentId") })
	if i < 0 {
		return nil, problem.NotFound.New("There is no component with this id: %s lists them.", problem.ListComponents.With())
	}
	return catalogue[i], nil
}
