package problem

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"strings"
)

// Operation is an operation of the API that a text names.
type Operation struct {
	ID     string // its operationId
	Method string
	Path   string // its pattern
}

// The operations that texts name. The families of package functions declare them, and a test compares both.
var (
	CreateOrganizerInvitation = operation("createOrganizerInvitation", "POST /v1/organizers/{organizerId}/invitations")
	CreateRegistration        = operation("createRegistration", "POST /v1/tasks/{taskId}/registrations")
	CreateTaskInvitation      = operation("createTaskInvitation", "POST /v1/tasks/{taskId}/invitations")
	CreateTeamInvitation      = operation("createTeamInvitation", "POST /v1/tasks/{taskId}/registrations/{registrationId}/invitations")
	CreateToken               = operation("createToken", "POST /v1/user/tokens")
	DeleteCurrentUser         = operation("deleteCurrentUser", "DELETE /v1/user")
	DeleteMember              = operation("deleteMember", "DELETE /v1/organizers/{organizerId}/members/{userId}")
	DeleteOrganizerInvitation = operation("deleteOrganizerInvitation", "DELETE /v1/organizers/{organizerId}/invitations/{invitationId}")
	DeleteRegistration        = operation("deleteRegistration", "DELETE /v1/tasks/{taskId}/registrations/{registrationId}")
	DeleteTask                = operation("deleteTask", "DELETE /v1/tasks/{taskId}")
	DeleteTaskInvitation      = operation("deleteTaskInvitation", "DELETE /v1/tasks/{taskId}/invitations/{invitationId}")
	DeleteTeamInvitation      = operation("deleteTeamInvitation",
		"DELETE /v1/tasks/{taskId}/registrations/{registrationId}/invitations/{invitationId}")
	DeleteTeamMember       = operation("deleteTeamMember", "DELETE /v1/tasks/{taskId}/registrations/{registrationId}/members/{userId}")
	DeleteToken            = operation("deleteToken", "DELETE /v1/user/tokens/{tokenId}")
	GetCurrentUser         = operation("getCurrentUser", "GET /v1/user")
	GetIndex               = operation("getIndex", "GET /")
	GetInfo                = operation("getInfo", "GET /info")
	GetOpenAPI             = operation("getOpenapiJson", "GET /openapi.json")
	GetTask                = operation("getTask", "GET /v1/tasks/{taskId}")
	GetVersionIndex        = operation("getVersionIndex", "GET /v1")
	ListComponents         = operation("listComponents", "GET /v1/platform/components")
	UndoDeletion           = operation("undoDeletion", "DELETE /v1/deletions/{deletionId}")
	UpdateCurrentUser      = operation("updateCurrentUser", "PATCH /v1/user")
	UpdateOrganizerWebhook = operation("updateOrganizerWebhook", "PATCH /v1/organizers/{organizerId}/webhooks/{webhookId}")
	UpdateRegistration     = operation("updateRegistration", "PATCH /v1/tasks/{taskId}/registrations/{registrationId}")
	UpdateRun              = operation("updateRun", "PATCH /v1/runs/{runId}")
	UpdateTaskWebhook      = operation("updateTaskWebhook", "PATCH /v1/tasks/{taskId}/webhooks/{webhookId}")
)

// Operations lists all operations that texts name.
var Operations []Operation

func operation(id, route string) Operation {
	method, path, _ := strings.Cut(route, " ")
	o := Operation{id, method, path}
	Operations = append(Operations, o)
	return o
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// With returns the part for the operation with the ids in its path. Parameters without an id remain in braces.
func (o Operation) With(ids ...string) Part {
	p := Part{Type: OperationPart, Operation: o.ID}
	path := pathParameter.ReplaceAllStringFunc(o.Path, func(name string) string {
		if len(ids) == 0 {
			return name
		}
		id := ids[0]
		ids = ids[1:]
		p.parameter(strings.Trim(name, "{}"), id)
		return url.PathEscape(id)
	})
	p.Value = o.Method + " " + path
	return p
}

func (p *Part) parameter(name, value string) {
	if p.Parameters == nil {
		p.Parameters = map[string]string{}
	}
	p.Parameters[name] = value
}

// Query returns the part for the operation with a query parameter.
func (p Part) Query(name, value string) Part {
	separator := "?"
	if strings.Contains(p.Value, "?") {
		separator = "&"
	}
	p.Parameters = maps.Clone(p.Parameters)
	p.parameter(name, value)
	p.Value += separator + url.Values{name: {value}}.Encode()
	return p
}

// Setting returns the part for the operation with a body that sets a member.
func (p Part) Setting(member string, value any) Part {
	body, _ := json.Marshal(map[string]any{member: value}) // numbers, texts and booleans always have JSON
	p.Body = string(body)
	p.Value += " with " + p.Body
	return p
}
