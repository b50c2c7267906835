package visibility

import (
	"context"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// ReadRules reads the rules of the datasets that Rules has not returned yet, with one strong call of the store. It makes a second call
// if a dataset waits for a close and its reference does not say so. For missing datasets it reads as much as for others, so that its
// duration does not tell which exist.
func (v *Viewer) ReadRules(ctx context.Context, of ...record.DatasetRef) error {
	datasets := map[string]**record.DatasetItem{}
	closes := closings{}
	var unread []record.DatasetRef
	var wanted []records.Target
	for _, ref := range of {
		if v.rules[ref.DatasetID] != nil || datasets[ref.DatasetID] != nil {
			continue
		}
		d := new(*record.DatasetItem)
		datasets[ref.DatasetID] = d
		unread = append(unread, ref)
		wanted = append(wanted, records.Into(d, record.DatasetKey(ref.DatasetID)))
		if ref.Waits {
			wanted = append(wanted, closes.of(ref.TaskID)...)
		}
	}
	if err := records.Read(ctx, v.Store, store.Strong, wanted...); err != nil {
		return err
	}
	wanted = nil
	for _, ref := range unread {
		if d := *datasets[ref.DatasetID]; d != nil && d.WaitsForClose() {
			wanted = append(wanted, closes.of(ref.TaskID)...)
		}
	}
	if err := records.Read(ctx, v.Store, store.Strong, wanted...); err != nil {
		return err
	}
	if v.rules == nil {
		v.rules = map[string]*record.ValueRules{}
	}
	for _, ref := range unread {
		c := closes[ref.TaskID]
		if c == nil {
			c = new(closing)
		}
		v.rules[ref.DatasetID] = (*datasets[ref.DatasetID]).ValueRules(c.task, c.embargo)
	}
	return nil
}

// UseRules makes Rules return these rules for the dataset instead of reading them, until the next call of Forget or UseRules.
func (v *Viewer) UseRules(datasetID string, rules *record.ValueRules) {
	v.rules = map[string]*record.ValueRules{datasetID: rules}
}

// closing holds the records of a task that say when the windows of its datasets close.
type closing struct {
	task    *record.TaskItem
	embargo *record.Embargo
}

// closings holds the closing of each task.
type closings map[string]*closing

// of returns what reads the closing of the task. It returns nothing if the closing was asked for before.
func (c closings) of(taskID string) []records.Target {
	if c[taskID] != nil {
		return nil
	}
	t := new(closing)
	c[taskID] = t
	return []records.Target{records.Into(&t.task, record.TaskKey(taskID)), records.Into(&t.embargo, record.EmbargoKey(taskID))}
}

// Rules returns the rules of the dataset for values of its runs. It reads them once until Forget drops them. Only organizers see values
// on a missing dataset.
func (v *Viewer) Rules(ctx context.Context, of record.DatasetRef) (*record.ValueRules, error) {
	err := v.ReadRules(ctx, of)
	return v.rules[of.DatasetID], err
}

// RulesOf is like Rules, for a dataset that was read with strong consistency. It reads nothing unless the dataset waits for a close.
func (v *Viewer) RulesOf(ctx context.Context, d *record.DatasetItem) (*record.ValueRules, error) {
	if d.WaitsForClose() {
		return v.Rules(ctx, d.Ref())
	}
	return d.ValueRules(nil, nil), nil
}

// valued is a record whose values a rule hides or shows.
type valued interface {
	Scope() access.Scope
	Rated() (record.DatasetRef, record.AccessAttributes)
}

// RulesRef returns the reference of the rules for a record that the request names by the id, or nil. Rules of hidden and of missing
// records take as much to read, so that the duration does not tell which exist.
func RulesRef[R any, P interface {
	*R
	valued
}](ctx context.Context, v *Viewer, r P, id string) (record.DatasetRef, error) {
	missing := record.DatasetRef{TaskID: id, DatasetID: id, Waits: true} // names no dataset
	if r == nil {
		return missing, nil
	}
	seen, err := v.Sees(ctx, r.Scope())
	of, _ := r.Rated()
	of.Waits = of.Waits || !seen
	return of, err
}

// Sight returns what the caller sees at now of the values of a run or an evaluation.
func (v *Viewer) Sight(ctx context.Context, of valued, now time.Time) (record.Sight, error) {
	ref, attributes := of.Rated()
	rules, err := v.Rules(ctx, ref)
	if err != nil {
		return record.Sight{}, err
	}
	roles, err := v.Roles(ctx, of.Scope())
	return rules.For(attributes, roles, now), err
}
