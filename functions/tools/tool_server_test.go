package tools_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"assay/functions/tools"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the server's dataset has, and a run that fits it.
const (
	datasetQrels     = "1 0 a 2\n1 0 b 0\n2 0 c 1\n"
	datasetDocuments = "a\tAn anchor holds a boat.\nb\tA boat floats.\nc\tA canal is dug.\n"
	datasetQueries   = "1\tboats at anchor\n2\tcanals\n"
	datasetRun       = "1 Q0 b 1 2.0 tag\n1 Q0 a 2 1.0 tag\n2 Q0 c 1 1.0 tag\n"
)

// toolServer is a server of the tools, with a task of olga's and a dataset of retrieval on it, which has judgments and texts.
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

// newWorkerDataset makes a dataset that an image of its organizers evaluates by AP and by RR, of which less is better.
func (s *toolServer) newWorkerDataset() *recordtest.Dataset {
	s.t.Helper()
	return s.task.Dataset(s.records.Truths("t", "t"), func(d *record.DatasetItem) {
		d.RunFormat = record.RunFormat{Kind: "jsonl", IDField: "id", ValueField: "v"}
		d.Evaluator = record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"AP", "RR"}, PrimaryMeasure: "AP",
			LowerIsBetter: []string{"RR"}, Image: "image"}
	})
}

// runSpec is what a test says of a run. Unless it says more, the results are published, and the run itself is private.
type runSpec struct {
	user, team, label string             // alice; the team of the user
	content           string             // of its file; datasetRun
	ap                map[string]float64 // AP by topic
	rr                *float64           // overall
	hidden            bool               // not published
	blinded           bool
	anonymous         bool
	baseline          bool
	public            bool            // the run can be seen, not its results alone
	earlier           *record.RunItem // the run had an evaluation against an older truth
}

func (e runSpec) setAccess(a *record.AccessAttributes) {
	a.Published, a.Blinded, a.Anonymous, a.Baseline, a.Public, a.Alias = !e.hidden, e.blinded, e.anonymous, e.baseline, e.public,
		"Nocturnal Otter"
}

// values are those of the run's evaluation, overall and by topic.
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

// addRun makes a run on the dataset, without an evaluation.
func (s *toolServer) addRun(e runSpec) *record.RunItem {
	s.t.Helper()
	return s.newRun(e, recordtest.InState(record.Completed)).RunItem
}

// addEvaluatedRun makes a run with an evaluation against the present truth, which takes the place of one that the run had.
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
	v.Meta, v.Unlisted, v.TruthVersion, v.Baseline = topics.Meta, false, s.dataset.TruthVersion, e.baseline
	v.Measures, topics.PerTopic = e.values()
	e.setAccess(&v.Access)
	s.Records().Put(&v, topics)
	run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
	s.records.Replace(old, run)
	return run, &v
}

// nextTruthVersion has the dataset be measured against another version of the truth from here on.
func (s *toolServer) nextTruthVersion() {
	s.dataset.TruthVersion++
	s.records.Replace(s.dataset.DatasetItem)
}
