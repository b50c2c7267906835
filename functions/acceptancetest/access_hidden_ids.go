package acceptancetest

import (
	"net/http"
	"slices"
	"strings"
)

// hidden is a scene with what its outsiders may not know of, by the parameter that names it.
type hidden struct {
	*scene
	ids map[string][]string
}

// outsiders have no part in either task.
var outsiders = []string{"anonymous", "outsider", "rival"}

func (sc *scene) newHidden() *hidden {
	t, organizer, h := sc.t, sc.tokens["organizer"], &hidden{scene: sc}
	for _, of := range []place{sc.public, sc.private} {
		sc.create(t, sc.tokens["registrant"], "/v1/tasks/"+of.task+"/submissions", map[string]any{
			"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{of.dataset},
		})
	}
	secretive := id(sc.create(t, organizer, "/v1/organizers", map[string]any{"name": "Secretive"}))
	sc.create(t, organizer, "/v1/tasks", map[string]any{"organizerId": secretive, "name": "Secret", "visibility": "private"})

	public, private := sc.public, sc.private
	h.ids = map[string][]string{
		"organizerId":  {secretive},
		"taskId":       {private.task},
		"datasetId":    {private.dataset, private.testSet},
		"submissionId": {private.publicEntry, private.ownersEntry, public.ownersEntry},
		"runId":        {public.runs["unpublished"], public.runs["withdrawn"]},
		"evaluationId": {public.evaluations["unpublished"], public.evaluations["blinded"], public.evaluations["withdrawn"]},
		"userId":       {sc.users["registrant"], sc.masked.user},
		"":             {public.registration, private.registration, sc.masked.registration},
	}
	for _, name := range []string{"published", "unpublished", "blinded"} {
		h.ids["runId"] = append(h.ids["runId"], private.runs[name])
		h.ids["evaluationId"] = append(h.ids["evaluationId"], private.evaluations[name])
	}
	return h
}

// lists are the lists that the server describes, of what is public.
func (h *hidden) lists() []operation {
	var lists []operation
	for _, o := range h.described() {
		if slices.Contains(o.query, "cursor") {
			o.path, _ = h.fill(right{path: o.path, about: "owner"})
			lists = append(lists, o)
		}
	}
	if len(lists) == 0 {
		h.t.Error("the server describes no list")
	}
	return lists
}

// compareFilters asks every list, with every filter that takes ids, for what is hidden: alone, beside what is not, and sorted.
func (h *hidden) compareFilters() {
	h.t.Helper()
	visible := map[string]string{
		"taskId": h.public.task, "datasetId": h.public.dataset, "submissionId": h.public.publicEntry, "runId": h.public.runs["published"],
		"userId": h.users["owner"], "organizerId": h.organizer,
	}
	compared := map[string]bool{}
	for _, o := range h.lists() {
		for _, param := range o.query {
			name := strings.TrimSuffix(strings.TrimPrefix(param, "filter["), "]")
			beside, ok := visible[name]
			if !ok || !strings.HasPrefix(param, "filter[") {
				continue
			}
			compared[name] = true
			more := []string{"", "," + beside, "&limit=1", "&filter[name]=a"}
			for _, other := range []string{"taskId", "datasetId", "userId"} {
				more = append(more, "&filter["+other+"]="+visible[other])
			}
			if slices.Contains(o.query, "sort") {
				more = append(more, "&sort=rank", "&sort=Accuracy", "&sort=nothing", "&sort=rank&offset=1", "&best=true",
					"&sort=rank&filter[datasetId]="+h.public.dataset)
			}
			for _, tail := range more {
				for _, secret := range h.ids[name] {
					h.compare(o.path+"?"+param+"=", secret, tail)
				}
			}
		}
	}
	for name := range visible {
		if !compared[name] {
			h.t.Errorf("no list has a filter %s", name)
		}
	}
}

// compareCursors goes on, in every list, at what is hidden.
func (h *hidden) compareCursors() {
	h.t.Helper()
	for _, o := range h.lists() {
		for _, ids := range h.ids {
			for _, secret := range ids {
				if !slices.Contains(h.ids["userId"], secret) && secret != h.ids["organizerId"][0] { // those may stand in lists of their kind
					h.compare(o.path+"?cursor=", secret, "")
				}
			}
		}
	}
}

// compare asks as everyone who may not know of the secret.
func (h *hidden) compare(before, secret, after string) {
	h.t.Helper()
	for _, caller := range outsiders {
		h.same(caller, request{method: http.MethodGet, path: before + secret + after}, request{method: http.MethodGet, path: before + h.missing + after})
	}
}

// compareBodies names in bodies what is hidden from whoever sends them.
func (h *hidden) compareBodies() {
	h.t.Helper()
	h.tokens["masked"] = h.masked.token
	post := func(path string, body any) request { return request{method: http.MethodPost, path: path, body: body} }
	submission := func(dataset string) any {
		return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{h.public.dataset, dataset}}
	}
	upload := func(dataset string) any {
		return map[string]any{"type": "upload", "files": []any{csvFile("run.csv", "id,label\n1,a\n", dataset)}}
	}
	submissions, registrations := "/v1/tasks/"+h.public.task+"/submissions", "/v1/tasks/"+h.public.task+"/registrations"
	for _, dataset := range h.ids["datasetId"] {
		for _, body := range []func(string) any{submission, upload} {
			for _, caller := range append(outsiders, "masked") {
				h.same(caller, post(submissions, body(dataset)), post(submissions, body(h.missing)))
			}
		}
	}
	for _, user := range []string{h.users["owner"], h.users["registrant"]} {
		register := func(user string) request {
			return post(registrations, map[string]any{"team": "Another", "userId": user})
		}
		for _, caller := range append(outsiders, "masked") {
			h.same(caller, register(user), register(h.missing))
		}
	}
	for _, task := range h.ids["taskId"] {
		for _, caller := range append(outsiders, "masked") {
			h.same(caller, post("/v1/datasets", newDataset(task, "test")), post("/v1/datasets", newDataset(h.missing, "test")))
			move := func(task string) request {
				return request{method: http.MethodPatch, path: "/v1/datasets/" + h.public.dataset, body: map[string]any{"taskId": task}}
			}
			h.same(caller, move(task), move(h.missing))
		}
	}
	h.compareInputs()
}

// compareInputs has tools work on what is hidden.
func (h *hidden) compareInputs() {
	h.t.Helper()
	invoke := func(tool string, input map[string]any) request {
		return request{method: http.MethodPost, path: "/v1/tools/" + tool, body: input}
	}
	for tool, with := range toolInputs {
		for _, run := range h.ids["runId"] {
			for _, caller := range outsiders {
				other := h.public.runs["published"]
				h.same(caller, invoke(tool, with.input(run, other)), invoke(tool, with.input(h.missing, other)))
			}
		}
	}
	mine := map[string]any{"files": []any{map[string]any{"name": "run.txt", "text": "1 Q0 d1 1 2.0 mine\n"}}}
	for tool, input := range map[string]func(dataset map[string]any) map[string]any{
		"evaluator":    func(d map[string]any) map[string]any { return map[string]any{"runs": []any{mine}, "truth": d} },
		"significance": func(d map[string]any) map[string]any { return map[string]any{"runs": []any{mine, mine}, "truth": d} },
		"diffir":       func(d map[string]any) map[string]any { return map[string]any{"runs": []any{mine, mine}, "texts": d} },
		"serp":         func(d map[string]any) map[string]any { return map[string]any{"run": mine, "truth": d, "texts": d} },
		"converter":    func(d map[string]any) map[string]any { return map[string]any{"qrels": d, "to": "beir"} },
		"validator":    func(d map[string]any) map[string]any { return map[string]any{"run": mine, "datasetId": d["datasetId"]} },
		"leaderboard":  func(d map[string]any) map[string]any { return d },
	} {
		for _, dataset := range h.ids["datasetId"] {
			for _, caller := range outsiders {
				ask := func(id string) request { return invoke(tool, input(map[string]any{"datasetId": id})) }
				h.same(caller, ask(dataset), ask(h.missing))
			}
		}
	}
}
