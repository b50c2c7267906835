package record

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/store"
)

// Times after which a run's state ends by itself.
const (
	UploadTime  = 24 * time.Hour     // for the files of a run to arrive
	QueueTime   = 7 * 24 * time.Hour // for a worker to ask for a queued run
	MaxAttempts = 3                  // leases of one run until it fails
	MaxRestarts = 20                 // leases that ended with the platform's own process, until they count as attempts
)

// RunState is where a run is on its way.
type RunState string

// The states of a run.
const (
	AwaitingUpload RunState = "awaiting-upload"
	Queued         RunState = "queued"
	Running        RunState = "running"
	Evaluating     RunState = "evaluating"
	Completed      RunState = "completed"
	Failed         RunState = "failed"
	Cancelled      RunState = "cancelled"
)

// transitions has, for each state, those that can follow. Queued follows a lease that lapsed, and, when the truth has
// changed, also the end of a run that was evaluated; evaluating follows itself when somebody takes up a run whose
// execution has brought it there.
var transitions = map[RunState][]RunState{
	AwaitingUpload: {Queued, Failed, Cancelled},
	Queued:         {Running, Evaluating, Failed, Cancelled},
	Running:        {Queued, Evaluating, Failed, Cancelled},
	Evaluating:     {Evaluating, Queued, Completed, Failed, Cancelled},
	Completed:      {Queued},
	Failed:         {Queued},
}

// CanFollow reports whether a run in the state s can go to next.
func (s RunState) CanFollow(next RunState) bool { return slices.Contains(transitions[s], next) }

// Ended reports whether nothing more happens to a run in the state by itself.
func (s RunState) Ended() bool { return s == Completed || s == Failed || s == Cancelled }

// Counts reports whether a run in the state counts in its user's quota.
func (s RunState) Counts() bool { return s != Failed && s != Cancelled }

// Run is one submission applied to one dataset.
type Run struct {
	Meta
	SubmissionID string               `json:"submissionId"`
	TaskID       string               `json:"taskId"`
	DatasetID    string               `json:"datasetId"`
	UserID       string               `json:"userId,omitempty" doc:"absent when the team is anonymous to the caller"`
	User         *Person              `json:"user,omitempty" doc:"who that is; for organizers"`
	Team         string               `json:"team" doc:"the team, or its alias"`
	Title        string               `json:"title,omitempty" doc:"of the submission; absent, as is runTag, when the team is anonymous to the caller"`
	Label        string               `json:"label" maxLength:"200" doc:"what its team calls it"`
	Final        bool                 `json:"final,omitempty" doc:"whether its team marked it as one of its final runs on the dataset"`
	RunTag       string               `json:"runTag,omitempty" doc:"last column of the first line of a run in the format trec-run, once it was evaluated"`
	State        RunState             `json:"state" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"a client can only set cancelled"`
	Attempts     int                  `json:"attempts" doc:"how often its work was begun for the truth that it waits for, or was evaluated against last"`
	Files        []File               `json:"files" doc:"the run's files; with links for those who may have them"`
	Diagnostics  []measure.Diagnostic `json:"diagnostics" doc:"what is wrong with the run; where there are 100, the files may have more"`
	LogTail      string               `json:"logTail" doc:"the last lines that executing it wrote"`
	ExecutionLog *File                `json:"log,omitempty" doc:"all that executing it wrote, once it has ended"`
	QueuedAt     *Instant             `json:"queuedAt,omitempty"`
	StartedAt    *Instant             `json:"startedAt,omitempty"`
	FinishedAt   *Instant             `json:"finishedAt,omitempty"`
	EvaluationID string               `json:"evaluationId,omitempty" doc:"the newest evaluation, once there is one that the caller may see"`
	Notice       string               `json:"notice,omitempty" doc:"why the caller is shown no values of a run that is completed"`

	EvaluationLogTail string `json:"evaluationLogTail,omitempty" doc:"the last lines that the organizer's own evaluator wrote; for organizers"`
	EvaluationLog     *File  `json:"evaluationLog,omitempty" doc:"all that it wrote; for organizers"`
}

// Lease is a worker's hold on a run.
type Lease struct {
	ID     string  `json:"id"`
	Holder string  `json:"holder"` // the worker, for the log and for taking back what a dead process held
	Until  Instant `json:"until"`
	// UserID is the identity that took the lease and alone can use it; empty for the platform's own process.
	UserID string `json:"userId,omitempty"`
	// Confirmed is whether a worker has been heard of since the lease was given.
	Confirmed bool `json:"confirmed,omitempty"`
	// Lines is how many lines of the log came under the lease, so that those which come twice are kept once.
	Lines int64 `json:"lines,omitempty"`
	// Outputs are the files that the worker is about to send. They become the run's when all are there.
	Outputs []File `json:"outputs,omitempty"`
}

// EndedLease is a lease that is over, with what the worker has to learn that lost the answer.
type EndedLease struct {
	ID     string `json:"id"`
	UserID string `json:"userId,omitempty"`
	// Request is the digest of the request that ended the lease; empty for a cancellation.
	Request string `json:"request,omitempty"`
	// State and EvaluationID are those of the run at that moment.
	State        RunState `json:"state"`
	Final        bool     `json:"final,omitempty"`
	EvaluationID string   `json:"evaluationId,omitempty"`
}

// The queues that runs wait in.
const (
	QueueBuiltin = "builtin" // for the built-in evaluators
	QueueSlow    = "slow"    // for their slow lane: an evaluation has used up its budget
	QueueWorkers = "workers" // for workers that execute images and repositories, or evaluate with an organizer's image
)

// Work is what a worker has to do for a run.
type Work string

// The kinds of work.
const (
	ExecuteImage      Work = "image"      // execute a container image over a dataset's inputs
	ExecuteRepository Work = "repository" // build a repository, and execute it over a dataset's inputs
	Evaluate          Work = "evaluation" // evaluate a run's files with an organizer's image
)

// ReclaimGrace is how long after its end the lease of a worker is left to the gRPC server to be taken back, which counts by
// its own clock. Only then does the evaluator, whose clock may be another's, take the run for left alone.
const ReclaimGrace = 3 * time.Minute

// RunItem is a run as the store holds it.
type RunItem struct {
	Run
	Access AccessAttributes `json:"access"`
	Type   SubmissionType   `json:"type"`
	Payer  string           `json:"payer,omitempty"` // Organizer.Payer
	Queue  string           `json:"queue"`           // where it waits when it waits
	Pool   string           `json:"pool,omitempty"`  // of workers, as its dataset names it
	Lease  *Lease           `json:"lease,omitempty"` // while running or evaluating
	// Ended is the last lease that its worker, or a cancellation, ended. What became of it is for its worker alone.
	Ended *EndedLease `json:"ended,omitempty"`
	// NotBefore is when a run that waits is looked at again: what it needs has yet to come, and nobody takes it up before.
	NotBefore *Instant `json:"later,omitempty"`
	// Restarts is how often the platform's own process ended while it worked on the run: as a rule no fault of the run's.
	Restarts int  `json:"restarts,omitempty"`
	Logs     Logs `json:"logs,omitzero"`
	// Bytes is what its owner's quota of stored bytes counts for the run.
	Bytes int64 `json:"bytes,omitempty"`
	// Counted is whether the user's allowance has the run.
	Counted bool `json:"counted,omitempty"`
	// Reviewed is whether an organizer has updated the review, since the run failed if it did.
	Reviewed bool `json:"reviewed,omitempty"`
	// Refunded is whether an exception has the run not count, whatever becomes of it.
	Refunded bool `json:"refunded,omitempty"`
	// Evaluations has every evaluation of the run, the newest last, so that all follow its review.
	Evaluations []string `json:"evaluations,omitempty"`
	// Held is whether the newest evaluation is not in lists yet, and Listed the one that is there instead, if any.
	Held   bool   `json:"held,omitempty"`
	Listed string `json:"listed,omitempty"`
	// NextTruthFailure is Allowance.NextTruthFailure when the run completed as a blinded one.
	NextTruthFailure *Instant `json:"nextTruthFailure,omitempty"`
	// TruthVersion is the truth that the run was last evaluated against, also when that failed, or was queued again for.
	TruthVersion int64 `json:"truthVersion,omitempty"`
}

// Turn names whose turn it is when the run is leased.
func (r *RunItem) Turn() Turn {
	return NewTurn(cmp.Or(r.Payer, r.Access.OrganizerID), r.TaskID, r.UserID, r.TeamID())
}

// TeamID identifies the team among those that wait in a queue: by its registration or, without one, by the user.
func (r *RunItem) TeamID() string { return cmp.Or(r.Access.RegistrationID, r.UserID) }

// Unregistered is AccessAttributes.Unregistered.
func (r *RunItem) Unregistered() bool { return r.Access.Unregistered() }

// Uncounted reports whether no allowance counts the run in any state.
func (r *RunItem) Uncounted() bool { return r.Unregistered() || r.Refunded }

// EndRefund has the run count again whose refund was withdrawn, and reports whether it does: it may have failed meanwhile.
func (r *RunItem) EndRefund() bool {
	r.Refunded, r.Counted = false, r.State.Counts() || len(r.Evaluations) > 0
	return r.Counted
}

// AuditedRun is what an audit entry keeps of a run.
type AuditedRun struct {
	SubmissionID string   `json:"submissionId"`
	DatasetID    string   `json:"datasetId"`
	Label        string   `json:"label,omitempty"`
	State        RunState `json:"state"`
	Final        bool     `json:"final,omitempty"`
	EvaluationID string   `json:"evaluationId,omitempty"`
}

// Audited returns what an audit entry keeps of the run.
func (r *RunItem) Audited() AuditedRun {
	return AuditedRun{
		SubmissionID: r.SubmissionID,
		DatasetID:    r.DatasetID,
		Label:        r.Label,
		State:        r.State,
		Final:        r.Final,
		EvaluationID: r.EvaluationID,
	}
}

// Key implements Record.
func (r *RunItem) Key() store.Key { return RunKey(r.ID) }

// RunKey is the key of the run.
func RunKey(id string) store.Key { return keyOf(KindRun, id, "RUN") }

// IsRun reports whether the key is of a run.
func IsRun(k store.Key) bool { return strings.HasPrefix(k.Partition, "RUN#") && k.Sort == "RUN" }

// Indexes implements Record.
func (r *RunItem) Indexes() [store.NumIndexes]store.Key {
	s := r.Scope()
	x := indexes{}.listed(KindRun, r.ID, s, r.Access.Anonymous).in(KindDataset, r.DatasetID, KindRun, s.Audience, r.ID)
	if r.Waits() && r.NotBefore == nil {
		q := r.Subqueue()
		return x.with(ByWork, q.Partition(), q.sortKey(r))
	}
	if w := r.pendingWork(); w != nil || r.Todo() == nil {
		return x.pending(w, r.ID)
	}
	return x.with(ByWork, TodoRuns(s.OrganizerID), r.ID)
}

// Lists reports whether lists have the evaluation, or will have it once leaderboards show the newest truth.
func (r *RunItem) Lists(evaluationID string) bool {
	return evaluationID == r.EvaluationID || evaluationID == r.ListedID()
}

// ListedID names the evaluation that stands for the run in lists and for tools; empty when none does.
func (r *RunItem) ListedID() string {
	if r.Held {
		return r.Listed
	}
	return r.EvaluationID
}

// Waits reports whether the run waits for somebody to take it up: to begin with, or to be evaluated once it was executed.
func (r *RunItem) Waits() bool { return r.State == Queued || r.State == Evaluating && r.Lease == nil }

// AwaitsWorker reports whether a worker could take up the run now.
func (r *RunItem) AwaitsWorker() bool {
	return r.Queue == QueueWorkers && r.Waits() && r.NotBefore == nil
}

// Subqueue is where the run waits when it waits.
func (r *RunItem) Subqueue() Subqueue {
	switch r.Queue {
	case QueueWorkers:
		return WorkerSubqueue(r.Pool, r.Work())
	case QueueSlow:
		return SlowSubqueue()
	default:
		return BuiltinSubqueue()
	}
}

// Work returns what a worker would have to do for the run next.
func (r *RunItem) Work() Work {
	if len(r.Files) > 0 || r.Type == UploadType {
		return Evaluate
	}
	return Work(r.Type)
}

// ObjectKeys names the objects of the run's files and logs, and of the files that its worker is about to send.
func (r *RunItem) ObjectKeys() []string {
	keys := objectKeys(HolderRuns, r.ID, r.Files)
	if r.Lease != nil {
		keys = append(keys, objectKeys(HolderRuns, r.ID, r.Lease.Outputs)...)
	}
	for _, f := range []*File{r.ExecutionLog, r.EvaluationLog} {
		if f != nil {
			keys = append(keys, ObjectKey(HolderLogs, r.ID, f.SHA256))
		}
	}
	return keys
}

// Scope is the scope of the run: it follows its submission.
func (r *RunItem) Scope() access.Scope {
	return r.Access.scope(r.TaskID, r.UserID, r.Access.submissionAudience())
}

// WidestScope returns the scope of one that everyone sees, which most callers see.
func (*RunItem) WidestScope() access.Scope { return access.Scope{Audience: access.Everyone} }

// AddDiagnostics appends to the run's diagnostics up to their limit, errors before warnings. Those that the truth had no part
// in are kept first, so that what is shown of a blinded run never depends on how many others there are.
func (r *RunItem) AddDiagnostics(more ...measure.Diagnostic) {
	r.Diagnostics = append(slices.Clip(r.Diagnostics), more...)
	bySeverity := func(a, b measure.Diagnostic) int { return severityOrder(a) - severityOrder(b) }
	slices.SortStableFunc(r.Diagnostics, bySeverity)
	if over := len(r.Diagnostics) - measure.MaxDiagnostics; over > 0 {
		shown := measure.SafeDiagnostics(r.Diagnostics)
		others := slices.DeleteFunc(r.Diagnostics, func(d measure.Diagnostic) bool { return d.SafeWhileBlinded })
		r.Diagnostics = append(shown, others...)[:measure.MaxDiagnostics]
		slices.SortStableFunc(r.Diagnostics, bySeverity)
	}
}

func severityOrder(d measure.Diagnostic) int {
	if d.Severity == measure.Error {
		return 0
	}
	return 1
}

// CheckLabel says what is wrong with what an owner calls a run.
func CheckLabel(label string) problem.Fields { return CheckLine("/label", label) }

// maxHolder is how many characters a worker's name may have.
const maxHolder = 100

// CheckHolder says what is wrong with what a worker calls itself.
func CheckHolder(pointer, name string) problem.Fields {
	fields, n := checkName(pointer, name), utf8.RuneCountInString(name)
	fields.AddIf(n > maxHolder, pointer, "has %d characters; %d are allowed", n, maxHolder)
	return fields
}
