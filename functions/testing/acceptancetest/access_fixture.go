package acceptancetest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/testing/waittest"
)

// callers are the callers that the rights distinguish, in the order of the columns of the tables.
var callers = []string{"anonymous", "outsider", "registrant", "owner", "rival", "editor", "organizer", "admin", "worker"}

// fixture has two similar tasks, one public and one private. Each has one of every resource that the rights distinguish.
//
// The organizer runs both tasks, with the editor. The owner and the registrant take part in both, and the owner made all
// submissions. The rival runs another task. The outsider takes part in nothing.
type fixture struct {
	Setup
	t           testing.TB
	tokens      map[string]string // by caller
	users       map[string]string // ids, by caller
	organizer   string            // id of the organizer of both tasks
	rivalTask   string
	public      taskIDs
	private     taskIDs
	anonymous   anonymousTeam  // takes part in the public task
	component   string         // id of a component of the catalogue
	consoleFile string         // name of a file of the console
	inputs      map[string]any // by tool: an input that works
	example     string         // the input of the tool evaluator
	// accessToken is the id of an access token of the owner.
	accessToken       string
	invitation        string            // id of an invitation to the organizer
	webhook, delivery string            // ids of a webhook of the organizer and its delivery
	missing           string            // an id of no resource
	answers           map[string]answer // to requests for missing resources
	secrets           []secret
	found             map[string]bool // texts of secrets that an answer had
}

// anonymousTeam holds the token of an anonymous team's member and the ids of the team's submission.
type anonymousTeam struct{ token, user, registration, submission, run, evaluation string }

// taskIDs holds the ids of the resources of a task. Runs and evaluations have the name of the evaluation: `published`,
// `unpublished`, `blinded`, `withdrawn` (published and later blinded) and `hiddenEntry` (published, of a private submission).
type taskIDs struct {
	task, dataset, testSet   string
	team                     string // name of the owner's team
	registration             string // of the owner's team
	invitation               string // to the task
	teamInvitation           string // to the owner's team
	exception                string // granted to the owner's team
	publicEntry, ownersEntry string // submissions
	announcement             string
	webhook, delivery        string
	runs, evaluations        map[string]string
}

func newFixture(t testing.TB, s Setup) *fixture {
	t.Helper()
	s.revisions = new(revisions)
	f := &fixture{Setup: s.checked(t, s.contract(t)), t: t, tokens: map[string]string{}, users: map[string]string{}, found: map[string]bool{},
		answers: map[string]answer{}}
	tail := strings.ToLower(rand.Text())
	for _, c := range callers[1:] {
		var groups []string
		if c == "admin" || c == "worker" {
			groups = []string{c + "s"}
		}
		f.tokens[c] = s.Token(c+"-"+tail, groups...)
		var me struct{ ID string }
		s.want(t, http.StatusOK, &me, f.tokens[c], http.MethodGet, "/v1/user", nil)
		f.users[c] = me.ID
	}
	organizer := s.create(t, f.tokens["organizer"], "/v1/organizers", map[string]any{"name": "Organizer"})
	f.organizer = id(organizer)
	_, secret := s.invite(t, f.tokens["organizer"], organizer, map[string]any{"role": "editor"})
	s.create(t, f.tokens["editor"], "/v1/user/memberships", map[string]any{"secret": secret})
	f.webhook, f.delivery = f.newWebhook(organizer)
	rivals := id(s.create(t, f.tokens["rival"], "/v1/organizers", map[string]any{"name": "Rival"}))
	f.rivalTask = id(s.create(t, f.tokens["rival"], "/v1/tasks", map[string]any{"organizerId": rivals, "name": "Rival"}))
	f.public, f.private = f.newTask("public"), f.newTask("private")
	f.accessToken = id(s.create(t, f.tokens["owner"], "/v1/user/tokens", map[string]any{"name": "A token", "scopes": []string{"read"}}))
	invitation, _ := s.invite(t, f.tokens["organizer"], organizer, map[string]any{})
	f.invitation = id(invitation)
	f.missing = record.NewID(time.Now())
	var catalogue struct{ Data []struct{ ID string } }
	f.want(t, http.StatusOK, &catalogue, "", http.MethodGet, "/v1/platform/components?limit=1", nil)
	f.component = catalogue.Data[0].ID
	page := f.want(t, http.StatusOK, nil, "", http.MethodGet, "/console", nil)
	_, f.consoleFile, _ = strings.Cut(string(page.body), ` src="/console/`)
	f.consoleFile, _, _ = strings.Cut(f.consoleFile, `"`)
	f.inputs = f.examples()
	example, err := json.Marshal(f.inputs["evaluator"])
	if err != nil {
		t.Fatal(err)
	}
	f.example = string(example)
	f.anonymous = f.newAnonymous(s.Token("anonymous-" + tail))
	for _, p := range []*taskIDs{&f.public, &f.private} {
		f.evaluated(p)
	}
	f.secrets = f.listSecrets()
	return f
}

func (f *fixture) newAnonymous(token string) anonymousTeam {
	t, e := f.t, anonymousTeam{token: token}
	var me, made struct {
		ID     string
		RunIDs []string
	}
	f.want(t, http.StatusOK, &me, token, http.MethodGet, "/v1/user", nil)
	task := "/v1/tasks/" + f.public.task
	e.user = me.ID
	e.registration = id(f.create(t, token, task+"/registrations", map[string]any{"team": anonymousName, "anonymous": true}))
	f.want(t, http.StatusCreated, &made, token, http.MethodPost, task+"/submissions", map[string]any{
		"type": "upload", "visibility": "public", "files": []any{csvFile("run.csv", soundRun, f.public.dataset)},
	})
	e.submission, e.run = made.ID, made.RunIDs[0]
	p := taskIDs{runs: map[string]string{"published": e.run}, evaluations: map[string]string{}}
	f.evaluated(&p)
	e.evaluation = p.evaluations["published"]
	return e
}

func (f *fixture) newTask(visibility string) taskIDs {
	t := f.t
	organizer := f.tokens["organizer"]
	owner := f.tokens["owner"]
	p := taskIDs{runs: map[string]string{}, evaluations: map[string]string{}, team: "Owner"}
	task := f.create(t, organizer, "/v1/tasks", map[string]any{"organizerId": f.organizer, "name": "Task", "visibility": visibility,
		"submissions": map[string]any{"perDay": 1000}})
	p.task = id(task)
	p.announcement = id(f.create(t, organizer, task+"/announcements",
		map[string]any{"title": "Welcome", "body": "To *all* who see the task."}))
	p.webhook, p.delivery = f.newWebhook(task)
	p.dataset = f.newDataset(p.task, "validation", truthID)
	p.testSet = f.newDataset(p.task, "test", testID)
	invitation, secret := f.invite(t, organizer, task, map[string]any{"uses": 3})
	p.invitation = id(invitation)
	join := func(who string, registration map[string]any) string {
		return f.create(t, f.tokens[who], "/v1/user/memberships", map[string]any{"secret": secret, "registration": registration})
	}
	registration := join("owner", map[string]any{"team": p.team, "contact": ownersContact})
	join("registrant", map[string]any{"team": "Registrant"})
	p.registration = id(registration)
	invitation, _ = f.invite(t, owner, registration, map[string]any{})
	p.teamInvitation = id(invitation)
	p.exception = id(f.create(t, organizer, registration+"/exceptions", exception))
	for _, e := range []struct {
		visibility string
		runs       [2]string // on the dataset and on the test set
		entry      *string
	}{
		{"public", [2]string{"published", "blinded"}, &p.publicEntry},
		{"private", [2]string{"unpublished", "withdrawn"}, &p.ownersEntry},
		{"private", [2]string{"hiddenEntry", "other"}, new(string)},
	} {
		var made struct {
			ID     string
			RunIDs []string
		}
		f.want(t, http.StatusCreated, &made, owner, http.MethodPost, task+"/submissions", map[string]any{
			"type": "upload", "visibility": e.visibility, "title": e.visibility + " title", "again": true, "files": []any{
				csvFile("run.csv", soundRun, p.dataset), csvFile("run.csv", soundTest, p.testSet),
			},
		})
		*e.entry = made.ID
		for i, name := range e.runs {
			p.runs[name] = made.RunIDs[i]
		}
	}
	f.newFailures(owner, p)
	return p
}

// newWebhook sends the events of a task or organizer to an address that the platform refuses to reach. It returns the id of the
// webhook and the id of its first delivery.
func (f *fixture) newWebhook(of string) (webhook, delivery string) {
	path := f.create(f.t, f.tokens["organizer"], of+"/webhooks", map[string]any{"url": unreachable})
	var list struct{ Data []struct{ ID string } }
	f.want(f.t, http.StatusOK, &list, f.tokens["organizer"], http.MethodGet, path+"/deliveries", nil)
	return id(path), list.Data[0].ID
}

// exception is the body of a request that grants more runs.
var exception = map[string]any{"perDay": 1, "reason": "A reason"}

// unreachable is an address that no event reaches: its host has no address.
const unreachable = "https://hooks.invalid/"

// Runs with a prediction for every id of the truth.
const (
	soundRun  = "id,label\n1,a\n2," + guess + "\n" + truthID + ",a\n"
	soundTest = "id,label\n1,a\n2," + testGuess + "\n" + testID + ",a\n"
)

// newFailures makes runs of a public entry that fail because they lack ids of the truth. The owner reads these ids in the
// diagnostics, unless the run is blinded. For a blinded run the owner reads only the missing ids of the inputs. Other callers
// read neither.
func (f *fixture) newFailures(owner string, p taskIDs) {
	f.t.Helper()
	topics := newDataset(p.task, "test")
	topics["truths"] = []any{csvFile(truthFile, testTopic+" 0 d1 1\n", "")}
	topics["runFormat"] = map[string]any{"kind": "trec-run"}
	topics["evaluator"] = map[string]any{"kind": "retrieval", "measures": []string{"AP"}}
	retrieval := id(f.create(f.t, f.tokens["organizer"], "/v1/datasets", topics))
	testSet := f.newDataset(p.task, "test", lackedID)
	const lacking, withheld = "id,label\n1,a\n", "could tell of the truth"
	var made struct{ RunIDs []string }
	f.want(f.t, http.StatusCreated, &made, owner, http.MethodPost, "/v1/tasks/"+p.task+"/submissions", map[string]any{
		"type": "upload", "visibility": "public", "files": []any{
			csvFile("run.csv", lacking, p.dataset), csvFile("run.csv", lacking, testSet), csvFile("run.txt", "1 Q0 d1 1 1.0 tag\n", retrieval),
		},
	})
	for i, want := range []struct {
		owner  []string // texts in the diagnostics for the owner
		others []string // texts in the diagnostics for others, once the review is published
	}{
		{[]string{`2 of 3 ids of the truth, the first of them "2"`, `the id "` + truthID + `"`}, []string{withheld}},
		{[]string{`there is no prediction for 1 of 2 ids of the inputs of the dataset: "2"`, withheld}, nil},
		{[]string{withheld}, nil},
	} {
		f.awaitRun(owner, made.RunIDs[i], func(r record.Run) bool { return r.State == record.Failed })
		run := "/v1/runs/" + made.RunIDs[i]
		f.checkDiagnostics(owner, run, want.owner)
		f.checkDiagnostics(f.tokens["registrant"], run, nil)
		f.want(f.t, http.StatusOK, nil, f.tokens["organizer"], http.MethodPatch, run+"/review", map[string]any{"published": true})
		f.checkDiagnostics(owner, run, want.owner)
		f.checkDiagnostics(f.tokens["registrant"], run, want.others)
	}
}

// awaitRun waits until the run, as the bearer sees it, satisfies done.
func (f *fixture) awaitRun(token, run string, done func(record.Run) bool) record.Run {
	f.t.Helper()
	return waittest.Value(f.t, "the run "+run+" is as expected", func() (r record.Run, expected bool) {
		f.want(f.t, http.StatusOK, &r, token, http.MethodGet, "/v1/runs/"+run, nil)
		return r, done(r)
	})
}

// awaitEvaluation waits for the evaluation of a run and returns its id.
func (f *fixture) awaitEvaluation(run string) string {
	f.t.Helper()
	return f.awaitRun(f.tokens["organizer"], run, func(r record.Run) bool { return r.EvaluationID != "" }).EvaluationID
}

// checkDiagnostics checks that the bearer reads one diagnostic of the run for each text, in the same order.
func (f *fixture) checkDiagnostics(token, run string, texts []string) {
	f.t.Helper()
	var r struct {
		Diagnostics []struct{ Message string }
	}
	f.want(f.t, http.StatusOK, &r, token, http.MethodGet, run, nil)
	has := func(d struct{ Message string }, text string) bool { return strings.Contains(d.Message, text) }
	if !slices.EqualFunc(r.Diagnostics, texts, has) {
		f.t.Errorf("%s: diagnostics %v, want %d, each with its text of %q", run, r.Diagnostics, len(texts), texts)
	}
}

// newDataset creates a dataset whose truth has the ids of the inputs and the hidden id.
func (f *fixture) newDataset(task, split, hidden string) string {
	set := newDataset(task, split)
	set["truths"] = []any{csvFile(truthFile, "id,label\n1,a\n2,"+truthLabel+"\n"+hidden+","+truthLabel+"\n", "")}
	return id(f.create(f.t, f.tokens["organizer"], "/v1/datasets", set))
}

func newDataset(task, split string) map[string]any {
	return map[string]any{
		"taskId": task, "name": "Dataset", "split": split, "truths": []any{csvFile(truthFile, "id,label\n1,a\n2,a\n", "")},
		"inputs":    []any{csvFile("input.csv", "id,text\n1,x\n2,y\n", "")},
		"runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
	}
}

// image returns the body of a submission of an image to the datasets.
func image(datasets ...string) map[string]any {
	return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": datasets, "again": true}
}

// csvFile returns an inline file. Unless dataset is empty, the file is a run on the dataset.
func csvFile(name, content, dataset string) map[string]any {
	f := map[string]any{"name": name, "mediaType": "text/csv", "content": base64.StdEncoding.EncodeToString([]byte(content))}
	if dataset != "" {
		f["datasetId"] = dataset
	}
	return f
}

// evaluated waits for the evaluations of the runs and writes their reviews.
func (f *fixture) evaluated(p *taskIDs) {
	f.t.Helper()
	organizer := f.tokens["organizer"]
	for name, run := range p.runs {
		p.evaluations[name] = f.awaitEvaluation(run)
		review := map[string]any{
			"published": name == "published" || name == "hiddenEntry" || name == "withdrawn",
			"blinded":   name == "blinded" || name == "withdrawn" || name == "other",
			"comment":   reviewComment,
		}
		f.want(f.t, http.StatusOK, nil, organizer, http.MethodPatch, "/v1/runs/"+run+"/review", review)
	}
}
