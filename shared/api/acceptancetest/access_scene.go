package acceptancetest

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/record"
)

// callers are those whom the rights tell apart, in the order of the columns of the tables.
var callers = []string{"anonymous", "stranger", "registrant", "owner", "rival", "organizer", "admin", "worker"}

// scene is two tasks alike, one public and one private, with one of everything below them that rights tell apart.
//
// The organizer runs both, the owner and the registrant take part in both, and everything that was submitted is the
// owner's. The rival runs a task of its own; the stranger does nothing at all.
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
	}
	sc.organizer = id(s.create(t, sc.tokens["organizer"], "/v1/organizers", map[string]any{"name": "Organizer"}))
	rivals := id(s.create(t, sc.tokens["rival"], "/v1/organizers", map[string]any{"name": "Rival"}))
	sc.rivalTask = id(s.create(t, sc.tokens["rival"], "/v1/tasks", map[string]any{"organizerId": rivals, "name": "Rival"}))
	sc.public, sc.private = sc.newPlace("public"), sc.newPlace("private")
	sc.missing = record.NewID(time.Now())
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
	p.dataset, p.testSet = sc.newDataset(p.task, "validation"), sc.newDataset(p.task, "test")
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
				csvFile("run.csv", soundRun, p.dataset), csvFile("run.csv", soundRun, p.testSet),
			},
		})
		*e.entry = made.ID
		for i, name := range e.runs {
			p.runs[name] = made.RunIDs[i]
		}
	}
	sc.newFailure(owner, p)
	return p
}

// soundRun has a prediction for every id of the truth.
const soundRun = "id,label\n1,a\n2,b\n" + truthID + ",c\n"

// newFailure makes runs that fail in a public entry: they lack ids that only the truth has. Which, the owner is told, unless
// the run is blinded; others are told nothing before the review is published.
func (sc *scene) newFailure(owner string, p place) {
	var made struct{ RunIDs []string }
	const lacking = "id,label\n1,a\n"
	sc.want(sc.t, http.StatusCreated, &made, owner, http.MethodPost, "/v1/tasks/"+p.task+"/submissions", map[string]any{
		"type": "upload", "visibility": "public", "files": []any{csvFile("run.csv", lacking, p.dataset), csvFile("run.csv", lacking, p.testSet)},
	})
	for i, told := range []int{1 + 2, 1} {
		path := "/v1/runs/" + made.RunIDs[i]
		var r struct {
			State       string
			Diagnostics []struct{ Message string }
		}
		for deadline := time.Now().Add(evaluationTime); r.State != "failed"; time.Sleep(5 * time.Millisecond) {
			sc.want(sc.t, http.StatusOK, &r, owner, http.MethodGet, path, nil)
			if time.Now().After(deadline) {
				sc.t.Fatalf("run %s is still %s", path, r.State)
			}
		}
		if len(r.Diagnostics) != told || !strings.Contains(r.Diagnostics[0].Message, "2 of the 3 ids") {
			sc.t.Errorf("the owner of the run %s is told %v", path, r.Diagnostics)
		}
		sc.want(sc.t, http.StatusOK, &r, sc.tokens["registrant"], http.MethodGet, path, nil)
		if len(r.Diagnostics) != 0 {
			sc.t.Errorf("another team is told of the run %s: %v", path, r.Diagnostics)
		}
	}
}

func (sc *scene) newDataset(task, split string) string {
	set := newDataset(task, split)
	set["truths"] = []any{csvFile(truthFile, "id,label\n1,a\n2,a\n"+truthID+",a\n", "")}
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
		for deadline := time.Now().Add(evaluationTime); p.evaluations[name] == ""; time.Sleep(5 * time.Millisecond) {
			var r struct{ State, EvaluationID string }
			sc.want(sc.t, http.StatusOK, &r, organizer, http.MethodGet, "/v1/runs/"+run, nil)
			p.evaluations[name] = r.EvaluationID
			if time.Now().After(deadline) {
				sc.t.Fatalf("run %s is still %s", run, r.State)
			}
		}
		review := map[string]any{
			"published": name == "published" || name == "hiddenEntry" || name == "withdrawn",
			"blinded":   name == "blinded" || name == "withdrawn" || name == "other",
			"comment":   reviewComment,
		}
		sc.want(sc.t, http.StatusOK, nil, organizer, http.MethodPatch, "/v1/runs/"+run+"/review", review)
	}
}
