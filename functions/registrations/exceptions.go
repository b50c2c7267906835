package registrations

import (
	"context"
	"slices"
	"time"

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
	rules, err := rulesOf(ctx, c, r.TaskID, d)
	if err != nil {
		return "", nil, err
	}
	if err := problem.Check(rules.check(a, d, now)); err != nil {
		return "", nil, err
	}
	e := &record.Exception{Meta: record.NewMeta(now), ExceptionDraft: d}
	refunded := ""
	if d.RunID != "" {
		if refunded, err = refund(ctx, c, r, a, d); err != nil {
			return "", nil, err
		}
	}
	a.Exceptions = slices.Insert(a.Exceptions, 0, *e)
	if c.Previewing() {
		noteException(c, r, a, rules, refunded)
	}
	if d.ClosesAt != nil {
		if err := extend(ctx, c, rules, e); err != nil {
			return "", nil, err
		}
	}
	c.Tx.Save(a, now).Check(r)
	at := team.Path(r) + "/exceptions/" + e.ID
	return at, e, c.Audit(ctx, r.Scope(), record.ExceptionGranted, at, nil, d)
}

// rules are the rules that an exception extends: of the task, and of its datasets.
type rules struct {
	task *record.TaskItem
	sets []*record.DatasetItem // the dataset of the exception or, without one, all of the task if the exception or a preview needs them
}

// rulesOf reads the rules that the exception extends.
func rulesOf(ctx context.Context, c *api.Call, taskID string, d record.ExceptionDraft) (of rules, err error) {
	var set *record.DatasetItem
	wanted := []records.Target{records.Into(&of.task, record.TaskKey(taskID)).Or(visibility.Missing)}
	if d.DatasetID != "" {
		wanted = append(wanted, records.Into(&set, record.DatasetKey(d.DatasetID)))
	}
	if err := records.Read(ctx, c.Store, store.Strong, wanted...); err != nil {
		return of, err
	}
	switch {
	case set != nil && set.TaskID == taskID:
		of.sets = []*record.DatasetItem{set}
	case d.DatasetID != "":
		return of, problem.InvalidMember("/datasetId", "names no dataset of this task")
	case d.ClosesAt != nil || c.Previewing():
		of.sets, err = datasetsOf(ctx, c, taskID)
	}
	return of, err
}

// datasetsOf returns the datasets of the task, without those that are being deleted.
func datasetsOf(ctx context.Context, c *api.Call, taskID string) ([]*record.DatasetItem, error) {
	sets, err := records.Datasets(ctx, c.Store, taskID)
	return slices.DeleteFunc(sets, (*record.DatasetItem).Deleting), err
}

// check refuses members of the draft that change nothing for the team with the allowance.
func (of rules) check(a *record.Allowance, d record.ExceptionDraft, now time.Time) (fields problem.Fields) {
	perDay, total := of.task.Submissions.PerDay, of.task.Submissions.Total
	limited := "task"
	if d.DatasetID != "" {
		perDay, total = of.sets[0].Submissions.PerDay, of.sets[0].Submissions.Total
		limited = "dataset"
	}
	const anyNumber = "changes nothing, because the %s has no such limit: leave it out"
	fields.AddIf(d.PerDay > 0 && perDay == 0, "/perDay", anyNumber, limited)
	fields.AddIf(d.Total > 0 && total == 0, "/total", anyNumber, limited)
	if d.ClosesAt == nil {
		return fields
	}
	if !d.ClosesAt.After(now) {
		fields.Add("/closesAt", "must lie in the future")
		return fields
	}
	first := of.firstClose(a, d.DatasetID)
	switch {
	case first == nil:
		fields.Add("/closesAt", "changes nothing, because no window that it concerns closes: leave it out")
	case !d.ClosesAt.After(first.Time):
		fields.Add("/closesAt", "changes nothing, because the windows that it concerns close for the team at %s or later: choose a later time, "+
			"or leave it out", first)
	}
	return fields
}

// firstClose returns the first close, for the team with the allowance, of the windows that an exception extends. It returns nil if none
// closes. The window of a task without datasets says until when users join the team.
func (of rules) firstClose(a *record.Allowance, datasetID string) *record.Instant {
	extended := of.sets
	if datasetID == "" && len(of.sets) == 0 {
		extended = []*record.DatasetItem{new(record.DatasetItem)}
	}
	_, closes := a.FirstClose(of.task, extended)
	return closes
}

// extend adds the later close of the exception to the task's embargo in c.Tx, so that withheld scores wait for it. A preview says for each
// dataset until when they wait.
func extend(ctx context.Context, c *api.Call, of rules, e *record.Exception) error {
	var was, is record.Embargo
	err := propagation.RenewEmbargo(ctx, c.Store, c.Tx, of.task.ID, c.Now(), func(b *record.Embargo) {
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
	return c.EffectsOfColumns(ctx, of.sets, of.task, of.task, &was, &is)
}

// refund adds to c.Tx that the run of the draft no longer counts in the quotas of its dataset and of the task. A run in the trash can be
// refunded, too; its record is changed when the run is restored. It returns the ID of the run's dataset.
func refund(ctx context.Context, c *api.Call, r *record.RegistrationItem, a *record.Allowance, d record.ExceptionDraft) (string, error) {
	run, deleted, err := runOf(ctx, c, a, d.RunID)
	switch {
	case err != nil:
		return "", err
	case run == nil || run.TaskID != r.TaskID || run.Access.RegistrationID != r.ID:
		return "", problem.InvalidMember("/runId", "names no run of this team")
	case d.DatasetID != "" && run.DatasetID != d.DatasetID:
		return "", problem.InvalidMember("/runId", "names a run on another dataset, %s: an exception for one dataset cannot refund it",
			problem.Resource("dataset", run.DatasetID))
	case !run.Counted:
		return "", problem.InvalidMember("/runId", "does not count in the quotas: it failed, was cancelled, or was refunded before")
	}
	run.Counted, run.Refunded = false, true
	a.Refund(run.DatasetID, run.ID)
	if !deleted {
		c.Tx.Replace(run)
	}
	return run.DatasetID, nil
}

// removeException withdraws an exception. A run that the exception refunded counts again.
func removeException(ctx context.Context, c *api.Call, g granted) error {
	e, now := g.exception, c.Now()
	a := allowance.OfTeam(c.Tx, g.allowance, g.TaskID, g.ID, now)
	if e.RunID != "" {
		if err := endRefund(ctx, c, a, e.RunID); err != nil {
			return err
		}
	}
	a.Exceptions = slices.DeleteFunc(slices.Clone(a.Exceptions), func(other record.Exception) bool { return other.ID == e.ID })
	if err := propagation.DropExtensions(ctx, c.Store, c.Tx, g.TaskID, now, *e); err != nil {
		return err
	}
	c.Tx.Save(a, now)
	return c.Audit(ctx, g.Scope(), record.ExceptionWithdrawn, team.Path(g.RegistrationItem)+"/exceptions/"+e.ID, e.ExceptionDraft, nil)
}

// endRefund adds to c.Tx that a run counts again in the quotas. A run in the trash counts again, too; its record is changed when the run is
// restored.
func endRefund(ctx context.Context, c *api.Call, a *record.Allowance, runID string) error {
	run, deleted, err := runOf(ctx, c, a, runID)
	if err != nil || run == nil || !run.Refunded {
		return err
	}
	if run.EndRefund() {
		a.Recharge(run.DatasetID, run.ID, c.Now())
	}
	if !deleted {
		c.Tx.Replace(run)
	}
	return nil
}

// runOf returns the run, and whether it is in the trash. It returns nil if the run does not exist there either.
func runOf(ctx context.Context, c *api.Call, a *record.Allowance, id string) (run *record.RunItem, deleted bool, err error) {
	key := record.RunKey(id)
	items, err := c.Store.Get(ctx, store.Strong, key, record.TrashKey(key))
	if err != nil {
		return nil, false, records.Failed(err)
	}
	if items[0].Exists() {
		run, err = records.Decode[record.RunItem](items[0])
		return run, false, err
	}
	it, err := record.Untrash(items[1])
	if err != nil {
		return nil, true, err
	}
	run, err = records.Decode[record.RunItem](it)
	if err == nil && run != nil {
		run.FollowExceptions(a)
	}
	return run, true, err
}
