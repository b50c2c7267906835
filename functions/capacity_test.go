//go:build !race

package functions_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/functions/notifier"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
)

// capacityTable holds the capacity that operations consume in DynamoDB. It serves to estimate a bill and to notice operations that
// read more. `go test ./functions -run TestCapacity -update` writes it.
const capacityTable = "testdata/capacity.golden"

// TestCapacity compares the capacity that DynamoDB reports for operations with the table. The capacity does not depend on the
// number of resources, as the budgets show.
func TestCapacity(t *testing.T) {
	p := newPopulated(t, dynamotest.Open(t, dynamotest.Start(t)), 8_400)
	task, run := "/v1/tasks/"+p.dataset.TaskID, "/v1/runs/"+p.own.ID
	board := "sort=rank&filter[datasetId]=" + p.dataset.ID + "&limit=20"
	submission := servertest.Image(p.dataset.ID)
	upload := servertest.Upload(p.dataset.ID, servertest.Inline("run.csv", "id,label\n1,a\n"))
	repeated := servertest.Upload(p.dataset.ID, servertest.Inline("run.csv", "id,label\n1,a\n"))
	delete(repeated, "again")
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "operation\twho\tcalls\titems\tRCU\tWCU")
	for _, c := range []struct {
		name, user, method, path string
		body                     map[string]any
	}{
		{"GET a public task", "", http.MethodGet, task, nil},
		{"GET a public dataset", "", http.MethodGet, "/v1/datasets/" + p.dataset.ID, nil},
		{"GET a public run", "", http.MethodGet, "/v1/runs/" + p.public.ID, nil},
		{"GET a published evaluation", "", http.MethodGet, "/v1/evaluations/" + p.public.EvaluationID, nil},
		{"GET a private task", "registrant", http.MethodGet, "/v1/tasks/" + p.private.TaskID, nil},
		{"GET a public task", "owner", http.MethodGet, task, nil},
		{"GET one's private run", "owner", http.MethodGet, run, nil},
		{"GET a registration", "owner", http.MethodGet, p.registration, nil},
		{"GET a review", "organizer", http.MethodGet, run + "/review", nil},
		{"GET /v1/user", "owner", http.MethodGet, "/v1/user", nil},
		{"GET a user", "root", http.MethodGet, "/v1/users/" + recordtest.UserID("owner"), nil},
		{"GET what is stored", "root", http.MethodGet, "/v1/platform/storage", nil},
		{"GET /v1/user", "in 50 tasks", http.MethodGet, "/v1/user", nil},
		{"GET a private task", "in 50 tasks", http.MethodGet, "/v1/tasks/" + p.inMany.ID, nil},
		{"20 tasks", "", http.MethodGet, "/v1/tasks?limit=20", nil},
		{"20 datasets of a task", "", http.MethodGet, "/v1/datasets?limit=20&filter[taskId]=" + p.dataset.TaskID, nil},
		{"20 submissions of a task", "", http.MethodGet, task + "/submissions?limit=20", nil},
		{"20 submissions of a task", "organizer", http.MethodGet, task + "/submissions?limit=20", nil},
		{"20 runs of a dataset", "", http.MethodGet, "/v1/runs?limit=20&filter[datasetId]=" + p.dataset.ID, nil},
		{"20 runs", "", http.MethodGet, "/v1/runs?limit=20", nil},
		{"20 runs", "in 50 tasks", http.MethodGet, "/v1/runs?limit=20", nil},
		{"20 runs of a task", "in 50 tasks", http.MethodGet, "/v1/runs?limit=20&filter[taskId]=" + p.inMany.ID, nil},
		{"20 of a leaderboard", "", http.MethodGet, task + "/evaluations?" + board, nil},
		{"20 of a leaderboard", "organizer", http.MethodGet, task + "/evaluations?" + board, nil},
		{"20 of a leaderboard", "in 50 tasks", http.MethodGet, task + "/evaluations?" + board, nil},
		{"20 of a leaderboard, from 20", "", http.MethodGet, task + "/evaluations?" + board + "&offset=20", nil},
		{"20 of what waits", "organizer", http.MethodGet, "/v1/organizers/" + p.dataset.OrganizerID + "/todos?limit=20", nil},
		{"20 users by storage", "root", http.MethodGet, "/v1/platform/storage/users?limit=20", nil},
		{"POST an organizer", "new", http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}},
		{"POST a task", "organizer", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": p.dataset.OrganizerID, "name": "New"}},
		{"POST a dataset", "organizer", http.MethodPost, "/v1/datasets", newDatasetBody(p.dataset.TaskID)},
		{"POST a registration", "newer", http.MethodPost, task + "/registrations", map[string]any{"team": "New"}},
		{"POST an image", "owner", http.MethodPost, task + "/submissions", submission},
		{"POST a run file", "owner", http.MethodPost, task + "/submissions", upload},
		{"POST the same file", "owner", http.MethodPost, task + "/submissions", repeated},
		{"PATCH a task", "organizer", http.MethodPatch, task, map[string]any{"name": "Renamed"}},
		{"PATCH a registration", "owner", http.MethodPatch, p.registration, map[string]any{"country": "Norway"}},
		{"PATCH a run", "owner", http.MethodPatch, run, map[string]any{"label": "Renamed"}},
		{"PATCH a review", "organizer", http.MethodPatch, run + "/review", map[string]any{"published": true}},
		{"PATCH a user", "root", http.MethodPatch, pathOfUser("storing1"), map[string]any{"quota": map[string]any{"storedBytes": 1}}},
		{"DELETE a user", "root", http.MethodDelete, "/v1/users/" + recordtest.UserID("newer"), nil},
	} {
		p.measure(t, table, c.name, c.user, c.method, c.path, c.body)
	}
	p.measureEvaluation(t, table)
	p.measureDelivery(t, table)
	p.measureCleaning(t, table)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := goldenFile(t, capacityTable, out.Bytes()); !nearlyEqual(out.String(), string(want)) {
		t.Errorf("%s is stale; run go test ./functions -run TestCapacity -update and look at what changed:\n%s", capacityTable, &out)
	}
}

// nearlyEqual compares two tables. Ids are random, and so are the number and the choice of records on a page. Numbers may
// therefore differ by one or by a tenth.
func nearlyEqual(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		m, err := strconv.ParseFloat(x[i], 64)
		n, otherErr := strconv.ParseFloat(y[i], 64)
		if err != nil || otherErr != nil {
			if x[i] != y[i] {
				return false
			}
		} else if math.Abs(m-n) > max(1, n/10) {
			return false
		}
	}
	return true
}

// tableUsers maps the names of users in the table to their names on the platform.
var tableUsers = map[string]string{"organizer": "olga", "registrant": "reg", "in 50 tasks": "many"}

// measure adds the row of a request and checks its reads against the budget in units. An item of up to 4 KB that is read by its key takes
// half a unit. Entries of an index take half a unit for each 4 KB that they have together. Strongly consistent reads take twice as much:
// reads for a change, and reads of a single resource by a caller who is logged in. An item takes two units for each KB that is written,
// and its index entries take one unit for each KB.
func (p *populated) measure(t *testing.T, table *tabwriter.Writer, name, user, method, path string, body map[string]any) {
	t.Helper()
	as, ok := tableUsers[user]
	if !ok {
		as = user
	}
	reads, writes := p.meter.units.Read.Load(), p.meter.units.Written.Load()
	var a servertest.Answer
	c := p.meter.of(func() {
		if body == nil {
			a = p.Do(as, method, path, nil)
		} else {
			a = p.Do(as, method, path, body)
		}
	})
	if a.Status >= http.StatusMultipleChoices {
		t.Errorf("%s as %s: status %d\n%s", name, user, a.Status, a.Body)
		return
	}
	read := float64(p.meter.units.Read.Load()-reads) / 1000
	written := float64(p.meter.units.Written.Load()-writes) / 1000
	if user == "" {
		user = "anyone"
	}
	_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.1f\t%.0f\n", name, user, c.reads+c.writes, c.items, read, written)
	most := float64(c.items+c.reads) / 2 // a call that finds nothing takes capacity, too
	if single := strings.HasPrefix(name, "GET"); method != http.MethodGet || single && user != "anyone" {
		most *= 2 // strong
	}
	if read > most {
		t.Errorf("%s as %s read %.1f units for %d items, at most %.1f", name, user, read, c.items, most)
	}
	if c.writes > 1 {
		t.Errorf("%s as %s wrote in %d transactions", name, user, c.writes)
	}
}

// measureEvaluation adds the work of the function background for a run: it leases the run, reads run and truth, writes the result, and
// looks for other waiting runs.
func (p *populated) measureEvaluation(t *testing.T, table *tabwriter.Writer) {
	t.Helper()
	worker := &evaluator.Worker{Store: p.meter, Files: p.Files, Now: time.Now, Log: p.Log, Holder: "test", Places: evaluator.DeployedPlaces()}
	if err := worker.EvaluateQueued(t.Context()); err != nil {
		t.Fatal(err)
	}
	dataset := p.Create("olga", "/v1/datasets", newDatasetBody(p.dataset.TaskID))
	var made struct{ RunIDs []string }
	p.Want(http.StatusCreated, &made, "owner", http.MethodPost, p.dataset.Task.Path()+"/submissions",
		servertest.Upload(servertest.ID(dataset), servertest.Inline("run.csv", "id,label\n1,a\n")))
	queued := new(record.RunItem)
	queued.ID = made.RunIDs[0]
	reads, writes := p.meter.units.Read.Load(), p.meter.units.Written.Load()
	c := p.meter.of(func() {
		if _, err := worker.Evaluate(t.Context(), queued); err != nil {
			t.Fatal(err)
		}
	})
	if r := servertest.Get[record.Run](p.Server, "owner", "/v1/runs/"+made.RunIDs[0]); r.State != record.Completed {
		t.Fatalf("the run is %s: %v", r.State, r.Diagnostics)
	}
	_, _ = fmt.Fprintf(table, "evaluate a run\tbackground\t%d\t%d\t%.1f\t%.0f\n", c.reads+c.writes, c.items,
		float64(p.meter.units.Read.Load()-reads)/1000, float64(p.meter.units.Written.Load()-writes)/1000)
}

// measureDelivery adds the work of the notifier for the event of a completed run for which there is no webhook.
func (p *populated) measureDelivery(t *testing.T, table *tabwriter.Writer) {
	t.Helper()
	outbox, err := p.Store.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.OutboxPartition,
		To: record.DueBy(time.Now()), Descending: true, Limit: 1})
	if err != nil || len(outbox) == 0 {
		t.Fatalf("there is no event: %v", err)
	}
	worker := notifier.New(p.meter, time.Now, p.Log)
	reads, writes := p.meter.units.Read.Load(), p.meter.units.Written.Load()
	c := p.meter.of(func() {
		items, err := p.meter.Get(t.Context(), store.Strong, outbox[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := worker.HandleChange(t.Context(), items[0]); err != nil {
			t.Fatal(err)
		}
	})
	if c.writes == 0 {
		t.Error("nothing was delivered")
	}
	_, _ = fmt.Fprintf(table, "deliver an event\tnotifier\t%d\t%d\t%.1f\t%.0f\n", c.reads+c.writes, c.items,
		float64(p.meter.units.Read.Load()-reads)/1000, float64(p.meter.units.Written.Load()-writes)/1000)
}

// measureCleaning adds the cost of checking whether the record of a stored file names the file.
func (p *populated) measureCleaning(t *testing.T, table *tabwriter.Writer) {
	t.Helper()
	files := float64(p.FileCount())
	later := func() time.Time { return time.Now().Add(2 * record.AbandonedAfter) }
	worker := background.New(p.meter, p.Files, later, p.Log)
	reads := p.meter.units.Read.Load()
	if _, err := worker.DeleteAbandonedFiles(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if kept := float64(p.FileCount()); kept != files || files == 0 {
		t.Fatalf("%v of %v files were kept", kept, files)
	}
	_, _ = fmt.Fprintf(table, "clean a file\tbackground\t1\t1\t%.1f\t0\n", float64(p.meter.units.Read.Load()-reads)/1000/files)
}
