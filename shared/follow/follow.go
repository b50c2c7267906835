// Package follow makes what hangs on a record follow a change of it: the visibility of a task, the team and anonymity of
// a registration, the deletion of a task. Everything below carries a copy of what decides who may see it, so that one
// read decides; this package is the price.
//
// The change itself sets a Follow on the record, in its own transaction. Whoever made it runs the work at once; should
// that die, the evaluator takes it up when it is due. The work is idempotent: it compares each thing with the record as
// it is, so it can stop and begin anew at any point. Lists may lag behind writes, so that one pass proves nothing about
// what was written just before: the work is done when a second pass, some seconds later, has gone through.
package follow

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// Patience is how long whoever made a change has for what follows it, before the evaluator takes it up.
const Patience = time.Minute

// lag is how long a list may be behind the writes, with much to spare.
const lag = 5 * time.Second

// page is how many records are read at once.
const page = 100

// Task makes everything below a task carry its visibility or, when the task is being deleted, go.
func Task(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	t, err := table.Get[record.TaskItem](ctx, s, store.Strong, key)
	if err != nil || t == nil || t.Follow == nil {
		return err
	}
	if t.Deleting {
		return Delete(ctx, s, t)
	}
	private := t.Visibility == record.Private
	if err := below(ctx, s, t.ID, private); err != nil {
		return err
	}
	return passed(ctx, s, now, key, func(now *record.TaskItem) (**record.Follow, bool) {
		return &now.Follow, !now.Deleting && now.Visibility == t.Visibility
	})
}

// below makes everything below a task private or public.
func below(ctx context.Context, s store.Store, taskID string, private bool) error {
	err := table.Each(ctx, s, page, []table.Source{table.Partition(record.ByTask, record.OfTask(taskID, record.KindDataset, 0))}, func(d *record.DatasetItem) error {
		return bring(ctx, s, d.Key(), func(d *record.DatasetItem) bool { return set(&d.PrivateTask, private) })
	})
	if err != nil {
		return err
	}
	err = table.Each(ctx, s, page, []table.Source{table.Registrations(taskID)}, func(r *record.RegistrationItem) error {
		return bring(ctx, s, record.RegisteredKey(r.UserID, taskID), func(g *record.Registered) bool { return set(&g.PrivateTask, private) })
	})
	if err != nil {
		return err
	}
	err = table.Each(ctx, s, page, ofTask(taskID, record.KindSubmission), func(sub *record.SubmissionItem) error {
		return bring(ctx, s, sub.Key(), func(sub *record.SubmissionItem) bool { return set(&sub.Standing.PrivateTask, private) })
	})
	if err != nil {
		return err
	}
	return table.Each(ctx, s, page, ofTask(taskID, record.KindRun), func(r *record.RunItem) error {
		return Run(ctx, s, r.ID, func(_ *string, st *record.Standing) bool { return set(&st.PrivateTask, private) })
	})
}

// Registration makes everything that was submitted under a registration carry its team and anonymity.
func Registration(ctx context.Context, s store.Store, now time.Time, key store.Key) error {
	r, err := table.Get[record.RegistrationItem](ctx, s, store.Strong, key)
	if err != nil || r == nil || r.Follow == nil {
		return err
	}
	apply := func(team *string, st *record.Standing) bool {
		changed := set(team, r.Team)
		return set(&st.Anonymous, r.Anonymous) || changed
	}
	var sources []table.Source
	for _, a := range record.Audiences {
		sources = append(sources, table.Partition(record.ByUser, record.OfUser(r.UserID, record.KindSubmission, a)))
	}
	err = table.Each(ctx, s, page, sources, func(sub *record.SubmissionItem) error {
		if sub.TaskID != r.TaskID {
			return nil
		}
		err := bring(ctx, s, sub.Key(), func(sub *record.SubmissionItem) bool { return apply(&sub.Team, &sub.Standing) })
		if err != nil {
			return err
		}
		return runs(ctx, s, sub.RunIDs, apply)
	})
	if err != nil {
		return err
	}
	return passed(ctx, s, now, key, func(now *record.RegistrationItem) (**record.Follow, bool) {
		return &now.Follow, now.Team == r.Team && now.Anonymous == r.Anonymous
	})
}

// Submission makes the runs of a submission, and their evaluations, carry its visibility and whether it is a baseline.
func Submission(ctx context.Context, s store.Store, id string) error {
	sub, err := table.Get[record.SubmissionItem](ctx, s, store.Strong, record.SubmissionKey(id))
	if err != nil || sub == nil {
		return err
	}
	return runs(ctx, s, sub.RunIDs, func(_ *string, st *record.Standing) bool {
		changed := set(&st.Public, sub.Standing.Public)
		return set(&st.Baseline, sub.Standing.Baseline) || changed
	})
}

func runs(ctx context.Context, s store.Store, ids []string, apply func(team *string, st *record.Standing) bool) error {
	for _, id := range ids {
		if err := Run(ctx, s, id, apply); err != nil {
			return err
		}
	}
	return nil
}

// Run applies a change to the Standing of a run and then to that of its evaluations. The run comes first: an evaluation
// that is made meanwhile takes the Standing of the run as it is when the evaluation is written.
func Run(ctx context.Context, s store.Store, id string, apply func(team *string, st *record.Standing) bool) error {
	var evaluations []string
	err := bring(ctx, s, record.RunKey(id), func(r *record.RunItem) bool {
		evaluations = r.Evaluations
		return apply(&r.Team, &r.Standing)
	})
	for _, e := range evaluations {
		if err == nil {
			err = bring(ctx, s, record.EvaluationKey(e), func(e *record.EvaluationItem) bool {
				changed := apply(&e.Team, &e.Standing)
				return set(&e.Baseline, e.Standing.Baseline) || changed
			})
		}
	}
	return err
}

// ofTask is all of a task's resources of the kind, whoever may see them.
func ofTask(taskID string, k record.Kind) []table.Source {
	var sources []table.Source
	for _, a := range record.Audiences {
		sources = append(sources, table.Partition(record.ByTask, record.OfTask(taskID, k, a)))
	}
	return sources
}

// bring changes one record, if it is there and change says that it is not yet as it should be.
func bring[R any, P table.Pointer[R]](ctx context.Context, s store.Store, key store.Key, change func(P) bool) error {
	return table.Retry(ctx, func() error {
		r, err := table.Get[R, P](ctx, s, store.Strong, key)
		if err != nil || r == nil || !change(r) {
			return err
		}
		return new(table.Tx).Replace(r).Commit(ctx, s)
	})
}

// passed tells the record that all that hangs on it was gone through, which ends the work the second time. When the
// record has changed again meanwhile, same is false and the passes count from the start.
func passed[R any, P table.Pointer[R]](ctx context.Context, s store.Store, now time.Time, key store.Key, same func(P) (follow **record.Follow, same bool)) error {
	return bring(ctx, s, key, func(r P) bool {
		f, same := same(r)
		if *f == nil {
			return false
		}
		passes := 1
		if same {
			passes += (*f).Passes
		}
		if passes > 1 {
			*f = nil
		} else {
			*f = &record.Follow{At: record.At(now.Add(lag)), Passes: passes}
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
