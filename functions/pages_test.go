package functions_test

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPage is the largest size of a page in bytes. The reference of the API is the largest page; the definitions, parameters and limits of
// all measures take 48 kB of it.
const maxPage = 600_000

// hostile are texts that try to become markup or script.
var hostile = []string{
	`<script>window.intruded = 1</script>`,
	`"><img src=x onerror="window.intruded=1" data-intruder>`,
	`</style></title></script><b data-intruder>`,
	`' onmouseover='window.intruded=1' data-intruder='`,
	"`<i data-intruder>` {{.}} ${intruded}",
	"\u202Egnol dna " + strings.Repeat("unbroken", 20),
}

// pagesFixture serves records with hostile texts, and of every kind that pages show.
type pagesFixture struct {
	*servertest.Server
	meter     *meter
	organizer *record.Organizer   // of the last task
	dataset   *recordtest.Dataset // of that task
}

func newPagesFixture(t testing.TB) *pagesFixture {
	t.Helper()
	f := &pagesFixture{}
	f.Server, f.meter = newMetered(t, nil)
	b := recordtest.New(t, f.meter.Store)
	b.Batch(func() {
		for i, text := range hostile {
			f.organizer = b.Organizer("olga") // a new one for each task: the landing page shows few tasks of the same organizer
			f.organizer.Name = "Organizer of olga"
			task := b.Task(recordtest.OwnedBy(f.organizer), func(t *record.TaskItem) {
				closes := record.At(time.Date(2030, 1, 1+i, 12, 0, 0, 0, time.UTC))
				t.Name = text
				t.Description = text + "\n\n" + text
				t.Website = "javascript:window.intruded=1"
				t.Submissions.ClosesAt = &closes
				t.Featured = i == 0
			})
			named := func(d *record.DatasetItem) { d.Name = text }
			task.Dataset(recordtest.Labels("Accuracy", "MCC"), named)
			if i == len(hostile)-1 {
				text = hostile[0]
				f.dataset = task.Dataset(recordtest.Labels("Accuracy", "MCC"), named)
			}
		}
		b.Task(recordtest.OwnedBy(f.organizer), recordtest.Private, func(t *record.TaskItem) { t.Name = "kept from everybody" }).Dataset()
		for i := range 12 {
			r := f.dataset.Run(fmt.Sprint("user", i), recordtest.Public, recordtest.Published, recordtest.Value("Accuracy", float64(i)/17),
				recordtest.Undefined("MCC"))
			r.Evaluation.Team, r.Evaluation.Baseline = hostile[i%len(hostile)], i == 3
		}
	})
	return f
}

// page gets the page at the path like a browser.
func (f *pagesFixture) page(path string) string {
	return htmlPage(f.Server, path)
}

func htmlPage(s *servertest.Server, path string) string {
	return string(s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
}

// pages returns the addresses of all pages by name.
func (f *pagesFixture) pages() map[string]string {
	board := f.dataset.Board()
	return map[string]string{
		"landing":     "/",
		"docs":        "/docs",
		"tools":       "/v1/tools",
		"tool":        "/v1/tools/evaluator",
		"leaderboard": board + "?sort=rank&best=true",
		"task":        f.dataset.Task.Path(),
		"tasks":       "/v1/tasks",
		"dataset":     f.dataset.Path(),
		"datasets":    "/v1/datasets?filter[taskId]=" + f.dataset.TaskID,
		"runs":        board + "?sort=MCC&filter[datasetId]=" + f.dataset.ID,
	}
}

// Pages load nothing else, can be cached, and run no script of a user.
func TestPages_AreSelfContained(t *testing.T) {
	f := newPagesFixture(t)
	outside := regexp.MustCompile(`(?i)<(img|iframe|object|embed|link rel="stylesheet"|script src)|@import|url\(|[\s"']on[a-z]+="|style="`)
	for name, path := range f.pages() {
		a := f.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept",
			"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
		page := string(a.Body)
		if len(page) > maxPage {
			t.Errorf("%s has %d bytes, more than %d", name, len(page), maxPage)
		}
		if found := outside.FindString(page); found != "" {
			t.Errorf("%s has %q", name, found)
		}
		if strings.Contains(page, `"javascript:`) || strings.Contains(page, "kept from everybody") {
			t.Errorf("%s has what it must not", name)
		}
		if !slices.Contains([]string{"docs", "tools", "tool", "task"}, name) &&
			!strings.Contains(page, "&lt;script&gt;window.intruded = 1&lt;/script&gt;") {
			t.Errorf("%s does not show a name as it is", name)
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s has the policy %q", name, policy)
		}
		if a.Header.Get("Content-Type") != "text/html; charset=utf-8" || a.Header.Get("Cache-Control") == "" {
			t.Errorf("%s has the headers %v", name, a.Header)
		}
		f.Want(http.StatusNotModified, nil, "", http.MethodGet, path, nil, "Accept", "text/html", "If-None-Match", a.Header.Get("ETag"))
	}
}

// Every GET of JSON and every problem has a page for browsers, so that no link leads a person to JSON.
func TestPages_ExistForEachGet(t *testing.T) {
	f := newPagesFixture(t)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	component := regexp.MustCompile(`/v1/platform/components/[0-9A-Z]{26}`)
	list := string(f.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/platform/components", nil, "Accept", browser).Body)
	for path, status := range map[string]int{
		"/v1": 200, "/v1/platform": 200, "/health": 200, "/info": 200, "/v1/tasks": 200, "/v1/tasks/" + f.dataset.TaskID: 200, "/v1/datasets/" +
			f.dataset.ID: 200,
		"/v1/datasets": 200, "/v1/organizers": 200, "/v1/organizers/" + f.organizer.ID: 200, "/v1/runs": 200, "/v1/evaluations": 200,
		component.FindString(list):                       200,
		"/v1/tasks/" + f.dataset.TaskID + "/submissions": 200, "/v1/tasks?filter[name]=nobody": 200,
		"/v1/evaluations?sort=rank&offset=1000000&filter[datasetId]=" + f.dataset.ID: 200,
		"/nowhere": 404, "/v1/tasks/" + record.NewID(f.Now()): 404, "/v1/user": 401, "/v1/tasks?limit=0": 400,
		"/v1/tools/significance/result?input=%7B%22runs%22:[]%7D": 422, "/v1/tools/validator/result?input=%7B%7D": 422,
	} {
		a := f.Want(status, nil, "", http.MethodGet, path, nil, "Accept", browser)
		if a.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none';") || !bytes.Contains(a.Body, []byte("<h1>")) {
			t.Errorf("%s is answered with %v\n%.300s", path, a.Header, a.Body)
		}
		if program := f.Do("", http.MethodGet, path, nil); strings.HasPrefix(program.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s is a page for programs", path)
		}
	}
	page := string(f.Want(http.StatusNotFound, nil, "", http.MethodGet, "/v1/tasks/"+record.NewID(f.Now()), nil, "Accept", browser).Body)
	if !strings.Contains(page, "Not found") || strings.Contains(page, "{") && strings.Contains(page, `"detail"`) {
		t.Error(page)
	}
}

// Descriptions are Markdown, and pages show them as HTML.
func TestPages_RenderMarkdown(t *testing.T) {
	s := newServer(t)
	d := s.Records().Task(func(t *record.TaskItem) {
		t.Description = "Some *new* [task](https://example.org)\n\n<script>x</script>"
	}).Dataset(func(d *record.DatasetItem) { d.Description = "Some **data**" })
	for path, wants := range map[string][]string{
		"/":           {"Some new task</p>"},
		d.Task.Path(): {`<p>Some <em>new</em> <a href="https://example.org" rel="nofollow ugc noopener">task</a></p>`, "&lt;script&gt;"},
		d.Board():     {"<em>new</em>"},
		d.Path():      {"<strong>data</strong>"},
		"/v1/tasks":   {"Some new task"},
	} {
		got := htmlPage(s, path)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not have %s:\n%s", path, want, got)
			}
		}
	}
}

// The landing page reads the featured tasks, at most six pages of the newest tasks, their organizers, and the datasets of the tasks that
// it shows, for any number of tasks. A leaderboard takes four reads: the task, its datasets, the leaderboard, and again the dataset that
// the request does not name, whose rules must be the present ones.
func TestCost_OfPagesIsBounded(t *testing.T) {
	f := newPagesFixture(t)
	b := recordtest.New(t, f.meter.Store)
	b.Batch(func() {
		for range 300 {
			b.Task(recordtest.OwnedBy(f.organizer)).Dataset()
		}
	})
	for name, most := range map[string]cost{"landing": {1 + 6 + 1 + 48, 1 + 6*49 + 2 + 48, 0}, "leaderboard": {4, 1 + 2 + 12 + 1, 0}, "runs": {
		3, 2 + 2 + 12, 0}} {
		got := f.meter.of(func() { f.page(f.pages()[name]) })
		if got.reads > most.reads || got.items > most.items || got.writes > 0 {
			t.Errorf("%s costs %s, at most %s", name, got, most)
		}
	}
}

// Featured tasks come first. A task without a published result has an empty leaderboard and no error.
func TestLandingPage_ShowsFeaturedTasksFirst(t *testing.T) {
	f := newPagesFixture(t)
	page := f.page("/")
	if first := strings.Index(page, "window.intruded = 1"); first < 0 || first > strings.Index(page, "data-intruder") {
		t.Error("the featured task, which is the oldest, does not come first")
	}
	for _, want := range []string{"by <bdi>Organizer of olga</bdi>", "Open for registration, submissions until 1 January 2030, 12:00 UTC",
		f.URL, "/v1/tasks/" + f.dataset.TaskID + "/evaluations"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	board := f.page(f.Records().Task().Dataset().Board() + "?sort=rank&best=true")
	if !strings.Contains(board, "You see no result.") {
		t.Errorf("an empty leaderboard says %s", board)
	}
}

func TestLeaderboardPage_SaysThatItIsFiltered(t *testing.T) {
	f := newPagesFixture(t)
	path := "/v1/tasks/" + f.dataset.TaskID + "/evaluations?sort=rank"
	whole := f.page(path)
	const want = "Nothing here matches the address."
	for _, query := range []string{"&offset=1000", "&filter[runId]=" + record.NewID(f.Now()), "&filter[userId]=" +
		recordtest.UserID("nobody")} {
		page := f.page(path + query)
		if !strings.Contains(page, want) || strings.Contains(whole, want) || strings.Contains(page, "show no results") {
			t.Errorf("with %s the page does not say so", query)
		}
	}
}

// The example bodies on the API's page are valid bodies of their operations.
func TestExamples_MatchTheirSchemas(t *testing.T) {
	s := newServer(t)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.Want(http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil).Body))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("urn:assay:openapi", document); err != nil {
		t.Fatal(err)
	}
	reference := string(s.Want(http.StatusOK, nil, "", http.MethodGet, "/docs", nil).Body)
	checked := 0
	for _, op := range functions.Operations() {
		_, text, _ := strings.Cut(reference, ` id="`+op.ID+`"`)
		text, _, _ = strings.Cut(text, "</pre>")
		flag, mediaType := "--json '", "application/json"
		if op.Method == http.MethodPatch {
			flag, mediaType = "-d '", "application/merge-patch+json"
		}
		_, text, found := strings.Cut(html.UnescapeString(text), flag)
		if !found {
			continue
		}
		text, _, _ = strings.Cut(text, "'")
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Errorf("the example of %s is no JSON: %v", op.ID, err)
			continue
		}
		pointer := "#/paths/" + strings.ReplaceAll(op.Path, "/", "~1") + "/" + strings.ToLower(op.Method) + "/requestBody/content/" +
			strings.ReplaceAll(mediaType, "/", "~1") + "/schema"
		schema, err := compiler.Compile("urn:assay:openapi" + pointer)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(body); err != nil {
			t.Errorf("the example of %s: %v", op.ID, err)
		}
		checked++
	}
	if checked < 5 {
		t.Errorf("only %d examples have a body", checked)
	}
}

// However many tasks an organizer publishes, the page shows only two of them. Featured tasks come before all others.
func TestLandingPage_ShowsFewTasksOfOneOrganizer(t *testing.T) {
	s := newServer(t)
	b := s.Records()
	var useful *recordtest.Task
	b.Batch(func() {
		task := func(name string, options ...func(*record.TaskItem)) *recordtest.Task {
			options = append(options, func(t *record.TaskItem) { t.Name = name })
			return b.Task(append([]func(*record.TaskItem){recordtest.OwnedBy(b.Organizer("olga"))}, options...)...)
		}
		task("Featured task", func(t *record.TaskItem) { t.Featured, t.Registration.Mode = true, record.Closed }).Dataset()
		for i := range 3 {
			task(fmt.Sprintf("Quiet task %d", i)).Dataset()
		}
		useful = task("Useful task")
		useful.Dataset()
		task("Image task", func(t *record.TaskItem) { t.Submissions.Types = []record.SubmissionType{record.ImageType} }).Dataset()
		flood := recordtest.OwnedBy(b.Organizer("flood"))
		for i := range 200 {
			task(fmt.Sprintf("Flood task %d", i), flood) // without a dataset
		}
	})
	landing := htmlPage(s, "/")
	var got []string
	for _, name := range regexp.MustCompile(`<h3><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(landing, -1) {
		got = append(got, name[1])
	}
	want := []string{"Featured task", "Flood task 199", "Flood task 198", "Image task", "Useful task", "Quiet task 2", "Quiet task 1",
		"Quiet task 0"}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows %q, want %q", got, want)
	}
	if n := strings.Count(landing, "No dataset yet"); n != 2 {
		t.Errorf("%d tasks have no dataset, want those of the flood", n)
	}
	if !strings.Contains(landing, "TASK=$ASSAY_URL"+useful.Path()+"\n") {
		t.Error("the commands are not about the task that is open to uploads and has a dataset")
	}
}

// Pages for which the console has a screen lead to that screen. Other pages lead to the start of the console.
func TestPages_LeadToTheConsole(t *testing.T) {
	f := newPagesFixture(t)
	task := strings.TrimPrefix(f.dataset.Task.Path(), "/v1")
	for path, address := range map[string]string{
		"/": "", "/docs": "", "/v1/tasks": "", f.dataset.Path(): "", f.dataset.Task.Path(): task,
		f.dataset.Board(): task + "/leaderboard?dataset=" + f.dataset.ID,
	} {
		page := string(f.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
		if !strings.Contains(page, `<a href="/console#`+address+`">Console</a>`) {
			t.Errorf("%s does not lead to /console#%s", path, address)
		}
	}
}
