package submissions

import (
	"context"
	"fmt"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// entry is all that a submission is decided on: at first the task and the registration, which decide whether anything
// that the caller sends is looked at.
type entry struct {
	task *record.TaskItem
	// registration is the caller's grant. Everything that a submission takes over from task and registration (team,
	// anonymity, visibility) changes there too, so that the submission is made again when one of them changes meanwhile. A
	// baseline of an organizer has none, and depends on the task and the datasets themselves instead.
	registration *record.Registered
	unregistered error                 // why the caller can submit nothing except a baseline; nil when there is no reason
	allowance    *record.Allowance     // nil before the first submission
	datasets     []*record.DatasetItem // in the order of datasetIds
	truths       []*record.Truth       // parallel to datasets
}

var errDeleting = problem.Conflict.New("The task is being deleted.")

// Scope says that whoever sees the task sees that things can be submitted to it.
func (e *entry) Scope() access.Scope { return e.task.Scope() }

// Widest is the scope of a public task.
func (e *entry) Widest() access.Scope { return e.task.Widest() }

// enter finds the task that the path names, for a caller whose registration for it was accepted or who organizes it.
func enter(ctx context.Context, c *api.Call) (*entry, error) {
	t, err := task(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := c.Require(ctx, access.User, t.Scope()); err != nil {
		return nil, err
	}
	if t.Deleting() {
		return nil, errDeleting
	}
	e := &entry{task: t}
	if e.unregistered = e.registered(ctx, c); e.unregistered == nil {
		return e, nil
	}
	roles, err := c.Roles(ctx, t.Scope())
	if err == nil && roles&(access.Organizer|access.Admin) == 0 {
		err = e.unregistered
	}
	return e, err
}

// admit decides whether the caller may submit the draft to the task now.
func (e *entry) admit(ctx context.Context, c *api.Call, d *record.SubmissionDraft) error {
	if err := e.read(ctx, c, d); err != nil {
		return err
	}
	t := e.task
	if t.Deleting() {
		return errDeleting
	}
	if err := baseline(ctx, c, t, d.Baseline, false); err != nil {
		return err
	}
	if d.Baseline {
		e.registration = nil
		return e.ready(d)
	}
	if e.unregistered != nil {
		return e.unregistered
	}
	if err := record.CheckWindow("Submission to this task", t.Submissions.OpensAt, t.Submissions.ClosesAt, c.Now()); err != nil {
		return err
	}
	if allowed := t.Submissions.Types; len(allowed) > 0 && !slices.Contains(allowed, d.Type) {
		return problem.Check([]problem.Field{{Pointer: "/type", Detail: fmt.Sprintf("must be one of those that the task takes: %v", allowed)}})
	}
	return e.ready(d)
}

// registered requires an accepted registration.
func (e *entry) registered(ctx context.Context, c *api.Call) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	grant, ok := g.ForTask(e.task.ID)
	switch {
	case !ok:
		return problem.Forbidden.New("You are not registered for this task. Register first: POST /v1/tasks/%s/registrations.", e.task.ID)
	case grant.State == record.Pending:
		return problem.Forbidden.New("Your registration waits for the organizers to accept it. Submit once they have.")
	case grant.State != record.Accepted:
		return problem.Forbidden.New("The organizers rejected your registration. Ask them about it.")
	}
	e.registration = &grant
	return nil
}

// baseline requires that only organizers change what is a baseline.
func baseline(ctx context.Context, c *api.Call, of api.Target, is, was bool) error {
	if is == was {
		return nil
	}
	roles, err := c.Roles(ctx, of.Scope())
	if err == nil && roles&(access.Organizer|access.Admin) == 0 {
		err = problem.Check([]problem.Field{{Pointer: "/baseline", Detail: "is set by the organizers of the task"}})
	}
	return err
}

// read reads the task again, the allowance, and each dataset with its truth; nil where there is none. The task is read after
// the grant: whoever flips its visibility or deletes it writes all grants then, so a submission that has not seen the one
// change does not survive the other.
func (e *entry) read(ctx context.Context, c *api.Call, d *record.SubmissionDraft) error {
	e.datasets, e.truths = make([]*record.DatasetItem, len(d.DatasetIDs)), make([]*record.Truth, len(d.DatasetIDs))
	wanted := []records.Target{records.Into(&e.task, e.task.Key()), records.Into(&e.allowance, record.AllowanceKey(e.task.ID, c.Caller.ID))}
	for i, id := range d.DatasetIDs {
		wanted = append(wanted, records.Into(&e.datasets[i], record.DatasetKey(id)), records.Into(&e.truths[i], record.TruthKey(id)))
	}
	err := records.Read(ctx, c.Store, store.Strong, wanted...)
	if err == nil && e.task == nil {
		err = visibility.Missing
	}
	return err
}

// ready requires that the datasets are of the task and can be evaluated, now or once their truth has arrived and was read.
func (e *entry) ready(d *record.SubmissionDraft) error {
	var fields problem.Fields
	var without []string
	for i, set := range e.datasets {
		switch {
		case set == nil || set.TaskID != e.task.ID:
			fields.Add(d.DatasetPointer(i), "names no dataset of this task")
		case d.Type == record.RepositoryType && !set.Builds:
			fields.Add(d.DatasetPointer(i), "names %q, which takes no repositories, since its member builds is false: submit an image, or ask the organizers to set builds", set.Name)
		case set.Deleting():
			return problem.Conflict.New("The dataset %q is being deleted. Leave it out.", set.Name)
		case e.truths[i] == nil && set.AwaitsTruth():
			e.truths[i] = &record.Truth{RunFormat: set.RunFormat, Evaluator: set.Evaluator} // the run waits for the one to come
		case e.truths[i] == nil:
			without = append(without, set.Name)
		}
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	if len(without) > 0 {
		return problem.Conflict.New("%q cannot take submissions yet, because the organizers have announced no truth, or one with errors. Try again later, or leave it out.", without)
	}
	return nil
}
