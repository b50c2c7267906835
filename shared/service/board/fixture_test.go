package board_test

import (
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"

	"pgregory.net/rapid"
)

// fixture is a dataset in a store, with the second version of its ground truth.
type fixture struct {
	*recordtest.Builder
	t       rapid.TB
	dataset *recordtest.Dataset
	entries []*record.EvaluationItem
	names   map[string]string // names of evaluations, by ID
	suffix  string            // of users' names, so that fixtures share no users
}

func newFixture(t rapid.TB, s store.Store, private bool) *fixture {
	f := &fixture{Builder: recordtest.New(t, s), t: t, names: map[string]string{}, suffix: record.NewID(time.Now())}
	task := f.Task(recordtest.OwnedBy(f.Organizer("organizer"+f.suffix)), func(task *record.TaskItem) {
		if private {
			recordtest.Private(task)
		}
	})
	task.Register("registrant" + f.suffix)
	f.dataset = task.Dataset(func(d *record.DatasetItem) {
		d.TruthVersion = 2
		d.Evaluator = record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"AP", "cost"}}
		d.Columns = []record.Column{{Key: "AP", LowerIsBetter: new(false)}, {Key: "cost", LowerIsBetter: new(true)}}
	})
	return f
}

// user returns a caller of this fixture.
func (f *fixture) user(name string) access.Caller {
	if name == "" {
		return access.Caller{}
	}
	return access.Caller{ID: recordtest.UserID(name + f.suffix), Name: name, Admin: name == "admin", Worker: name == "worker"}
}

// entry is a run with its values against the two versions of the ground truth; nil if it was not evaluated against a version.
type entry struct {
	name, user string
	values     [2]map[string]*float64
	record.AccessAttributes
	wasBlinded bool // against the older version
}

func (f *fixture) enter(e entry) {
	f.t.Helper()
	e.OrganizerID = f.dataset.OrganizerID
	e.PrivateTask = f.dataset.PrivateTask
	e.Baseline = e.user == "organizer"
	run := f.dataset.Run(e.user+f.suffix, recordtest.Queued).RunItem
	for i, values := range e.values {
		if values == nil {
			continue
		}
		v := &record.EvaluationItem{Access: e.AccessAttributes, Unlisted: i == 0 && e.values[1] != nil}
		v.Access.Blinded = v.Access.Blinded || i == 0 && e.wasBlinded
		v.Meta = record.NewMeta(time.Now())
		v.RunID = run.ID
		v.SubmissionID = run.SubmissionID
		v.TaskID = run.TaskID
		v.DatasetID = run.DatasetID
		v.UserID = run.UserID
		v.TruthVersion = int64(i + 1)
		v.Measured = []string{"AP", "cost"}
		v.Measures = values
		v.Team = e.user
		v.Baseline = e.Baseline
		if v.Baseline {
			v.Team = record.BaselineTeam
		} else {
			v.Access.Alias = record.NewAlias(v.UserID)
		}
		run.EvaluationID, run.Evaluations = v.ID, append(run.Evaluations, v.ID)
		f.names[v.ID] = e.name
		f.entries = append(f.entries, v)
		f.Put(v)
	}
	f.Replace(run)
}
