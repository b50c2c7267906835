//go:build !race

package functions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/domain/page"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/nightlytest"
)

type modelRequest struct {
	method, path string
	body         any
	headers      []string
}

// ask returns the answer of a server with the store from, without the parts that differ for each request. It takes no content coding,
// because a server with much to do leaves codings out.
func (r *modelRequest) ask(s *servertest.Server, from store.Store, caller string) []byte {
	s.Use(from)
	a := s.Do(caller, r.method, r.path, r.body, append([]string{"Accept-Encoding", "identity"}, r.headers...)...)
	var b bytes.Buffer
	_, _ = fmt.Fprintln(&b, a.Status)
	requestID := []byte(a.Header.Get("X-Request-Id")) // problems have it in JSON and in pages
	for _, name := range []string{"Date", "X-Request-Id", "Ratelimit", "Ratelimit-Policy"} {
		a.Header.Del(name)
	}
	_ = a.Header.Write(&b)
	b.Write(bytes.ReplaceAll(a.Body, requestID, nil))
	return b.Bytes()
}

func statusOf(answer []byte) (status int) {
	_, _ = fmt.Sscan(string(answer), &status)
	return status
}

func (m *model) requests(s *servertest.Server) []modelRequest { return requestsFor(s, m.ids()) }

// requestsFor returns requests of all operations: with the id of each resource and with an unknown id, and with each filter,
// order, page and media type. Requests that would change a resource have an invalid body, which is checked last.
func requestsFor(s *servertest.Server, ids map[string][]string) []modelRequest {
	var tools, components struct {
		Data []struct{ Name, ID string }
	}
	s.Want(http.StatusOK, &tools, "", http.MethodGet, "/v1/tools", nil)
	for _, tool := range tools.Data {
		ids["tool"] = append(ids["tool"], tool.Name)
	}
	s.Want(http.StatusOK, &components, "", http.MethodGet, "/v1/platform/components?limit=1", nil)
	ids["componentId"] = []string{components.Data[0].ID}
	_, file, _ := strings.Cut(string(s.Want(http.StatusOK, nil, "", http.MethodGet, "/console", nil).Body), ` src="/console/`)
	file, _, _ = strings.Cut(file, `"`)
	ids["file"] = []string{file}
	var all []modelRequest
	for _, op := range functions.Operations() {
		for _, path := range paths(op.Path, ids) {
			switch {
			case op.Method == http.MethodPost && strings.HasSuffix(op.Path, "/tools/{tool}"):
				for _, input := range toolInputs(ids) {
					all = append(all, modelRequest{method: op.Method, path: path, body: input})
				}
			case op.Method == http.MethodDelete:
				all = append(all, modelRequest{
					method:  op.Method,
					path:    path,
					headers: []string{"If-Match", `"none"`},
				})
			case op.Method != http.MethodGet:
				all = append(all, modelRequest{method: op.Method, path: path, body: "["})
			default:
				all = append(all, modelRequest{method: http.MethodHead, path: path})
				for _, query := range queries(op, ids) {
					all = append(all, modelRequest{method: op.Method, path: path + query})
				}
				for _, media := range append([]string{"text/html"}, op.Media...) { // every answer is available as a page
					all = append(all, modelRequest{
						method:  op.Method,
						path:    path,
						headers: []string{"Accept", media},
					})
				}
			}
		}
	}
	return all
}

// sampled returns all requests at night. Otherwise it returns every third request, from a random start. Requests of one operation
// are neighbours, so most operations are included.
func sampled(t *testing.T, all []modelRequest) []modelRequest {
	t.Helper()
	if nightlytest.Enabled {
		return all
	}
	const step = 3
	var some []modelRequest
	for i := storetest.Random(t).IntN(step); i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// ids returns the ids of all resources in the model and an unknown id, by the name of their parameter, and also by the task that
// they belong to.
func (m *model) ids() map[string][]string {
	nothing := modelID("secret", 999)
	ids := map[string][]string{"organizerId": {modelID("organizer", 0), modelID("organizer", 1), nothing}}
	add := func(name, task, id string) {
		ids[name] = append(ids[name], id)
		if task != "" {
			ids[name+task] = append(ids[name+task], id)
		}
	}
	for i, t := range m.tasks {
		add("taskId", "", modelID("task", i))
		for n := range t.datasets {
			add("datasetId", modelID("task", i), modelID("dataset", m.datasetNumber(i, n)))
		}
		for _, kind := range []string{"announcement", "invitation", "webhook", "delivery"} {
			add(kind+"Id", modelID("task", i), modelID(kind, i))
		}
		add("deletionId", "", modelID("deletion of dataset", i))
	}
	for i, r := range m.members {
		add("registrationId", modelID("task", r.task), modelID("registration", i))
		add("exceptionId", modelID("task", r.task), modelID("exception", i))
		add("invitationId", modelID("task", r.task), modelID("invitation", len(m.tasks)+i))
		add("deletionId", "", modelID("deletion of run", i))
	}
	for i, e := range m.entries {
		task := modelID("task", e.task)
		add("submissionId", task, modelID("submission", i))
		add("runId", task, modelID("run", i))
		add("evaluationId", task, modelID("evaluation", i))
	}
	for _, user := range []string{"ada", "dan", "olga", "somebody else"} {
		add("userId", "", recordtest.UserID(user))
	}
	for _, name := range []string{"taskId", "datasetId", "registrationId", "submissionId", "runId", "evaluationId", "announcementId",
		"unsubscriptionId", "invitationId", "deletionId", "webhookId", "deliveryId", "exceptionId"} {
		ids[name] = append(ids[name], nothing)
	}
	return ids
}

// paths returns the paths of the pattern with each id of its parameters. Below a task, it uses only ids of the task and the
// unknown id.
func paths(pattern string, ids map[string][]string) []string {
	all := []string{strings.TrimSuffix(pattern, "{$}")}
	for _, p := range parameters.FindAllStringSubmatch(pattern, -1) {
		var next []string
		for _, path := range all {
			of := ids[p[1]]
			if parts := strings.Split(path, "/"); p[1] != "taskId" && len(parts) > 3 && parts[2] == "tasks" {
				of = append(slices.Clone(ids[p[1]+parts[3]]), of[len(of)-1])
			}
			for _, id := range of {
				next = append(next, strings.Replace(path, p[0], id, 1))
			}
		}
		all = next
	}
	return all
}

var parameters = regexp.MustCompile(`\{([a-zA-Z]+)\}`)

// queries returns the queries that the list or resource accepts.
func queries(op api.Operation, ids map[string][]string) []string {
	all := []string{""}
	if len(op.Query.Fields) > 0 {
		all = append(all, "?fields="+op.Query.Fields[0])
	}
	if slices.Contains(op.Query.Custom, "input") {
		for _, input := range toolInputs(ids)[:4] { // a POST has all inputs
			b, _ := json.Marshal(input)
			all = append(all, "?"+url.Values{"input": {string(b)}}.Encode())
		}
	}
	if !op.Query.List {
		return all
	}
	all = append(all, "?limit=1", "?limit=3")
	kind := op.Path[strings.LastIndex(op.Path, "/")+1:]
	for _, id := range ids[strings.TrimSuffix(kind, "s")+"Id"] {
		all = append(all, "?limit=2&cursor="+id)
	}
	if op.Query.Sort {
		all = append(all, "?sort=rank", "?sort=P@5&limit=2")
	}
	for _, f := range op.Query.Filters {
		values := map[page.Type][]string{page.ID: ids[f.Name], page.Enum: f.Values, page.Bool: {"true", "false"}, page.Text: {
			"o", "withheld"}}[f.Type]
		for _, v := range values {
			filter := f.Param() + "=" + url.QueryEscape(v)
			switch {
			case op.Query.Sort && f.Name == "datasetId":
				all = append(all, "?"+filter, "?sort=rank&"+filter, "?limit=2&offset=1&sort=AP&"+filter, "?limit=2&sort=P@5&"+filter,
					"?sort=nothing&"+filter)
			case op.Query.Sort:
				all = append(all, "?"+filter, "?limit=2&sort=rank&"+filter)
			default:
				all = append(all, "?"+filter, "?limit=1&"+filter)
			}
		}
	}
	return all
}

// toolInputs returns inputs that name each dataset, each run and pairs of runs, in all shapes of tool inputs.
func toolInputs(ids map[string][]string) []any {
	var all []any
	type object = map[string]any
	for _, d := range ids["datasetId"] {
		all = append(all, object{"datasetId": d}, object{"datasetId": d, "best": true, "limit": 2},
			object{"datasetId": d, "measure": "P@5"}, object{"truth": object{"datasetId": d}, "runs": []any{object{"runId": ids["runId"][0]}}})
	}
	for i, r := range ids["runId"] {
		run := object{"runId": r}
		other := object{"runId": ids["runId"][(i+1)%len(ids["runId"])]}
		all = append(all, object{"run": run}, object{"runs": []any{run}}, object{"runs": []any{run}, "measure": "P@5"})
		if i%4 == 0 {
			all = append(all, object{"runs": []any{run, other}})
		}
	}
	return all
}
