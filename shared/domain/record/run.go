package record

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// Limits after which the platform changes a run's state.
const (
	UploadTime  = 24 * time.Hour     // after which a run fails unless its files have arrived
	QueueTime   = 7 * 24 * time.Hour // after which a queued run fails unless a worker has leased it
	MaxAttempts = 3                  // leases after which a run fails
	MaxRestarts = 20                 // leases that ended because the platform's own process ended; later ones count as attempts
)

// RunState is a run's position in its life cycle.
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

// transitions maps each state to the states that can follow. Queued follows a lease that expired. After a change of the ground truth
// (qrels, labels), it also follows the end of an evaluated run. Evaluating follows itself when an evaluator leases a run that a worker
// has executed.
var transitions = map[RunState][]RunState{
	AwaitingUpload: {Queued, Failed, Cancelled},
	Queued:         {Running, Evaluating, Failed, Cancelled},
	Running:        {Queued, Evaluating, Failed, Cancelled},
	Evaluating:     {Evaluating, Queued, Completed, Failed, Cancelled},
	Completed:      {Queued},
	Failed:         {Queued},
}

// CanFollow reports whether next can follow s.
func (s RunState) CanFollow(next RunState) bool { return slices.Contains(transitions[s], next) }

// Ended reports whether a run in the state stays there until somebody changes it.
func (s RunState) Ended() bool { return s == Completed || s == Failed || s == Cancelled }

// Counts reports whether a run in the state counts in its user's quota.
func (s RunState) Counts() bool { return s != Failed && s != Cancelled }

// Run is the application of one submission to one dataset.
type Run struct {
	Meta
	SubmissionID   string               `json:"submissionId"`
	TaskID         string               `json:"taskId"`
	DatasetID      string               `json:"datasetId"`
	UserID         string               `json:"userId,omitempty" doc:"absent when the team is anonymous to the caller"`
	User           *Person              `json:"user,omitempty" doc:"who that is; for organizers"`
	Team           string               `json:"team" doc:"the team, or its alias"`
	Alias          string               `json:"alias,omitempty" doc:"the name that others see instead of an anonymous team's; for its members and the organizers"`
	RegistrationID string               `json:"registrationId,omitempty" doc:"the registration of the team; for its members and the organizers"`
	Title          string               `json:"title,omitempty" doc:"of the submission; absent, as is runTag, when the team is anonymous to the caller"`
	Label          string               `json:"label" maxLength:"200" doc:"the team's name for the run"`
	Final          bool                 `json:"final,omitempty" doc:"whether its team marked it as one of its final runs on the dataset"`
	RunTag         string               `json:"runTag,omitempty" doc:"last column of the first line of a run in the format trec-run, once it was evaluated"`
	State          RunState             `json:"state" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"a client can only set cancelled"`
	Attempts       int                  `json:"attempts" doc:"how often work on the run began, for the ground truth that it waits for or was last evaluated against"`
	Files          []File               `json:"files" doc:"the run's files; with links for callers who may read them"`
	Diagnostics    []measure.Diagnostic `json:"diagnostics" doc:"what is wrong with the run, each fault once with its lines and their number"`
	LogTail        string               `json:"logTail" doc:"the last lines that the execution wrote"`
	ExecutionLog   *File                `json:"log,omitempty" doc:"the whole output of the execution, once it has ended"`
	QueuedAt       *Instant             `json:"queuedAt,omitempty"`
	StartedAt      *Instant             `json:"startedAt,omitempty"`
	FinishedAt     *Instant             `json:"finishedAt,omitempty"`
	Again          bool                 `json:"again,omitempty" doc:"whether the run was completed before: it cannot be cancelled while it is evaluated again; for its team and the organizers"`
	EvaluationID   string               `json:"evaluationId,omitempty" doc:"the newest evaluation, once one exists that the caller may see"`
	Notice         string               `json:"notice,omitempty" doc:"why the caller sees no values of a completed run, why a run that was completed before is evaluated again or failed, or for which workers a run waits"`

	EvaluationLogTail string `json:"evaluationLogTail,omitempty" doc:"the last lines that the organizer's own evaluator wrote; for organizers"`
	EvaluationLog     *File  `json:"evaluationLog,omitempty" doc:"the evaluator's whole output; for organizers"`
}

// Lease is a worker's temporary, exclusive claim to a run.
type Lease struct {
	ID     string  `json:"id"`
	Holder string  `json:"holder"` // the worker; used in logs, and to reclaim the leases of a dead process
	Until  Instant `json:"until"`
	// UserID identifies the user that took the lease. Only this user can use it. It is empty for the platform's own process.
	UserID string `json:"userId,omitempty"`
	// Confirmed reports whether the worker has sent any message since the lease was given.
	Confirmed bool `json:"confirmed,omitempty"`
	// Lines counts the log lines received under the lease, so that repeated lines are stored only once.
	Lines int64 `json:"lines,omitempty"`
	// Outputs are the files that the worker is about to send. They become the run's files when all have arrived.
	Outputs []File `json:"outputs,omitempty"`
}

// EndedLease is a lease that is over. It holds the answer to the request that ended the lease, for a worker that lost the answer.
type EndedLease struct {
	ID     string `json:"id"`
	UserID string `json:"userId,omitempty"`
	// Request is the digest of the request that ended the lease. It is empty for a cancellation.
	Request string `json:"request,omitempty"`
	// State, Final and EvaluationID are the run's at that moment.
	State        RunState `json:"state"`
	Final        bool     `json:"final,omitempty"`
	EvaluationID string   `json:"evaluationId,omitempty"`
}

// The queues that runs wait in.
const (
	QueueBuiltin = "builtin" // for the built-in evaluators
	QueueSlow    = "slow"    // for the slow lane of the built-in evaluators, after an evaluation has used up its budget
	QueueWorkers = "workers" // for workers that execute images and repositories, or evaluate with an organizer's image
)

// Work is the kind of work that a worker does for a run.
type Work string

// The kinds of work.
const (
	ExecuteImage      Work = "image"      // execute a container image over a dataset's inputs
	ExecuteRepository Work = "repository" // build a repository, and execute it over a dataset's inputs
	Evaluate          Work = "evaluation" // evaluate a run's files with an organizer's image
)

// ReclaimGrace is how long after its end only the gRPC server may reclaim a worker's lease. The server uses its own clock. Later the
// background worker may reclaim the lease too, whose clock can differ.
const ReclaimGrace = 3 * time.Minute

// RunItem is a stored run.
type RunItem struct {
	Run
	Access AccessAttributes `json:"access"`
	Type   SubmissionType   `json:"type"`
	Payer  string           `json:"payer,omitempty"` // Organizer.Payer
	Queue  string           `json:"queue"`           // the queue in which it waits
	Pool   string           `json:"pool,omitempty"`  // pool of workers that its dataset names
	Lease  *Lease           `json:"lease,omitempty"` // while running or evaluating
	// Ended is the last lease that its worker, or a cancellation, ended. Only that worker may learn its result.
	Ended *EndedLease `json:"ended,omitempty"`
	// NotBefore is set while a waiting run needs something that is not available yet. Nobody leases the run before this time; then the
	// platform checks again.
	NotBefore *Instant `json:"later,omitempty"`
	// Restarts counts the ends of the platform's own process while it worked on the run. The run usually does not cause them.
	Restarts int  `json:"restarts,omitempty"`
	Logs     Logs `json:"logs,omitzero"`
	// Bytes is the run's share of its owner's quota of stored bytes.
	Bytes int64 `json:"bytes,omitempty"`
	// Counted reports whether the user's allowance counts the run.
	Counted bool `json:"counted,omitempty"`
	// Reviewed reports whether an organizer has updated the review. If the run failed, only updates after the failure count.
	Reviewed bool `json:"reviewed,omitempty"`
	// FailureTold reports whether the run.failed event of the run was made since the run was completed last.
	FailureTold bool `json:"failureTold,omitempty"`
	// Refunded reports whether an exception excludes the run from the quota, whatever its state.
	Refunded bool `json:"refunded,omitempty"`
	// Evaluations lists every evaluation of the run, newest last. All of them follow its review.
	Evaluations []string `json:"evaluations,omitempty"`
	// Held reports whether the newest evaluation is not in lists yet. Listed is then the evaluation in lists, if any.
	Held   bool   `json:"held,omitempty"`
	Listed string `json:"listed,omitempty"`
	// NextTruthFailure is the value of Allowance.NextTruthFailure when the run completed, if LimitsTruthFailures held. If it is set, the
	// run may have completed only because its team had no failures left.
	NextTruthFailure *Instant `json:"nextTruthFailure,omitempty"`
	// TruthVersion is the version of the last evaluation, even if it failed, or the version for which the run was queued again.
	TruthVersion int64 `json:"truthVersion,omitempty"`
}

// Turn returns the run's turn in its queue.
func (r *RunItem) Turn() Turn {
	return NewTurn(cmp.Or(r.Payer, r.Access.OrganizerID), r.TaskID, r.UserID, r.TeamID())
}

// Name returns the name of the run for people: its title, its label or its tag. It returns "" for a run without any.
func (r *RunItem) Name() string { return cmp.Or(r.Access.Title, r.Label, r.RunTag) }

// TeamID identifies the run's team in a queue: by its registration or, without one, by the user.
func (r *RunItem) TeamID() string { return cmp.Or(r.Access.RegistrationID, r.UserID) }

// Unregistered is AccessAttributes.Unregistered.
func (r *RunItem) Unregistered() bool { return r.Access.Unregistered() }

// Uncounted reports whether no allowance counts the run, whatever its state.
func (r *RunItem) Uncounted() bool { return r.Unregistered() || r.Refunded }

// EndRefund withdraws the run's refund, and reports whether the run counts again. A run that has failed meanwhile does not.
func (r *RunItem) EndRefund() bool {
	r.Refunded, r.Counted = false, r.State.Counts()
	return r.Counted
}

// FollowExceptions updates a run from the trash to the exceptions of its team in a, which may have refunded the run or ended its refund
// meanwhile.
func (r *RunItem) FollowExceptions(a *Allowance) {
	refunded := slices.ContainsFunc(a.Exceptions, func(e Exception) bool { return e.RunID == r.ID })
	switch {
	case refunded && r.Counted:
		r.Counted, r.Refunded = false, true
	case !refunded && r.Refunded:
		r.EndRefund()
	}
}

// LimitsTruthFailures reports whether the run's next evaluation may fail for reasons that only the ground truth reveals only within
// MaxTruthFailures of its team. The limit holds for the first evaluation of a run whose values its team does not see, because the team
// chose the moment and the content. Later evaluations follow changes by the organizers, so they fail openly, unless the limit may already
// have hidden a failure.
func (r *RunItem) LimitsTruthFailures() bool {
	return r.Access.Conceals() && (r.TruthVersion == 0 || r.NextTruthFailure != nil)
}

// RunIdentity says which run an audit entry is about, also after the run is deleted.
type RunIdentity struct {
	DatasetID      string `json:"datasetId"`
	RegistrationID string `json:"registrationId,omitempty"` // the team's; baselines can have none
	Title          string `json:"title,omitempty"`
	Label          string `json:"label,omitempty"`
	RunTag         string `json:"runTag,omitempty"`
}

// identity returns the part of the run that identifies it in audit entries.
func (r *RunItem) identity() RunIdentity {
	return RunIdentity{
		DatasetID:      r.DatasetID,
		RegistrationID: r.Access.RegistrationID,
		Title:          r.Access.Title,
		Label:          r.Label,
		RunTag:         r.RunTag,
	}
}

// AuditedRun is the part of a run that audit entries keep.
type AuditedRun struct {
	RunIdentity
	SubmissionID string   `json:"submissionId"`
	State        RunState `json:"state"`
	Final        bool     `json:"final,omitempty"`
	EvaluationID string   `json:"evaluationId,omitempty"`
}

// Audited returns the part of the run that audit entries keep.
func (r *RunItem) Audited() AuditedRun {
	return AuditedRun{
		RunIdentity:  r.identity(),
		SubmissionID: r.SubmissionID,
		State:        r.State,
		Final:        r.Final,
		EvaluationID: r.EvaluationID,
	}
}

// Key implements Record.
func (r *RunItem) Key() store.Key { return RunKey(r.ID) }

// RunKey returns the key of the run.
func RunKey(id string) store.Key { return keyOf(KindRun, id, "RUN") }

// IsRun reports whether the key belongs to a run.
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
		return x.pending(DueRuns, w, r.ID)
	}
	return x.with(ByWork, TodoRuns(s.OrganizerID), r.ID)
}

// Lists reports whether the evaluation is in lists, or will be once leaderboards show the newest ground truth.
func (r *RunItem) Lists(evaluationID string) bool {
	return evaluationID == r.EvaluationID || evaluationID == r.ListedID()
}

// ListedID returns the ID of the run's evaluation in lists and tools. It returns "" if the run has none there.
func (r *RunItem) ListedID() string {
	if r.Held {
		return r.Listed
	}
	return r.EvaluationID
}

// HasFiles reports whether the run has files and all of them are stored, so that it can be evaluated.
func (r *RunItem) HasFiles() bool { return len(r.Files) > 0 && AllStored(r.Files) }

// Waits reports whether the run waits to be leased: for its first work, or for its evaluation after its execution.
func (r *RunItem) Waits() bool { return r.State == Queued || r.State == Evaluating && r.Lease == nil }

// AwaitsWorker reports whether a worker could lease the run now.
func (r *RunItem) AwaitsWorker() bool {
	return r.Queue == QueueWorkers && r.Waits() && r.NotBefore == nil
}

// Subqueue returns the subqueue in which the run waits when it waits.
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

// Work returns the next work of a worker for the run.
func (r *RunItem) Work() Work {
	if len(r.Files) > 0 || r.Type == UploadType {
		return Evaluate
	}
	return Work(r.Type)
}

// ObjectKeys returns the keys of the objects of the run's files and logs, and of the files that its worker is about to send.
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

// Scope returns the scope of the run, which follows its submission.
func (r *RunItem) Scope() access.Scope {
	return r.Access.scope(r.TaskID, r.UserID, r.Access.submissionAudience())
}

// WidestScope returns the scope of a run that everyone sees. Most callers see such runs.
func (*RunItem) WidestScope() access.Scope { return access.Scope{Audience: access.Everyone} }

// AddDiagnostics adds diagnostics to the run, errors before warnings, up to measure.MaxDiagnostics. Diagnostics that do not depend on
// the ground truth are kept first. So the visible diagnostics of a blinded run never depend on the number of the others.
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

// CheckLabel reports the errors of a run's label.
func CheckLabel(label string) problem.Fields { return CheckLine("/label", label) }

// maxHolder is the greatest length of a worker's name, in characters.
const maxHolder = 100

// CheckHolder reports the errors of a worker's name.
func CheckHolder(pointer, name string) problem.Fields {
	fields, n := checkName(pointer, name), utf8.RuneCountInString(name)
	fields.AddIf(n > maxHolder, pointer, "has %d characters; %d are allowed", n, maxHolder)
	return fields
}
