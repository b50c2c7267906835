// Package deletion deletes tasks and datasets that nothing was submitted to, in steps that can stop at any point and be
// resumed, while submissions are made.
//
// A deletion is pending work of its record, with two states. First the record is marked, so that nothing new is admitted to
// it. Then every grant of the task is written again: a submission is made under its grant as it is, so those that were
// admitted before the mark have been made by then or never will be, and the allowances count them without the lag of lists.
// If there are any, the deletion is refused, which removes the mark. Otherwise a task's deletion is decided, in the
// transaction with the audit entry, and from then on it only goes forward: everything in the task is deleted, and the task
// last. A dataset is small enough to be deleted in the transaction that decides.
package deletion

import (
	"context"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// page is how many records are read at once.
const page = 100

// Deleter deletes tasks and datasets in a store.
type Deleter struct {
	Store store.Store
	Now   func() time.Time
}

// pendingDeletion is the work of a deletion that was just marked, which the evaluator resumes if the request does not end it.
func (d Deleter) pendingDeletion(kind record.PendingKind) *record.PendingWork {
	return record.NewPendingWork(kind, d.Now().Add(record.RequestTime))
}

// renewGrants writes every grant of the task again, so that a transaction that depends on a grant as it was fails.
func (d Deleter) renewGrants(ctx context.Context, taskID string) error {
	return d.eachInTask(ctx, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
			return nil
		}
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		_, err = records.Update(ctx, d.Store, record.RegisteredKey(r.UserID, taskID), func(*record.Registered, *records.Tx) (bool, error) {
			return true, nil
		})
		return err
	})
}

// checkUnused returns the error used if an allowance of the task counts what depends on the record to be deleted, or one of
// the lists has some of it.
func (d Deleter) checkUnused(ctx context.Context, taskID string, counts func(*record.Allowance) bool, lists []records.Source,
	used error) error {
	err := d.eachInTask(ctx, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.AllowancePrefix) {
			return nil
		}
		a, err := records.Decode[record.Allowance](it)
		if err == nil && counts(a) {
			return used
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, source := range lists {
		found, err := d.Store.Query(ctx, store.Query{Index: source.Index, Partition: source.Partition, Limit: 1})
		if err != nil {
			return records.Failed(err)
		}
		if len(found) > 0 {
			return used
		}
	}
	return nil
}

// eachInTask calls do with every item of a task's partition, by strong reads: what was written before is there.
func (d Deleter) eachInTask(ctx context.Context, taskID string, do func(store.Item) error) error {
	q := store.Query{Partition: record.TaskKey(taskID).Partition, Limit: page, Consistency: store.Strong}
	for it, err := range records.Items(ctx, d.Store, q) {
		if err == nil {
			err = do(it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ignoreRefusal returns nil for the Conflict with which a resumed deletion is refused: its caller has gone.
func ignoreRefusal(err error) error {
	if problem.Conflict.Is(err) {
		return nil
	}
	return err
}
