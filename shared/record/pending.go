package record

import (
	"fmt"
	"strings"
	"time"

	"assay/shared/store"
)

// PendingWork is work that a record still needs after the transaction that made it necessary. The request that caused the
// work may do it at once; if it does not, because it failed or its time ended, the evaluator does it from NotBefore on.
// A record has at most one PendingWork, which gives the record its entry in DuePartition.
type PendingWork struct {
	Kind      PendingKind  `json:"kind"`
	NotBefore Instant      `json:"notBefore"`
	State     PendingState `json:"state,omitempty"`
	// Begun is how many times an acceptance has begun and not ended: the process died in between, or still is at work.
	Begun int `json:"begun,omitempty"`
}

// RequestTime is how long a request has to do the work that it made pending, before the evaluator does it. It is longer than any
// request lasts.
const RequestTime = time.Minute

// PendingKind says what is to be done.
type PendingKind string

// The kinds of pending work. On a dataset a deletion replaces an acceptance, and an acceptance a re-evaluation;
// DatasetItem.Resume continues with what was replaced.
const (
	PropagateTask         PendingKind = "propagate-task"         // copy a task's visibility to everything below it
	PropagateRegistration PendingKind = "propagate-registration" // copy a team's name and anonymity to what it submitted
	ApplyEmbargo          PendingKind = "apply-embargo"          // withhold the scores of datasets until the last close, or show them
	DeleteDataset         PendingKind = "delete-dataset"         // delete a dataset that no run uses
	AcceptTruth           PendingKind = "accept-truth"           // check truth files that have arrived, and evaluate with them
	Reevaluate            PendingKind = "reevaluate"             // queue a dataset's runs again for its truth
	DeleteUser            PendingKind = "delete-user"            // delete a user, and anonymize what stays
	MoveToTrash           PendingKind = "move-to-trash"          // move what is left of a deleted resource to the trash
	RestoreTrash          PendingKind = "restore-trash"          // move what lies in the trash back
	PurgeTrash            PendingKind = "purge-trash"            // delete what lies in the trash, with its files
)

// The kinds of pending work of runs, which are not stored: they follow from the state of the run.
const (
	ExpireUpload PendingKind = "expire-upload" // fail a run whose files have not arrived
	ReclaimLease PendingKind = "reclaim-lease" // queue a run again whose lease has expired
	ResumeRun    PendingKind = "resume-run"    // offer a run again that was set aside for a while
	SealLogs     PendingKind = "seal-logs"     // write the logs of a run that has ended to files
)

// PendingState is how far the work has come.
type PendingState string

// The states of pending work. Propagation, re-evaluation and the deletion of a user read lists, which can miss concurrent writes and
// writes younger than the Lag of the store. So they end only after a confirming pass, after that Lag, or once no request that
// began before the first pass can still write. Other deletions can still be refused until they are decided.
const (
	FirstPass      PendingState = "first-pass"
	ConfirmingPass PendingState = "confirming-pass"
	Marked         PendingState = "marked"
	Decided        PendingState = "decided"
)

var firstStates = map[PendingKind]PendingState{
	PropagateTask: FirstPass, PropagateRegistration: FirstPass, ApplyEmbargo: FirstPass, Reevaluate: FirstPass, DeleteUser: FirstPass,
	DeleteDataset: Marked,
}

// NewPendingWork returns work of the kind that has not begun.
func NewPendingWork(kind PendingKind, notBefore time.Time) *PendingWork {
	return &PendingWork{Kind: kind, NotBefore: At(notBefore), State: firstStates[kind]}
}

// NewConfirmingPass returns work of the kind that ends with a confirming pass.
func NewConfirmingPass(kind PendingKind, notBefore time.Time) *PendingWork {
	return &PendingWork{Kind: kind, NotBefore: At(notBefore), State: ConfirmingPass}
}

// Is reports whether work of the kind is pending; a nil PendingWork is none.
func (w *PendingWork) Is(kind PendingKind) bool { return w != nil && w.Kind == kind }

// Same reports whether the work is other, without progress since.
func (w *PendingWork) Same(other *PendingWork) bool {
	return w != nil && other != nil && w.Kind == other.Kind && w.State == other.State && w.NotBefore.Equal(other.NotBefore.Time)
}

// TooEarly reports whether a confirming pass at now could still miss what a lagging list does not have yet.
func (w *PendingWork) TooEarly(now time.Time) bool {
	return w.State == ConfirmingPass && now.Before(w.NotBefore.Time)
}

// pending is a Record that can have pending work.
type pending interface {
	Record
	pendingWork() *PendingWork
}

func (t *TaskItem) pendingWork() *PendingWork         { return t.PendingWork }
func (r *RegistrationItem) pendingWork() *PendingWork { return r.PendingWork }
func (d *DatasetItem) pendingWork() *PendingWork      { return d.PendingWork }
func (e *Embargo) pendingWork() *PendingWork          { return e.PendingWork }
func (u *User) pendingWork() *PendingWork             { return u.PendingWork }

func (r *RunItem) pendingWork() *PendingWork {
	switch {
	case r.Waits() && r.NotBefore != nil:
		return NewPendingWork(ResumeRun, r.NotBefore.Time)
	case r.Waits():
		return nil // it is in a queue
	case r.State == AwaitingUpload:
		return NewPendingWork(ExpireUpload, r.CreatedAt.Add(UploadTime))
	case r.Lease != nil && r.Queue == QueueWorkers:
		return NewPendingWork(ReclaimLease, r.Lease.Until.Add(ReclaimGrace))
	case r.Lease != nil:
		return NewPendingWork(ReclaimLease, r.Lease.Until.Time)
	case r.State.Ended() && r.unsealed():
		return NewPendingWork(SealLogs, r.FinishedAt.Time)
	default:
		return nil
	}
}

// DecodePending reads a stored record that can have pending work, and returns the work with it; nil when it has none.
func DecodePending(it store.Item) (Record, *PendingWork, error) {
	r, ok := emptyAt(it.Key).(pending)
	if !ok {
		return nil, nil, fmt.Errorf("record: %s %s can have no pending work", it.Partition, it.Sort)
	}
	if err := Decode(it, r); err != nil {
		return nil, nil, err
	}
	return r, r.pendingWork(), nil
}

// pending adds the entry of DuePartition for the work, if there is any.
func (x indexes) pending(w *PendingWork, id string) indexes {
	if w == nil {
		return x
	}
	return x.with(ByWork, DuePartition, due(w.NotBefore, id))
}

// due is the sort key under which DuePartition has what is due at the instant.
func due(at Instant, id string) string { return at.sortable() + "#" + id }

// DueBy returns the greatest sort key of DuePartition of what is due at the instant or before.
func DueBy(at time.Time) string { return At(at).sortable() + "$" }

// DueAt returns the instant of a sort key of DuePartition, or of a queue.
func DueAt(sort string) (time.Time, error) {
	at, _, _ := strings.Cut(sort, "#")
	return time.Parse(instantLayout, at)
}
