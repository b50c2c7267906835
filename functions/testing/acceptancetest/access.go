package acceptancetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/edge/auth"
	"assay/shared/language/problem"
)

// AccessMatrix sends a request for every operation as every caller, on every kind of resource. It compares the statuses with the
// table of rights, and checks that no answer has a secret that the caller may not read. An operation of the OpenAPI document that
// the table lacks is an error.
func AccessMatrix(t *testing.T, s Setup) {
	f := newFixture(t, s)
	rows := parseRights(t)
	f.checkComplete(rows)
	forged, _ := auth.NewAccessToken(f.users["admin"])
	bad := []string{"not-a-token", tampered(f.tokens["admin"]), forged}
	for i, row := range rows {
		path, p := f.fillPath(row)
		for n, caller := range callers {
			got := f.ask(caller, row.method, path, f.body(row, p), conditions(row.method)...)
			if got.status != row.want[n] {
				t.Errorf("%s as %s: %d, want %d\n%s", row, caller, got.status, row.want[n], got.body)
			}
			checkRefusal(t, row, caller, got)
		}
		if got := f.send(t, bad[i%len(bad)], row.method, path, f.body(row, p), conditions(row.method)...); got.status != http.StatusUnauthorized {
			t.Errorf("%s with a bad token: %d, want 401\n%s", row, got.status, got.body)
		}
	}
	f.checkLists()
	f.checkTools()
	f.readTruths()
	f.checkAllFound()
}

// right is a row of the table.
type right struct {
	method, path, about string
	want                []int // statuses, by caller
}

func (r right) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s (%s)", r.method, r.path, r.about), " ()")
}

func parseRights(t testing.TB) []right {
	t.Helper()
	lines := strings.Split(strings.Trim(rights, "\n"), "\n")
	if !slices.Equal(strings.Fields(lines[0]), callers) {
		t.Fatalf("the columns of the table are %s, want %s", lines[0], callers)
	}
	var rows []right
	var operation []string
	for _, line := range lines[1:] {
		words := strings.Fields(line)
		n := len(words)
		for n > 0 && len(words[n-1]) == 3 && strings.Trim(words[n-1], "0123456789") == "" {
			n--
		}
		about := words[:n]
		if n > 0 && !strings.HasPrefix(line, " ") {
			operation, about = words[:n], nil
		}
		if n == len(words) {
			continue
		}
		row := right{path: operation[len(operation)-1], about: strings.Join(about, " ")}
		for _, w := range words[n:] {
			status, _ := strconv.Atoi(w) // three digits
			row.want = append(row.want, status)
		}
		if len(row.want) != len(callers) {
			t.Fatalf("%s has %d statuses, want %d", line, len(row.want), len(callers))
		}
		for _, method := range operation[:len(operation)-1] {
			row.method = method
			rows = append(rows, row)
		}
	}
	return append(rows, impliedRows(rows)...)
}

// impliedRows returns the rows that the table leaves out: requests for resources that do not exist, or that do not belong to the
// parent in the path.
func impliedRows(rows []right) (all []right) {
	for _, r := range rows {
		r.want = slices.Repeat([]int{http.StatusNotFound}, len(callers))
		for about, there := range map[string]bool{
			"missing": strings.Contains(r.path, "{"), "strayed": strings.Contains(r.path, "{taskId}/") && strings.Count(r.path, "{") == 2,
		} {
			r.about = about
			if there && !slices.ContainsFunc(slices.Concat(rows, all), func(o right) bool { return o.String() == r.String() }) {
				all = append(all, r)
			}
		}
	}
	return all
}

// checkComplete compares the operations of the table with the operations of the OpenAPI document.
func (f *fixture) checkComplete(rows []right) {
	f.t.Helper()
	described, statuses := map[string]bool{}, map[string]map[int]bool{}
	for _, r := range rows {
		o := r.method + " " + r.path
		if statuses[o] == nil {
			statuses[o] = map[int]bool{}
		}
		for _, status := range r.want {
			statuses[o][status] = true
		}
	}
	for _, o := range f.described() {
		name := o.method + " " + o.path
		if f.inputs[strings.TrimPrefix(o.path, "/v1/tools/")] == nil { // the document describes each tool by its name, too
			described[name] = true
		}
		if strings.HasPrefix(o.path, "/v1/tools/") { // the inputs of a tool have their own rights
			continue
		}
		for kind, want := range map[*problem.Kind]bool{
			problem.Unauthorized: statuses[name][http.StatusUnauthorized] || name == leadsUsers,
			problem.Forbidden:    statuses[name][http.StatusForbidden] || slices.Contains(forbidsApplicants, name),
			problem.NotFound:     statuses[name][http.StatusNotFound] || strings.Contains(o.path, "{userId}"), // for texts that are not ids
		} {
			if got := slices.Contains(o.problems, kind.Slug); got != want {
				f.t.Errorf("the document has the problem %s of %s: %v, want %v", kind.Slug, name, got, want)
			}
		}
	}
	inTable := map[string]bool{}
	for _, r := range rows {
		o := r.method + " " + r.path
		inTable[o] = true
		if !described[o] {
			f.t.Errorf("%s is in the table of rights, and the server does not describe it", o)
		}
	}
	for o := range described {
		if !inTable[o] {
			f.t.Errorf("the table of rights does not have %s: write there who gets which status", o)
		}
	}
}

// forbidsApplicants are the operations that answer 403 only to callers whose registration is pending or rejected, who join a team
// while registration is closed, or who are members but not the owner of a team.
var forbidsApplicants = []string{
	"GET /v1/tasks/{taskId}", "GET /v1/tasks/{taskId}/evaluations", "GET /v1/tasks/{taskId}/submissions",
	"GET /v1/tasks/{taskId}/registrations", "GET /v1/tasks/{taskId}/announcements",
	"GET /v1/tasks/{taskId}/announcements/{announcementId}",
	"POST /v1/tasks/{taskId}/registrations", "DELETE /v1/tasks/{taskId}/registrations/{registrationId}",
	"DELETE /v1/tasks/{taskId}/registrations/{registrationId}/members/{userId}", "GET /v1/datasets/{datasetId}",
	leadsUsers,
	"GET /v1/tasks/{taskId}/registrations/{registrationId}/invitations",
	"POST /v1/tasks/{taskId}/registrations/{registrationId}/invitations",
	"DELETE /v1/tasks/{taskId}/registrations/{registrationId}/invitations/{invitationId}", "POST /v1/user/memberships",
}

// leadsUsers is the operation that answers 401 only to requests for more data than an answer can contain.
const leadsUsers = "GET /v1/datasets/{datasetId}/leaderboard"

// operation is an operation of the OpenAPI document, with the names of its query parameters and the kinds of its problems.
type operation struct {
	method, path    string
	query, problems []string
}

// response is a response in the OpenAPI document, or a reference to one.
type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Examples map[string]any }
}

// parameter is a parameter in the OpenAPI document, or a reference to one.
type parameter struct {
	Name, In string
	Ref      string `json:"$ref"`
}

func (f *fixture) described() []operation {
	f.t.Helper()
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Parameters map[string]parameter
			Responses  map[string]response
		}
	}
	f.want(f.t, http.StatusOK, &doc, "", http.MethodGet, "/openapi.json", nil)
	var all []operation
	for path, item := range doc.Paths {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			raw, ok := item[strings.ToLower(method)]
			if !ok {
				continue
			}
			var o struct {
				Parameters []parameter
				Responses  map[string]response
			}
			if err := json.Unmarshal(raw, &o); err != nil {
				f.t.Fatal(err)
			}
			op := operation{method: method, path: path}
			for _, r := range o.Responses {
				if r.Ref != "" {
					r = doc.Components.Responses[r.Ref[strings.LastIndex(r.Ref, "/")+1:]]
				}
				op.problems = slices.AppendSeq(op.problems, maps.Keys(r.Content[problem.MediaType].Examples))
			}
			for _, p := range o.Parameters {
				if p.Ref != "" {
					p = doc.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				if p.In == "query" {
					op.query = append(op.query, p.Name)
				}
			}
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+" "+a.method, b.path+" "+b.method) })
	return all
}

// fillPath puts the ids of the row's resources into its path. It also returns the ids of their task.
func (f *fixture) fillPath(r right) (string, taskIDs) {
	p := f.public
	if strings.Contains(r.about, "private task") || r.about == "private" {
		p = f.private
	}
	what, _, _ := strings.Cut(r.about, ",")
	ids := map[string]string{
		"organizerId": f.organizer, "taskId": p.task, "datasetId": p.dataset, "registrationId": p.registration,
		"submissionId": p.publicEntry, "runId": p.runs["published"], "evaluationId": p.evaluations["published"], "userId": f.users[what],
		"componentId": f.component, "file": f.consoleFile, "tool": "evaluator", "tokenId": f.accessToken, "announcementId": p.announcement,
		"invitationId": f.invitation, "unsubscriptionId": "", "exceptionId": p.exception,
	}
	ids["webhookId"], ids["deliveryId"] = p.webhook, p.delivery
	if strings.HasPrefix(r.path, "/v1/organizers/") {
		ids["webhookId"], ids["deliveryId"] = f.webhook, f.delivery
	}
	switch what {
	case "private entry":
		ids["submissionId"], ids["runId"] = p.ownersEntry, p.runs["unpublished"]
	case "unpublished", "blinded":
		ids["evaluationId"] = p.evaluations[what]
	case "published and blinded":
		ids["evaluationId"] = p.evaluations["withdrawn"]
	case "strayed":
		ids["taskId"] = f.private.task
	case "missing":
		p = taskIDs{task: f.missing, dataset: f.missing}
		for name := range ids {
			ids[name] = f.missing
		}
	}
	switch {
	case r.about == "missing", strings.HasPrefix(r.path, "/v1/organizers"):
	case strings.Contains(r.path, "{registrationId}"):
		ids["invitationId"] = p.teamInvitation
	default:
		ids["invitationId"] = p.invitation
	}
	if strings.Contains(r.about, "of a private entry") {
		ids["evaluationId"] = p.evaluations["hiddenEntry"]
	}
	path := r.path
	if strings.HasSuffix(path, "/result") {
		path += "?input=" + url.QueryEscape(f.example)
	}
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path, p
}

// body returns the body to send. It is valid except for the error that the row of the table requires.
func (f *fixture) body(r right, p taskIDs) any {
	switch r.method + " " + r.path {
	case "POST /v1/organizers":
		return map[string]any{"name": "Another"}
	case "POST /v1/user/tokens":
		return map[string]any{"name": "A token", "scopes": []string{"read"}}
	case "POST /v1/tasks":
		organizer := f.organizer
		if r.about == "missing" {
			organizer = f.missing
		}
		return map[string]any{"organizerId": organizer, "name": "Another", "visibility": "private"}
	case "POST /v1/datasets":
		return newDataset(p.task, "training")
	case "POST /v1/tasks/{taskId}/registrations":
		return map[string]any{"team": f.public.team}
	case "POST /v1/tasks/{taskId}/webhooks", "POST /v1/organizers/{organizerId}/webhooks":
		return map[string]any{"url": unreachable}
	case "POST /v1/user/memberships":
		secret, _ := auth.NewInvitation(p.task)
		return map[string]any{"secret": secret}
	case "POST /v1/tasks/{taskId}/announcements":
		return map[string]any{"title": "Another"}
	case "POST /v1/tasks/{taskId}/registrations/{registrationId}/exceptions":
		return exception
	case "POST /v1/tasks/{taskId}/submissions":
		return image(p.dataset)
	}
	if tool, ok := strings.CutPrefix(r.path, "/v1/tools/"); ok && r.method == http.MethodPost {
		if example, ok := f.inputs[tool]; ok {
			return example
		}
		return f.inputs["evaluator"]
	}
	if r.method == http.MethodPatch || r.method == http.MethodPost {
		return map[string]any{}
	}
	return nil
}

// conditions returns an If-Match header that fails, so that requests change nothing.
func conditions(method string) []string {
	if method == http.MethodPatch || method == http.MethodDelete {
		return []string{"If-Match", `"0-0"`}
	}
	return nil
}

// tampered returns the token with another signature.
func tampered(token string) string {
	i := strings.LastIndex(token, ".") + 5
	c := "A"
	if token[i:i+1] == c {
		c = "B"
	}
	return token[:i] + c + token[i+1:]
}

// checkRefusal checks the media type and the challenge of a refusal.
func checkRefusal(t testing.TB, r right, caller string, got answer) {
	t.Helper()
	if got.status < http.StatusBadRequest {
		return
	}
	if ct := got.header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("%s as %s: a refusal of type %q", r, caller, ct)
	}
	if challenge := got.header.Get("WWW-Authenticate"); (got.status == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Bearer") {
		t.Errorf("%s as %s: status %d with the challenge %q", r, caller, got.status, challenge)
	}
}
