package tools_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/functions/tools"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The files of the server's dataset, and a run that fits them.
const (
	datasetQrels     = "1 0 a 2\n1 0 b 0\n2 0 c 1\n"
	datasetDocuments = "a\tAn anchor holds a boat.\nb\tA boat floats.\nc\tA canal is dug.\n"
	datasetQueries   = "1\tboats at anchor\n2\tcanals\n"
	datasetRun       = "1 Q0 b 1 2.0 tag\n1 Q0 a 2 1.0 tag\n2 Q0 c 1 1.0 tag\n"
)

// toolServer is a server of the tools. It has a task of olga's with a dataset of retrieval, which has judgments and texts.
type toolServer struct {
	*servertest.Server
	t       testing.TB
	records *recordtest.Builder
	task    *recordtest.Task
	dataset *recordtest.Dataset
	schemas map[string]*jsonschema.Schema // of answers, by tool
}

func newToolServer(t testing.TB, v record.Visibility) *toolServer {
	s := &toolServer{Server: servertest.New(t, tools.Operations...), t: t, schemas: map[string]*jsonschema.Schema{}}
	s.records = s.Records()
	s.task = s.records.Task(func(t *record.TaskItem) { t.Name, t.Visibility = "Lakes", v })
	s.dataset = s.task.Dataset(func(d *record.DatasetItem) { d.Name = "Waters" }, s.records.Truths("qrels.txt", datasetQrels),
		s.records.Inputs("documents.tsv", datasetDocuments), s.records.Inputs("queries.tsv", datasetQueries))
	return s
}

// newClassificationDataset makes a dataset of classification.
func (s *toolServer) newClassificationDataset(truth string) *recordtest.Dataset {
	s.t.Helper()
	return s.task.Dataset(recordtest.Labels("Accuracy"), s.records.Truths("truth.csv", truth))
}

// newWorkerDataset makes a dataset that an image of its organizers evaluates by RR and by AP. Lower values of AP are better.
func (s *toolServer) newWorkerDataset() *recordtest.Dataset {
	s.t.Helper()
	return s.task.Dataset(s.records.Truths("t", "t"), func(d *record.DatasetItem) {
		d.RunFormat = record.RunFormat{Kind: "jsonl", IDField: "id", ValueField: "v"}
		d.Evaluator = record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"RR", "AP"}, Image: "image"}
		d.Columns = []record.Column{{Key: "RR"}, {Key: "AP", LowerIsBetter: new(true)}}
	})
}

// runSpec describes a run of a test. By default the results are published and the run itself is private.
type runSpec struct {
	user, team, label string             // defaults: alice, and the team of the user
	content           string             // content of its file; default datasetRun
	ap                map[string]float64 // AP by topic
	rr                *float64           // overall
	hidden            bool               // not published
	blinded           bool
	anonymous         bool
	baseline          bool
	public            bool            // the run itself is visible, not only its results
	earlier           *record.RunItem // the run had an evaluation against an older truth
}

func (e runSpec) setAccess(a *record.AccessAttributes) {
	a.Published = !e.hidden
	a.Blinded = e.blinded
	a.Anonymous = e.anonymous
	a.Baseline = e.baseline
	a.Public = e.public
	if e.anonymous {
		a.Alias = "Nocturnal Otter"
	}
}

// values returns the values of the run's evaluation, overall and by topic.
func (e runSpec) values() (measures map[string]*float64, perTopic map[string]map[string]float64) {
	perTopic = map[string]map[string]float64{}
	var mean *float64
	for _, topic := range slices.Sorted(maps.Keys(e.ap)) {
		perTopic[topic] = map[string]float64{"AP": e.ap[topic]}
		if mean == nil {
			mean = new(float64)
		}
		*mean += e.ap[topic]
	}
	if mean != nil {
		*mean /= float64(len(e.ap))
	}
	return map[string]*float64{"AP": mean, "RR": e.rr}, perTopic
}

func (s *toolServer) newRun(e runSpec, option recordtest.RunOption) *recordtest.Run {
	s.t.Helper()
	return s.dataset.Run(cmp.Or(e.user, "alice"), recordtest.Content("run.txt", cmp.Or(e.content, datasetRun)), func(r *recordtest.Run) {
		r.Team, r.Label = cmp.Or(e.team, r.Team), e.label
		e.setAccess(&r.Access)
		option(r)
	})
}

// addRun makes a run on the dataset without an evaluation.
func (s *toolServer) addRun(e runSpec) *record.RunItem {
	s.t.Helper()
	return s.newRun(e, recordtest.InState(record.Completed)).RunItem
}

// addEvaluatedRun makes a run with an evaluation against the present truth. The evaluation replaces an earlier one of the run.
func (s *toolServer) addEvaluatedRun(e runSpec) (*record.RunItem, *record.EvaluationItem) {
	s.t.Helper()
	run := e.earlier
	if run == nil {
		r := s.newRun(e, func(r *recordtest.Run) { r.Evaluation.Measures, r.Topics.PerTopic = e.values() })
		return r.RunItem, r.Evaluation
	}
	old := recordtest.Get[record.EvaluationItem](s.t, s.Store, record.EvaluationKey(run.EvaluationID))
	v := *old
	old.Unlisted = true
	topics := &record.Topics{Meta: record.NewMeta(s.Now())}
	v.Meta = topics.Meta
	v.Unlisted = false
	v.TruthVersion = s.dataset.TruthVersion
	v.Baseline = e.baseline
	v.Measures, topics.PerTopic = e.values()
	e.setAccess(&v.Access)
	s.Records().Put(&v, topics)
	run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
	s.records.Replace(old, run)
	return run, &v
}

// nextTruthVersion gives the dataset another truth version.
func (s *toolServer) nextTruthVersion() {
	s.dataset.TruthVersion++
	s.records.Replace(s.dataset.DatasetItem)
}

// object is a JSON object.
type object = map[string]any

// inlineFiles returns files to send with a request, from pairs of name and content.
func inlineFiles(pairs ...string) object {
	var files []object
	for i := 0; i < len(pairs); i += 2 {
		name, content := pairs[i], pairs[i+1]
		if utf8.ValidString(content) {
			files = append(files, object{"name": name, "text": content})
		} else {
			files = append(files, object{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))})
		}
	}
	return object{"files": files}
}

// namedRun returns an inline run with a name.
func namedRun(name, content string) object {
	return withMembers(inlineFiles("run.txt", content), "name", name)
}

// trecRun writes a run. Each text is the name of a topic, a space, and a letter for each document, best first.
func trecRun(topics ...string) string {
	var b strings.Builder
	for _, text := range topics {
		topic, letters, _ := strings.Cut(text, " ")
		for i, letter := range letters {
			b.WriteString(topic + " Q0 " + string(letter) + " 0 " + string(rune('9'-i)) + " x\n")
		}
	}
	return b.String()
}

// topicValues maps the topics 1, 2, ... to the values.
func topicValues(values ...float64) map[string]float64 {
	topics := map[string]float64{}
	for i, v := range values {
		topics[fmt.Sprint(i+1)] = v
	}
	return topics
}

// runRef refers to a stored run.
func runRef(r *record.RunItem) object { return object{"runId": r.ID} }

// runRefs refers to stored runs.
func runRefs(all ...*record.RunItem) []object {
	var refs []object
	for _, r := range all {
		refs = append(refs, runRef(r))
	}
	return refs
}

// withMembers returns a copy of the input with these members added. A nil value removes a member.
func withMembers(input object, pairs ...any) object {
	out := maps.Clone(input)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
		if pairs[i+1] == nil {
			delete(out, pairs[i].(string))
		}
	}
	return out
}

// invoke invokes the tool as the user. It checks that a JSON answer is valid by the schema of the tool.
func (s *toolServer) invoke(status int, out any, user, tool string, input any, headers ...string) servertest.Answer {
	s.t.Helper()
	if out != nil {
		reflect.ValueOf(out).Elem().SetZero() // a member that the answer lacks must not keep an earlier value
	}
	a := s.Want(status, out, user, http.MethodPost, "/v1/tools/"+tool, input, headers...)
	if status == http.StatusOK && a.Header.Get("Content-Type") == "application/json" {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.schema(tool).Validate(document); err != nil {
			s.t.Errorf("the answer of %s is not of its schema: %v", tool, err)
		}
	}
	return a
}

// answer returns the tool's output for the input and the user.
func answer[O any](s *toolServer, user, tool string, input object) (out O) {
	s.t.Helper()
	s.invoke(http.StatusOK, &out, user, tool, input)
	return out
}

// schema returns the JSON Schema of the tool's answers.
func (s *toolServer) schema(tool string) *jsonschema.Schema {
	s.t.Helper()
	if s.schemas[tool] == nil {
		var described struct{ Output any }
		s.Want(http.StatusOK, &described, "", http.MethodGet, "/v1/tools/"+tool, nil)
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("urn:assay:"+tool, described.Output); err != nil {
			s.t.Fatal(err)
		}
		schema, err := compiler.Compile("urn:assay:" + tool)
		if err != nil {
			s.t.Fatal(err)
		}
		s.schemas[tool] = schema
	}
	return s.schemas[tool]
}

// page returns the tool's HTML page.
func (s *toolServer) page(user, tool string, input object) string {
	s.t.Helper()
	return string(s.invoke(http.StatusOK, nil, user, tool, input, "Accept", "text/html").Body)
}

// wantTexts checks that a page contains the texts.
func (s *toolServer) wantTexts(page string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			s.t.Errorf("the page does not say %q", text)
		}
	}
}

// resultURL returns the address of the answer to the input.
func (s *toolServer) resultURL(tool string, input object) string {
	s.t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	return "/v1/tools/" + tool + "/result?" + url.Values{"input": {string(text)}}.Encode()
}

// refusal is an input that a tool refuses, and the member that the problem names.
type refusal struct {
	input         object
	pointer, says string
}

// wantRefusals checks that the tool refuses each of the inputs.
func (s *toolServer) wantRefusals(tool string, all map[string]refusal) {
	s.t.Helper()
	for _, r := range all {
		s.wantRefusal("", tool, r)
	}
}

// wantRefusal checks that the tool refuses the input of the user.
func (s *toolServer) wantRefusal(user, tool string, r refusal) {
	s.t.Helper()
	var got problem.Document
	s.invoke(http.StatusUnprocessableEntity, &got, user, tool, r.input)
	if len(got.Errors) != 1 || got.Errors[0].Pointer != r.pointer || !strings.Contains(got.Errors[0].Detail, r.says) {
		s.t.Errorf("%s refuses %v with %+v, want %q %q", tool, r.input, got.Errors, r.pointer, r.says)
	}
}
