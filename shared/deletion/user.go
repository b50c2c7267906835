package deletion

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// UserDeleter deletes users whose deletion is pending, in two passes that can stop at any point. What is published stays under the
// alias of its team and a random id; everything else of the user goes. The confirming pass comes when no request of the user can be under
// way any more, and also replaces the id in audit entries, which it looks for in those of all organizers.
type UserDeleter struct {
	Deleter
	Files blob.Store
}

// userPass is one pass over what a user has.
type userPass struct {
	UserDeleter
	*record.User
}

// Resume does the next pass of the deletion of a user that is pending.
func (d UserDeleter) Resume(ctx context.Context, key store.Key) error {
	u, err := records.Get[record.User](ctx, d.Store, store.Strong, key)
	if err != nil || !u.Deleting() || u.PendingWork.TooEarly(d.Now()) {
		return err
	}
	p := userPass{d, u}
	if err := p.endGrants(ctx); err != nil {
		return err
	}
	err = records.Each(ctx, d.Store, page, records.UserSources(u.ID, record.KindSubmission), func(s *record.SubmissionItem) error {
		return p.endSubmission(ctx, s.Key())
	})
	if err != nil {
		return err
	}
	if u.PendingWork.State != record.ConfirmingPass {
		u.PendingWork.State, u.PendingWork.NotBefore = record.ConfirmingPass, record.At(d.Now().Add(record.RequestTime))
		return new(records.Tx).Replace(u).Commit(ctx, d.Store)
	}
	organizers := []records.Source{records.Partition(record.ByKind, record.KindPartitions(record.KindOrganizer, access.Everyone)[0])}
	err = records.Each(ctx, d.Store, page, organizers, func(o *record.Organizer) error { return p.anonymizeAudit(ctx, o.ID) })
	if err != nil {
		return err
	}
	return new(records.Tx).Delete(u).DeleteKey(record.UsageKey(u.ID)).Commit(ctx, d.Store)
}

// endGrants ends memberships, and anonymizes registrations.
func (p userPass) endGrants(ctx context.Context) error {
	g, err := visibility.GrantsOf(ctx, p.Store, store.Strong, p.ID)
	for _, id := range g.Memberships {
		err = cmp.Or(err, records.Retry(ctx, func() error { return p.endMembership(ctx, id) }))
	}
	for _, r := range g.Registered {
		err = cmp.Or(err, records.Retry(ctx, func() error { return p.endRegistration(ctx, r) }))
	}
	return err
}

// audit is the entry about what was the user's, in the scope.
func (p userPass) audit(of access.Scope, action, subject string) *record.AuditEntry {
	of.OwnerID = p.ReplacedBy
	return record.NewAudit(p.Now(), of, p.DeletedBy, action, subject, nil, nil)
}

func (p userPass) endMembership(ctx context.Context, organizerID string) error {
	o, err := records.Get[record.Organizer](ctx, p.Store, store.Strong, record.OrganizerKey(organizerID))
	if err != nil {
		return err
	}
	tx := new(records.Tx).DeleteKey(record.MembershipKey(p.ID, organizerID))
	if o != nil && slices.Contains(o.Members, p.ID) {
		o.Members = slices.DeleteFunc(o.Members, func(id string) bool { return id == p.ID })
		tx.Save(o, p.Now()).Create(p.audit(o.Scope(), record.UserDeleted, "/v1/organizers/"+o.ID))
	}
	return tx.Commit(ctx, p.Store)
}

func (p userPass) endRegistration(ctx context.Context, grant record.Registered) error {
	r, err := records.Get[record.RegistrationItem](ctx, p.Store, store.Strong, record.RegistrationKey(grant.TaskID, grant.ID))
	if err != nil {
		return err
	}
	tx := new(records.Tx).DeleteKey(grant.Key())
	if r != nil {
		if name, reserved := r.ReservedName(); reserved {
			tx.DeleteKey(name)
		}
		r.Anonymize(p.ReplacedBy)
		tx.Save(r, p.Now()).Create(p.audit(r.Scope(), record.UserDeleted, "/v1/tasks/"+r.TaskID+"/registrations/"+r.ID))
	}
	return tx.Commit(ctx, p.Store)
}

// endSubmission anonymizes the published runs of a submission and deletes the others, and then does one of both with the submission,
// by which a later pass finds what is left to do. Baselines without a registration are the organizer's: they stay as they are, but
// for the user's id.
func (p userPass) endSubmission(ctx context.Context, key store.Key) error {
	s, err := records.Get[record.SubmissionItem](ctx, p.Store, store.Strong, key)
	if err != nil || s == nil {
		return err
	}
	for _, id := range s.RunIDs {
		if err := records.Retry(ctx, func() error { return p.endRun(ctx, s, id) }); err != nil {
			return err
		}
	}
	return records.Retry(ctx, func() error {
		s, err := records.Get[record.SubmissionItem](ctx, p.Store, store.Strong, key)
		if err != nil || s == nil || s.UserID != p.ID {
			return err
		}
		tx := new(records.Tx)
		if len(s.RunIDs) == 0 {
			tx.Delete(s).Create(p.audit(s.Scope(), record.SubmissionDeleted, "/v1/tasks/"+s.TaskID+"/submissions/"+s.ID))
		} else if err := p.keepSubmission(ctx, tx, s); err != nil {
			return err
		}
		return tx.Commit(ctx, p.Store)
	})
}

func (p userPass) endRun(ctx context.Context, s *record.SubmissionItem, id string) error {
	r, err := records.Get[record.RunItem](ctx, p.Store, store.Strong, record.RunKey(id))
	if err != nil || r == nil || r.UserID != p.ID {
		return err
	}
	tx, files := new(records.Tx), r.ObjectKeys()
	if s.Unregistered() || r.Access.Published && len(r.Evaluations) > 0 {
		if err := p.anonymizeRun(ctx, tx, r); err != nil {
			return err
		}
		kept := r.ObjectKeys()
		files = slices.DeleteFunc(files, func(key string) bool { return slices.Contains(kept, key) })
	} else {
		if err := p.Run(ctx, tx, r); err != nil {
			return err
		}
		tx.Create(p.audit(r.Scope(), record.RunDeleted, "/v1/runs/"+r.ID))
	}
	if err := tx.Commit(ctx, p.Store); err != nil {
		return err
	}
	return p.Files.Delete(ctx, files...)
}

// anonymizeRun adds to tx the run with its review and its evaluations as they stay.
func (p userPass) anonymizeRun(ctx context.Context, tx *records.Tx, r *record.RunItem) error {
	review, err := records.Get[record.ReviewItem](ctx, p.Store, store.Strong, record.ReviewKey(r.ID))
	if err != nil {
		return err
	}
	if review != nil {
		review.UserID = p.ReplacedBy
		tx.Save(review, p.Now())
	}
	r.Anonymize(p.ReplacedBy)
	tx.Save(r, p.Now())
	all, err := records.GetAll[record.EvaluationItem](ctx, p.Store, store.Strong, records.Keys(r.Evaluations, record.EvaluationKey)...)
	for _, e := range all {
		if e != nil {
			e.Anonymize(r)
			tx.Save(e, p.Now())
		}
	}
	return err
}

// keepSubmission adds to tx that the submission with the runs that stay, which keep their task and datasets, counts for the id that
// replaces the user's.
func (p userPass) keepSubmission(ctx context.Context, tx *records.Tx, s *record.SubmissionItem) error {
	runs, err := records.GetAll[record.RunItem](ctx, p.Store, store.Strong, records.Keys(s.RunIDs, record.RunKey)...)
	if err != nil {
		return err
	}
	a, err := records.Get[record.Allowance](ctx, p.Store, store.Strong, record.AllowanceKey(s.TaskID, p.ReplacedBy))
	if err != nil {
		return err
	}
	a = cmp.Or(a, &record.Allowance{Meta: record.MetaOf(p.ReplacedBy, p.Now()), TaskID: s.TaskID})
	if !s.Unregistered() {
		a.Submissions++
	}
	for _, r := range runs {
		if r != nil {
			a.Keep(r.DatasetID)
		}
	}
	s.Anonymize(p.ReplacedBy)
	tx.Save(s, p.Now()).Save(a, p.Now())
	return nil
}

// anonymizeAudit replaces the user in the audit entries of an organizer and its tasks, and in the reviews, datasets and allowances that
// no list has by the user but that the entries name.
func (p userPass) anonymizeAudit(ctx context.Context, organizerID string) error {
	return records.Each(ctx, p.Store, page, []records.Source{records.AuditEntries(organizerID)}, func(a *record.AuditEntry) error {
		if !a.Names(p.ID) {
			return nil
		}
		_, err := records.Update(ctx, p.Store, a.Key(), func(a *record.AuditEntry, tx *records.Tx) (bool, error) {
			if a.TaskID != "" {
				tx.DeleteKey(record.AllowanceKey(a.TaskID, p.ID))
			}
			a.Anonymize(p.ID, p.ReplacedBy)
			record.Touch(a, p.Now())
			return true, p.anonymizeSubject(ctx, tx, a.Subject)
		})
		return err
	})
}

// anonymizeSubject adds to tx that the user is replaced in what the path names: as the reviewer of a run, or as the one for whom the
// files of a dataset count.
func (p userPass) anonymizeSubject(ctx context.Context, tx *records.Tx, subject string) error {
	if id, ok := strings.CutPrefix(subject, "/v1/datasets/"); ok {
		d, err := records.Get[record.DatasetItem](ctx, p.Store, store.Strong, record.DatasetKey(id))
		if err == nil && d != nil && d.Payer == p.ID {
			d.Payer = p.ReplacedBy
			tx.Replace(d)
		}
		return err
	}
	id, ok := strings.CutSuffix(strings.TrimPrefix(subject, "/v1/runs/"), "/review")
	if !ok {
		return nil
	}
	review, err := records.Get[record.ReviewItem](ctx, p.Store, store.Strong, record.ReviewKey(id))
	if err == nil && review != nil && review.ReviewerID == p.ID {
		review.ReviewerID = p.ReplacedBy
		tx.Replace(review)
	}
	return err
}
