package record

import (
	"fmt"
	"time"

	"assay/shared/storage/store"
)

// PendingWork is work that a record still needs after the transaction that made it necessary. The request that caused the work may do it at
// once. If the request fails or times out, the background worker does the work from NotBefore on. A record has at most one PendingWork,
// which gives the record its entry in a partition of DuePrefix.
type PendingWork struct {
	Kind      PendingKind  `json:"kind"`
	NotBefore Instant      `json:"notBefore"`
	State     PendingState `json:"state,omitempty"`
	// Begun counts the acceptances that began and have not ended: the process died, or is still at work.
	Begun int `json:"begun,omitempty"`
}

// RequestTime is how long a request has to do the work that it made pending, before the background worker does it. Every request is
// shorter.
const RequestTime = time.Minute

// PendingKind is a kind of pending work.
type PendingKind string

// The kinds of pending work. On a dataset, a deletion replaces an acceptance, and an acceptance replaces a re-evaluation.
// DatasetItem.Resume continues with the replaced work.
const (
	PropagateTask         PendingKind = "propagate-task"         // copy a task's visibility to everything below it
	PropagateRegistration PendingKind = "propagate-registration" // copy a team's name and anonymity to what it submitted
	ApplyEmbargo          PendingKind = "apply-embargo"          // update whether the scores of datasets are withheld until the last close
	DeleteDataset         PendingKind = "delete-dataset"         // delete a dataset that no run uses
	AcceptTruth           PendingKind = "accept-truth"           // check truth files that have arrived, and evaluate with them
	Reevaluate            PendingKind = "reevaluate"             // queue a dataset's runs again for its truth
	DeleteUser            PendingKind = "delete-user"            // delete a user, and anonymize the records that stay
	MoveToTrash           PendingKind = "move-to-trash"          // move the rest of a deleted resource to the trash
	RestoreTrash          PendingKind = "restore-trash"          // move a resource back from the trash
	PurgeTrash            PendingKind = "purge-trash"            // delete a resource in the trash, with its files
)

// The kinds of pending work of runs. They follow from the state of the run and are not stored.
const (
	ExpireUpload PendingKind = "expire-upload" // fail a run whose files have not arrived
	ReclaimLease PendingKind = "reclaim-lease" // queue a run again after its lease expired
	ResumeRun    PendingKind = "resume-run"    // offer a run again after its NotBefore
	SealLogs     PendingKind = "seal-logs"     // write the logs of a run that has ended to files
)

// PendingState is the progress of pending work.
type PendingState string

// The states of pending work. Propagation, re-evaluation and the deletion of users read lists. Lists can miss concurrent writes, and
// writes younger than the store's Lag. So such work ends only after a confirming pass. That pass must start after the Lag, or once no
// request that began before the first pass can still write. A Marked deletion can still be refused, a Decided one cannot.
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

// NewPendingWork returns work of the kind in its first state.
func NewPendingWork(kind PendingKind, notBefore time.Time) *PendingWork {
	return &PendingWork{Kind: kind, NotBefore: At(notBefore), State: firstStates[kind]}
}

// NewConfirmingPass returns work of the kind that ends with a confirming pass.
func NewConfirmingPass(kind PendingKind, notBefore time.Time) *PendingWork {
	return &PendingWork{Kind: kind, NotBefore: At(notBefore), State: ConfirmingPass}
}

// Is reports whether w is work of the kind. A nil PendingWork is not.
func (w *PendingWork) Is(kind PendingKind) bool { return w != nil && w.Kind == kind }

// Same reports whether w and other are the same work with the same progress.
func (w *PendingWork) Same(other *PendingWork) bool {
	return w != nil && other != nil && w.Kind == other.Kind && w.State == other.State && w.NotBefore.Equal(other.NotBefore.Time)
}

// TooEarly reports whether a confirming pass at now could miss writes, because a list lags behind.
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
		return nil // the run is in a queue
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

// DecodePending decodes a record that can have pending work. It returns the record and the work, or nil if no work is pending.
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
