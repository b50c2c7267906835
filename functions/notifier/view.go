package notifier

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// news is an event in the form for one recipient.
type news struct {
	Text    string // empty if the recipient may not see the event, or the event is outdated
	URL     string
	Body    string // Markdown
	Address string // of an invited recipient, who may have no account
}

// view reads the resources of events with the rights of one recipient.
type view struct {
	*Worker
	viewer *visibility.Viewer
}

// news returns the form of the event for the recipient.
func (v view) news(ctx context.Context, e *record.Event) (n news, err error) {
	n.URL = v.URL + e.Subject
	switch e.Kind {
	case record.EventRegistrationPending, record.EventRegistrationDecided:
		n.Text, err = v.registration(ctx, e)
	case record.EventRegistrationEnded:
		n.Text, n.URL, err = v.ended(ctx, e)
	case record.EventRunFailed, record.EventRunCompleted, record.EventReviewPublished:
		n.Text, err = v.run(ctx, e)
	case record.EventDeletionCreated:
		n, err = v.deletion(ctx, e)
	case record.EventTruthChanged, record.EventWorkersMissing:
		n.Text, err = v.dataset(ctx, e)
	case record.EventWindowClosing:
		n.Text, err = v.window(ctx, e)
	case record.EventAnnouncementPublished:
		n.Text, n.Body, err = v.announcement(ctx, e)
	case record.EventTokenExpiring:
		n.Text, err = v.token(ctx, e)
	case record.EventWebhookDisabled:
		var roles access.Role
		roles, err = v.viewer.Roles(ctx, access.Scope{OrganizerID: e.OrganizerID})
		if roles&access.Organizer != 0 {
			n.Text = "A webhook was switched off: for three days nothing arrived that was sent to it, or its receiver answered that it is gone"
		}
	case record.EventInvitationCreated: // the text names nobody, because the address may belong to another person than the invited one
		var i *record.InvitationItem
		i, err = v.invitation(ctx, e.Secret)
		if i != nil {
			n = news{
				Text: "You are invited to Assay",
				URL:  v.URL + record.InvitationLink(e.Secret),
				Body: fmt.Sprintf("Somebody invites you to %s, which compares systems on shared tasks. Sign in by the link to join. "+
					"It works once, until %s. If you do not want to join, do nothing.", v.URL, webpage.Instant(i.ExpiresAt.Time)),
				Address: i.Email,
			}
		}
	default:
		err = fmt.Errorf("nothing says what %q means", e.Kind)
	}
	if problem.NotFound.Is(err) || problem.Forbidden.Is(err) || problem.InvalidToken.Is(err) {
		return news{}, nil
	}
	return n, err
}

// quoted returns a name that a user wrote, shortened and on one line.
func quoted(name string) string {
	return "“" + webpage.Truncate(strings.Join(strings.Fields(name), " "), 100) + "”"
}

// name returns the name of a task, or of a dataset with its task. Only recipients who take part and so know both get it.
func (v view) name(ctx context.Context, taskID, datasetID string) (string, error) {
	var t *record.TaskItem
	var d *record.DatasetItem
	err := records.Read(ctx, v.Store, store.Strong, records.Into(&t, record.TaskKey(taskID)), records.Into(&d, record.DatasetKey(datasetID)))
	switch {
	case err != nil:
		return "", err
	case t == nil || d == nil && datasetID != "":
		return "", visibility.Missing
	case d == nil:
		return "the task " + quoted(t.Name), nil
	}
	return "the dataset " + quoted(d.Name) + " of the task " + quoted(t.Name), nil
}

func (v view) registration(ctx context.Context, e *record.Event) (string, error) {
	key := func(id string) store.Key { return record.RegistrationKey(e.TaskID, id) }
	reg, roles, err := visibility.Get[record.RegistrationItem](ctx, v.viewer, path.Base(e.Subject), key)
	if err != nil {
		return "", err
	}
	task, err := v.name(ctx, e.TaskID, "")
	switch {
	case err != nil:
		return "", err
	case e.Kind == record.EventRegistrationPending && roles&access.Organizer != 0 && reg.State == record.Pending:
		return fmt.Sprintf("The team %s asks to take part in %s", quoted(reg.TeamName()), task), nil
	case e.Kind == record.EventRegistrationDecided && roles&access.Owner != 0:
		return fmt.Sprintf("The registration of your team %s for %s is now %s", quoted(reg.Team), task, reg.State), nil
	default:
		return "", nil
	}
}

// ended returns the sentence that tells the recipient who ended their part in a team, and the address of the task, or of the user if the
// recipient does not see the task any more. The text is empty if the recipient takes part again.
func (v view) ended(ctx context.Context, e *record.Event) (text, url string, err error) {
	g, err := v.viewer.Grants(ctx)
	if err != nil {
		return "", "", err
	}
	was := g.EndedIn(e.TaskID)
	if was == nil || was.ID != e.RegistrationID {
		return "", "", nil
	}
	task, err := v.name(ctx, e.TaskID, "")
	if err != nil {
		return "", "", err
	}
	url = v.URL + "/v1/tasks/" + e.TaskID
	_, _, err = visibility.Get[record.TaskItem](ctx, v.viewer, e.TaskID, record.TaskKey)
	if problem.NotFound.Is(err) {
		url = v.URL + "/v1/user"
		err = nil
	}
	return was.Ended.Clause(quoted(was.Team)) + " in " + task, url, err
}

func (v view) run(ctx context.Context, e *record.Event) (string, error) {
	run, roles, err := visibility.Get[record.RunItem](ctx, v.viewer, path.Base(e.Subject), record.RunKey)
	if err != nil || roles&access.Owner == 0 {
		return "", err
	}
	dataset, err := v.name(ctx, run.TaskID, run.DatasetID)
	name := "Your run on " + dataset
	if run.Label != "" {
		name = "Your run " + quoted(run.Label) + " on " + dataset
	}
	switch {
	case e.Kind == record.EventRunFailed && run.State == record.Failed && len(run.Evaluations) > 0:
		return name + " failed when it was evaluated again", err
	case e.Kind == record.EventRunFailed && run.State == record.Failed:
		return name + " failed", err
	case e.Kind == record.EventRunCompleted && run.State == record.Completed:
		return name + " is completed", err
	case e.Kind == record.EventReviewPublished && run.Access.Published:
		return v.published(ctx, run, name)
	default:
		return "", err
	}
}

// published returns the sentence that the run with the name is published. It says why the recipient does not see its scores, if there is a
// reason.
func (v view) published(ctx context.Context, run *record.RunItem, name string) (string, error) {
	sight, err := v.viewer.Sight(ctx, run, v.Now())
	switch {
	case err != nil:
		return "", err
	case run.Access.Blinded:
		return name + " is published, but blinded: only the organizers see its scores", nil
	case !sight.Entry():
		return name + " is published: " + sight.ShownOnce(), nil
	default:
		return name + " is published", nil
	}
}

// deletion returns the news that organizers deleted a run or a submission of the recipient's team. It is empty once they restore it.
func (v view) deletion(ctx context.Context, e *record.Event) (news, error) {
	d, roles, err := visibility.Get[record.DeletionItem](ctx, v.viewer, path.Base(e.Subject), record.DeletionKey)
	if err != nil || roles&access.Owner == 0 || d.PendingWork.Is(record.RestoreTrash) || d.Over() {
		return news{}, err
	}
	task, err := v.name(ctx, d.TaskID, "")
	of := "a " + string(d.Kind)
	if d.Name != "" {
		of = "the " + string(d.Kind) + " " + quoted(d.Name)
	}
	return news{
		Text: "The organizers deleted " + of + " of your team in " + task,
		URL:  v.URL + "/console#/tasks/" + d.TaskID + "/runs",
		Body: fmt.Sprintf("Only they can restore it, until %s. Ask them about it.", webpage.Instant(d.ExpiresAt.Time)),
	}, err
}

func (v view) dataset(ctx context.Context, e *record.Event) (string, error) {
	d, roles, err := visibility.Get[record.DatasetItem](ctx, v.viewer, path.Base(e.Subject), record.DatasetKey)
	if err != nil {
		return "", err
	}
	name, err := v.name(ctx, d.TaskID, d.ID)
	switch {
	case e.Kind == record.EventTruthChanged:
		return "The ground truth or the evaluator of " + name + " changed", err
	case roles&access.Organizer == 0 || err != nil:
		return "", err
	}
	waits, err := v.isUnserved(ctx, e.RunID)
	if !waits {
		return "", err
	}
	return "Runs on " + name + " wait for a worker, and none was seen", nil
}

// isUnserved reports whether the run still waits for a worker, and none that serves its queue is seen.
func (v view) isUnserved(ctx context.Context, runID string) (bool, error) {
	var run *record.RunItem
	var serving *record.Serving
	err := records.Read(ctx, v.Store, store.Strong, records.Into(&run, record.RunKey(runID)), records.Into(&serving, record.ServingKey()))
	return err == nil && run != nil && run.AwaitsWorker() && !serving.Serves(run.Subqueue(), v.Now()), err
}

// window returns the sentence about the time at which a window closes, and about a later close that organizers granted the recipient's
// team.
func (v view) window(ctx context.Context, e *record.Event) (string, error) {
	current, err := v.isCurrent(ctx, e)
	if err != nil || !current {
		return "", err
	}
	t, _, err := visibility.Get[record.TaskItem](ctx, v.viewer, e.TaskID, record.TaskKey)
	if err != nil {
		return "", err
	}
	d := new(record.DatasetItem)
	name := "the task " + quoted(t.Name)
	others := []string{}
	if id := path.Base(e.Subject); id != t.ID {
		if d, _, err = visibility.Get[record.DatasetItem](ctx, v.viewer, id, record.DatasetKey); err != nil {
			return "", err
		}
		name = "the dataset " + quoted(d.Name) + " of " + name
	} else {
		err = records.Each(ctx, v.Store, store.MaxKeys, records.Of(record.KindTask, t.ID, record.KindDataset), func(d *record.DatasetItem) error {
			if d.Submissions.ClosesAt != nil {
				others = append(others, quoted(d.Name))
			}
			return nil
		})
	}
	if len(others) > 0 {
		name += ", except to " + strings.Join(others, ", ") + ","
	}
	a, allowanceErr := v.allowance(ctx, t.ID)
	if err := errors.Join(err, allowanceErr); err != nil {
		return "", err
	}
	_, closes := d.Window(t)
	text := fmt.Sprintf("Submissions to %s close on %s", name, webpage.Instant(closes.Time))
	if _, own := a.Window(t, d); own.After(closes.Time) {
		text += ", and those of your team on " + webpage.Instant(own.Time)
	}
	return text, nil
}

// allowance returns the allowance of the recipient's team in the task, or nil if the recipient has no team.
func (v view) allowance(ctx context.Context, taskID string) (*record.Allowance, error) {
	g, err := v.viewer.Grants(ctx)
	i := slices.IndexFunc(g.Registrations, func(r access.Registration) bool { return r.TaskID == taskID })
	if err != nil || i < 0 {
		return nil, err
	}
	return allowance.Of(ctx, v.Store, store.Strong, access.Scope{TaskID: taskID, RegistrationID: g.Registrations[i].ID,
		OwnerID: v.viewer.Caller.ID})
}

func (v view) announcement(ctx context.Context, e *record.Event) (title, text string, err error) {
	t, _, err := visibility.Get[record.TaskItem](ctx, v.viewer, e.TaskID, record.TaskKey)
	if err != nil {
		return "", "", err
	}
	a, err := records.Get[record.Announcement](ctx, v.Store, store.Strong, record.AnnouncementKey(e.TaskID, path.Base(e.Subject)))
	if err != nil || a == nil {
		return "", "", err
	}
	return quoted(a.Title) + ", an announcement of the task " + quoted(t.Name), a.Body, nil
}

// token returns the sentence about an access token of the recipient. It returns "" if the token was revoked.
func (v view) token(ctx context.Context, e *record.Event) (string, error) {
	all, err := records.Query[record.AccessTokenItem](ctx, v.Store, store.Query{Partition: record.AccessTokenPartition(v.viewer.Caller.ID),
		Limit: record.MaxAccessTokens, Consistency: store.Strong})
	for _, t := range all {
		if t.ID == path.Base(e.Subject) {
			return fmt.Sprintf("Your access token %s expires on %s", quoted(t.Name), webpage.Instant(t.ExpiresAt.Time)), nil
		}
	}
	return "", err
}
