//go:build !race

package functions_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/nightlytest"
	"assay/shared/page"
	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

var (
	firstSeed = flag.Uint64("seed", 0, "seed of the first model of what is withheld")
	seeds     = flag.Uint64("seeds", 1, "how many models of what is withheld are tried, each with a seed of its own")
)

// TestAnswers_AreEqualWhateverIsWithheld asks one server over pairs of stores that differ only in what the caller may not see:
// status, headers and body of each answer are equal byte for byte, and with them counts, order, ranks, pages, cursors, links and
// entity tags. The requests come from the table of operations, so that an operation is covered by being declared.
func TestAnswers_AreEqualWhateverIsWithheld(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Now = func() time.Time { return modelTime }
	asked, answered := 0, map[int]int{}
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		m := newModel(seed)
		m.putObjects(t, s)
		requests := sampled(t, m.requests(s))
		for _, caller := range modelCallers {
			full, withheld := m.store(t, caller, false), m.store(t, caller, true)
			differing := 0
			for _, r := range requests {
				want, got := r.ask(s, full, caller), r.ask(s, withheld, caller)
				asked++
				answered[statusOf(want)]++
				if differing < 3 && (!bytes.Equal(want, got) || statusOf(want) >= http.StatusInternalServerError) {
					differing++
					t.Errorf("seed %d, %s %s %s %q as %q: with what is withheld\n%s\nwithout\n%s", seed, r.method, r.path, r.body, r.headers,
						caller, want, got)
				}
			}
		}
	}
	t.Logf("%d pairs of answers from %d seeds after %d, by status %v", asked, *seeds, *firstSeed, answered)
	for _, status := range []int{http.StatusOK, http.StatusNoContent, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest} {
		if answered[status] == 0 {
			t.Errorf("no answer has the status %d", status)
		}
	}
}

// putObjects stores the files of the model.
func (m *model) putObjects(t *testing.T, s *servertest.Server) {
	t.Helper()
	for key, content := range m.objects() {
		f := modelFile("", content)
		o := blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
		if err := s.Files.Put(t.Context(), o, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *model) store(t *testing.T, caller string, withhold bool) store.Store {
	t.Helper()
	s := recordtest.OpenStore(t, embedded.Options{})
	b := recordtest.New(t, s)
	b.Batch(func() { b.Put(m.records(caller, withhold)...) })
	return s
}

type modelRequest struct {
	method, path string
	body         any
	headers      []string
}

// ask returns the answer from the store as it was sent, except for what differs in each request.
func (r *modelRequest) ask(s *servertest.Server, from store.Store, caller string) []byte {
	s.Store = from
	a := s.Do(caller, r.method, r.path, r.body, r.headers...)
	var b bytes.Buffer
	_, _ = fmt.Fprintln(&b, a.Status)
	requestID := []byte(a.Header.Get("X-Request-Id")) // which problems have too, as JSON and as pages
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

// requestsFor returns requests of all operations: with the id of each resource and with an unknown one, each filter, order, page
// and media type. Requests that would change a resource have a body that cannot be read, which is checked last.
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
				for _, media := range append([]string{"text/html"}, op.Media...) { // every answer is a page too
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

// sampled returns all requests at night, and otherwise every third one from a random place on. Requests of one operation stand together,
// so that most operations are still asked.
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

// ids are those of everything in the model, and one of nothing, by the name of their parameter. Those of a task are by its id too.
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

// paths are those of the pattern with each id of its parameters; below a task only those of the task, and of nothing.
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

// queries are those that the list or resource takes.
func queries(op api.Operation, ids map[string][]string) []string {
	all := []string{""}
	if len(op.Query.Fields) > 0 {
		all = append(all, "?fields="+op.Query.Fields[0])
	}
	if slices.Contains(op.Query.Custom, "input") {
		for _, input := range toolInputs(ids)[:4] { // as a POST, which has them all
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

// toolInputs name each dataset and each run, and runs in pairs, in all the shapes that inputs of tools have.
func toolInputs(ids map[string][]string) []any {
	var all []any
	type object = map[string]any
	for _, d := range ids["datasetId"] {
		all = append(all, object{"datasetId": d}, object{"datasetId": d, "best": true, "limit": 2}, object{
			"truth": object{"datasetId": d}, "runs": []any{object{"runId": ids["runId"][0]}}})
	}
	for i, r := range ids["runId"] {
		run := object{"runId": r}
		other := object{"runId": ids["runId"][(i+1)%len(ids["runId"])]}
		all = append(all, object{"run": run}, object{"runs": []any{run}})
		if i%4 == 0 {
			all = append(all, object{"runs": []any{run, other}})
		}
	}
	return all
}
