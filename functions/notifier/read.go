package notifier

import (
	"context"
	"fmt"
	"path"
	"strings"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
	"assay/shared/webpage"
)

// reader reads what events are about as one recipient may see it with a login.
type reader struct {
	*Worker
	viewer *visibility.Viewer
}

// read returns what the recipient is told of the event; nil when the recipient may not see it, or it is no longer so.
func (r reader) read(ctx context.Context, e *record.Event) (*news, error) {
	text, body, err := r.sentence(ctx, e)
	if problem.NotFound.Is(err) || problem.Forbidden.Is(err) || problem.InvalidToken.Is(err) {
		return nil, nil
	}
	if err != nil || text == "" {
		return nil, err
	}
	if e.Secret != "" {
		return &news{text, "/#" + e.Secret, body}, nil
	}
	return &news{text, e.Subject, body}, nil
}

// sentence says what happened; empty when it is no longer so.
func (r reader) sentence(ctx context.Context, e *record.Event) (text, body string, err error) {
	switch e.Kind {
	case record.EventRegistrationPending, record.EventRegistrationDecided:
		text, err = r.registration(ctx, e)
	case record.EventRunFailed, record.EventRunCompleted, record.EventReviewPublished:
		text, err = r.run(ctx, e)
	case record.EventTruthChanged, record.EventWorkersMissing:
		text, err = r.dataset(ctx, e)
	case record.EventWindowClosing:
		text, err = r.window(ctx, e)
	case record.EventAnnouncementPublished:
		return r.announcement(ctx, e)
	case record.EventTokenExpiring:
		var t *record.AccessTokenItem
		if t, err = r.token(ctx, e); t != nil {
			text = fmt.Sprintf("Your access token %s expires on %s", quoted(t.Name), webpage.Instant(t.ExpiresAt.Time))
		}
	case record.EventInvitationCreated:
		return invitation(e, r.URL)
	case record.EventWebhookDisabled:
		var roles access.Role
		if roles, err = r.viewer.Roles(ctx, access.Scope{OrganizerID: e.OrganizerID}); roles&access.Organizer != 0 {
			text = "A webhook was disabled, because nothing that was sent to it for three days arrived, or its receiver wants no more"
		}
	default:
		err = fmt.Errorf("nothing says what %q means", e.Kind)
	}
	return text, "", err
}

// invitation names nobody and nothing: it goes to whomever the one who invites names.
func invitation(e *record.Event, server string) (text, body string, err error) {
	to := "join an organizer of shared tasks"
	switch {
	case e.RegistrationID != "":
		to = "join a team in a shared task"
	case e.TaskID != "":
		to = "take part in a shared task"
	}
	return "You are invited to " + to, fmt.Sprintf("Who has this link can accept the invitation: log in, and send POST "+
		"%s/v1/user/memberships with what follows # in the link as `secret`. If you do not know of it, you need do nothing.", server), nil
}

// quoted is a name that a user wrote, short and on one line.
func quoted(name string) string {
	return "“" + webpage.Truncate(strings.Join(strings.Fields(name), " "), 100) + "”"
}

// subjectID is the id that stands last in the path of what the event is about.
func subjectID(e *record.Event) string {
	if id := path.Base(e.Subject); record.IsID(id) {
		return id
	}
	return path.Base(path.Dir(e.Subject)) // of a review
}

// task returns the name of the task of the event, which the recipient must see.
func (r reader) task(ctx context.Context, e *record.Event) (string, error) {
	t, _, err := visibility.Get[record.TaskItem](ctx, r.viewer, e.TaskID, record.TaskKey)
	if err != nil {
		return "", err
	}
	return quoted(t.Name), nil
}

func (r reader) window(ctx context.Context, e *record.Event) (string, error) {
	if _, err := r.task(ctx, e); err != nil {
		return "", err
	}
	name, closes, err := r.closing(ctx, e)
	if err != nil || closes == nil || !closes.After(r.Now()) {
		return "", err
	}
	return fmt.Sprintf("Submissions to %s close on %s", name, webpage.Instant(closes.Time)), nil
}

func (r reader) registration(ctx context.Context, e *record.Event) (string, error) {
	key := func(id string) store.Key { return record.RegistrationKey(e.TaskID, id) }
	reg, roles, err := visibility.Get[record.RegistrationItem](ctx, r.viewer, subjectID(e), key)
	if err != nil {
		return "", err
	}
	task, err := records.Get[record.TaskItem](ctx, r.Store, store.Strong, record.TaskKey(e.TaskID)) // whose name a registrant knows
	switch {
	case err != nil || task == nil:
		return "", err
	case e.Kind == record.EventRegistrationPending && roles&access.Organizer != 0 && reg.State == record.Pending:
		return fmt.Sprintf("The team %s asks to take part in the task %s", quoted(reg.Team), quoted(task.Name)), nil
	case e.Kind == record.EventRegistrationDecided && roles&access.Owner != 0:
		return fmt.Sprintf("The registration of your team %s for the task %s is now %s", quoted(reg.Team), quoted(task.Name), reg.State), nil
	default:
		return "", nil
	}
}

func (r reader) run(ctx context.Context, e *record.Event) (string, error) {
	run, roles, err := visibility.Get[record.RunItem](ctx, r.viewer, subjectID(e), record.RunKey)
	if err != nil || roles&access.Owner == 0 {
		return "", err
	}
	dataset, err := r.datasetName(ctx, run.DatasetID)
	if err != nil {
		return "", err
	}
	name := "Your run on " + dataset
	if run.Label != "" {
		name = "Your run " + quoted(run.Label) + " on " + dataset
	}
	switch {
	case e.Kind == record.EventRunFailed && run.State == record.Failed:
		return name + " failed", nil
	case e.Kind == record.EventRunCompleted && run.State == record.Completed:
		return name + " is completed", nil
	case e.Kind == record.EventReviewPublished && run.Access.Published:
		return name + " was reviewed, and the review is published", nil
	default:
		return "", nil
	}
}

// datasetName names a dataset with its task; a recipient who submitted to it knows both.
func (r reader) datasetName(ctx context.Context, id string) (string, error) {
	d, err := records.Get[record.DatasetItem](ctx, r.Store, store.Strong, record.DatasetKey(id))
	if err != nil || d == nil {
		return "a dataset", err
	}
	t, err := records.Get[record.TaskItem](ctx, r.Store, store.Strong, record.TaskKey(d.TaskID))
	if err != nil || t == nil {
		return "the dataset " + quoted(d.Name), err
	}
	return "the dataset " + quoted(d.Name) + " of the task " + quoted(t.Name), nil
}

func (r reader) dataset(ctx context.Context, e *record.Event) (string, error) {
	d, roles, err := visibility.Get[record.DatasetItem](ctx, r.viewer, subjectID(e), record.DatasetKey)
	if err != nil {
		return "", err
	}
	name, err := r.datasetName(ctx, d.ID)
	switch {
	case err != nil:
		return "", err
	case e.Kind == record.EventTruthChanged:
		return "The ground truth of " + name + " changed, and runs are evaluated again", nil
	case roles&access.Organizer != 0:
		return "Runs on " + name + " wait for a worker, and none was seen", nil
	default:
		return "", nil
	}
}
