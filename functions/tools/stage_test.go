package tools_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"

	"assay/functions/tools"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/table"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// stage is a dataset with evaluations on a server, made straight in its store.
type stage struct {
	*servertest.Server
	t       testing.TB
	task    *record.TaskItem
	dataset *record.DatasetItem
}

// newStage makes a dataset, measured by AP and RR, of a task whose organizer's member is olga.
func newStage(t testing.TB, v record.Visibility) *stage {
	s := &stage{Server: servertest.New(t, tools.Operations...), t: t}
	organizerID := record.NewID(s.Now())
	s.task = &record.TaskItem{}
	s.task.Meta, s.task.OrganizerID, s.task.Name, s.task.Visibility = record.NewMeta(s.Now()), organizerID, "Lakes", v
	s.dataset = &record.DatasetItem{OrganizerID: organizerID, PrivateTask: v == record.Private, RankedBy: "AP"}
	s.dataset.Meta, s.dataset.TaskID, s.dataset.Name, s.dataset.TruthVersion = record.NewMeta(s.Now()), s.task.ID, "Waters", 1
	s.dataset.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP", "RR"}, PrimaryMeasure: "AP"}
	s.Put(s.task, s.dataset, &record.Reservation{Meta: record.NewMeta(s.Now()), At: record.MembershipKey(servertest.UserID("olga"), organizerID)})
	return s
}

// staged is what a test says of an evaluation.
type staged struct {
	user, team string             // team: unless given, that of the user
	label      string             // of its run
	ap         map[string]float64 // AP by topic
	rr         *float64           // overall
	hidden     bool               // not published
	blinded    bool
	anonymous  bool
	baseline   bool
	public     bool            // the run can be seen, not its results alone
	was        *record.RunItem // the run had an evaluation against an older truth
}

// enter makes a run with an evaluation against the present truth.
func (s *stage) enter(e staged) (*record.RunItem, *record.EvaluationItem) {
	s.t.Helper()
	standing := record.Standing{
		OrganizerID: s.task.OrganizerID, PrivateTask: s.dataset.PrivateTask, Published: !e.hidden, Blinded: e.blinded,
		Anonymous: e.anonymous, Alias: "Nocturnal Otter", Baseline: e.baseline, Public: e.public,
	}
	if e.team == "" {
		e.team = "team of " + e.user
	}
	run := e.was
	if run == nil {
		run = &record.RunItem{Standing: standing}
		run.Meta, run.SubmissionID, run.TaskID, run.DatasetID = record.NewMeta(s.Now()), record.NewID(s.Now()), s.task.ID, s.dataset.ID
		run.UserID, run.Team, run.Label, run.State = servertest.UserID(e.user), e.team, e.label, record.Completed
		run.Files = []record.File{{Name: "run.txt", Size: 1, SHA256: "0", State: record.FileStored}}
	}
	v := &record.EvaluationItem{Standing: standing, Columns: s.dataset.Evaluator.Measures}
	v.Meta, v.RunID, v.SubmissionID, v.TaskID, v.DatasetID = record.NewMeta(s.Now()), run.ID, run.SubmissionID, s.task.ID, s.dataset.ID
	v.UserID, v.Team, v.Baseline = run.UserID, run.Team, e.baseline
	v.TruthVersion, v.PrimaryMeasure, v.Evaluator.Kind = s.dataset.TruthVersion, "AP", "retrieval"
	topics := &record.Topics{Meta: v.Meta, PerTopic: map[string]map[string]float64{}}
	var mean *float64
	for topic, x := range e.ap {
		topics.PerTopic[topic] = map[string]float64{"AP": x}
	}
	if len(e.ap) > 0 {
		mean = new(float64)
		for _, topic := range slices.Sorted(maps.Keys(e.ap)) {
			*mean += e.ap[topic]
		}
		*mean /= float64(len(e.ap))
	}
	v.Measures = map[string]*float64{"AP": mean, "RR": e.rr}
	run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
	s.Put(v, topics)
	if e.was == nil {
		s.Put(run)
	} else {
		s.replace(run)
	}
	return run, v
}

// replace stores a record anew.
func (s *stage) replace(r record.Record) {
	s.t.Helper()
	if err := new(table.Tx).Replace(r).Commit(s.t.Context(), s.Store); err != nil {
		s.t.Fatal(err)
	}
}

// tool has the tool compute from the input, as the user. What it answers as JSON must be of its schema.
func (s *stage) tool(status int, out any, user, tool string, input any, headers ...string) servertest.Answer {
	s.t.Helper()
	if reflect.ValueOf(out).Kind() == reflect.Pointer {
		reflect.ValueOf(out).Elem().SetZero() // what an answer leaves out is not that of the one before
	}
	a := s.Want(status, out, user, http.MethodPost, "/v1/tools/"+tool, input, headers...)
	if status == http.StatusOK && a.Header.Get("Content-Type") == "application/json" {
		s.checkSchema(tool, a.Body)
	}
	return a
}

// checkSchema holds an answer to the schema that the tool gives for it.
func (s *stage) checkSchema(tool string, answer []byte) {
	s.t.Helper()
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
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		s.t.Errorf("the answer of %s is not of its schema: %v", tool, err)
	}
}

// address is where a GET has the answer.
func address(t testing.TB, tool string, input any) string {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return "/v1/tools/" + tool + "/result?" + url.Values{"input": {string(text)}}.Encode()
}

// runs refers to runs of the platform.
func runs(all ...*record.RunItem) []m {
	var refs []m
	for _, r := range all {
		refs = append(refs, m{"runId": r.ID})
	}
	return refs
}
