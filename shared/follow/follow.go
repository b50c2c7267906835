// Package follow makes what hangs on a record follow a change of it: the visibility of a task, the team and anonymity of
// a registration, the deletion of a task. Everything below carries a copy of what decides who may see it, so that one
// read decides; this package is the price.
//
// The change itself sets a Follow on the record, in its own transaction. Whoever made it runs the work at once; should
// that die, the evaluator takes it up when it is due. The work is idempotent: it compares each thing with the record as
// it is, so it can stop and begin anew at any point, and several can be at it. Lists may lag behind writes, so that one
// pass proves nothing about what was written just before: the work is done when a second pass, some seconds later, has
// gone through.
package follow

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Patience is how long whoever made a change has for what follows it, before the evaluator takes it up. It is longer than
// any request lasts.
const Patience = time.Minute

// lag is how long a list may be behind the writes, with much to spare.
const lag = 5 * time.Second

// page is how many records are read at once.
const page = 100

// Task makes everything below a task carry its visibility or, when the task is being deleted, go.
func Task(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	t, err := records.Get[record.TaskItem](ctx, s, store.Strong, key)
	switch {
	case err != nil || t == nil:
		return err
	case !t.PendingWork.Is(record.PropagateTask) || t.PendingWork.TooEarly(now):
		return nil
	}
	if err := below(ctx, s, t.ID); err != nil {
		return err
	}
	return passed(ctx, s, now, key, t.PendingWork, func(t *record.TaskItem) **record.PendingWork { return &t.PendingWork })
}

// below makes everything below a task private or public, as the task is.
func below(ctx context.Context, s store.Store, taskID string) error {
	task := record.TaskKey(taskID)
	standing := func(t *record.TaskItem, _ *string, st *record.AccessAttributes) bool {
		return set(&st.PrivateTask, private(t))
	}
	err := records.Each(ctx, s, page, []records.Source{records.Partition(record.ByTask, record.TaskPartition(taskID, record.KindDataset, 0))}, func(d *record.DatasetItem) error {
		return bring(ctx, s, unseen, task, d.Key(), func(t *record.TaskItem, d *record.DatasetItem) bool { return set(&d.PrivateTask, private(t)) })
	})
	if err != nil {
		return err
	}
	// Grants come before submissions: a submission is made under the grant as it is, so that from here on none is made
	// under the visibility that the task had.
	err = records.Each(ctx, s, page, []records.Source{records.Registrations(taskID)}, func(r *record.RegistrationItem) error {
		key := record.RegisteredKey(r.UserID, taskID)
		return bring(ctx, s, unseen, task, key, func(t *record.TaskItem, g *record.Registered) bool { return set(&g.PrivateTask, private(t)) })
	})
	if err != nil {
		return err
	}
	err = records.Each(ctx, s, page, records.TaskSources(taskID, record.KindSubmission), func(sub *record.SubmissionItem) error {
		return bring(ctx, s, unseen, task, sub.Key(), func(t *record.TaskItem, sub *record.SubmissionItem) bool { return standing(t, nil, &sub.Access) })
	})
	if err != nil {
		return err
	}
	return records.Each(ctx, s, page, records.TaskSources(taskID, record.KindRun), func(r *record.RunItem) error {
		return run(ctx, s, unseen, task, r.ID, standing)
	})
}

func private(t *record.TaskItem) bool { return t.Visibility == record.Private }

// Registration makes everything that was submitted under a registration carry its team and anonymity.
func Registration(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	r, err := records.Get[record.RegistrationItem](ctx, s, store.Strong, key)
	if err != nil || r == nil || !r.PendingWork.Is(record.PropagateRegistration) || r.PendingWork.TooEarly(now) {
		return err
	}
	touch := shown(now)
	standing := func(r *record.RegistrationItem, team *string, st *record.AccessAttributes) bool {
		changed := set(team, r.Team)
		changed = set(&st.Affiliation, r.Affiliation) || changed
		return set(&st.Anonymous, r.Anonymous) || changed
	}
	err = records.Each(ctx, s, page, records.UserSources(r.UserID, record.KindSubmission), func(sub *record.SubmissionItem) error {
		if sub.TaskID != r.TaskID || sub.Unregistered() {
			return nil
		}
		err := bring(ctx, s, touch, key, sub.Key(), func(r *record.RegistrationItem, sub *record.SubmissionItem) bool {
			return standing(r, &sub.Team, &sub.Access)
		})
		if err != nil {
			return err
		}
		return runs(ctx, s, touch, key, sub.RunIDs, standing)
	})
	if err != nil {
		return err
	}
	return passed(ctx, s, now, key, r.PendingWork, func(r *record.RegistrationItem) **record.PendingWork { return &r.PendingWork })
}

// SetSubmission has st carry what of the submission's Standing follows from the submission itself, and reports whether that
// changed anything.
func SetSubmission(st, submission *record.AccessAttributes) bool {
	before := *st
	st.Public, st.Baseline, st.Title, st.PaperURL = submission.Public, submission.Baseline, submission.Title, submission.PaperURL
	return *st != before
}

// Submission makes the runs of a submission, and their evaluations, carry its visibility, its texts and whether it is a baseline.
func Submission(ctx context.Context, s store.Store, now time.Time, id string) error {
	key := record.SubmissionKey(id)
	sub, err := records.Get[record.SubmissionItem](ctx, s, store.Strong, key)
	if err != nil || sub == nil {
		return err
	}
	return runs(ctx, s, shown(now), key, sub.RunIDs, func(sub *record.SubmissionItem, _ *string, st *record.AccessAttributes) bool {
		return SetSubmission(st, &sub.Access)
	})
}

func runs[S any, P records.Pointer[S]](ctx context.Context, s store.Store, touch touch, from store.Key, ids []string, standing func(P, *string, *record.AccessAttributes) bool) error {
	for _, id := range ids {
		if err := run(ctx, s, touch, from, id, standing); err != nil {
			return err
		}
	}
	return nil
}

// run makes the team and Standing of a run, and then those of its evaluations, what standing makes of them. The run comes
// first: an evaluation that is made meanwhile takes them from the run as it is when the evaluation is written.
func run[S any, P records.Pointer[S]](ctx context.Context, s store.Store, touch touch, from store.Key, id string, standing func(P, *string, *record.AccessAttributes) bool) error {
	var evaluations []string
	err := bring(ctx, s, touch, from, record.RunKey(id), func(p P, r *record.RunItem) bool {
		evaluations = r.Evaluations
		return standing(p, &r.Team, &r.Access)
	})
	for _, e := range evaluations {
		if err == nil {
			err = bring(ctx, s, touch, from, record.EvaluationKey(e), func(p P, e *record.EvaluationItem) bool {
				changed := standing(p, &e.Team, &e.Access)
				return set(&e.Baseline, e.Access.Baseline) || changed
			})
		}
	}
	return err
}

// touch makes a record that changes its next version, or does not, where nothing changes that is shown.
type touch func(record.Record)

func shown(now time.Time) touch { return func(r record.Record) { record.Touch(r, now) } }

func unseen(record.Record) {}

// bring makes the record at key as the one at from has it, unless it is so already or one of the two is gone. The write
// holds only while the one at from is as it was read, so that work which a newer change has overtaken undoes nothing.
func bring[S, R any, P records.Pointer[S], Q records.Pointer[R]](ctx context.Context, s store.Store, touch touch, from, key store.Key, change func(P, Q) bool) error {
	return records.Retry(ctx, func() error {
		var p P
		var r Q
		err := records.Read(ctx, s, store.Strong, records.Into(&p, from), records.Into(&r, key))
		if err != nil || p == nil || r == nil || !change(p, r) {
			return err
		}
		touch(r)
		return new(records.Tx).Replace(r).Check(p).Commit(ctx, s)
	})
}

// update writes one record in which nothing changes that is shown, if it is there and change says so.
func update[R any, P records.Pointer[R]](ctx context.Context, s store.Store, key store.Key, change func(P) bool) error {
	_, err := records.Update(ctx, s, key, func(r P, _ *records.Tx) (bool, error) { return change(r), nil })
	return err
}

// passed records that a pass over everything below the record has ended. The confirming pass ends the work. A pass counts
// only when the work is as it was when the pass began: else the record has changed again, or another pass came first.
func passed[R any, P records.Pointer[R]](ctx context.Context, s store.Store, now time.Time, key store.Key, began *record.PendingWork, of func(P) **record.PendingWork) error {
	return update(ctx, s, key, func(r P) bool {
		work := of(r)
		if !(*work).Same(began) {
			return false
		}
		if began.State == record.ConfirmingPass {
			*work = nil
		} else {
			*work = &record.PendingWork{Kind: began.Kind, NotBefore: record.At(now.Add(lag)), State: record.ConfirmingPass}
		}
		return true
	})
}

// set gives *p the value and reports whether that changed anything.
func set[T comparable](p *T, value T) bool {
	changed := *p != value
	*p = value
	return changed
}
