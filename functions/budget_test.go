package functions_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

// town is a world of many resources: one task that everybody takes part in, and thousands that nobody sees.
type town struct {
	*world
	place               // the public task
	private      place  // that reg is registered for
	public, owns entry  // of the owner: public and published, private and blinded
	registration string // path of the owner's
}

// newTown fills the world with as many resources as size, or somewhat more.
func newTown(t *testing.T, w *world, size int) *town {
	n := &town{world: w}
	n.place, n.private = w.newPlace(w.organizerID, record.Public), w.newPlace(w.organizerID, record.Private)
	n.dataset.Executed = true // the first image costs the dataset more
	n.private.register("reg")
	for i := range size / 16 { // four resources each; everybody sees one in ten
		user, shown := fmt.Sprintf("user%d", i%500), i%10 == 0
		visibility := record.Private
		if shown {
			visibility = record.Public
		}
		n.enter(user, visibility, shown, !shown, float64(i%997)/997)
		if i == size/32 {
			n.public, n.owns = n.enter("owner", record.Public, true, false, 0.5), n.enter("owner", record.Private, false, true, 0.5)
		}
	}
	others := w.newOrganizer("somebody else")
	for range size / 16 { // three resources each
		w.newPlace(others, record.Private)
	}
	for i := range size * 9 / 32 { // two each
		n.register(fmt.Sprintf("user%d", i))
	}
	n.registration = "/v1/tasks/" + n.task.ID + "/registrations/" + n.register("owner").ID
	profile := &record.User{Meta: w.meta(), Name: "owner", Email: "owner@example.org"}
	profile.ID = servertest.UserID("owner")
	if w.made = append(w.made, profile); len(w.made) < size {
		t.Fatalf("%d resources", len(w.made))
	}
	w.flush(t)
	return n
}

// budgets are held by one test, for the town takes its time to fill.
func TestCost_OfRequestsIsBounded(t *testing.T) {
	n := newTown(t, newWorld(t), townSize)
	t.Run("single resources", n.checkSingles)
	t.Run("lists", n.checkLists)
	t.Run("leaderboards", n.checkLeaderboards)
	t.Run("changes", n.checkChanges)
}

// checkSingles: one read of one item for what is public; and one more, of the caller's grants, where rights decide.
func (n *town) checkSingles(t *testing.T) {
	task := "/v1/tasks/" + n.task.ID
	for _, c := range []struct {
		user, path string
		want       cost
	}{
		{"", task, cost{1, 1, 0}},
		{"", "/v1/datasets/" + n.dataset.ID, cost{1, 1, 0}},
		{"", "/v1/organizers/" + n.organizerID, cost{1, 1, 0}},
		{"stranger", task, cost{1, 1, 0}},
		{"", "/v1/runs/" + n.public.run.ID, cost{1, 1, 0}},
		{"", task + "/submissions/" + n.public.submission.ID, cost{1, 1, 0}},
		{"", "/v1/evaluations/" + n.public.evaluation.ID, cost{1, 2, 0}},           // and its values per topic
		{"olga", "/v1/evaluations/" + n.owns.evaluation.ID, cost{3, 2 + 1 + 1, 0}}, // and a profile who the user is
		{"reg", "/v1/tasks/" + n.private.task.ID, cost{2, 1 + 1, 0}},
		{"reg", "/v1/datasets/" + n.private.dataset.ID, cost{2, 1 + 1, 0}},
		{"owner", n.registration, cost{2, 1 + 2, 0}},        // a registration says itself whose it is; the task and the allowance say what is left
		{"olga", n.registration, cost{4, 1 + 1 + 2 + 1, 0}}, // and a profile who that is
		{"owner", "/v1/runs/" + n.owns.run.ID, cost{2, 1 + 2, 0}},
		{"owner", "/v1/runs/" + n.owns.run.ID + "/review", cost{2, 2 + 2, 0}}, // with the run, whose diagnostics organizers see
		{"olga", "/v1/runs/" + n.owns.run.ID + "/review", cost{2, 2 + 1, 0}},
		{"owner", task + "/submissions/" + n.owns.submission.ID, cost{3, 1 + 2 + 1, 0}}, // its files stand with its runs
		{"owner", "/v1/user", cost{1, 2, 0}},
		{"root", "/v1/users/" + servertest.UserID("owner"), cost{1, 1, 0}},
	} {
		if got, _ := n.get(t, c.user, c.path); got != c.want {
			t.Errorf("GET %s as %q: %s, want %s", c.path, c.user, got, c.want)
		}
	}
}

// checkLists: one read of each partition that the caller may see, of at most one item more than the page has, wherever
// in the list the page is. Besides, what the path or a filter names, and the caller's grants.
func (n *town) checkLists(t *testing.T) {
	const limit, audiences, shards = 20, 4, 4
	task := "/v1/tasks/" + n.task.ID
	owner := servertest.UserID("owner")
	grants := map[string]int64{"": 0, "stranger": 0, "reg": 1, "owner": 2, "olga": 1, "root": 0}
	for _, c := range []struct {
		path       string
		named      int64            // resources that the request names
		partitions map[string]int64 // by user
		free       bool             // of grants, whoever asks
	}{
		{"/v1/organizers", 0, map[string]int64{"": 1, "stranger": 1, "root": 1}, true},
		{"/v1/tasks", 0, map[string]int64{"": 1, "stranger": 1, "reg": 1 + 1, "owner": 1, "olga": 1 + 1, "root": 2}, false},
		{"/v1/datasets", 0, map[string]int64{"": 1, "stranger": 1, "reg": 1 + 1, "owner": 1, "olga": 1 + 1, "root": 2}, false},
		{"/v1/datasets?filter[taskId]=" + n.task.ID, 1, map[string]int64{"": 1, "stranger": 1, "olga": 1, "root": 1}, false},
		{"/v1/runs", 0, map[string]int64{"": shards, "stranger": shards + 1, "reg": shards + 1 + 1, "olga": shards + 1 + 2, "root": shards * 3}, false},
		{"/v1/evaluations", 0, map[string]int64{"": shards, "stranger": shards + 1, "reg": shards + 1 + 1, "olga": shards + 1 + 3, "root": shards * audiences}, false},
		{"/v1/runs?filter[taskId]=" + n.task.ID, 1, map[string]int64{"": 1, "stranger": 2 + 1, "olga": 3, "root": 3}, false},
		{"/v1/runs?filter[datasetId]=" + n.dataset.ID, 1, map[string]int64{"": 1, "olga": 3, "root": 3}, false},
		{"/v1/evaluations?filter[datasetId]=" + n.dataset.ID, 1, map[string]int64{"": 1, "olga": audiences, "root": audiences}, false},
		{task + "/submissions", 1, map[string]int64{"": 1, "owner": 2 + 1, "olga": 3, "root": 3}, false},
		{task + "/evaluations", 1, map[string]int64{"": 1, "owner": 2 + 1, "olga": audiences, "root": audiences}, false},
		{task + "/registrations", 1, map[string]int64{"stranger": 0, "owner": 1, "olga": 1, "root": 1}, false},
		{task + "/audit-entries", 1, map[string]int64{"olga": 2, "root": 2}, false}, // the task's and the organizer's
		{"/v1/organizers/" + n.organizerID + "/audit-entries", 1, map[string]int64{"olga": 1, "root": 1}, false},
		{"/v1/users/" + owner + "/submissions", 0, map[string]int64{"": 1, "stranger": 1, "owner": 2, "root": 2}, false},
		{"/v1/users", 0, map[string]int64{"root": 1}, true},
	} {
		for user, partitions := range c.partitions {
			most := cost{c.named + partitions, c.named + partitions*(limit+1), 0}
			if user != "" && !c.free {
				most.reads, most.items = most.reads+1, most.items+grants[user]
			}
			if user == "olga" || user == "root" { // organizers see who the users are
				most.reads, most.items = most.reads+1, most.items+limit
			}
			path := c.path + "?limit=20"
			if strings.Contains(c.path, "?") {
				path = c.path + "&limit=20"
			}
			for page := 0; page < 3 && path != ""; page++ {
				got, next := n.get(t, user, path)
				if got.reads > most.reads || got.items > most.items || got.writes > 0 {
					t.Errorf("GET %s as %q: %s, at most %s", path, user, got, most)
				}
				path = next
			}
		}
	}
}

// checkLeaderboards: sorted by the primary measure, a page costs two reads, and of the board what stands before the page
// and one item more than the page has. Who sees more than everyone has more partitions to read, each in the same way.
func (n *town) checkLeaderboards(t *testing.T) {
	const limit = 20
	for _, offset := range []int64{0, 100, 500} {
		query := fmt.Sprintf("sort=rank&filter[datasetId]=%s&limit=%d&offset=%d", n.dataset.ID, limit, offset)
		for _, c := range []struct {
			user, path                string
			named, grants, partitions int64
		}{
			{"", "/v1/tasks/" + n.task.ID + "/evaluations?" + query, 2, 0, 1},
			{"", "/v1/evaluations?" + query, 1, 0, 1},
			{"olga", "/v1/tasks/" + n.task.ID + "/evaluations?" + query, 2, 1, 4 + 1}, // and who the users are
		} {
			got, _ := n.get(t, c.user, c.path)
			reads, items := 1+c.grants+c.partitions, c.named+c.grants+c.partitions*(offset+limit+1)
			if got.reads > reads || got.items > items || got.writes > 0 {
				t.Errorf("GET %s as %q: %s, at most %d reads of %d items", c.path, c.user, got, reads, items)
			}
		}
	}
}

// checkChanges: one transaction, whatever a change writes; and for what it decides on one read of each thing.
func (n *town) checkChanges(t *testing.T) {
	task, run := "/v1/tasks/"+n.task.ID, "/v1/runs/"+n.owns.run.ID
	set := newDatasetBody(n.task.ID)
	for _, c := range []struct {
		user, method, path string
		body               map[string]any
		most               cost
		headers            []string
	}{
		// the grants, with what the user took of the quotas; with a key for repeating it, the key's claim
		{"new", http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}, cost{1, 0, 1}, nil},
		{"new", http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}, cost{1, 3, 2}, []string{"Idempotency-Key", "k"}},
		// the organizer or the task, and the grants
		{"newer", http.MethodPost, task + "/registrations", map[string]any{"team": "New"}, cost{2, 1, 1}, nil},
		// and how many tasks it has
		{"olga", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": n.organizerID, "name": "New"}, cost{3, 1 + 1 + 1, 1}, nil},
		// and the profile and the usage that came with the task; and how many datasets the task has
		{"olga", http.MethodPost, "/v1/datasets", set, cost{3, 1 + 3 + 1, 1}, nil},
		// and registration and allowance, and dataset and truth, in one read or two
		{"owner", http.MethodPost, task + "/submissions", map[string]any{
			"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{n.dataset.ID},
		}, cost{4, 1 + 2 + 2 + 2, 1}, nil},
		// and who the members are, and that they agreed, for one of them
		{"olga", http.MethodPatch, "/v1/organizers/" + n.organizerID, map[string]any{"name": "Renamed"}, cost{3, 1 + 3 + 2, 1}, nil},
		{"olga", http.MethodPatch, task, map[string]any{"name": "Renamed"}, cost{2, 1 + 3, 1}, nil},
		{"olga", http.MethodPatch, "/v1/datasets/" + n.dataset.ID, map[string]any{"name": "Renamed"}, cost{2, 1 + 3, 1}, nil},
		// and its evaluations, which have a copy of the label
		{"owner", http.MethodPatch, run, map[string]any{"label": "Renamed"}, cost{3, 1 + 3 + 1, 1}, nil},
		// and the run and its evaluations, which follow at once; and who the reviewer is
		{"olga", http.MethodPatch, run + "/review", map[string]any{"published": true}, cost{5, 2 + 3 + 1 + 1 + 3, 1}, nil},
		// and the registration's grant, which has a copy of it; and what is left of the quota
		{"owner", http.MethodPatch, n.registration, map[string]any{"country": "Norway"}, cost{4, 1 + 3 + 1 + 2, 1}, nil},
	} {
		var a servertest.Answer
		got := n.meter.of(func() { a = n.Do(c.user, c.method, c.path, c.body, c.headers...) })
		if a.Status != http.StatusCreated && a.Status != http.StatusOK {
			t.Errorf("%s %s as %q: status %d\n%s", c.method, c.path, c.user, a.Status, a.Body)
		} else if got.reads > c.most.reads || got.items > c.most.items || got.writes != c.most.writes {
			t.Errorf("%s %s as %q: %s, at most %s", c.method, c.path, c.user, got, c.most)
		}
	}
}

func newDatasetBody(taskID string) map[string]any {
	return map[string]any{
		"taskId": taskID, "name": "New", "split": "test", "runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
		"truths":    []any{map[string]any{"name": "truth.csv", "content": base64.StdEncoding.EncodeToString([]byte("id,label\n1,a\n"))}},
	}
}

// get returns what a GET costs, and where the list goes on.
func (n *town) get(t *testing.T, user, path string) (c cost, next string) {
	t.Helper()
	var a servertest.Answer
	c = n.meter.of(func() { a = n.Do(user, http.MethodGet, path, nil) })
	if a.Status == http.StatusNoContent {
		return c, ""
	}
	var p struct{ Links struct{ Next string } }
	if err := json.Unmarshal(a.Body, &p); err != nil || a.Status != http.StatusOK {
		t.Errorf("GET %s as %q: status %d, %v\n%s", path, user, a.Status, err, a.Body)
	}
	return c, p.Links.Next
}
