package tools_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the stage's dataset has, and a run that fits it.
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
	task    *record.TaskItem
	dataset *record.DatasetItem
	schemas map[string]*jsonschema.Schema // of answers, by tool
}

func newToolServer(t testing.TB, v record.Visibility) *toolServer {
	s := &toolServer{Server: servertest.New(t, tools.Operations...), t: t, schemas: map[string]*jsonschema.Schema{}}
	o := &record.Organizer{Meta: s.meta()}
	o.Name, o.Members = "Organizer", []string{servertest.UserID("olga")}
	s.task = &record.TaskItem{}
	s.task.Meta, s.task.OrganizerID, s.task.Name, s.task.Visibility = s.meta(), o.ID, "Lakes", v
	s.task.Normalize()
	s.Put(o, &record.Reservation{Meta: s.meta(), At: record.MembershipKey(o.Members[0], o.ID)}, s.task)
	s.dataset = s.newDataset(record.RunFormat{Kind: "trec-run"}, record.Evaluator{Kind: "retrieval", Measures: []string{"AP", "RR"}, PrimaryMeasure: "AP"}, "qrels.txt", datasetQrels)
	s.dataset.Inputs = []record.File{
		s.storeFile(record.HolderInputs, s.dataset.ID, "documents.tsv", strings.NewReader(datasetDocuments)),
		s.storeFile(record.HolderInputs, s.dataset.ID, "queries.tsv", strings.NewReader(datasetQueries)),
	}
	s.replace(s.dataset)
	return s
}

func (s *toolServer) meta() record.Meta { return record.NewMeta(s.Now()) }

// newDataset makes a dataset of the task, with a truth.
func (s *toolServer) newDataset(format record.RunFormat, evaluator record.Evaluator, name, truth string) *record.DatasetItem {
	s.t.Helper()
	d := &record.DatasetItem{OrganizerID: s.task.OrganizerID, PrivateTask: s.task.Visibility == record.Private}
	d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion, d.RunFormat, d.Evaluator = s.meta(), s.task.ID, "Waters", record.Validation, 1, format, evaluator
	d.Truths = []record.File{s.storeFile(record.HolderTruths, d.ID, name, strings.NewReader(truth))}
	s.Put(d, &record.Truth{Meta: d.Meta, TaskID: d.TaskID, Number: 1, Files: d.Truths, RunFormat: format, Evaluator: evaluator})
	return d
}

// newClassificationDataset makes a dataset of classification.
func (s *toolServer) newClassificationDataset(truth string) *record.DatasetItem {
	return s.newDataset(record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"},
		record.Evaluator{Kind: "classification", Measures: []string{"Accuracy"}, PrimaryMeasure: "Accuracy"}, "truth.csv", truth)
}

// storeFile stores a file, which is read twice.
func (s *toolServer) storeFile(h record.Holder, id, name string, content io.ReadSeeker) record.File {
	s.t.Helper()
	sum := sha256.New()
	size, err := io.Copy(sum, content)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		s.t.Fatal(err)
	}
	f := record.File{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil)), State: record.FileStored}
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := s.Files.Put(context.Background(), o, content); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// runSpec is what a test says of a run. Unless it says more, the results are published, and the run itself is private.
type runSpec struct {
	user, team, label string             // alice; the team of the user
	content           string             // of its file; keptRun
	large             io.ReadSeeker      // instead of content
	ap                map[string]float64 // AP by topic
	rr                *float64           // overall
	hidden            bool               // not published
	blinded           bool
	anonymous         bool
	baseline          bool
	public            bool            // the run can be seen, not its results alone
	earlier           *record.RunItem // the run had an evaluation against an older truth
}

func (s *toolServer) accessAttributes(e runSpec) record.AccessAttributes {
	return record.AccessAttributes{
		OrganizerID: s.task.OrganizerID, PrivateTask: s.dataset.PrivateTask, Published: !e.hidden, Blinded: e.blinded,
		Anonymous: e.anonymous, Alias: "Nocturnal Otter", Baseline: e.baseline, Public: e.public,
	}
}

// addRun makes a run on the dataset, without an evaluation.
func (s *toolServer) addRun(e runSpec) *record.RunItem {
	s.t.Helper()
	if e.user == "" {
		e.user = "alice"
	}
	if e.team == "" {
		e.team = "team of " + e.user
	}
	if e.content == "" {
		e.content = datasetRun
	}
	if e.large == nil {
		e.large = strings.NewReader(e.content)
	}
	r := &record.RunItem{Access: s.accessAttributes(e), Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.SubmissionID, r.TaskID, r.DatasetID = s.meta(), record.NewID(s.Now()), s.task.ID, s.dataset.ID
	r.UserID, r.Team, r.Label, r.State = servertest.UserID(e.user), e.team, e.label, record.Completed
	r.Files = []record.File{s.storeFile(record.HolderRuns, r.ID, "run.txt", e.large)}
	s.Put(r)
	return r
}

// addEvaluatedRun makes a run with an evaluation against the present truth, which takes the place of one that the run had.
func (s *toolServer) addEvaluatedRun(e runSpec) (*record.RunItem, *record.EvaluationItem) {
	s.t.Helper()
	run := e.earlier
	if run == nil {
		run = s.addRun(e)
	} else {
		old, err := records.Get[record.EvaluationItem](context.Background(), s.Store, store.Strong, record.EvaluationKey(run.EvaluationID))
		if err != nil {
			s.t.Fatal(err)
		}
		old.Unlisted = true
		s.replace(old)
	}
	v := &record.EvaluationItem{Access: s.accessAttributes(e), Columns: s.dataset.Evaluator.Measures}
	v.Meta, v.RunID, v.SubmissionID, v.TaskID, v.DatasetID = s.meta(), run.ID, run.SubmissionID, s.task.ID, s.dataset.ID
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
	s.Put(v, topics)
	run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
	s.replace(run)
	return run, v
}

// nextTruthVersion has the dataset be measured against another version of the truth from here on.
func (s *toolServer) nextTruthVersion() {
	s.dataset.TruthVersion++
	s.replace(s.dataset)
}

// replace stores a changed record.
func (s *toolServer) replace(r record.Record) {
	s.t.Helper()
	if err := new(records.Tx).Replace(r).Commit(context.Background(), s.Store); err != nil {
		s.t.Fatal(err)
	}
}
