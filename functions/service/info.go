package service

import (
	"context"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/jsoncheck"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Info describes the server: its version, limits, formats and measures.
type Info struct {
	Name       string                      `json:"name" example:"assay"`
	Version    string                      `json:"version" example:"0.9.0" doc:"version of the program and of its OpenAPI document"`
	Commit     string                      `json:"commit,omitempty" doc:"commit of the program, if known"`
	Schema     int                         `json:"schema" example:"1" doc:"schema of the stored records"`
	Digest     string                      `json:"schemaDigest" doc:"digest of the form of the stored records; a server uses only data of its own schema and digest" example:"0f1e2d3c4b5a6978"`
	APIVersion string                      `json:"apiVersion" example:"v1" doc:"version of the API in paths"`
	Issuer     string                      `json:"issuer" format:"uri" doc:"OpenID Connect issuer whose tokens log in"`
	ClientID   string                      `json:"clientId,omitempty" doc:"public client of the issuer, for codes with PKCE; absent when the server has none"`
	SignIn     string                      `json:"signIn,omitempty" format:"uri-reference" doc:"page on which people sign in; absent when the server has no client" example:"/console"`
	Mail       bool                        `json:"mail" doc:"whether the server sends e-mails; without them, invitations are links that people pass on themselves"`
	Limits     Limits                      `json:"limits"`
	RunFormats []string                    `json:"runFormats" doc:"formats of runs that the built-in evaluators read"`
	Builds     []string                    `json:"builds" doc:"pools of the platform with a worker that executes the repositories of submissions, because it builds images or works without containers; a worker counts for an hour after its last request for work"`
	Evaluators []measure.EvaluatorKind     `json:"evaluators" doc:"the built-in evaluators, the most common first"`
	Measures   map[string][]measure.Family `json:"measures" doc:"measures by the kind of evaluator"`
}

// Limits of the service, in bytes and counts.
type Limits struct {
	Body               int64 `json:"body" doc:"bytes of a request's body"`
	Headers            int   `json:"headers" doc:"bytes of a request's header fields"`
	BodyDepth          int   `json:"bodyDepth" doc:"levels of nested objects and arrays in a JSON body"`
	BodyValues         int   `json:"bodyValues" doc:"values of a JSON body, at all levels"`
	BodyNumber         int   `json:"bodyNumber" doc:"characters of a number in a JSON body"`
	BodyFaults         int   `json:"bodyFaults" doc:"largest number of faults of a body that an answer names"`
	InlineFiles        int64 `json:"inlineFiles" doc:"bytes of all inline files of a request"`
	File               int64 `json:"file" doc:"bytes of an uploaded file"`
	EvaluatedFiles     int64 `json:"evaluatedFiles" doc:"bytes of all files of a run, or of a truth, that a built-in evaluator reads, after unpacking; evaluators of the kind worker take files up to the limit file"`
	PageDefault        int   `json:"pageDefault" doc:"resources on a page without the parameter limit"`
	PageMost           int   `json:"pageMost" doc:"largest number of resources on a page"`
	PageBytes          int   `json:"pageBytes" doc:"bytes of resources after which a page ends, with a link to the next"`
	Diagnostics        int   `json:"diagnostics" doc:"diagnostics kept of a run"`
	SubmissionDatasets int   `json:"submissionDatasets" doc:"datasets of a submission"`
	Members            int   `json:"members" doc:"members of an organizer"`
	TeamMembers        int   `json:"teamMembers" doc:"members of a team"`
	MemberChanges      int   `json:"memberChanges" doc:"members that one request can add or remove"`
	Memberships        int   `json:"memberships" doc:"memberships of organizers that a user can have"`
	AddedMemberships   int   `json:"addedMemberships" doc:"0: nobody can make another user a member; users join by invitations"`
	Registrations      int   `json:"registrations" doc:"registrations for tasks that a user can have"`
	AddedRegistrations int   `json:"addedRegistrations" doc:"0: nobody can register another user"`
	Invitations        int   `json:"invitations" doc:"invitations of an organizer, a task or a team that can be open"`
	InvitationUses     int   `json:"invitationUses" doc:"users who can join by one invitation"`
	InvitationsPerDay  int   `json:"invitationsPerDay" doc:"invitations of one organizer, its tasks and teams to e-mail addresses in 24 hours"`

	Rates ratelimit.Rates `json:"rates" doc:"rate limits of each caller: of each user, and of each address without a login"`

	Quotas record.Quotas `json:"quotas" doc:"quotas; beyond them, the answer is 403 (quota-exhausted) or 429 (quota-today), and says when or how to get more"`
}

var limits = Limits{
	Body: api.MaxBodyBytes, Headers: api.MaxHeaderBytes, BodyDepth: jsoncheck.MaxDepth, BodyValues: jsoncheck.MaxValues,
	BodyNumber: jsoncheck.MaxNumber, BodyFaults: problem.MaxFields,
	InlineFiles: record.MaxInlineBytes, File: record.MaxFileBytes, EvaluatedFiles: record.MaxEvaluatedBytes,
	PageDefault: page.DefaultLimit, PageMost: page.MaxLimit, PageBytes: page.MaxBytes, Diagnostics: measure.MaxDiagnostics,
	SubmissionDatasets: record.MaxSubmissionDatasets, Members: record.MaxMembers, MemberChanges: record.MaxMemberChanges,
	Memberships: record.MembershipGrants.Max, Registrations: record.RegistrationGrants.Max,
	Invitations: record.MaxInvitations, InvitationUses: record.MaxInvitationUses, InvitationsPerDay: record.MaxAddressesPerDay,
	TeamMembers: record.MaxTeam,
}

func info(ctx context.Context, c *api.Call, _ api.PublicTarget) (Info, error) {
	limits := limits
	limits.Rates = c.Rates.Limits()
	i := Info{
		Name: c.Info.Name, Version: c.Info.Version, Commit: c.Info.Commit, Schema: record.Schema, Digest: record.Digest,
		APIVersion: api.APIVersion, Issuer: c.Info.Issuer, Mail: c.Info.Mail,
		Limits: limits, RunFormats: measure.Formats(), Evaluators: measure.Evaluators, Measures: map[string][]measure.Family{},
	}
	i.Limits.Quotas = c.Quotas.Quotas
	i.ClientID = c.Info.ClientID
	if i.ClientID != "" || c.Development() {
		i.SignIn = "/console"
	}
	serving, err := records.Get[record.Serving](ctx, c.Store, store.Eventual, record.ServingKey())
	if err != nil {
		return i, err
	}
	i.Builds = slices.DeleteFunc(serving.Builders(c.Now()), func(pool string) bool { return record.PoolOrganizer(pool) != "" })
	for _, e := range measure.Evaluators {
		i.Measures[string(e.Kind)] = e.Families
	}
	return i, nil
}

// Index is a list of links.
type Index struct {
	Links map[string]string `json:"links" doc:"addresses by name"`
}

// index returns a handler that answers with the links.
func index(links map[string]string) func(context.Context, *api.Call, api.PublicTarget) (Index, error) {
	return func(context.Context, *api.Call, api.PublicTarget) (Index, error) { return Index{links}, nil }
}

var (
	root = index(map[string]string{
		"self": "/", "v1": "/v1", "platform": "/v1/platform", "health": "/health", "info": "/info", "console": "/console",
		"docs": "/docs", "openapi": "/openapi.json",
	})
	version1 = index(map[string]string{
		"self": "/v1", "platform": "/v1/platform", "datasets": "/v1/datasets", "evaluations": "/v1/evaluations", "organizers": "/v1/organizers",
		"runs": "/v1/runs", "tasks": "/v1/tasks", "tools": "/v1/tools", "user": "/v1/user", "users": "/v1/users",
	})
	platform = index(map[string]string{
		"self": "/v1/platform", "components": "/v1/platform/components", "queues": "/v1/platform/queues", "storage": "/v1/platform/storage",
		"storageByUser": "/v1/platform/storage/users",
	})
)

// Health is the answer of a service that is up.
type Health struct {
	Status string           `json:"status" enum:"pass,warn" doc:"warn if a check warns; a service that is not up answers 503"`
	Checks map[string]Check `json:"checks" doc:"results by part of the service: store has the records, files the files, and disk the free space of the server's disks"`
}

// Check is the result of a check of one part of the service.
type Check struct {
	Status string `json:"status" enum:"pass,warn"`
	Output string `json:"output,omitempty" doc:"what does not work, if the check warns"`
}

func liveness(context.Context, *api.Call, api.PublicTarget) (Check, error) {
	return Check{Status: statusPass}, nil
}

// storeTime bounds the time for an answer of the store.
const storeTime = 2 * time.Second

// Statuses of checks.
const (
	statusPass = "pass"
	statusWarn = "warn"
)

func health(ctx context.Context, c *api.Call, _ api.PublicTarget) (Health, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := c.Store.Ping(ctx); err != nil {
		return Health{}, problem.Unavailable.Wrap(err,
			"The store does not answer, so nothing can be read or written now. Try again in a few seconds.").After(5 * time.Second)
	}
	h := Health{Status: statusPass, Checks: map[string]Check{"store": {Status: statusPass}}}
	if c.Health == nil {
		return h, nil
	}
	for _, check := range c.Health.Checks(ctx) {
		h.Checks[check.Name] = Check{Status: statusPass}
		if check.Warning != "" {
			h.Checks[check.Name] = Check{Status: statusWarn, Output: check.Warning}
			h.Status = statusWarn
		}
	}
	return h, nil
}
