package acceptancetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// listing is a list, and where what it lists can be got by itself.
type listing struct {
	list   string
	single string            // with {id}
	ids    map[string]string // some of what can be listed, by what it is
}

// checkLists requires of every list and caller that it has exactly what the caller can get by itself.
func (f *fixture) checkLists() {
	f.t.Helper()
	listings := f.listings()
	for _, caller := range callers {
		statuses := map[string]int{} // of what is got by itself
		for _, l := range listings {
			got := f.listed(caller, l.list)
			for _, about := range slices.Sorted(maps.Keys(l.ids)) {
				single := strings.Replace(l.single, "{id}", l.ids[about], 1)
				if statuses[single] == 0 {
					statuses[single] = f.ask(caller, http.MethodGet, single, nil).status
				}
				if seen := statuses[single] == http.StatusOK; seen != slices.Contains(got, l.ids[about]) {
					f.t.Errorf("%s as %s: %s is listed: %v; by itself it is answered with %d", l.list, caller, about, !seen, statuses[single])
				}
			}
		}
	}
}

func (f *fixture) listings() []listing {
	tasks, datasets := map[string]string{}, map[string]string{}
	entries, runs, evaluations := map[string]string{}, map[string]string{}, map[string]string{}
	var all []listing
	for about, p := range f.tasks() {
		tasks[about], datasets["dataset of the "+about], datasets["test set of the "+about] = p.task, p.dataset, p.testSet
		inTask := map[string]string{"public entry, " + about: p.publicEntry, "private entry, " + about: p.ownersEntry}
		maps.Copy(entries, inTask)
		results := map[string]string{}
		for name := range p.runs {
			runs[name+", "+about], results[name+", "+about] = p.runs[name], p.evaluations[name]
		}
		maps.Copy(evaluations, results)
		of := "/v1/tasks/" + p.task
		board := map[string]string{"published": p.evaluations["published"], "unpublished": p.evaluations["unpublished"]}
		hidden := map[string]string{"blinded": p.evaluations["blinded"], "withdrawn": p.evaluations["withdrawn"]}
		for list, ids := range map[string]map[string]string{
			"": results, "?sort=rank&filter[datasetId]=" + p.dataset: board, "?sort=Accuracy&filter[datasetId]=" + p.dataset: board,
			"?sort=rank&filter[datasetId]=" + p.testSet: hidden, "?filter[userId]=" + f.users["owner"]: results,
		} {
			all = append(all, listing{of + "/evaluations" + list, "/v1/evaluations/{id}", ids})
		}
		all = append(all,
			listing{of + "/submissions", of + "/submissions/{id}", inTask},
			listing{of + "/submissions?filter[userId]=" + f.users["owner"], of + "/submissions/{id}", inTask},
			listing{of + "/registrations", of + "/registrations/{id}", map[string]string{"the owner's": p.registration}})
	}
	add := func(path, single string, ids map[string]string, filters ...string) {
		for _, f := range append(filters, "") {
			all = append(all, listing{path + f, single, ids})
		}
	}
	inTasks, onDatasets, owners := "?filter[taskId]="+joined(tasks), "?filter[datasetId]="+joined(datasets), "?filter[userId]="+
		f.users["owner"]
	add("/v1/tasks", "/v1/tasks/{id}", tasks, "?filter[organizerId]="+f.organizer)
	add("/v1/datasets", "/v1/datasets/{id}", datasets, inTasks)
	add("/v1/runs", "/v1/runs/{id}", runs, inTasks, onDatasets, owners)
	add("/v1/runs", "/v1/runs/{id}", map[string]string{"published": f.private.runs["published"], "unpublished": f.public.runs["unpublished"]},
		"?filter[submissionId]="+joined(entries))
	add("/v1/evaluations", "/v1/evaluations/{id}", evaluations, inTasks, onDatasets, owners, "?filter[runId]="+joined(runs))
	return all
}

func (f *fixture) tasks() map[string]taskIDs {
	return map[string]taskIDs{"public task": f.public, "private task": f.private}
}

// joined is the ids as a filter takes them.
func joined(ids map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(ids)), ",")
}

// listed returns the ids of a list, or of its newest elements when it goes on and on.
func (f *fixture) listed(caller, list string) []string {
	f.t.Helper()
	const pages = 5
	var ids []string
	for range pages {
		got := f.ask(caller, http.MethodGet, list, nil)
		if got.status != http.StatusOK {
			break
		}
		var p struct {
			Data  []struct{ ID string }
			Links struct{ Next string }
		}
		if err := json.Unmarshal(got.body, &p); err != nil {
			f.t.Fatal(err)
		}
		for _, d := range p.Data {
			ids = append(ids, d.ID)
		}
		if list = p.Links.Next; list == "" {
			break
		}
	}
	return ids
}
