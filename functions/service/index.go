package service

import (
	"context"

	"assay/shared/api"
)

// Index is a list of links.
type Index struct {
	Links map[string]string `json:"links" doc:"addresses by what is there"`
}

func root(context.Context, *api.Call, api.PublicTarget) (Index, error) {
	return Index{Links: map[string]string{
		"self": "/", "v1": "/v1", "platform": "/v1/platform", "health": "/health", "info": "/info", "docs": "/docs", "openapi": "/openapi.json",
	}}, nil
}

func version1(context.Context, *api.Call, api.PublicTarget) (Index, error) {
	return Index{Links: map[string]string{
		"self": "/v1", "platform": "/v1/platform", "datasets": "/v1/datasets", "evaluations": "/v1/evaluations", "organizers": "/v1/organizers",
		"runs": "/v1/runs", "tasks": "/v1/tasks", "tools": "/v1/tools", "user": "/v1/user", "users": "/v1/users",
	}}, nil
}

func platform(context.Context, *api.Call, api.PublicTarget) (Index, error) {
	return Index{Links: map[string]string{"self": "/v1/platform", "components": "/v1/platform/components"}}, nil
}
