package functions_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
)

// workers is a server with an evaluator and a background worker, which work only when a test calls them. A test sets how far their clock
// is ahead.
type workers struct {
	*servertest.Server
	evaluator  *evaluator.Worker
	background *background.Worker
	t          testing.TB
	ahead      atomic.Int64 // nanoseconds
}

// platform serves every family, with an organizer of olga's and a task.
type platform struct {
	*workers
	t         *testing.T
	organizer string // path
	task      string // path
	dataset   string // path of the newest dataset
}

// newServer serves every family with an empty store.
func newServer(t testing.TB) *servertest.Server {
	t.Helper()
	return servertest.New(t, functions.Operations()...)
}

// meter is a store that counts calls.
type meter struct {
	store.Store
	reading, writing store.Usage
	units            dynamotest.Units // units of reads and writes; zero for an embedded store
}

// Lag leaves confirming passes to the background worker, as with DynamoDB.
func (*meter) Lag() time.Duration { return new(dynamo.Store).Lag() }

func (m *meter) count(ctx context.Context, u *store.Usage) context.Context {
	return dynamotest.WithUnits(store.WithUsage(ctx, u), &m.units)
}

func (m *meter) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	return m.Store.Get(m.count(ctx, &m.reading), c, keys...)
}

func (m *meter) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	return m.Store.Query(m.count(ctx, &m.reading), q)
}

func (m *meter) Write(ctx context.Context, writes ...store.Write) error {
	return m.Store.Write(m.count(ctx, &m.writing), writes...)
}

// cost counts read calls, the items that they read, and write calls.
type cost struct{ reads, items, writes int64 }

func (c cost) String() string {
	return fmt.Sprintf("%d reads of %d items, %d writes", c.reads, c.items, c.writes)
}

func (m *meter) total() cost {
	return cost{m.reading.Calls.Load(), m.reading.Read.Load(), m.writing.Calls.Load()}
}

// of returns the cost of do.
func (m *meter) of(do func()) cost {
	before := m.total()
	do()
	after := m.total()
	return cost{after.reads - before.reads, after.items - before.items, after.writes - before.writes}
}

// newMetered serves every family with a store that counts calls. The store is the table, or an embedded one if table is nil.
func newMetered(t testing.TB, table store.Store) (*servertest.Server, *meter) {
	t.Helper()
	s := newServer(t)
	if table == nil {
		table = s.Store
	}
	m := &meter{Store: table}
	s.Use(m) // Leaderboards are read each time, as with DynamoDB, whose costs the tests measure.
	return s, m
}

// newWorkers returns the server with workers.
func newWorkers(t testing.TB, s *servertest.Server) *workers {
	w := &workers{Server: s, t: t}
	w.Now = func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }
	w.evaluator = &evaluator.Worker{Store: w.Store, Files: w.Files, Now: w.Now, Log: w.Log, Holder: "test"}
	w.background = background.New(w.Store, w.Files, w.Now, w.Log)
	return w
}

func (w *workers) advance(d time.Duration) { w.ahead.Add(int64(d)) }

// runDue does the due work.
func (w *workers) runDue() {
	w.t.Helper()
	if err := w.background.RunDue(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// nextMinute advances the clock by a minute and does the due work.
func (w *workers) nextMinute() {
	w.t.Helper()
	w.advance(time.Minute)
	w.runDue()
}

// evaluate evaluates the run, and no other, if it is queued.
func (w *workers) evaluate(runID string) {
	w.t.Helper()
	r := new(record.RunItem)
	r.ID = runID // without the team, no other run comes first
	if _, err := w.evaluator.Evaluate(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

// newPlatform makes the task with these members and the required ones.
func newPlatform(t *testing.T, task map[string]any) *platform {
	t.Helper()
	return newPlatformOf(t, newServer(t), task)
}

// newPlatformOf is newPlatform on a server with an empty store.
func newPlatformOf(t *testing.T, s *servertest.Server, task map[string]any) *platform {
	t.Helper()
	p := &platform{workers: newWorkers(t, s), t: t}
	p.organizer = p.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	p.task = p.newTask(task)
	return p
}

func (p *platform) newTask(members map[string]any) string {
	p.t.Helper()
	body := map[string]any{"organizerId": servertest.ID(p.organizer), "name": "Lakes"}
	maps.Copy(body, members)
	return p.Create("olga", "/v1/tasks", body)
}

// newDataset makes a test dataset whose runs label items, with these members.
func (p *platform) newDataset(members map[string]any) string {
	p.t.Helper()
	body := newDatasetBody(servertest.ID(p.task))
	maps.Copy(body, members)
	p.dataset = p.Create("olga", "/v1/datasets", body)
	return p.dataset
}

func newDatasetBody(taskID string) map[string]any {
	return map[string]any{
		"taskId": taskID, "name": "New", "split": "test", "runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
		"truths":    []any{servertest.Inline("truth.csv", "id,label\n1,a\n")},
	}
}

// register registers the user for the task. It returns the path of the registration.
func (p *platform) register(user string, members map[string]any) string {
	p.t.Helper()
	body := map[string]any{"team": "Team of " + user}
	maps.Copy(body, members)
	return p.Create(user, p.task+"/registrations", body)
}

// submit submits the body to the task.
func (p *platform) submit(user string, body map[string]any) (made record.Submission) {
	p.t.Helper()
	p.Want(http.StatusCreated, &made, user, http.MethodPost, p.task+"/submissions", body)
	return made
}

// change patches the resource.
func (p *platform) change(user, path string, members map[string]any) {
	p.t.Helper()
	p.Want(http.StatusOK, nil, user, http.MethodPatch, path, members)
}

func (p *platform) run(user, id string) record.Run {
	p.t.Helper()
	return servertest.Get[record.Run](p.Server, user, "/v1/runs/"+id)
}

// auditEntries lists the audit entries at the path, the newest first.
func (p *platform) auditEntries(user, path string) []record.AuditEntry {
	p.t.Helper()
	return servertest.List[record.AuditEntry](p.Server, user, path)
}

// actions joins the actions of the entries, the newest first.
func actions(entries []record.AuditEntry) string {
	return strings.Join(lists.Map(entries, func(e record.AuditEntry) string { return e.Action }), " ")
}

// withSubmission is a platform on which tom, as an anonymous team, submitted an image to a test dataset. The run has a review.
type withSubmission struct {
	*platform
	registration, submission, runPath string
}

func newWithSubmission(t *testing.T) *withSubmission {
	t.Helper()
	e := &withSubmission{platform: newPlatform(t, map[string]any{"submissions": map[string]any{"perDay": 3, "total": 5}})}
	e.newDataset(nil)
	e.registration = e.register("tom", map[string]any{"team": "Heron", "anonymous": true})
	s := e.submit("tom", servertest.Image(servertest.ID(e.dataset)))
	e.submission, e.runPath = e.task+"/submissions/"+s.ID, "/v1/runs/"+s.RunIDs[0]
	e.change("olga", e.runPath+"/review", map[string]any{"comment": "late"})
	return e
}

func (e *withSubmission) entries(query string) []record.AuditEntry {
	e.t.Helper()
	return e.auditEntries("olga", e.organizer+"/audit-entries"+query)
}

// evaluated adds an evaluation of tom's run and returns its path.
func (e *withSubmission) evaluated() string {
	e.t.Helper()
	r := recordtest.Get[record.RunItem](e.t, e.Store, record.RunKey(servertest.ID(e.runPath)))
	v := &record.EvaluationItem{Access: r.Access}
	v.Meta = record.NewMeta(e.Now())
	v.RunID = r.ID
	v.SubmissionID = r.SubmissionID
	v.TaskID = r.TaskID
	v.DatasetID = r.DatasetID
	v.UserID = r.UserID
	v.Team = r.Team
	v.TruthVersion = 1
	v.Measured = []string{"Accuracy"}
	v.Measures = map[string]*float64{"Accuracy": new(0.5)}
	e.Records().Put(v)
	return "/v1/evaluations/" + v.ID
}
