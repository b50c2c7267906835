package functions_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// previewed is a server with all resources that can be changed, and a client that requests a preview before each change.
type previewed struct {
	*servertest.Server
	t       *rapid.T
	task    *recordtest.Task
	dataset *recordtest.Dataset
	known   map[string]bool // ids from before the change
}

// previewAnswer is a Preview in the form that a client reads.
type previewAnswer struct {
	Status   int
	Resource json.RawMessage
	Effects  []struct {
		Kind, Subject, Before, After, Detail string
		Count                                int64
	}
}

// state returns all stored items and files.
func (p *previewed) state() (items map[store.Key]store.Item, files []string) {
	items = map[store.Key]store.Item{}
	var after store.Key
	for {
		page, last, err := p.Store.(store.Scanner).Scan(p.t.Context(), after, 1000)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, it := range page {
			items[it.Key] = it
		}
		if last.IsZero() {
			break
		}
		after = last
	}
	for key, err := range p.Files.List(p.t.Context(), "", "", p.Now().AddDate(1, 0, 0)) {
		if err != nil {
			p.t.Fatal(err)
		}
		files = append(files, key)
	}
	slices.Sort(files)
	return items, files
}

func sameItem(a, b store.Item) bool {
	return a.Key == b.Key && a.Indexes == b.Indexes && a.Version == b.Version && a.Expires.Equal(b.Expires) && bytes.Equal(a.Data, b.Data)
}

var (
	newULID     = regexp.MustCompile(`[0-7][0-9A-HJKMNP-TV-Z]{25}`)
	newInstant  = regexp.MustCompile(`"20\d\d-[^"]*Z"`)
	newAlias    = regexp.MustCompile(`anonymous-[0-9a-z]{16}`)
	linkMembers = []string{"url", "upload", "secret", "requestId", "instance"}
)

// withoutChance returns a JSON document without the parts that differ between any two requests.
func (p *previewed) withoutChance(document []byte) string {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		p.t.Fatalf("%v: %s", err, document)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(name string, _ any) bool { return slices.Contains(linkMembers, name) })
			for _, member := range v {
				strip(member)
			}
		case []any:
			for _, element := range v {
				strip(element)
			}
		}
	}
	strip(v)
	text, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	text = newInstant.ReplaceAll(newAlias.ReplaceAll(text, []byte("ALIAS")), []byte(`"INSTANT"`))
	return newULID.ReplaceAllStringFunc(string(text), func(id string) string {
		if p.known[id] {
			return id
		}
		return "ID"
	})
}

// change requests a preview and then the change, and compares them.
func (p *previewed) change(user, method, path string, body any, headers ...string) {
	before, filesBefore := p.state()
	p.known = map[string]bool{}
	for k, it := range before {
		for _, id := range newULID.FindAllString(k.Partition+" "+k.Sort+" "+string(it.Data), -1) {
			p.known[id] = true
		}
	}
	preview := p.Do(user, method, path+"?preview=true", body, headers...)
	after, filesAfter := p.state()
	what := fmt.Sprintf("%s %s as %q with %v", method, path, user, body)
	if !maps.EqualFunc(before, after, sameItem) || !slices.Equal(filesBefore, filesAfter) {
		p.t.Fatalf("the preview of %s changed what is stored", what)
	}
	made := p.Do(user, method, path, body, headers...)
	if preview.Status != http.StatusOK {
		if preview.Status != made.Status || p.withoutChance(preview.Body) != p.withoutChance(made.Body) {
			p.t.Fatalf("%s is refused with\n%s\nand its preview with\n%s", what, made.Body, preview.Body)
		}
		return
	}
	var answer previewAnswer
	if err := json.Unmarshal(preview.Body, &answer); err != nil {
		p.t.Fatal(err)
	}
	if answer.Status != made.Status || p.withoutChance(answer.Resource) != p.withoutChance(made.Body) {
		p.t.Fatalf("%s is answered with %d\n%s\nand its preview said\n%s", what, made.Status, p.withoutChance(made.Body), preview.Body)
	}
	changed, _ := p.state()
	p.compareEffects(what, user, answer, before, changed)
}

// compareEffects compares the effects in a preview with the stored state before and after the change.
func (p *previewed) compareEffects(what, user string, answer previewAnswer, before, after map[store.Key]store.Item) {
	was, is := p.audiences(before), p.audiences(after)
	changed := map[string]int{} // by kind and audiences
	for path, audience := range is {
		if was[path] != audience {
			changed[kindOf(path)+was[path]+"→"+audience]++
		}
	}
	stored, audits := int64(0), int64(0)
	for _, e := range answer.Effects {
		switch {
		case e.Kind == "audience" && e.Count > 0:
			changed[kindOf(e.Subject)+e.Before+"→"+e.After] -= int(e.Count)
		case e.Kind == "quota" && e.Subject == "storedBytes":
			stored = e.Count
		case e.Kind == "audit":
			audits += e.Count
		}
	}
	for audience, n := range changed {
		if n < 0 || n > 0 && !strings.Contains(what, p.task.Path()+" as") { // resources in a task follow its audience
			p.t.Fatalf("%s: %d changes of the audience %s, beyond those that the preview named: %+v", what, n, audience, answer.Effects)
		}
	}
	entries := int64(0)
	for k := range after {
		if _, old := before[k]; !old && strings.HasPrefix(k.Partition, "AUDIT#") {
			entries++
		}
	}
	if took := p.storedBytes(user, after) - p.storedBytes(user, before); audits != entries || stored != took {
		p.t.Fatalf("%s: %d audit entries and %d bytes, and the preview named %d and %d", what, entries, took, audits, stored)
	}
}

// kindOf returns the path without ids.
func kindOf(path string) string {
	return strings.TrimSuffix(newULID.ReplaceAllString(path, ""), "/") + ": "
}

func (p *previewed) storedBytes(user string, items map[store.Key]store.Item) int64 {
	u, err := records.Decode[record.Usage](items[record.UsageKey(recordtest.UserID(user))])
	if err != nil {
		p.t.Fatal(err)
	}
	return cmp.Or(u, new(record.Usage)).Bytes
}

// audiences returns the audience of each resource that has one, by path.
func (p *previewed) audiences(items map[store.Key]store.Item) map[string]string {
	all := map[string]string{}
	add := func(path string, scope access.Scope, err error) {
		if err != nil {
			p.t.Fatal(err)
		}
		all[path] = record.AudienceName(scope.Audience)
	}
	for k, it := range items {
		switch id := k.Partition[strings.IndexByte(k.Partition, '#')+1:]; k {
		case record.TaskKey(id):
			r, err := records.Decode[record.TaskItem](it)
			add("/v1/tasks/"+id, r.Scope(), err)
		case record.DatasetKey(id):
			r, err := records.Decode[record.DatasetItem](it)
			add("/v1/datasets/"+id, r.Scope(), err)
		case record.SubmissionKey(id):
			r, err := records.Decode[record.SubmissionItem](it)
			add("/v1/tasks/"+r.TaskID+"/submissions/"+id, r.Scope(), err)
		case record.RunKey(id):
			r, err := records.Decode[record.RunItem](it)
			add("/v1/runs/"+id, r.Scope(), err)
		case record.EvaluationKey(id):
			r, err := records.Decode[record.EvaluationItem](it)
			add("/v1/evaluations/"+id, r.Scope(), err)
		}
	}
	return all
}

// A preview changes no stored byte. The change then does what the preview says.
func TestPreview_ChangesNothingAndSaysWhatFollows(t *testing.T) {
	nightlytest.Check(t, func(rt *rapid.T) {
		p := &previewed{Server: servertest.New(t, functions.Operations()...), t: rt}
		b := p.Records()
		b.User("olga", "ada", "dan", "eve", "root") // answers have the names of known users
		p.task = b.Task(func(t *record.TaskItem) { t.Submissions.PerDay = 3 })
		p.task.Register("ada")
		p.task.Register("dan", func(r *record.RegistrationItem) { r.Anonymous = true })
		p.dataset = p.task.Dataset(recordtest.Labels("Accuracy"), b.Truths("truth.csv", labTruth))
		var runs []*recordtest.Run
		for _, user := range []string{"ada", "dan"} {
			runs = append(runs, p.dataset.Run(user, recordtest.Content("run.csv", labTruth)),
				p.dataset.Run(user, recordtest.Public, recordtest.Queued))
		}
		for range rapid.IntRange(1, 12).Draw(rt, "requests") {
			p.randomChange(runs)
		}
	})
}

func (p *previewed) randomChange(runs []*recordtest.Run) {
	t := p.t
	chance := func(label string) bool { return rapid.Bool().Draw(t, label) }
	one := func(label string, values ...any) any { return rapid.SampledFrom(values).Draw(t, label) }
	run := rapid.SampledFrom(runs).Draw(t, "run")
	user := one("user", "olga", "ada", "dan", "eve", "root", "").(string)
	var headers []string
	if chance("key") {
		headers = []string{"Idempotency-Key", record.NewID(p.Now())}
	}
	post := func(path string, body map[string]any) { p.change(user, http.MethodPost, path, body, headers...) }
	patch := func(path string, members map[string][]any) {
		body := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if chance("with " + name) {
				body[name] = one(name, members[name]...)
			}
		}
		conditions := map[string][]string{"none": nil, "any": {"If-Match", "*"}, "stale": {"If-Match", `"0-00"`}}
		p.change(user, http.MethodPatch, path, body, conditions[one("condition", "none", "any", "stale").(string)]...)
	}
	team := one("team", "Heron", "heron", "Egret", "").(string)
	switch one("operation", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) {
	case 0:
		post("/v1/organizers", map[string]any{"name": team})
	case 1:
		post("/v1/tasks", map[string]any{"organizerId": p.task.OrganizerID, "name": team, "visibility": one("visibility", "public", "private")})
	case 2:
		terms := []any{map[string]any{"text": "Be fair."}, map[string]any{"text": ""}}
		patch(p.task.Path(), map[string][]any{"name": {"Renamed", ""}, "terms": terms, "visibility": {"public", "private"},
			"submissions": {map[string]any{"perDay": 1}, map[string]any{"perDay": -1}}})
	case 3:
		post("/v1/datasets", map[string]any{"taskId": p.task.ID, "name": team, "split": "test",
			"truths": []any{servertest.Inline("truth.csv", one("truth", labTruth, "id,label\n1,a\n1,b\n").(string)),
				servertest.Announced("x", "x")},
			"runFormat": p.dataset.RunFormat, "evaluator": p.dataset.Evaluator})
	case 4:
		patch(p.dataset.Path(), map[string][]any{"name": {"Renamed"}, "split": {"training", "test"}, "inputsFor": {"registrants", "anyone"},
			"publish": {"onCompletion", "never"}, "evaluator": {map[string]any{"measures": []string{"MCC"}}},
			"truths": {[]any{servertest.Inline("truth.csv", "id,label\n1,b\n")}}})
	case 5:
		post(p.task.Path()+"/registrations", map[string]any{"team": team, "anonymous": chance("anonymous")})
	case 6:
		patch(p.task.Path()+"/registrations/"+one("registration", p.registrations()...).(string), map[string][]any{
			"team": {"Heron", "Egret", " "}, "anonymous": {true, false}, "acceptedTerms": {1, 2}, "state": {"accepted", "rejected"}})
	case 7:
		file := servertest.Inline("run.csv", one("run file", labTruth, "1;2").(string))
		post(p.task.Path()+"/submissions", servertest.Upload(p.dataset.ID, file))
	case 8:
		patch(p.task.Path()+"/submissions/"+run.SubmissionID, map[string][]any{"visibility": {"public", "private"}, "title": {"A title"},
			"baseline": {true}})
	case 9:
		patch("/v1/runs/"+run.ID, map[string][]any{"label": {"mine", "a\nb"}, "state": {"cancelled", "completed"}})
	case 10:
		patch("/v1/runs/"+run.ID+"/review", map[string][]any{"published": {true, false}, "blinded": {true, false}, "comment": {"so"},
			"noErrors": {true}, "hasErrorOutput": {true}})
	case 12:
		var ids []any
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		patch(p.dataset.Path()+"/reviews", map[string][]any{"runIds": {ids, ids[:1]}, "filter": {map[string]any{"states": []string{"completed"}}},
			"review": {map[string]any{"published": true}, map[string]any{"blinded": chance("blinded"), "noErrors": true}}})
	case 11:
		if user != "root" {
			post("/v1/user/tokens", map[string]any{"name": team, "scopes": []any{one("scope", "read", "nothing")},
				"expiresAt": p.Now().AddDate(0, 1, 0).Format("2006-01-02T15:04:05Z")})
		}
		patch("/v1/user", nil)
	}
}

// registrations returns the ids of the task's registrations.
func (p *previewed) registrations() (ids []any) {
	items, _ := p.state()
	for _, k := range slices.SortedFunc(maps.Keys(items), func(a, b store.Key) int { return strings.Compare(a.Sort, b.Sort) }) {
		if id, ok := strings.CutPrefix(k.Sort, record.RegistrationPrefix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// A preview says when scores that wait for the last close will be shown, and to whom they would be shown now, whatever moves the close: the
// dataset, the task or an exception.
func TestPreview_SaysWhenScoresAreShown(t *testing.T) {
	f := newPhases(t, recordtest.AfterClose)
	f.closeTask(time.Hour)()
	named := fmt.Sprintf("%s (%s)", f.dataset.Name, f.dataset.ID)
	const valid = ": teams learn only whether their runs are valid. "
	until := func(instants, then string) string {
		return "Until " + instants + ", when the last window closes, only the organizers see scores on " + named + then
	}
	previewed := func(method, path string, body map[string]any, want string) {
		t.Helper()
		var p previewAnswer
		f.Want(http.StatusOK, &p, olga, method, path+"?preview=true", body)
		found := ""
		for _, e := range p.Effects {
			if e.Kind == "audience" && e.Subject == f.dataset.Path() {
				found += e.Detail + " "
			}
		}
		if found != want {
			t.Errorf("%s with %v: %q, want %q", path, body, found, want)
		}
	}
	closing := func(path string, at any, want string) {
		t.Helper()
		previewed(http.MethodPatch, path, map[string]any{"submissions": map[string]any{"closesAt": at}}, want)
	}
	extending := func(body map[string]any, want string) {
		t.Helper()
		body["reason"] = "The store was down."
		previewed(http.MethodPost, f.exceptions(f.bob), body, want)
	}
	past := f.in(-time.Hour)
	first := f.in(time.Hour)
	later := f.in(3 * time.Hour)
	opens := "Scores on " + named + " are no longer withheld. The review of each run says who sees them. "
	closes := until(later.String(), valid)
	moved := until(later.String()+" instead of "+first.String(), ". ")
	for _, path := range []string{f.task.Path(), f.dataset.Path()} {
		closing(path, past, opens)
		closing(path, later, moved)
	}
	closing(f.task.Path(), nil, "No window closes, so only the organizers see scores on "+named+", without an end"+valid)
	extending(map[string]any{"closesAt": later}, moved)
	other := f.task.Dataset()
	extending(map[string]any{"closesAt": later, "datasetId": other.ID}, "")

	f.closeTask(-time.Hour)()
	for _, body := range []map[string]any{{"closesAt": later}, {"closesAt": later, "datasetId": f.dataset.ID}} {
		extending(body, closes)
	}
	closing(f.dataset.Path(), later, closes)
	f.grant(f.bob, map[string]any{"closesAt": f.in(2 * time.Hour)})
	closing(f.dataset.Path(), f.in(-2*time.Hour), "") // bob's window is the last, as before
}
