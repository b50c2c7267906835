//go:build !race

package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"
)

// population is the number of records in the store in which costs are measured.
var population = nightlytest.Count(20_000, 100_000)

// populated serves many records: a task in which everybody takes part, and thousands of other tasks that only their organizer
// sees.
type populated struct {
	*servertest.Server
	meter        *meter
	dataset      *recordtest.Dataset // of the public task
	private      *recordtest.Dataset // of a private task for which reg is registered
	public, own  *recordtest.Run     // of the owner: public and published, private and blinded
	inMany       *recordtest.Task    // the last of 50 private tasks in which a user takes part, in teams of two
	registration string              // path of the owner's registration
}

// newPopulated makes about size records at night, and half of them otherwise: it then makes fewer records that no request reads.
func newPopulated(t *testing.T, table store.Store, size int) *populated {
	t.Helper()
	p := &populated{}
	p.Server, p.meter = newMetered(t, table)
	b := recordtest.New(t, p.meter.Store)
	b.Files = p.Files
	b.Batch(func() {
		executed := func(d *record.DatasetItem) { d.Executed = true } // the first image costs the dataset more
		labels := recordtest.Labels("Accuracy", "MCC")
		task := b.Task()
		p.dataset = task.Dataset(labels, executed, b.Truths("truth.csv", "id,label\n1,a\n"))
		p.private = b.Task(recordtest.Private).Dataset(labels)
		p.private.Task.Register("reg")
		for i := range size / 20 { // five records each; everybody sees one in ten
			options := []recordtest.RunOption{recordtest.Blinded}
			if i%10 == 0 {
				options = []recordtest.RunOption{recordtest.Public, recordtest.Published}
			}
			p.dataset.Run(fmt.Sprint("user", i%500), append(options, recordtest.Value("Accuracy", float64(i%997)/997),
				recordtest.Undefined("MCC"))...)
			if i == size/40 {
				p.public = p.dataset.Run("owner", recordtest.Public, recordtest.Published)
				p.own = p.dataset.Run("owner", recordtest.Blinded)
			}
		}
		others := recordtest.OwnedBy(b.Organizer("somebody else"))
		filler := nightlytest.Count(size/8, size)
		for range filler / 16 { // four records each
			b.Task(others, recordtest.Private).Dataset(labels)
		}
		for range 50 {
			p.inMany = b.Task(others, recordtest.Private)
			p.inMany.Register("many", recordtest.With("mate"))
		}
		for i := range filler / 6 { // three records each
			task.Register(fmt.Sprint("user", i))
		}
		p.registration = task.Path() + "/registrations/" + task.Register("owner").ID
		b.User("owner")
	})
	for i := range 70 {
		user := fmt.Sprint("storing", i)
		b.User(user)
		storeMore(t, p.Server, user, int64(i))
	}
	return p
}

// A single test measures all requests, because making so many records takes time.
func TestCost_OfRequestsIsBounded(t *testing.T) {
	p := newPopulated(t, nil, population)
	t.Run("single resources", p.checkSingles)
	t.Run("lists", p.checkLists)
	t.Run("leaderboards", p.checkLeaderboards)
	t.Run("changes", p.checkChanges)
}

// checkSingles: a public resource takes one read of one item. Other resources take one more read, of the caller's grants. Resources with
// values take one more read, of the dataset whose rules decide who sees them. Organizers see all values of a run without it.
func (p *populated) checkSingles(t *testing.T) {
	task := "/v1/tasks/" + p.dataset.TaskID
	for _, c := range []struct {
		user, path string
		want       cost
	}{
		{"", task, cost{1, 1, 0}},
		{"", "/v1/datasets/" + p.dataset.ID, cost{1, 1, 0}},
		{"", "/v1/organizers/" + p.dataset.OrganizerID, cost{1, 1, 0}},
		{"unrelated", task, cost{1, 1, 0}},
		{"", "/v1/runs/" + p.public.ID, cost{2, 1 + 1, 0}},
		{"", task + "/submissions/" + p.public.SubmissionID, cost{1, 1, 0}},
		{"", "/v1/evaluations/" + p.public.EvaluationID, cost{2, 2 + 1, 0}},          // and its values per topic
		{"olga", "/v1/evaluations/" + p.own.EvaluationID, cost{4, 2 + 1 + 1 + 1, 0}}, // and the profile of the user
		{"reg", "/v1/tasks/" + p.private.TaskID, cost{2, 1 + 1, 0}},
		{"reg", "/v1/datasets/" + p.private.ID, cost{2, 1 + 1, 0}},
		// the grants show the owner; the task, the allowance, the user's earlier allowances,
		// the datasets and the record of work that no worker takes show the remaining quota
		{"owner", p.registration, cost{5, 1 + 2 + 4 + 1 + 1, 0}},
		{"olga", p.registration, cost{6, 1 + 1 + 4 + 1 + 1 + 1, 0}}, // and the profile of the user
		{"owner", "/v1/runs/" + p.own.ID, cost{3, 1 + 2 + 1, 0}},
		{"owner", "/v1/runs/" + p.own.ID + "/review", cost{3, 2 + 2 + 1, 0}}, // with the run, whose diagnostics organizers see
		{"olga", "/v1/runs/" + p.own.ID + "/review", cost{3, 2 + 1 + 1, 0}},
		{"owner", task + "/submissions/" + p.own.SubmissionID, cost{3, 1 + 2 + 1, 0}}, // its runs list its files
		{"owner", "/v1/user", cost{3, 2 + 1, 0}},                                      // and the task that it names, and no deleted task
		{"owner", "/v1/user?fields=registrations", cost{2, 2 + 1, 0}},
		{"owner", "/v1/user?fields=id,roles", cost{1, 2, 0}},
		{"root", "/v1/users/" + recordtest.UserID("owner"), cost{1, 2, 0}}, // and the user's usage
	} {
		if got, _ := p.get(t, c.user, c.path); got != c.want {
			t.Errorf("GET %s as %q: %s, want %s", c.path, c.user, got, c.want)
		}
	}
}

// checkLists: a page takes one read of each partition that the caller may see. Each read returns at most one item more than the
// page has, for all pages of the list. The resources in the path and in filters, and the caller's grants, take further reads. A
// caller has one partition without a team, and one for each team. Lists of runs and evaluations take one more read for the rules of all
// datasets on the page, and lists of evaluations one for the present records.
func (p *populated) checkLists(t *testing.T) {
	const (
		limit     = 20
		audiences = 4
		shards    = 4
		datasets  = 4 // on a page
	)
	task := "/v1/tasks/" + p.dataset.TaskID
	owner := recordtest.UserID("owner")
	grants := map[string]int64{"": 0, "unrelated": 0, "reg": 1, "owner": 2, "olga": 1, "root": 0}
	for _, c := range []struct {
		path       string
		named      int64            // resources that the request names
		partitions map[string]int64 // by user
		free       bool             // no read of grants for any caller
	}{
		{"/v1/organizers", 0, map[string]int64{"": 1, "unrelated": 1, "root": 1}, true},
		{"/v1/tasks", 0, map[string]int64{"": 1, "unrelated": 1, "reg": 1 + 1, "owner": 1, "olga": 1 + 1, "root": 2}, false},
		{"/v1/datasets", 0, map[string]int64{"": 1, "unrelated": 1, "reg": 1 + 1, "owner": 1, "olga": 1 + 1, "root": 2}, false},
		{"/v1/datasets?filter[taskId]=" + p.dataset.TaskID, 1, map[string]int64{"": 1, "unrelated": 1, "olga": 1, "root": 1}, false},
		{"/v1/runs", 0, map[string]int64{"": shards, "unrelated": shards + 1, "reg": shards + 2 + 1, "olga": shards + 1 + 2, "root": shards * 3},
			false},
		{"/v1/evaluations", 0, map[string]int64{"": shards, "unrelated": shards + 1, "reg": shards + 2 + 1, "olga": shards + 1 + 3,
			"root": shards * audiences}, false},
		{"/v1/runs?filter[taskId]=" + p.dataset.TaskID, 1, map[string]int64{"": 1, "unrelated": 2 + 1, "olga": 3, "root": 3}, false},
		{"/v1/runs?filter[datasetId]=" + p.dataset.ID, 1, map[string]int64{"": 1, "olga": 3, "root": 3}, false},
		{"/v1/evaluations?filter[datasetId]=" + p.dataset.ID, 1, map[string]int64{"": 1, "olga": audiences, "root": audiences}, false},
		{task + "/submissions", 1, map[string]int64{"": 1, "owner": 2 + 2, "olga": 3, "root": 3}, false},
		{task + "/evaluations", 1, map[string]int64{"": 1, "owner": 2 + 2, "olga": audiences, "root": audiences}, false},
		{task + "/registrations", 1, map[string]int64{"unrelated": 0, "owner": 1, "olga": 1, "root": 1}, false},
		{task + "/audit-entries", 1, map[string]int64{"olga": 2, "root": 2}, false}, // partitions of the task and of the organizer
		{"/v1/organizers/" + p.dataset.OrganizerID + "/audit-entries", 1, map[string]int64{"olga": 1, "root": 1}, false},
		{"/v1/organizers/" + p.dataset.OrganizerID + "/todos", 1, map[string]int64{"olga": 2, "root": 2}, false},
		{"/v1/users/" + owner + "/submissions", 0, map[string]int64{"": 1, "unrelated": 1, "owner": 3, "root": 3 + 1}, false},
		{"/v1/users", 0, map[string]int64{"root": 1}, true},
		// the start of the page, and the users' usage with their profiles
		{"/v1/platform/storage/users", 0, map[string]int64{"root": 2}, true},
	} {
		for user, partitions := range c.partitions {
			most := cost{c.named + partitions, c.named + partitions*(limit+1), 0}
			if user != "" && !c.free {
				most.reads, most.items = most.reads+1, most.items+grants[user]
			}
			if user == "olga" || user == "root" { // organizers see the profiles of users
				most.reads, most.items = most.reads+1, most.items+limit
			}
			evaluations := strings.Contains(c.path, "/evaluations")
			if evaluations || strings.HasPrefix(c.path, "/v1/runs") {
				most.reads, most.items = most.reads+1, most.items+datasets
			}
			if evaluations {
				most.reads, most.items = most.reads+1, most.items+limit
			}
			path := c.path + "?limit=20"
			if strings.Contains(c.path, "?") {
				path = c.path + "&limit=20"
			}
			for page := 0; page < 3 && path != ""; page++ {
				got, next := p.get(t, user, path)
				if got.reads > most.reads || got.items > most.items || got.writes > 0 {
					t.Errorf("GET %s as %q: %s, at most %s", path, user, got, most)
				}
				path = next
			}
		}
	}
}

// checkLeaderboards: by the first measure of the evaluator, a page takes two reads. They return the entries before the page and one item
// more than the page has. For a caller who sees more than everyone, each further partition takes the same.
func (p *populated) checkLeaderboards(t *testing.T) {
	const limit = 20
	for _, offset := range []int64{0, 100, 500} {
		query := fmt.Sprintf("sort=rank&filter[datasetId]=%s&limit=%d&offset=%d", p.dataset.ID, limit, offset)
		for _, c := range []struct {
			user, path                string
			named, grants, partitions int64
		}{
			{"", "/v1/tasks/" + p.dataset.TaskID + "/evaluations?" + query, 2, 0, 1},
			{"", "/v1/evaluations?" + query, 1, 0, 1},
			{"olga", "/v1/tasks/" + p.dataset.TaskID + "/evaluations?" + query, 2, 1, 4 + 1}, // and the profiles of the users
		} {
			got, _ := p.get(t, c.user, c.path)
			reads := 1 + c.grants + c.partitions
			items := c.named + c.grants + c.partitions*(offset+limit+1)
			if got.reads > reads || got.items > items || got.writes > 0 {
				t.Errorf("GET %s as %q: %s, at most %d reads of %d items", c.path, c.user, got, reads, items)
			}
		}
	}
}

// checkChanges: each change takes one transaction for all its writes. It reads each resource that it depends on once.
func (p *populated) checkChanges(t *testing.T) {
	task, run := "/v1/tasks/"+p.dataset.TaskID, "/v1/runs/"+p.own.ID
	set := newDatasetBody(p.dataset.TaskID)
	for _, c := range []struct {
		user, method, path string
		body               map[string]any
		most               cost
		headers            []string
	}{
		// the grants with the user's usage; with an idempotency key, the claim of the key
		{"new", http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}, cost{1, 0, 1}, nil},
		{"new", http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}, cost{1, 3, 2}, []string{"Idempotency-Key", "k"}},
		// the organizer or the task, the grants, and the user's usage in a former team or before a deletion
		{"newer", http.MethodPost, task + "/registrations", map[string]any{"team": "New"}, cost{3, 1 + 2, 1}, nil},
		// and the number of its tasks
		{"olga", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": p.dataset.OrganizerID, "name": "New"}, cost{3, 1 + 1 + 1, 1}, nil},
		// and the profile and the usage, which come with the task, and the number of datasets of the task
		// and the task, its embargo and the workers, which tell organizers more of the dataset
		{"olga", http.MethodPost, "/v1/datasets", set, cost{4, 1 + 3 + 1 + 3, 1}, nil},
		// and the grant, the registration, the allowance, which a team has from its first submission on, an earlier submission of the
		// draft, the dataset and the truth, in one read or two
		{"owner", http.MethodPost, task + "/submissions", map[string]any{
			"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{p.dataset.ID},
		}, cost{5, 1 + 2 + 2 + 1 + 1 + 2 + 2, 1}, nil},
		// and the profiles of the members, and the agreement of one of them
		{"olga", http.MethodPatch, "/v1/organizers/" + p.dataset.OrganizerID, map[string]any{"name": "Renamed"}, cost{3, 1 + 3 + 2, 1}, nil},
		{"olga", http.MethodPatch, task, map[string]any{"name": "Renamed"}, cost{2, 1 + 3, 1}, nil},
		// the profile and the user's usage in one read, and the grants of the administrator, who has none
		{"root", http.MethodPatch, pathOfUser("storing1"), map[string]any{"quota": map[string]any{"storedBytes": 1}}, cost{2, 2, 1}, nil},
		// and the task, its embargo and the workers, which tell organizers more of the dataset
		{"olga", http.MethodPatch, "/v1/datasets/" + p.dataset.ID, map[string]any{"name": "Renamed"}, cost{3, 1 + 3 + 3, 1}, nil},
		// and its evaluations, which have a copy of the label, and the dataset, whose rules decide what the answer shows
		{"owner", http.MethodPatch, run, map[string]any{"label": "Renamed"}, cost{4, 1 + 3 + 1 + 1, 1}, nil},
		// and the run and its evaluations, in the same transaction, and the profile of the reviewer
		{"olga", http.MethodPatch, run + "/review", map[string]any{"published": true}, cost{5, 2 + 3 + 1 + 1 + 3, 1}, nil},
		// and the grant, which has a copy of the registration, and the remaining quota, also of the dataset to which the team
		// submitted
		{"owner", http.MethodPatch, p.registration, map[string]any{"country": "Norway"}, cost{5, 1 + 3 + 1 + 3 + 1 + 1, 1}, nil},
	} {
		var a servertest.Answer
		got := p.meter.of(func() { a = p.Do(c.user, c.method, c.path, c.body, c.headers...) })
		if a.Status != http.StatusCreated && a.Status != http.StatusOK {
			t.Errorf("%s %s as %q: status %d\n%s", c.method, c.path, c.user, a.Status, a.Body)
		} else if got.reads > c.most.reads || got.items > c.most.items || got.writes != c.most.writes {
			t.Errorf("%s %s as %q: %s, at most %s", c.method, c.path, c.user, got, c.most)
		}
	}
}

// get returns the cost of a GET and the link to the next page.
func (p *populated) get(t *testing.T, user, path string) (c cost, next string) {
	t.Helper()
	var a servertest.Answer
	c = p.meter.of(func() { a = p.Do(user, http.MethodGet, path, nil) })
	if a.Status == http.StatusNoContent {
		return c, ""
	}
	var list struct{ Links struct{ Next string } }
	if err := json.Unmarshal(a.Body, &list); err != nil || a.Status != http.StatusOK {
		t.Errorf("GET %s as %q: status %d, %v\n%s", path, user, a.Status, err, a.Body)
	}
	return c, list.Links.Next
}
