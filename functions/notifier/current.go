package notifier

import (
	"context"
	"slices"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// isCurrent reports whether what an event tells of in advance will still happen.
func (w *Worker) isCurrent(ctx context.Context, e *record.Event) (bool, error) {
	switch e.Kind {
	case record.EventWindowClosing:
		_, closes, err := w.closing(ctx, e)
		return closes != nil && closes.After(w.Now()), err
	case record.EventTokenExpiring:
		t, err := w.token(ctx, e)
		return t != nil && t.ExpiresAt.After(w.Now()), err
	default:
		return true, nil
	}
}

// closing returns the name of what the event is about, a task or a dataset, and when its window closes, if that is as the event says.
func (w *Worker) closing(ctx context.Context, e *record.Event) (name string, closes *record.Instant, err error) {
	t, err := records.Get[record.TaskItem](ctx, w.Store, store.Strong, record.TaskKey(e.TaskID))
	if err != nil || t == nil || t.Deleting() {
		return "", nil, err
	}
	id := subjectID(e)
	name, closes = "the task "+quoted(t.Name), t.Submissions.ClosesAt
	if id != t.ID {
		d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(id))
		if err != nil || d == nil || d.Deleting() {
			return "", nil, err
		}
		name, closes = "the dataset "+quoted(d.Name), d.Submissions.ClosesAt
	}
	if closes == nil || record.WindowEventID(id, *closes) != e.ID {
		return "", nil, nil
	}
	return name, closes, nil
}

// noticeToken makes the event that an access token expires, once.
func (w *Worker) noticeToken(ctx context.Context, key store.Key) error {
	return records.Change(ctx, w.Store, key, func(t *record.AccessTokenItem, tx *records.Tx) error {
		if at := t.NoticeAt(); at.IsZero() || at.After(w.Now()) {
			return nil
		}
		t.Noticed = true
		tx.Replace(t).Create(record.NewTokenEvent(w.Now(), t))
		return nil
	})
}

// token returns the access token that the event is about; nil when it was revoked.
func (w *Worker) token(ctx context.Context, e *record.Event) (*record.AccessTokenItem, error) {
	if len(e.UserIDs) == 0 {
		return nil, nil
	}
	all, err := records.Query[record.AccessTokenItem](ctx, w.Store, store.Query{Partition: record.AccessTokenPartition(e.UserIDs[0]),
		Limit: record.MaxAccessTokens, Consistency: store.Strong})
	i := slices.IndexFunc(all, func(t *record.AccessTokenItem) bool { return t.ID == subjectID(e) })
	if err != nil || i < 0 {
		return nil, err
	}
	return all[i], nil
}

func (r reader) announcement(ctx context.Context, e *record.Event) (title, text string, err error) {
	task, err := r.task(ctx, e)
	if err != nil {
		return "", "", err
	}
	a, err := records.Get[record.Announcement](ctx, r.Store, store.Strong, record.AnnouncementKey(e.TaskID, subjectID(e)))
	if err != nil || a == nil {
		return "", "", err
	}
	return quoted(a.Title) + ", an announcement of the task " + task, a.Body, nil
}
