package acceptancetest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// listing is a list, and the path of a single resource of the list.
type listing struct {
	list   string
	single string            // with {id}
	ids    map[string]string // some ids that the list may contain, by description
}

// checkLists checks for every list and caller that the list has exactly the resources that the caller can get individually.
func (f *fixture) checkLists() {
	f.t.Helper()
	listings := f.listings()
	for _, caller := range callers {
		statuses := map[string]int{} // of the single resources
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
	entries := map[string]string{}
	runs := map[string]string{}
	evaluations := map[string]string{}
	var all []listing
	for about, p := range f.tasks() {
		tasks[about] = p.task
		datasets["dataset of the "+about] = p.dataset
		datasets["test set of the "+about] = p.testSet
		inTask := map[string]string{"public entry, " + about: p.publicEntry, "private entry, " + about: p.ownersEntry}
		maps.Copy(entries, inTask)
		results := map[string]string{}
		for name := range p.runs {
			runs[name+", "+about] = p.runs[name]
			results[name+", "+about] = p.evaluations[name]
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
			listing{of + "/registrations", of + "/registrations/{id}", map[string]string{"the owner's": p.registration}},
			listing{of + "/announcements", of + "/announcements/{id}", map[string]string{"the welcome": p.announcement}})
	}
	add := func(path, single string, ids map[string]string, filters ...string) {
		for _, f := range append(filters, "") {
			all = append(all, listing{path + f, single, ids})
		}
	}
	inTasks := "?filter[taskId]=" + joined(tasks)
	onDatasets := "?filter[datasetId]=" + joined(datasets)
	owners := "?filter[userId]=" +
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

// joined returns the ids in the form of a filter.
func joined(ids map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(ids)), ",")
}

// listed returns the ids of a list. Of long lists it returns only the ids of the first pages.
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
		list = p.Links.Next
		if list == "" {
			break
		}
	}
	return ids
}

// Texts that few callers may read. Each is in one resource.
const (
	truthFile     = "hidden-truth.csv"
	truthLabel    = "unspoken-label"
	truthID       = "unheard-of-id"      // in the truth of the validation dataset
	testID        = "unheard-of-test-id" // in the truth of the test set and in the owner's runs on it
	lackedID      = "id-that-runs-lack"  // in the truth of a test set on which runs fail; no run and no input has it
	testTopic     = "unheard-of-topic"   // in the truth of the test set for retrieval
	guess         = "guess"              // a label of runs on the validation dataset that its truth lacks
	testGuess     = "guess-at-test"      // a label of runs on the test set that its truth lacks
	anonymousName = "Otters without a name"
	ownersContact = "owner@contact.example.org"
	reviewComment = "What the organizers say of it"
	privateTitle  = "private title"
	truthDocument = "unheard-of-document" // in truths for retrieval
	privateText   = "text-of-a-private-task"
)

// secret is a text that only some callers may find in answers.
type secret struct {
	what, text string
	known      []string // callers with the right to find it
}

// noLabel returns the part of a diagnostic, in JSON, that says that the truth lacks a label.
func noLabel(label string) string { return `has no label \"` + label + `\"` }

func (f *fixture) listSecrets() []secret {
	organizers := []string{"editor", "organizer", "admin"}
	owners := append([]string{"owner"}, organizers...)
	registrants := append([]string{"registrant"}, owners...)
	all := []secret{
		{"the name of a truth file", truthFile, append([]string{"worker"}, organizers...)},
		{"a label of the truth", truthLabel, append([]string{"worker"}, organizers...)},
		{"an id of the truth", truthID, owners},
		{"an id of a test set's truth that the owner's runs have", testID, owners},
		{"an id that only a test set's truth has", lackedID, organizers},
		{"a topic of a test set's truth", testTopic, organizers},
		{"that the truth lacks a label", noLabel(guess), owners},
		{"that a test set's truth lacks a label", noLabel(testGuess), organizers},
		{"who an anonymous team is", anonymousName, organizers},
		{"who is in an anonymous team", f.anonymous.user, organizers},
		{"the registration of an anonymous team", f.anonymous.registration, organizers},
		{"how to reach a team", ownersContact, owners},
		{"a review", reviewComment, owners},
		{"a private entry", privateTitle, owners},
		{"a document of the truth", truthDocument, append([]string{"worker"}, organizers...)},
		{"a text of a private task", privateText, registrants},
		{"a private task", f.private.task, registrants},
		{"a dataset of a private task", f.private.dataset, registrants},
		{"an entry to a private task", f.private.publicEntry, registrants},
		{"a run in a private task", f.private.runs["published"], registrants},
		{"an evaluation in a private task", f.private.evaluations["published"], registrants},
	}
	for _, p := range f.tasks() {
		all = append(all,
			secret{"a registration", p.registration, owners},
			secret{"a private entry", p.ownersEntry, owners},
			secret{"a run of a private entry", p.runs["unpublished"], owners},
			secret{"an unpublished evaluation", p.evaluations["unpublished"], owners},
			secret{"a blinded evaluation", p.evaluations["blinded"], organizers},
			secret{"an evaluation that was blinded again", p.evaluations["withdrawn"], organizers},
		)
	}
	return all
}

// ask sends a request as a caller. It reports secrets in the answer that the caller may not know, unless the path contains them.
func (f *fixture) ask(caller, method, path string, body any, headers ...string) answer {
	f.t.Helper()
	got := f.send(f.t, f.tokens[caller], method, path, body, headers...)
	for _, s := range f.secrets {
		if !bytes.Contains(got.body, []byte(s.text)) || strings.Contains(path, s.text) {
			continue
		}
		f.found[s.text] = true
		if !slices.Contains(s.known, caller) {
			f.t.Errorf("%s %s as %s: the answer has %s (%s)\n%s", method, path, caller, s.what, s.text, got.body)
		}
	}
	return got
}

// readTruths reads the truth as all callers with the right to do so. The address in the dataset needs no token.
func (f *fixture) readTruths() {
	f.t.Helper()
	for _, caller := range []string{"organizer", "editor", "worker"} {
		var d struct{ Truths []struct{ URL string } }
		got := f.ask(caller, http.MethodGet, "/v1/datasets/"+f.public.dataset, nil)
		if err := json.Unmarshal(got.body, &d); err != nil || len(d.Truths) != 1 {
			f.t.Errorf("as %s: %v, and no truth in\n%s", caller, err, got.body)
			continue
		}
		if truth := f.send(f.t, "", http.MethodGet, d.Truths[0].URL, nil); !bytes.Contains(truth.body, []byte(truthLabel)) {
			f.t.Errorf("as %s: the truth is answered with %d\n%s", caller, truth.status, truth.body)
		}
		f.found[truthLabel] = true
	}
}

// checkAllFound checks that some answer contained each secret. Otherwise the tests would not show that the secret is protected.
func (f *fixture) checkAllFound() {
	f.t.Helper()
	for _, s := range f.secrets {
		if !f.found[s.text] {
			f.t.Errorf("no answer had %s (%s)", s.what, s.text)
		}
	}
}
