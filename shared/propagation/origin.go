package propagation

import (
	"context"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

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
// its attributes from the run as it is when the evaluation is written.
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

// copyTo has change give the record of the key the attributes of the origin, unless it has them already or one of the two is
// gone. The write holds only while the origin is as it was read, so that propagation of an older change undoes nothing.
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
