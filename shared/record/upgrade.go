package record

import (
	"encoding/json"

	"assay/shared/measure"
)

// upgrade gives r, which was read from a record of schema 0 or 1, the members that had another form there than in schema 2.
func upgrade(stored json.RawMessage, r Record) error {
	var old schema1
	switch r.(type) {
	case *RunItem, *SubmissionItem, *EvaluationItem, *DatasetItem, *TaskItem, *RegistrationItem, *DeletedTask:
		if err := json.Unmarshal(stored, &old); err != nil {
			return err
		}
	}
	switch r := r.(type) {
	case *RunItem:
		r.Access = old.Access
		old.markSafe(r.Diagnostics)
	case *SubmissionItem:
		r.Access = old.Access
	case *EvaluationItem:
		r.Access = old.Access
	case *DatasetItem:
		old.markSafe(r.Diagnostics)
		r.PendingWork, r.DeletedBy = old.ofDataset(), old.Deletion.By
	case *TaskItem:
		r.PendingWork = old.Propagation.work(PropagateTask, ConfirmingPass)
		if old.Deleting {
			r.PendingWork = old.Propagation.work(DeleteTask, Decided)
		}
	case *RegistrationItem:
		r.PendingWork = old.Propagation.work(PropagateRegistration, ConfirmingPass)
	case *DeletedTask:
		r.PendingWork = NewPendingWork(SweepDeletedTask, old.Due.Time)
	}
	return nil
}

// schema1 has the members of records of schema 1 that schema 2 renamed or replaced.
type schema1 struct {
	Access      AccessAttributes `json:"standing"`
	Diagnostics []struct {
		Safe bool `json:"discreet"`
	} `json:"diagnostics"`
	Deleting     bool   `json:"deleting"`
	Propagation  *pass1 `json:"follow"`
	Acceptance   *pass1 `json:"adopt"`
	Reevaluation *pass1 `json:"requeue"`
	Deletion     struct {
		At *Instant `json:"at"`
		By string   `json:"by"`
	} `json:"deletion"`
	Due Instant
}

// pass1 was pending work: At is now NotBefore, and Passes counted what now are states.
type pass1 struct {
	At     Instant `json:"at"`
	Passes int     `json:"passes"`
}

// work is in its first state when nothing has been counted, else in the state later.
func (f *pass1) work(kind PendingKind, later PendingState) *PendingWork {
	if f == nil {
		return nil
	}
	w := NewPendingWork(kind, f.At.Time)
	if f.Passes > 0 {
		w.State = later
	}
	return w
}

func (old *schema1) ofDataset() *PendingWork {
	switch {
	case old.Deletion.At != nil:
		return NewPendingWork(DeleteDataset, old.Deletion.At.Time)
	case old.Acceptance != nil:
		return old.Acceptance.work(AcceptTruth, "")
	default:
		return old.Reevaluation.work(Reevaluate, ConfirmingPass)
	}
}

func (old *schema1) markSafe(diagnostics []measure.Diagnostic) {
	for i := range diagnostics {
		diagnostics[i].SafeWhileBlinded = old.Diagnostics[i].Safe
	}
}
