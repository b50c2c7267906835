package registrations

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// granted is an exception with the registration and the allowance of its team.
type granted struct {
	*record.RegistrationItem
	allowance *record.Allowance
	exception *record.Exception
}

// WidestScope returns the scope of any registration.
func (granted) WidestScope() access.Scope { return new(record.RegistrationItem).Scope() }

// exception finds the exception that the path names. It requires the right to see all exceptions of the team first. Otherwise the time of
// an answer would reveal whether the exception exists.
func exception(ctx context.Context, c *api.Call) (g granted, err error) {
	if g.RegistrationItem, err = registration(ctx, c); err != nil {
		return g, err
	}
	if err := c.Require(ctx, access.Owner|access.Organizer, g.Scope()); err != nil {
		return g, err
	}
	g.allowance, err = allowance.Of(ctx, c.Store, c.Consistency, g.Scope())
	g.exception = g.allowance.Exception(c.Param("exceptionId"))
	if err == nil && g.exception == nil {
		err = visibility.Missing
	}
	return g, err
}

func listExceptions(ctx context.Context, c *api.Call, r *record.RegistrationItem) (p page.Page[record.Exception], err error) {
	a, err := allowance.Of(ctx, c.Store, c.Consistency, r.Scope())
	if a == nil || err != nil {
		return p, err
	}
	return page.Of(c.Page, a.Exceptions, func(e record.Exception) string { return e.ID })
}

func showException(_ context.Context, _ *api.Call, g granted) (*record.Exception, error) {
	return g.exception, nil
}

func createException(ctx context.Context, c *api.Call, r *record.RegistrationItem, d record.ExceptionDraft) (string, *record.Exception,
	error) {
	now := c.Now()
	a, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	if err != nil {
		return "", nil, err
	}
	a = allowance.OfTeam(c.Tx, a, r.TaskID, r.ID, now)
	if len(a.Exceptions) >= record.MaxExceptions {
		return "", nil, problem.Conflict.New("The team has %d exceptions, which is the most. Delete one that no longer matters.",
			len(a.Exceptions))
	}
	perDay, total, err := limitsOf(ctx, c, r.TaskID, d.DatasetID)
	if err != nil {
		return "", nil, err
	}
	var fields problem.Fields
	const anyNumber = "changes nothing, because the dataset (or without one, the task) has no such limit: leave it out"
	fields.AddIf(d.PerDay > 0 && perDay == 0, "/perDay", anyNumber)
	fields.AddIf(d.Total > 0 && total == 0, "/total", anyNumber)
	if err := problem.Check(fields); err != nil {
		return "", nil, err
	}
	e := &record.Exception{Meta: record.NewMeta(now), ExceptionDraft: d}
	a.Exceptions = slices.Insert(a.Exceptions, 0, *e)
	if d.RunID != "" {
		if err := refund(ctx, c, r, a, d); err != nil {
			return "", nil, err
		}
	}
	if err := noteException(ctx, c, r, a); err != nil {
		return "", nil, err
	}
	if d.ClosesAt != nil {
		if err := extend(ctx, c, r.TaskID, e); err != nil {
			return "", nil, err
		}
	}
	c.Tx.Save(a, now).Check(r)
	at := team.Path(r) + "/exceptions/" + e.ID
	return at, e, c.Audit(ctx, r.Scope(), record.ExceptionGranted, at, nil, d)
}

// limitsOf returns the limits that an exception extends: the limits of the dataset or, without one, of the task.
func limitsOf(ctx context.Context, c *api.Call, taskID, datasetID string) (perDay, total int, err error) {
	if datasetID == "" {
		t, err := records.Get[record.TaskItem](ctx, c.Store, store.Strong, record.TaskKey(taskID))
		if err != nil || t == nil {
			return 0, 0, cmp.Or(err, visibility.Missing)
		}
		return t.Submissions.PerDay, t.Submissions.Total, nil
	}
	set, err := records.Get[record.DatasetItem](ctx, c.Store, store.Strong, record.DatasetKey(datasetID))
	if err == nil && (set == nil || set.TaskID != taskID) {
		err = problem.InvalidMember("/datasetId", "names no dataset of this task")
	}
	if err != nil {
		return 0, 0, err
	}
	return set.Submissions.PerDay, set.Submissions.Total, nil
}

// extend adds the later close of the exception to the task's embargo in c.Tx, so that withheld scores wait for it. A preview says for each
// dataset until when they wait.
func extend(ctx context.Context, c *api.Call, taskID string, e *record.Exception) error {
	if !e.ClosesAt.After(c.Now()) {
		return problem.InvalidMember("/closesAt", "must lie in the future")
	}
	var was, is record.Embargo
	err := propagation.RenewEmbargo(ctx, c.Store, c.Tx, taskID, c.Now(), func(b *record.Embargo) {
		was = *b
		b.Extend(*e)
		is = *b
	})
	switch {
	case err != nil:
		return err
	case len(is.Extensions) > record.MaxExtensions:
		return problem.Conflict.New("The task has %d exceptions with a later close, which is the most: move the close of the task or the "+
			"dataset.", record.MaxExtensions)
	case !c.Previewing():
		return nil
	}
	t, err := records.Require[record.TaskItem](ctx, c.Store, store.Strong, record.TaskKey(taskID), visibility.Missing)
	if err != nil {
		return err
	}
	return c.EffectsOfReleases(ctx, t, t, &was, &is)
}

// refund adds to c.Tx that the run of the draft no longer counts in the quotas of its dataset and of the task.
func refund(ctx context.Context, c *api.Call, r *record.RegistrationItem, a *record.Allowance, d record.ExceptionDraft) error {
	run, err := records.Get[record.RunItem](ctx, c.Store, store.Strong, record.RunKey(d.RunID))
	switch {
	case err != nil:
		return err
	case run == nil || run.TaskID != r.TaskID || run.Access.RegistrationID != r.ID:
		return problem.InvalidMember("/runId", "names no run of this team")
	case d.DatasetID != "" && run.DatasetID != d.DatasetID:
		return problem.InvalidMember("/runId", "names a run on another dataset, %s: an exception for one dataset cannot refund it",
			problem.Resource("dataset", run.DatasetID))
	case !run.Counted:
		return problem.InvalidMember("/runId", "does not count in the quotas: it failed, was cancelled, or was refunded before")
	}
	run.Counted, run.Refunded = false, true
	a.Refund(run.DatasetID, run.ID)
	c.Tx.Replace(run)
	return nil
}

// removeException withdraws an exception. A run that the exception refunded counts again.
func removeException(ctx context.Context, c *api.Call, g granted) error {
	e, now := g.exception, c.Now()
	a := allowance.OfTeam(c.Tx, g.allowance, g.TaskID, g.ID, now)
	a.Exceptions = slices.DeleteFunc(slices.Clone(a.Exceptions), func(other record.Exception) bool { return other.ID == e.ID })
	if e.RunID != "" {
		if err := endRefund(ctx, c, a, e.RunID); err != nil {
			return err
		}
	}
	if err := propagation.DropExtensions(ctx, c.Store, c.Tx, g.TaskID, now, *e); err != nil {
		return err
	}
	c.Tx.Save(a, now)
	return c.Audit(ctx, g.Scope(), record.ExceptionWithdrawn, team.Path(g.RegistrationItem)+"/exceptions/"+e.ID, e.ExceptionDraft, nil)
}

// endRefund adds to c.Tx that a run counts again in the quotas. A run in the trash counts again, too; its record is changed when the run is
// restored.
func endRefund(ctx context.Context, c *api.Call, a *record.Allowance, runID string) error {
	key := record.RunKey(runID)
	items, err := c.Store.Get(ctx, store.Strong, key, record.TrashKey(key))
	if err != nil {
		return records.Failed(err)
	}
	it := items[0]
	if !it.Exists() {
		if it, err = record.Untrash(items[1]); err != nil {
			return err
		}
	}
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run == nil || !run.Refunded {
		return err
	}
	if run.EndRefund() {
		a.Recharge(run.DatasetID, run.ID, c.Now())
	}
	if items[0].Exists() {
		c.Tx.Replace(run)
	}
	return nil
}
