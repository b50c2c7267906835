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

	"assay/shared/record"
)

// callers are those whom the rights tell apart, in the order of the columns of the tables.
var callers = []string{"anonymous", "outsider", "registrant", "owner", "rival", "organizer", "admin", "worker"}

// scene is two tasks alike, one public and one private, with one of everything below them that rights tell apart.
//
// The organizer runs both, the owner and the registrant take part in both, and everything that was submitted is the
// owner's. The rival runs a task of its own; the outsider does nothing at all.
type scene struct {
	Setup
	t         testing.TB
	tokens    map[string]string // by caller
	users     map[string]string // ids, by caller
	organizer string            // the id of the organizer of both tasks
	rivalTask string
	public    place
	private   place
	masked    masked            // to the public task, by an anonymous team
	component string            // the id of one of the catalogue
	inputs    map[string]any    // for each tool one that works
	example   string            // that of evaluate
	missing   string            // an id that nothing has
	answers   map[string]answer // to requests for what is missing
	secrets   []secret
	met       map[string]bool // texts of secrets, by whether an answer told them
}

// masked is what an anonymous team submitted.
type masked struct{ token, user, registration, submission, run, evaluation string }

// place has the ids of what is below a task. Runs and evaluations are named after the evaluation: `published`, `unpublished`,
// `blinded`, `withdrawn` (published, and blinded again), and `hiddenEntry` (published, of a private submission).
type place struct {
	task, dataset, testSet   string
	team                     string // name of the owner's
	registration             string // the owner's
	publicEntry, ownersEntry string // submissions
	runs, evaluations        map[string]string
}

func newScene(t testing.TB, s Setup) *scene {
	t.Helper()
	s.revisions = new(revisions)
	sc := &scene{Setup: s.checked(t, s.contract(t)), t: t, tokens: map[string]string{}, users: map[string]string{}, met: map[string]bool{}, answers: map[string]answer{}}
	tail := strings.ToLower(rand.Text())
	for _, c := range callers[1:] {
		var groups []string
		if c == "admin" || c == "worker" {
			groups = []string{c + "s"}
		}
		sc.tokens[c] = s.Token(c+"-"+tail, groups...)
		var me struct{ ID string }
		s.want(t, http.StatusOK, &me, sc.tokens[c], http.MethodGet, "/v1/user", nil)
		sc.users[c] = me.ID
		if c == "registrant" || c == "owner" { // whom the organizer registers
			s.want(t, http.StatusOK, nil, sc.tokens[c], http.MethodPatch, "/v1/user", map[string]any{})
		}
	}
	sc.organizer = id(s.create(t, sc.tokens["organizer"], "/v1/organizers", map[string]any{"name": "Organizer"}))
	rivals := id(s.create(t, sc.tokens["rival"], "/v1/organizers", map[string]any{"name": "Rival"}))
	sc.rivalTask = id(s.create(t, sc.tokens["rival"], "/v1/tasks", map[string]any{"organizerId": rivals, "name": "Rival"}))
	sc.public, sc.private = sc.newPlace("public"), sc.newPlace("private")
	sc.missing = record.NewID(time.Now())
	var catalogue struct{ Data []struct{ ID string } }
	sc.want(t, http.StatusOK, &catalogue, "", http.MethodGet, "/v1/platform/components?limit=1", nil)
	sc.component = catalogue.Data[0].ID
	sc.inputs = sc.examples()
	example, err := json.Marshal(sc.inputs["evaluator"])
	if err != nil {
		t.Fatal(err)
	}
	sc.example = string(example)
	sc.masked = sc.newMasked(s.Token("masked-" + tail))
	for _, p := range []*place{&sc.public, &sc.private} {
		sc.evaluated(p)
	}
	sc.secrets = sc.listSecrets()
	return sc
}

func (sc *scene) newMasked(token string) masked {
	t, e := sc.t, masked{token: token}
	var me, made struct {
		ID     string
		RunIDs []string
	}
	sc.want(t, http.StatusOK, &me, token, http.MethodGet, "/v1/user", nil)
	task := "/v1/tasks/" + sc.public.task
	e.user = me.ID
	e.registration = id(sc.create(t, token, task+"/registrations", map[string]any{"team": maskedTeam, "anonymous": true}))
	sc.want(t, http.StatusCreated, &made, token, http.MethodPost, task+"/submissions", map[string]any{
		"type": "upload", "visibility": "public", "files": []any{csvFile("run.csv", soundRun, sc.public.dataset)},
	})
	e.submission, e.run = made.ID, made.RunIDs[0]
	p := place{runs: map[string]string{"published": e.run}, evaluations: map[string]string{}}
	sc.evaluated(&p)
	e.evaluation = p.evaluations["published"]
	return e
}

func (sc *scene) newPlace(visibility string) place {
	t, organizer, owner := sc.t, sc.tokens["organizer"], sc.tokens["owner"]
	p := place{runs: map[string]string{}, evaluations: map[string]string{}, team: "Owner"}
	task := sc.create(t, organizer, "/v1/tasks", map[string]any{"organizerId": sc.organizer, "name": "Task", "visibility": visibility})
	p.task = id(task)
	p.dataset, p.testSet = sc.newDataset(p.task, "validation", truthID), sc.newDataset(p.task, "test", testID)
	p.registration = id(sc.create(t, organizer, task+"/registrations", map[string]any{"team": p.team, "userId": sc.users["owner"], "contact": ownersContact}))
	sc.create(t, organizer, task+"/registrations", map[string]any{"team": "Registrant", "userId": sc.users["registrant"]})
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
		sc.want(t, http.StatusCreated, &made, owner, http.MethodPost, task+"/submissions", map[string]any{
			"type": "upload", "visibility": e.visibility, "title": e.visibility + " title", "files": []any{
				csvFile("run.csv", soundRun, p.dataset), csvFile("run.csv", soundTest, p.testSet),
			},
		})
		*e.entry = made.ID
		for i, name := range e.runs {
			p.runs[name] = made.RunIDs[i]
		}
	}
	sc.newFailures(owner, p)
	return p
}

// Each has a prediction for every id of its truth.
const (
	soundRun  = "id,label\n1,a\n2," + guess + "\n" + truthID + ",a\n"
	soundTest = "id,label\n1,a\n2," + testGuess + "\n" + testID + ",a\n"
)

// newFailures makes runs that fail in a public entry, for they lack what only the truth has. The owner reads what that is
// unless the run is blinded: then only which ids of the inputs the run lacks. Others read neither.
func (sc *scene) newFailures(owner string, p place) {
	sc.t.Helper()
	topics := newDataset(p.task, "test")
	topics["truths"] = []any{csvFile(truthFile, testTopic+" 0 d1 1\n", "")}
	topics["runFormat"] = map[string]any{"kind": "trec-run"}
	topics["evaluator"] = map[string]any{"kind": "retrieval", "measures": []string{"AP"}}
	retrieval := id(sc.create(sc.t, sc.tokens["organizer"], "/v1/datasets", topics))
	testSet := sc.newDataset(p.task, "test", lackedID)
	const lacking, withheld = "id,label\n1,a\n", "could tell of the truth"
	var made struct{ RunIDs []string }
	sc.want(sc.t, http.StatusCreated, &made, owner, http.MethodPost, "/v1/tasks/"+p.task+"/submissions", map[string]any{
		"type": "upload", "visibility": "public", "files": []any{
			csvFile("run.csv", lacking, p.dataset), csvFile("run.csv", lacking, testSet), csvFile("run.txt", "1 Q0 d1 1 1.0 tag\n", retrieval),
		},
	})
	for i, want := range []struct {
		owner  []string // in the diagnostics for the owner
		others []string // in those for others once the review is published
	}{
		{[]string{"2 of 3 ids of the truth", `the id "2"`, `the id "` + truthID + `"`}, []string{withheld}},
		{[]string{`there is no prediction for 1 of 2 ids of the inputs of the dataset: "2"`, withheld}, nil},
		{[]string{withheld}, nil},
	} {
		sc.awaitRun(owner, made.RunIDs[i], func(r record.Run) bool { return r.State == record.Failed })
		run := "/v1/runs/" + made.RunIDs[i]
		sc.checkDiagnostics(owner, run, want.owner)
		sc.checkDiagnostics(sc.tokens["registrant"], run, nil)
		sc.want(sc.t, http.StatusOK, nil, sc.tokens["organizer"], http.MethodPatch, run+"/review", map[string]any{"published": true})
		sc.checkDiagnostics(owner, run, want.owner)
		sc.checkDiagnostics(sc.tokens["registrant"], run, want.others)
	}
}

// awaitRun waits until the run is as it must be, as the bearer is shown it.
func (sc *scene) awaitRun(token, run string, done func(record.Run) bool) (r record.Run) {
	sc.t.Helper()
	for deadline := time.Now().Add(evaluationTime); ; time.Sleep(5 * time.Millisecond) {
		r = record.Run{}
		if sc.want(sc.t, http.StatusOK, &r, token, http.MethodGet, "/v1/runs/"+run, nil); done(r) {
			return r
		}
		if time.Now().After(deadline) {
			sc.t.Fatalf("the run %s is still %s", run, r.State)
		}
	}
}

// awaitEvaluation waits for the evaluation of a run, and returns its id.
func (sc *scene) awaitEvaluation(run string) string {
	sc.t.Helper()
	return sc.awaitRun(sc.tokens["organizer"], run, func(r record.Run) bool { return r.EvaluationID != "" }).EvaluationID
}

// checkDiagnostics requires that the bearer reads as many diagnostics of the run as there are texts, each with its text.
func (sc *scene) checkDiagnostics(token, run string, texts []string) {
	sc.t.Helper()
	var r struct {
		Diagnostics []struct{ Message string }
	}
	sc.want(sc.t, http.StatusOK, &r, token, http.MethodGet, run, nil)
	has := func(d struct{ Message string }, text string) bool { return strings.Contains(d.Message, text) }
	if !slices.EqualFunc(r.Diagnostics, texts, has) {
		sc.t.Errorf("%s: diagnostics %v, want %d, each with its text of %q", run, r.Diagnostics, len(texts), texts)
	}
}

// newDataset creates a dataset whose truth has the hidden id besides those of the inputs.
func (sc *scene) newDataset(task, split, hidden string) string {
	set := newDataset(task, split)
	set["truths"] = []any{csvFile(truthFile, "id,label\n1,a\n2,"+truthLabel+"\n"+hidden+","+truthLabel+"\n", "")}
	return id(sc.create(sc.t, sc.tokens["organizer"], "/v1/datasets", set))
}

func newDataset(task, split string) map[string]any {
	return map[string]any{
		"taskId": task, "name": "Dataset", "split": split, "truths": []any{csvFile(truthFile, "id,label\n1,a\n2,a\n", "")},
		"inputs":    []any{csvFile("input.csv", "id,text\n1,x\n2,y\n", "")},
		"runFormat": map[string]any{"kind": "csv", "idField": "id", "valueField": "label"},
		"evaluator": map[string]any{"kind": "classification", "measures": []string{"Accuracy"}},
	}
}

// image is the body of a submission of an image to the datasets.
func image(datasets ...string) map[string]any {
	return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": datasets}
}

// csvFile is an inline file, of a dataset when that is not empty.
func csvFile(name, content, dataset string) map[string]any {
	f := map[string]any{"name": name, "mediaType": "text/csv", "content": base64.StdEncoding.EncodeToString([]byte(content))}
	if dataset != "" {
		f["datasetId"] = dataset
	}
	return f
}

// evaluationTime is how long a server may take to evaluate what a test submits.
const evaluationTime = 30 * time.Second

// evaluated waits for the evaluations of the place's runs and writes their reviews.
func (sc *scene) evaluated(p *place) {
	sc.t.Helper()
	organizer := sc.tokens["organizer"]
	for name, run := range p.runs {
		p.evaluations[name] = sc.awaitEvaluation(run)
		review := map[string]any{
			"published": name == "published" || name == "hiddenEntry" || name == "withdrawn",
			"blinded":   name == "blinded" || name == "withdrawn" || name == "other",
			"comment":   reviewComment,
		}
		sc.want(sc.t, http.StatusOK, nil, organizer, http.MethodPatch, "/v1/runs/"+run+"/review", review)
	}
}
