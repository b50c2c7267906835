package functions_test

import (
	"net/http"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// takesCase is a state of a task, a dataset and a team. The dataset says that it takes no run for this reason, and a submission is refused
// with the kind of problem. Without a kind, the submission is accepted.
type takesCase struct {
	task    func(*record.TaskItem)
	dataset func(*record.DatasetItem)
	team    func(*record.RegistrationItem)
	granted *record.Instant // a later close
	runs    int             // submitted before
	reason  record.ClosedReason
	refused *problem.Kind
}

func takesCases(now time.Time) map[string]takesCase {
	hours := func(n int) *record.Instant { return new(record.At(now.Add(time.Duration(n) * time.Hour))) }
	window := func(opens, closes *record.Instant) func(*record.DatasetItem) {
		return func(d *record.DatasetItem) { d.Submissions.OpensAt, d.Submissions.ClosesAt = opens, closes }
	}
	taskCloses := func(at *record.Instant) func(*record.TaskItem) {
		return func(t *record.TaskItem) { t.Submissions.ClosesAt = at }
	}
	terms := func(t *record.TaskItem) { t.Terms, t.TermsVersion = &record.Terms{Text: "Be fair.", Version: 2}, 2 }
	announced := func(d *record.DatasetItem) {
		recordtest.WithoutTruth(d)
		d.Truths = []record.File{{Name: "qrels.txt", Size: 10}}
	}
	in := func(state record.RegistrationState) func(*record.RegistrationItem) {
		return func(r *record.RegistrationItem) { r.State = state }
	}
	accepting := func(version int64) func(*record.RegistrationItem) {
		return func(r *record.RegistrationItem) { r.AcceptedTerms = version }
	}
	return map[string]takesCase{
		"no window":                {},
		"in the window":            {dataset: window(hours(-1), hours(1))},
		"before the window":        {dataset: window(hours(1), hours(2)), reason: record.ClosedEarly, refused: problem.OutsideWindow},
		"after the window":         {dataset: window(nil, hours(-1)), reason: record.ClosedLate, refused: problem.OutsideWindow},
		"no window ever":           {dataset: window(hours(2), hours(1)), reason: record.ClosedAlways, refused: problem.OutsideWindow},
		"opening moved after end":  {dataset: window(hours(2), hours(-1)), reason: record.ClosedLate, refused: problem.OutsideWindow},
		"task closed":              {task: taskCloses(hours(-1)), reason: record.ClosedLate, refused: problem.OutsideWindow},
		"task closed, dataset not": {task: taskCloses(hours(-1)), dataset: window(nil, hours(1))},
		"exception":                {dataset: window(nil, hours(-1)), granted: hours(1)},
		"no truth":                 {dataset: recordtest.WithoutTruth, reason: record.ClosedNoTruth, refused: problem.Conflict},
		"truth announced":          {dataset: announced},
		"new truth with errors":    {dataset: func(d *record.DatasetItem) { d.Diagnostics = []measure.Diagnostic{{Severity: measure.Error}} }},
		"truth with errors": {
			dataset: func(d *record.DatasetItem) {
				announced(d)
				d.Diagnostics = []measure.Diagnostic{{Severity: measure.Error}}
			},
			reason:  record.ClosedNoTruth,
			refused: problem.Conflict,
		},
		"dataset being deleted": {
			dataset: func(d *record.DatasetItem) { d.PendingWork = record.NewPendingWork(record.DeleteDataset, now) },
			reason:  record.ClosedDeleting,
			refused: problem.Conflict,
		},
		"pending":                    {team: in(record.Pending), reason: record.ClosedUnregistered, refused: problem.Forbidden},
		"rejected":                   {team: in(record.Rejected), reason: record.ClosedUnregistered, refused: problem.Forbidden},
		"rejected, without terms":    {task: terms, team: in(record.Rejected), reason: record.ClosedUnregistered, refused: problem.Forbidden},
		"registration closed since":  {task: func(t *record.TaskItem) { t.Registration = record.RegistrationRules{Mode: record.Closed} }},
		"private task":               {task: func(t *record.TaskItem) { t.Visibility = record.Private }},
		"terms not accepted":         {task: terms, reason: record.ClosedByTerms, refused: problem.Forbidden},
		"earlier terms accepted":     {task: terms, team: accepting(1), reason: record.ClosedByTerms, refused: problem.Forbidden},
		"terms accepted":             {task: terms, team: accepting(2)},
		"terms removed":              {team: accepting(1)},
		"terms not accepted, closed": {task: terms, dataset: window(nil, hours(-1)), reason: record.ClosedLate, refused: problem.Forbidden},
		"quota of the task used":     {task: func(t *record.TaskItem) { t.Submissions.Total = 1 }, runs: 1, refused: problem.QuotaExhausted},
		"quota of the day used":      {dataset: func(d *record.DatasetItem) { d.Submissions.PerDay = 1 }, runs: 1, refused: problem.QuotaToday},
		"quota not used":             {dataset: func(d *record.DatasetItem) { d.Submissions.PerDay = 2 }, runs: 1},
	}
}

// TestQuota_SaysWhetherASubmissionIsTaken compares what the quota of a team says of a dataset with the answer to a submission.
func TestQuota_SaysWhetherASubmissionIsTaken(t *testing.T) {
	for name, c := range takesCases(time.Now()) {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			task := s.Records().Task(optional(c.task))
			set := task.Dataset(optional(c.dataset))
			r := task.Register("ada", optional(c.team))
			submit := func(want int) (p problem.Document) {
				t.Helper()
				s.Want(want, &p, "ada", http.MethodPost, task.Path()+"/submissions", servertest.Image(set.ID))
				return p
			}
			if c.granted != nil {
				s.Create("olga", task.Path()+"/registrations/"+r.ID+"/exceptions",
					map[string]any{"datasetId": set.ID, "closesAt": c.granted, "reason": "A reason"})
			}
			for range c.runs {
				s.Create("ada", task.Path()+"/submissions", servertest.Image(set.ID))
			}
			q := servertest.Get[record.Registration](s, "ada", task.Path()+"/registrations/"+r.ID).Quota.Datasets[0]
			if q.ClosedReason != c.reason || q.Open != (c.reason == "") {
				t.Errorf("the quota says %+v, want the reason %q", q.SubmissionWindow, c.reason)
			}
			status := http.StatusCreated
			if c.refused != nil {
				status = c.refused.Status
			}
			if got := submit(status); c.refused != nil && got.Type != c.refused.Type() {
				t.Errorf("the submission is refused with %s, want %s", got.Type, c.refused.Type())
			}
			if takes := q.Open && (q.Left == nil || *q.Left > 0); takes != (c.refused == nil) {
				t.Errorf("the quota says %+v, and the submission is refused: %v", q, c.refused != nil)
			}
		})
	}
}

// TestSubmission_NamesTheDatasetsThatTakeNone submits to several datasets of a task that has closed. The refusal names the datasets that
// are not open to the team, each with its own instant.
func TestSubmission_NamesTheDatasetsThatTakeNone(t *testing.T) {
	s := newServer(t)
	at := func(n int) *record.Instant { return new(record.At(time.Now().Add(time.Duration(n) * time.Hour))) }
	past := at(-1)
	later := at(1)
	long := at(2)
	task := s.Records().Task(func(t *record.TaskItem) { t.Submissions.ClosesAt = past })
	named := func(name string, opens, closes *record.Instant) string {
		return task.Dataset(func(d *record.DatasetItem) {
			d.Name = name
			d.Submissions.OpensAt = opens
			d.Submissions.ClosesAt = closes
		}).ID
	}
	open := named("Long", nil, long)
	short := named("Short", nil, nil)
	brief := named("Brief", nil, nil)
	early := named("Early", later, long)
	never := named("Never", long, later)
	r := task.Register("ada")
	refused := func(datasets ...string) string {
		t.Helper()
		var p problem.Document
		s.Want(http.StatusForbidden, &p, "ada", http.MethodPost, task.Path()+"/submissions", servertest.Image(datasets...))
		return p.Detail
	}
	const more = " Ask the organizers of the task if you need more time."
	closed := `Submission to the dataset "Short" closed at ` + past.String() + "."
	opens := `Submission to the dataset "Early" opens at ` + later.String() + "."
	for name, c := range map[string]struct{ got, want string }{
		"one of two": {refused(open, short), closed + more},
		"two by the window of the task": {refused(short, open, brief),
			`Submission to the datasets "Short" and "Brief" closed at ` + past.String() + "." + more},
		"two by different windows": {refused(short, early), closed + " " + opens + more},
		"not yet open":             {refused(early, open), opens},
		"never open": {refused(open, never), `Submission to the dataset "Never" never opens: it closes at ` + later.String() +
			" and would open at " + long.String() + ". Ask the organizers of the task to change one of the two."},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	s.Create("olga", task.Path()+"/registrations/"+r.ID+"/exceptions",
		map[string]any{"datasetId": short, "closesAt": at(3), "reason": "A reason"})
	want := `Submission to the dataset "Brief" closed at ` + past.String() + "." + more
	if got := refused(short, brief); got != want {
		t.Errorf("with an exception: %s, want %s", got, want)
	}
	s.Create("ada", task.Path()+"/submissions", servertest.Image(open, short))
}

// optional returns the option, or one that changes nothing for nil.
func optional[T any](option func(*T)) func(*T) {
	if option == nil {
		return func(*T) {}
	}
	return option
}
