// Package propagation copies access attributes to the records that depend on them: the visibility of a task to everything in
// the task, the team and anonymity of a registration to its submissions, the visibility of a submission to its runs, and whether
// scores are withheld to runs and evaluations. Because every record has a copy of the attributes that decide who sees it, one read decides.
//
// Propagation changes attributes of records that exist, and nothing else. Package deletion moves records to the trash and back: records
// in the trash keep their copies, and get the current attributes in the transaction that restores them.
//
// The transaction that changes a task or a registration gives it a PendingWork. The request propagates the change at once; if
// it fails, the background worker does so from NotBefore on. Propagation compares each dependent with its current origin, so it can
// stop and begin again at any point, and several processes can propagate the same change. It has two states. The first pass can miss
// records that moved between two lists while it read them, or that lagging lists did not have yet. The confirming pass finds these and
// ends the work; it begins once the store's Lag has passed, and so at once where the store has none.
package propagation

import (
	"context"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// page is how many records are read at once.
const page = 100

// Propagator copies access attributes within a store.
type Propagator struct {
	Store store.Store
	Now   func() time.Time
}

// Task gives everything in a task the task's visibility, if that is pending.
func (p Propagator) Task(ctx context.Context, key store.Key) error {
	work := func(t *record.TaskItem) **record.PendingWork { return &t.PendingWork }
	return pass(ctx, p, key, record.PropagateTask, work, p.fromTask)
}

// Registration gives everything that was submitted under a registration its team and anonymity, if that is pending.
func (p Propagator) Registration(ctx context.Context, key store.Key) error {
	work := func(r *record.RegistrationItem) **record.PendingWork { return &r.PendingWork }
	return pass(ctx, p, key, record.PropagateRegistration, work, p.fromRegistration)
}

// pass propagates from the record of the key, if that is pending. In a store without lag, the confirming pass follows at once. The result
// counts only if nobody changed the record meanwhile, whatever the change: otherwise the work stays pending. The members of the work
// would not tell two changes of the same millisecond apart.
func pass[R any, P records.Pointer[R]](ctx context.Context, p Propagator, key store.Key, kind record.PendingKind,
	work func(P) **record.PendingWork, propagate func(context.Context, P) error) error {
	r, err := records.Get[R, P](ctx, p.Store, store.Strong, key)
	if err != nil || r == nil || !(*work(r)).Is(kind) || (*work(r)).TooEarly(p.Now()) {
		return err
	}
	if err := propagate(ctx, r); err != nil {
		return err
	}
	began, lag := *work(r), p.Store.Lag()
	confirmed := began.State == record.ConfirmingPass
	if !confirmed && lag == 0 {
		if err := propagate(ctx, r); err != nil {
			return err
		}
		confirmed = true
	}
	_, err = records.Update(ctx, p.Store, key, func(stored P, _ *records.Tx) (bool, error) {
		if stored.Stored() != r.Stored() {
			return false, nil
		}
		*work(stored) = nil
		if !confirmed {
			*work(stored) = record.NewConfirmingPass(kind, p.Now().Add(lag))
		}
		return true, nil
	})
	return err
}

func (p Propagator) fromTask(ctx context.Context, t *record.TaskItem) error {
	private := func(t *record.TaskItem, private *bool) bool { return set(private, t.Visibility == record.Private) }
	o := origin[record.TaskItem, *record.TaskItem]{
		store: p.Store, key: t.Key(), touch: func(record.Record) {},
		copy: func(t *record.TaskItem, _ *string, to *record.AccessAttributes) bool {
			return private(t, &to.PrivateTask)
		},
	}
	datasets := records.Of(record.KindTask, t.ID, record.KindDataset)
	err := records.Each(ctx, p.Store, page, datasets, func(d *record.DatasetItem) error {
		return copyTo(ctx, o, d.Key(), func(t *record.TaskItem, d *record.DatasetItem) bool { return private(t, &d.PrivateTask) })
	})
	if err == nil { // grants come before submissions, so that from here on none is made under the visibility that the task had
		err = records.Each(ctx, p.Store, page, []records.Source{records.Registrations(t.ID)}, func(r *record.RegistrationItem) error {
			for _, key := range r.GrantKeys() {
				err := copyTo(ctx, o, key, func(t *record.TaskItem, g *record.Registered) bool { return private(t, &g.PrivateTask) })
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = records.Each(ctx, p.Store, page, records.Of(record.KindTask, t.ID, record.KindSubmission), func(s *record.SubmissionItem) error {
			return o.copyToSubmission(ctx, s.ID)
		})
	}
	if err == nil {
		err = records.Each(ctx, p.Store, page, records.Of(record.KindTask, t.ID, record.KindRun), func(r *record.RunItem) error {
			return o.copyToRuns(ctx, r.ID)
		})
	}
	return err
}

func (p Propagator) fromRegistration(ctx context.Context, r *record.RegistrationItem) error {
	o := origin[record.RegistrationItem, *record.RegistrationItem]{
		store: p.Store, key: r.Key(), touch: p.touch,
		copy: func(r *record.RegistrationItem, team *string, to *record.AccessAttributes) bool {
			changed := set(team, r.Team)
			changed = set(&to.Affiliation, r.Affiliation) || changed
			return set(&to.Anonymous, r.Anonymous) || changed
		},
	}
	sources := records.Of(record.KindTeam, r.ID, record.KindSubmission)
	for _, id := range slices.Concat(r.Members, r.FormerIDs) {
		sources = append(sources, records.Of(record.KindUser, id, record.KindSubmission)...)
	}
	return records.Each(ctx, p.Store, page, sources, func(s *record.SubmissionItem) error {
		if s.Access.RegistrationID != r.ID {
			return nil
		}
		if err := o.copyToSubmission(ctx, s.ID); err != nil {
			return err
		}
		return o.copyToRuns(ctx, s.RunIDs...)
	})
}

// Submission gives the runs of a submission, and their evaluations, the submission's visibility and texts, and whether it is
// a baseline.
func (p Propagator) Submission(ctx context.Context, id string) error {
	s, err := records.Get[record.SubmissionItem](ctx, p.Store, store.Strong, record.SubmissionKey(id))
	if err != nil || s == nil {
		return err
	}
	o := origin[record.SubmissionItem, *record.SubmissionItem]{
		store: p.Store, key: s.Key(), touch: p.touch,
		copy: func(s *record.SubmissionItem, _ *string, to *record.AccessAttributes) bool {
			return CopySubmission(to, &s.Access)
		},
	}
	return o.copyToRuns(ctx, s.RunIDs...)
}

// CopySubmission gives the access attributes of a run or an evaluation what follows from those of its submission, and reports
// whether that changed them.
func CopySubmission(to, submission *record.AccessAttributes) bool {
	before := *to
	to.Public = submission.Public
	to.Baseline = submission.Baseline
	to.Title, to.PaperURL = submission.Title, submission.PaperURL
	return *to != before
}

// touch makes a dependent its next version, because what changes is shown.
func (p Propagator) touch(r record.Record) { record.Touch(r, p.Now()) }

// origin is the record whose attributes are copied to the records that depend on it.
type origin[O any, P records.Pointer[O]] struct {
	store store.Store
	key   store.Key
	touch func(record.Record) // called with each dependent that changes
	copy  func(from P, team *string, to *record.AccessAttributes) (changed bool)
}

func (o origin[O, P]) copyToSubmission(ctx context.Context, id string) error {
	return copyTo(ctx, o, record.SubmissionKey(id), func(from P, s *record.SubmissionItem) bool { return o.copy(from, &s.Team, &s.Access) })
}

// copyToRuns copies to runs and then to their evaluations. The run comes first: an evaluation that is made meanwhile takes
// its attributes from the current run when the evaluation is written.
func (o origin[O, P]) copyToRuns(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		var evaluations []string
		err := copyTo(ctx, o, record.RunKey(id), func(from P, r *record.RunItem) bool {
			evaluations = r.Evaluations
			return o.copy(from, &r.Team, &r.Access)
		})
		if err != nil {
			return err
		}
		for _, id := range evaluations {
			err := copyTo(ctx, o, record.EvaluationKey(id), func(from P, e *record.EvaluationItem) bool {
				changed := o.copy(from, &e.Team, &e.Access)
				return set(&e.Baseline, e.Access.Baseline) || changed
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTo calls change to copy the attributes of the origin to the record with the key, unless the record has them already or one of the two
// is gone. The write fails if the origin has changed since it was read, so that propagation of an older change undoes nothing.
func copyTo[O, R any, P records.Pointer[O], Q records.Pointer[R]](ctx context.Context, o origin[O, P], key store.Key,
	change func(P, Q) bool) error {
	return records.Retry(ctx, func() error {
		var from P
		var to Q
		err := records.Read(ctx, o.store, store.Strong, records.Into(&from, o.key), records.Into(&to, key))
		if err != nil || from == nil || to == nil || !change(from, to) {
			return err
		}
		o.touch(to)
		return new(records.Tx).Replace(to).Check(from).Commit(ctx, o.store)
	})
}

// set gives *p the value and reports whether that changed anything.
func set[T comparable](p *T, value T) bool {
	changed := *p != value
	*p = value
	return changed
}
