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
	"assay/shared/api/servertest"
	"assay/shared/record"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPage is how many bytes a page may have.
const maxPage = 290_000

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>window.intruded = 1</script>`,
	`"><img src=x onerror="window.intruded=1" data-intruder>`,
	`</style></title></script><b data-intruder>`,
	`' onmouseover='window.intruded=1' data-intruder='`,
	"`<i data-intruder>` {{.}} ${intruded}",
	"\u202Egnol dna " + strings.Repeat("unbroken", 20),
}

// fair is a world whose texts are hostile, with all that pages show.
type fair struct {
	*world
	place place
}

func newFair(t testing.TB, w *world) *fair {
	f := &fair{world: w}
	for i, text := range hostile {
		organizer := w.organizerID
		if i < len(hostile)-1 { // the landing page shows few tasks of one organizer
			organizer = w.newOrganizer("olga")
		}
		p := w.newPlace(organizer, record.Public)
		closes := record.At(time.Date(2030, 1, 1+i, 12, 0, 0, 0, time.UTC))
		p.task.Name, p.task.Description, p.task.Website, p.task.Submissions.ClosesAt = text, text+"\n\n"+text, "javascript:window.intruded=1", &closes
		p.task.Featured = i == 0
		p.dataset.Name = text
		f.place = p
	}
	second := f.place.w.newPlace(w.organizerID, record.Private) // its dataset goes to the public task
	second.dataset.TaskID, second.dataset.PrivateTask, second.dataset.Name = f.place.task.ID, false, hostile[0]
	second.task.Name = "kept from everybody"
	f.place.dataset = second.dataset
	for i := range 12 {
		user := fmt.Sprintf("user%d", i)
		e := f.place.enter(user, record.Public, true, false, float64(i)/17)
		e.evaluation.Team, e.evaluation.Baseline = hostile[i%len(hostile)], i == 3
	}
	w.flush(t)
	return f
}

// pages are the addresses of all pages, by name.
func (f *fair) pages() map[string]string {
	board := "/v1/tasks/" + f.place.task.ID + "/evaluations"
	return map[string]string{
		"landing":     "/",
		"docs":        "/docs",
		"tools":       "/v1/tools",
		"tool":        "/v1/tools/evaluator",
		"leaderboard": board + "?sort=rank&best=true",
		"task":        "/v1/tasks/" + f.place.task.ID,
		"tasks":       "/v1/tasks",
		"dataset":     "/v1/datasets/" + f.place.dataset.ID,
		"datasets":    "/v1/datasets?filter[taskId]=" + f.place.task.ID,
		"runs":        board + "?sort=MCC&filter[datasetId]=" + f.place.dataset.ID,
	}
}

// What a browser is sent asks for nothing else, can be kept, and lets nothing run that a user wrote.
func TestPages_AreSelfContained(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	outside := regexp.MustCompile(`(?i)<(img|iframe|object|embed|link rel="stylesheet"|script src)|@import|url\(|[\s"']on[a-z]+="|style="`)
	for name, path := range f.pages() {
		a := w.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
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
		if !slices.Contains([]string{"docs", "tools", "tool", "task"}, name) && !strings.Contains(page, "&lt;script&gt;window.intruded = 1&lt;/script&gt;") {
			t.Errorf("%s does not show a name as it is", name)
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s has the policy %q", name, policy)
		}
		if a.Header.Get("Content-Type") != "text/html; charset=utf-8" || a.Header.Get("Cache-Control") == "" {
			t.Errorf("%s has the headers %v", name, a.Header)
		}
		w.Want(http.StatusNotModified, nil, "", http.MethodGet, path, nil, "Accept", "text/html", "If-None-Match", a.Header.Get("ETag"))
	}
}

// Every GET of JSON and every problem has a page for browsers: what a person follows a link to is never JSON.
func TestPages_AreThereForEachGet(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	component := regexp.MustCompile(`/v1/platform/components/[0-9A-Z]{26}`)
	list := string(w.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/platform/components", nil, "Accept", browser).Body)
	for path, status := range map[string]int{
		"/v1": 200, "/v1/platform": 200, "/health": 200, "/info": 200, "/v1/tasks": 200, "/v1/tasks/" + f.place.task.ID: 200, "/v1/datasets/" + f.place.dataset.ID: 200,
		"/v1/datasets": 200, "/v1/organizers": 200, "/v1/organizers/" + w.organizerID: 200, "/v1/runs": 200, "/v1/evaluations": 200, component.FindString(list): 200,
		"/v1/tasks/" + f.place.task.ID + "/submissions": 200, "/v1/tasks?filter[name]=nobody": 200, "/v1/evaluations?sort=rank&offset=1000000&filter[datasetId]=" + f.place.dataset.ID: 200,
		"/nowhere": 404, "/v1/tasks/" + record.NewID(w.Now()): 404, "/v1/user": 401, "/v1/tasks?limit=0": 400,
		"/v1/tools/significance/result?input=%7B%22runs%22:[]%7D": 422, "/v1/tools/validator/result?input=%7B%7D": 422,
	} {
		a := w.Want(status, nil, "", http.MethodGet, path, nil, "Accept", browser)
		if a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none';") || !bytes.Contains(a.Body, []byte("<h1>")) {
			t.Errorf("%s is answered with %v\n%.300s", path, a.Header, a.Body)
		}
		if program := w.Do("", http.MethodGet, path, nil); strings.HasPrefix(program.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s is a page for programs", path)
		}
	}
	page := string(w.Want(http.StatusNotFound, nil, "", http.MethodGet, "/v1/tasks/"+record.NewID(w.Now()), nil, "Accept", browser).Body)
	if !strings.Contains(page, "Not found") || strings.Contains(page, "{") && strings.Contains(page, `"detail"`) {
		t.Error(page)
	}
}

// Descriptions are Markdown, and a page has their HTML.
func TestPages_RenderMarkdown(t *testing.T) {
	w := newWorld(t)
	p := w.newPlace(w.organizerID, record.Public)
	p.task.Description, p.dataset.Description = "Some *new* [task](https://example.org)\n\n<script>x</script>", "Some **data**"
	w.flush(t)
	for path, wants := range map[string][]string{
		"/":                      {"Some new task</p>"},
		"/v1/tasks/" + p.task.ID: {`<p>Some <em>new</em> <a href="https://example.org" rel="nofollow ugc noopener">task</a></p>`, "&lt;script&gt;"},
		"/v1/tasks/" + p.task.ID + "/evaluations": {"<em>new</em>"},
		"/v1/datasets/" + p.dataset.ID:            {"<strong>data</strong>"},
		"/v1/tasks":                               {"Some new task"},
	} {
		page := string(w.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not have %s:\n%s", path, want, page)
			}
		}
	}
}

// Programs get what they always got.
func TestPages_AreNotSentToPrograms(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.9"} {
		for _, path := range []string{"/", f.pages()["runs"]} {
			a := w.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", accept)
			if got := a.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s with Accept %q is %s", path, accept, got)
			}
		}
	}
}

// The landing page reads the featured tasks, at most six pages of the newest, their organizers, and whether a task has a
// dataset, however many tasks there are. A leaderboard costs three reads: the task, its datasets, the board.
func TestCost_OfPagesIsBounded(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	for range 300 {
		w.newPlace(w.organizerID, record.Public)
	}
	w.flush(t)
	for name, most := range map[string]cost{"landing": {1 + 6 + 1 + 1, 1 + 6*49 + 2 + 1, 0}, "leaderboard": {3, 1 + 2 + 12, 0}, "runs": {3, 2 + 2 + 12, 0}} {
		got := w.meter.of(func() {
			w.Want(http.StatusOK, nil, "", http.MethodGet, f.pages()[name], nil, "Accept", "text/html")
		})
		if got.reads > most.reads || got.items > most.items || got.writes > 0 {
			t.Errorf("%s costs %s, at most %s", name, got, most)
		}
	}
}

// Featured tasks stand first, and a task without a published result has an empty leaderboard and no error.
func TestLandingPage_ShowsFeaturedTasksFirst(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	page := string(w.Want(http.StatusOK, nil, "", http.MethodGet, "/", nil, "Accept", "text/html").Body)
	if first := strings.Index(page, "window.intruded = 1"); first < 0 || first > strings.Index(page, "data-intruder") {
		t.Error("the featured task, which is the oldest, does not stand first")
	}
	for _, want := range []string{"by <bdi>Organizer of olga</bdi>", "Open for registration, submissions until 1 January 2030, 12:00 UTC", w.URL, "/v1/tasks/" + f.place.task.ID + "/evaluations"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	empty := w.newPlace(w.organizerID, record.Public)
	w.flush(t)
	board := string(w.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/tasks/"+empty.task.ID+"/evaluations?sort=rank&best=true", nil, "Accept", "text/html").Body)
	if !strings.Contains(board, "no published results") {
		t.Errorf("an empty leaderboard says %s", board)
	}
}

// Whoever asks for a part of a leaderboard is not told that it is all.
func TestLeaderboardPage_SaysThatItIsFiltered(t *testing.T) {
	w := newWorld(t)
	f := newFair(t, w)
	path := "/v1/tasks/" + f.place.task.ID + "/evaluations?sort=rank"
	whole := string(w.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
	for query, want := range map[string]string{
		"&offset=1000": "No published result is what the address asks for.",
		"&filter[runId]=" + record.NewID(w.Now()):        "No published result is what the address asks for.",
		"&filter[userId]=" + servertest.UserID("nobody"): "No published result is what the address asks for.",
	} {
		page := string(w.Want(http.StatusOK, nil, "", http.MethodGet, path+query, nil, "Accept", "text/html").Body)
		if !strings.Contains(page, want) || strings.Contains(whole, want) || strings.Contains(page, "no published results") {
			t.Errorf("with %s the page does not say %q", query, want)
		}
	}
}

// Who copies the body of an example from the page of the API sends one that the operation takes.
func TestExamples_MatchTheirSchemas(t *testing.T) {
	w := newWorld(t)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.Want(http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil).Body))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("urn:assay:openapi", document); err != nil {
		t.Fatal(err)
	}
	page := string(w.Want(http.StatusOK, nil, "", http.MethodGet, "/docs", nil).Body)
	checked := 0
	for _, op := range functions.Operations() {
		_, text, _ := strings.Cut(page, ` id="`+op.ID+`"`)
		text, _, _ = strings.Cut(text, "</pre>")
		_, text, found := strings.Cut(html.UnescapeString(text), "--json '")
		if !found {
			continue
		}
		text, _, _ = strings.Cut(text, "'")
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Errorf("the example of %s is no JSON: %v", op.ID, err)
			continue
		}
		pointer := "#/paths/" + strings.ReplaceAll(op.Path, "/", "~1") + "/post/requestBody/content/application~1json/schema"
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

// However many tasks one organizer publishes, the page shows two of them, and the featured tasks before all others.
func TestLandingPage_ShowsFewTasksOfOneOrganizer(t *testing.T) {
	w := newWorld(t)
	named := func(organizer, name string) place {
		p := w.newPlace(organizer, record.Public)
		p.task.Name = name
		return p
	}
	featured := named(w.organizerID, "Featured task")
	featured.task.Featured, featured.task.Registration.Mode = true, record.Closed
	for i := range 3 {
		named(w.newOrganizer("olga"), fmt.Sprintf("Quiet task %d", i))
	}
	useful := named(w.newOrganizer("olga"), "Useful task")
	images := named(w.newOrganizer("olga"), "Image task")
	images.task.Submissions.Types = []record.SubmissionType{record.ImageType}
	flood := w.newOrganizer("flood")
	for i := range 200 {
		named(flood, fmt.Sprintf("Flood task %d", i))
	}
	w.made = slices.DeleteFunc(w.made, func(r record.Record) bool { // the flood's tasks have no datasets
		d, ok := r.(*record.DatasetItem)
		return ok && d.OrganizerID == flood
	})
	w.flush(t)
	page := string(w.Want(http.StatusOK, nil, "", http.MethodGet, "/", nil, "Accept", "text/html").Body)
	names := regexp.MustCompile(`<h3><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(page, -1)
	var got []string
	for _, n := range names {
		got = append(got, n[1])
	}
	want := []string{"Featured task", "Flood task 199", "Flood task 198", "Image task", "Useful task", "Quiet task 2", "Quiet task 1", "Quiet task 0"}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows %q, want %q", got, want)
	}
	if n := strings.Count(page, "No dataset yet"); n != 2 {
		t.Errorf("%d tasks have no dataset, want those of the flood", n)
	}
	if !strings.Contains(page, "TASK=$ASSAY_URL/v1/tasks/"+useful.task.ID+"\n") {
		t.Error("the commands are not about the task that is open to uploads and has a dataset")
	}
}
