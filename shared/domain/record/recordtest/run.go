package recordtest

import (
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
)

// Run is a run in the store, with the records that belong to it.
type Run struct {
	*record.RunItem
	Submission *record.SubmissionItem
	Review     *record.ReviewItem
	Evaluation *record.EvaluationItem // nil unless the run was evaluated
	Topics     *record.Topics         // of Evaluation

	dataset *Dataset
}

// RunOption changes a run before it is stored. The submission and the evaluation get the run's access attributes, and the review
// follows them.
type RunOption func(*Run)

// Public makes the submission public.
func Public(r *Run) { r.Access.Public = true }

// Published publishes the results.
func Published(r *Run) { r.Access.Published = true }

// Blinded blinds the run.
func Blinded(r *Run) { r.Access.Blinded = true }

// Anonymous makes the team anonymous.
func Anonymous(r *Run) { r.Access.Anonymous = true }

// Baseline makes the run a baseline of the organizers, who need no registration.
func Baseline(r *Run) {
	r.Access.Baseline = true
	r.Access.RegistrationID, r.Access.Alias = "", ""
	r.Team = record.BaselineTeam
	r.Submission.Baseline = true
}

// Queued makes the run wait for its evaluation.
func Queued(r *Run) { InState(record.Queued)(r) }

// InState puts the run into the state, without an evaluation.
func InState(s record.RunState) RunOption {
	return func(r *Run) { r.State, r.Evaluation = s, nil }
}

// OfImage makes the run one of a container image that waits for its execution.
func OfImage(r *Run) {
	r.Type, r.Queue = record.ImageType, record.QueueWorkers
	r.Submission.Image, r.Submission.Command = "ranker@sha256:2", "rank"
	Queued(r)
}

// Content gives the run a file with the content.
func Content(name, content string) RunOption {
	return func(r *Run) {
		b := r.dataset.Task.b
		b.t.Helper()
		r.Files = append(r.Files, b.File(record.HolderRuns, r.ID, name, content))
	}
}

// Value sets the run's value of the measure.
func Value(name string, value float64) RunOption {
	return func(r *Run) { r.Evaluation.Measures[name] = &value }
}

// Undefined makes the measure undefined for the run.
func Undefined(name string) RunOption {
	return func(r *Run) { r.Evaluation.Measures[name] = nil }
}

// Run creates a run of the user on the dataset: an evaluated upload with the value 0.5 for each measure. Its submission is private, and
// its results are neither published nor blinded. If the user is registered, the run has the team and alias of the registration.
func (d *Dataset) Run(user string, options ...RunOption) *Run {
	b := d.Task.b
	b.t.Helper()
	r := &Run{
		RunItem: &record.RunItem{Type: record.UploadType, Queue: record.QueueBuiltin, Pool: d.Pool}, Submission: &record.SubmissionItem{},
		Review: &record.ReviewItem{OrganizerID: d.OrganizerID, TaskID: d.TaskID}, dataset: d,
	}
	r.Submission.Meta = b.meta()
	r.Submission.TaskID = d.TaskID
	r.Submission.DatasetIDs = []string{d.ID}
	r.Meta = b.meta()
	r.SubmissionID = r.Submission.ID
	r.TaskID = d.TaskID
	r.DatasetID = d.ID
	r.UserID = UserID(user)
	r.Team = Team(user)
	r.State = record.Completed
	r.Files, r.Diagnostics = []record.File{}, []measure.Diagnostic{}
	r.Access = record.AccessAttributes{OrganizerID: d.OrganizerID, PrivateTask: d.PrivateTask, Alias: record.NewAlias(r.UserID)}
	d.ValueRules(d.Task.TaskItem, nil).Copy(&r.Access, b.Now())
	if g := d.Task.registrations[r.UserID]; g != nil {
		r.Access.RegistrationID, r.Team = g.ID, g.Team
		r.Access.Alias = g.Alias
		r.Access.Anonymous = g.Anonymous
		r.Access.Affiliation = g.Affiliation
	}
	r.Review.Meta, r.Review.RunID = b.meta(), r.ID
	r.evaluate()
	for _, option := range options {
		option(r)
	}
	at := record.At(b.Now())
	switch {
	case r.State == record.AwaitingUpload:
	case r.State.Ended():
		r.QueuedAt, r.FinishedAt = &at, &at
	default:
		r.QueuedAt = &at
	}
	r.derive()
	all := []record.Record{r.Submission, r.RunItem, r.Review}
	if r.Evaluation != nil {
		all = append(all, r.Evaluation, r.Topics)
	}
	b.Put(all...)
	return r
}

// evaluate adds an evaluation with the dataset's measures.
func (r *Run) evaluate() {
	d, b := r.dataset, r.dataset.Task.b
	e := &record.EvaluationItem{Measured: d.Evaluator.Measures}
	e.Meta = b.meta()
	e.TruthVersion = d.TruthVersion
	e.Evaluator = record.EvaluatorUsed{Kind: d.Evaluator.Kind, Settings: d.RunFormat}
	e.Measures = map[string]*float64{}
	for _, name := range d.Evaluator.Measures {
		e.Measures[name] = new(0.5)
	}
	r.Evaluation, r.Topics = e, &record.Topics{Meta: e.Meta}
}

// derive copies the run's members to the records that belong to it.
func (r *Run) derive() {
	s := r.Submission
	r.Bytes, r.Counted = record.SizeOf(r.Files), !r.Access.Baseline
	s.Type = r.Type
	s.UserID = r.UserID
	s.Team = r.Team
	s.Access = r.Access
	s.RunIDs = []string{r.ID}
	s.Access.Published, s.Access.Blinded = false, false // only the review has these
	s.Visibility = record.Private
	if r.Access.Public {
		s.Visibility = record.Public
	}
	r.Access.Title, r.Access.PaperURL = s.Title, s.PaperURL
	s.Access.Title, s.Access.PaperURL = s.Title, s.PaperURL
	r.Review.UserID = r.UserID
	r.Review.Published = r.Access.Published
	r.Review.Blinded = r.Access.Blinded
	e := r.Evaluation
	if e == nil {
		return
	}
	r.EvaluationID = e.ID
	r.Evaluations = []string{e.ID}
	r.TruthVersion = e.TruthVersion
	e.RunID = r.ID
	e.SubmissionID = s.ID
	e.TaskID = r.TaskID
	e.DatasetID = r.DatasetID
	e.UserID = r.UserID
	e.Team = r.Team
	e.Access, e.Baseline = r.Access, r.Access.Baseline
}
