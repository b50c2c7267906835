package deletion

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/allowance"
	"assay/shared/service/propagation"
	"assay/shared/service/queue"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// userPass is one pass over what a user has.
type userPass struct {
	Deleter
	*record.User
}

// ContinueUser does the next pass of the pending deletion of a user. There are two, and each of them can stop at any point. Published
// results stay under the alias of their team and a random id, and everything else of the user goes. Resources of a team with other members
// stay, without the id of the user. The confirming pass comes when no request of the user can be under way any more. It also purges
// the user's items in the trash, and replaces the id in the audit entries of all organizers. By these it finds what the user submitted in
// teams that the user has left.
func (d Deleter) ContinueUser(ctx context.Context, key store.Key) error {
	u, err := records.Get[record.User](ctx, d.Store, store.Strong, key)
	if err != nil || !u.Deleting() || u.PendingWork.TooEarly(d.Now()) {
		return err
	}
	p := userPass{d, u}
	if err := p.endGrants(ctx); err != nil {
		return err
	}
	if err := p.endSubmissions(ctx, records.Of(record.KindUser, u.ID, record.KindSubmission)); err != nil {
		return err
	}
	if u.PendingWork.State != record.ConfirmingPass {
		u.PendingWork.State = record.ConfirmingPass
		return p.passLater(ctx)
	}
	organizers := records.OfKind(record.KindOrganizer, access.Everyone)
	err = records.Each(ctx, d.Store, page, organizers, func(o *record.Organizer) error { return p.anonymizeAudit(ctx, o.ID) })
	if err != nil {
		return err
	}
	all, err := p.purgeTrash(ctx)
	switch {
	case err != nil:
		return err
	case !all: // the next pass looks at the items that still move to the trash or back
		return p.passLater(ctx)
	}
	return d.deleteUser(ctx, u)
}

// passLater makes the next pass pending, for when the requests that are under way have ended.
func (p userPass) passLater(ctx context.Context) error {
	p.PendingWork.NotBefore = record.At(p.Now().Add(record.RequestTime))
	return new(records.Tx).Replace(p.User).Commit(ctx, p.Store)
}

// deleteUser deletes the profile, the mailbox and the usage of the user, with its entry in the list by storage.
func (d Deleter) deleteUser(ctx context.Context, u *record.User) error {
	usage, err := records.Get[record.Usage](ctx, d.Store, store.Strong, record.UsageKey(u.ID))
	if err != nil {
		return err
	}
	tx := new(records.Tx).Delete(u).DeleteKeys(record.MailboxKey(u.ID))
	if usage != nil {
		tx.Delete(usage)
	}
	if listed := usage.StorageKey(); !listed.IsZero() {
		tx.DeleteKeys(listed)
	}
	return tx.Commit(ctx, d.Store)
}

// endGrants ends memberships, and anonymizes registrations.
func (p userPass) endGrants(ctx context.Context) error {
	g, err := visibility.GrantsOf(ctx, p.Store, store.Strong, p.ID)
	for _, m := range g.Memberships {
		err = cmp.Or(err, records.Retry(ctx, func() error { return p.endMembership(ctx, m.OrganizerID) }))
	}
	for _, r := range g.Ended {
		err = cmp.Or(err, new(records.Tx).DeleteKeys(r.Key()).Commit(ctx, p.Store))
	}
	for _, r := range g.Registered { // what was submitted comes first: it is found by the grant
		err = cmp.Or(err, p.endSubmissions(ctx, records.Of(record.KindTeam, r.ID, record.KindSubmission)))
		err = cmp.Or(err, records.Retry(ctx, func() error { return p.endRegistration(ctx, r) }))
	}
	return err
}

func (p userPass) endSubmissions(ctx context.Context, sources []records.Source) error {
	return records.Each(ctx, p.Store, page, sources, func(s *record.SubmissionItem) error { return p.endSubmission(ctx, s.Key()) })
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
	tx := new(records.Tx).DeleteKeys(record.MembershipKey(p.ID, organizerID))
	if o != nil && slices.Contains(o.Members, p.ID) {
		o.Remove(p.ID)
		tx.Save(o, p.Now()).Create(p.audit(o.Scope(), record.UserDeleted, "/v1/organizers/"+o.ID))
	}
	return tx.Commit(ctx, p.Store)
}

func (p userPass) endRegistration(ctx context.Context, grant record.Registered) error {
	r, err := records.Get[record.RegistrationItem](ctx, p.Store, store.Strong, record.RegistrationKey(grant.TaskID, grant.ID))
	if err != nil {
		return err
	}
	tx := new(records.Tx).DeleteKeys(grant.Key())
	if r == nil {
		return tx.Commit(ctx, p.Store)
	}
	used, err := team.LeaveDeleted(ctx, p.Store, tx, r, p.ID, p.ReplacedBy, p.Now())
	if err != nil {
		return err
	}
	if len(r.Members) == 0 {
		tx.DeleteKeys(r.ReservedNames()...)
		if used != nil && used.ID != record.DeletedUser(r.TaskID, p.ID) {
			used = allowance.OfTeam(tx, used, r.TaskID, r.ID, p.Now())
			if err := propagation.DropExtensions(ctx, p.Store, tx, r.TaskID, p.Now(), used.Exceptions...); err != nil {
				return err
			}
			used.Exceptions = nil
			tx.Save(used, p.Now())
		}
		r.Anonymize(p.ReplacedBy)
	} else if used != nil && used.ID == r.ID {
		tx.Check(used) // or what the team uses meanwhile would not count for the user
	}
	tx.Save(r, p.Now()).Create(p.audit(r.Scope(), record.UserDeleted, "/v1/tasks/"+r.TaskID+"/registrations/"+r.ID))
	return tx.Commit(ctx, p.Store)
}

// endSubmission anonymizes the published runs of a submission and deletes the others, and then does one of both with the submission,
// by which a later pass finds what is left to do. Baselines without a registration belong to the organizer, and submissions of a team with
// other members belong to the team: only the user's id is removed from them.
func (p userPass) endSubmission(ctx context.Context, key store.Key) error {
	s, err := records.Get[record.SubmissionItem](ctx, p.Store, store.Strong, key)
	if err != nil || s == nil || s.UserID != p.ID {
		return err
	}
	keep, err := team.BelongsToOthers(ctx, p.Store, s.TaskID, p.ID, s.Access)
	if err != nil {
		return err
	}
	for _, id := range s.RunIDs {
		if err := p.endRun(ctx, s, id, keep); err != nil {
			return err
		}
	}
	return records.Change(ctx, p.Store, key, func(s *record.SubmissionItem, tx *records.Tx) error {
		switch {
		case s.UserID != p.ID:
			return nil
		case keep:
			s.UserID = p.ReplacedBy
			if s.Unregistered() {
				s.Notes = "" // which nobody else is shown
			}
		case len(s.RunIDs) > 0:
			s.Anonymize(p.ReplacedBy)
		default:
			tx.Delete(s).Create(p.audit(s.Scope(), record.SubmissionDeleted, "/v1/tasks/"+s.TaskID+"/submissions/"+s.ID))
			return p.uncount(ctx, tx, s, 1)
		}
		tx.Save(s, p.Now())
		if s.Unregistered() {
			return p.countBaseline(ctx, tx, s)
		}
		return nil
	})
}

func (p userPass) endRun(ctx context.Context, s *record.SubmissionItem, id string, keep bool) error {
	var files []string // to delete
	err := records.Change(ctx, p.Store, record.RunKey(id), func(r *record.RunItem, tx *records.Tx) error {
		files = nil
		if r.UserID != p.ID {
			return nil
		}
		files, r.Access.RegistrationID = r.ObjectKeys(), s.Access.RegistrationID
		if !keep && (!r.Access.Published || len(r.Evaluations) == 0) {
			tx.Create(p.audit(r.Scope(), record.RunDeleted, "/v1/runs/"+r.ID))
			return p.eraseRun(ctx, tx, r)
		}
		if keep {
			r.UserID = p.ReplacedBy
		} else {
			r.Anonymize(p.ReplacedBy)
		}
		kept := r.ObjectKeys()
		files = slices.DeleteFunc(files, func(key string) bool { return slices.Contains(kept, key) })
		return p.saveAnonymized(ctx, tx, r)
	})
	if err != nil || len(files) == 0 {
		return err
	}
	return p.Files.Delete(ctx, files...)
}

// eraseRun adds to tx that the run is deleted for good, with its review and its evaluations. Its files are left to the caller.
func (p userPass) eraseRun(ctx context.Context, tx *records.Tx, r *record.RunItem) error {
	tx.Delete(r).DeleteKeys(record.ReviewKey(r.ID))
	for _, id := range r.Evaluations {
		queue.DeleteEvaluation(tx, id)
	}
	if err := p.unlink(ctx, tx, r); err != nil {
		return err
	}
	account := quota.Account{Store: p.Store, Tx: tx, Now: p.Now(), UserID: r.UserID}
	return account.Credit(ctx, record.Charge{Bytes: -r.Bytes})
}

// saveAnonymized adds to tx the run with its review and its evaluations as they stay.
func (p userPass) saveAnonymized(ctx context.Context, tx *records.Tx, r *record.RunItem) error {
	review, err := records.Get[record.ReviewItem](ctx, p.Store, store.Strong, record.ReviewKey(r.ID))
	if err != nil {
		return err
	}
	if review != nil {
		review.UserID = p.ReplacedBy
		tx.Save(review, p.Now())
	}
	tx.Save(r, p.Now())
	all, err := records.GetExisting[record.EvaluationItem](ctx, p.Store, store.Strong, r.Evaluations, record.EvaluationKey)
	for _, e := range all {
		e.Anonymize(r)
		tx.Save(e, p.Now())
	}
	return err
}

// countBaseline adds to tx that the runs of a baseline, which keep their task and datasets, count for the id that replaces the user's.
func (p userPass) countBaseline(ctx context.Context, tx *records.Tx, s *record.SubmissionItem) error {
	runs, err := records.GetExisting[record.RunItem](ctx, p.Store, store.Strong, s.RunIDs, record.RunKey)
	if err != nil {
		return err
	}
	a, err := records.Get[record.Allowance](ctx, p.Store, store.Strong, record.AllowanceKey(s.TaskID, p.ReplacedBy))
	if err != nil {
		return err
	}
	a = cmp.Or(a, &record.Allowance{Meta: record.MetaOf(p.ReplacedBy, p.Now()), TaskID: s.TaskID})
	for _, r := range runs {
		a.Keep(r.DatasetID)
	}
	tx.Save(a, p.Now())
	return nil
}

// anonymizeAudit replaces the user in the audit entries of an organizer and its tasks, and in the reviews, datasets and allowances that
// no list has by the user but that the entries name.
func (p userPass) anonymizeAudit(ctx context.Context, organizerID string) error {
	return records.Each(ctx, p.Store, page, []records.Source{records.AuditEntries(organizerID)}, func(a *record.AuditEntry) error {
		if !a.Names(p.ID) {
			return nil
		}
		if id, ok := strings.CutPrefix(a.Subject, "/v1/tasks/"+a.TaskID+"/submissions/"); ok {
			if err := p.endSubmission(ctx, record.SubmissionKey(id)); err != nil {
				return err
			}
		}
		return records.Change(ctx, p.Store, a.Key(), func(a *record.AuditEntry, tx *records.Tx) error {
			a.Anonymize(p.ID, p.ReplacedBy)
			tx.Save(a, p.Now())
			if err := p.endAllowance(ctx, tx, a.TaskID); err != nil {
				return err
			}
			return p.anonymizeSubject(ctx, tx, a.Subject)
		})
	})
}

// endAllowance adds to tx a change of the allowance of a former team of the user, so that it counts only for the same person.
func (p userPass) endAllowance(ctx context.Context, tx *records.Tx, taskID string) error {
	used, err := records.Get[record.Allowance](ctx, p.Store, store.Strong, record.AllowanceKey(taskID, p.ID))
	if err != nil || used == nil {
		return err
	}
	return allowance.CarryOverDeleted(ctx, p.Store, tx.Delete(used), used, p.ID, p.Now())
}

// endInvitations adds to tx that the invitations go that the user made to what has the id.
func (p userPass) endInvitations(ctx context.Context, tx *records.Tx, id string) error {
	all, err := records.Query[record.InvitationItem](ctx, p.Store, store.Query{Partition: record.InvitationPartition(id),
		Limit: record.MaxInvitations, Consistency: store.Strong})
	for _, i := range all {
		if i.InvitedBy == p.ID {
			tx.DeleteKeys(i.Key())
		}
	}
	return err
}

// anonymizeSubject adds to tx that the user is replaced in what the path names: as the reviewer of a run, as the one for whom the
// files of a dataset count, or as a former member of a team; and that invitations of the user go.
func (p userPass) anonymizeSubject(ctx context.Context, tx *records.Tx, subject string) error {
	if parent, _, ok := strings.Cut(subject, "/invitations/"); ok {
		return p.endInvitations(ctx, tx, path.Base(parent))
	}
	if id, ok := strings.CutPrefix(subject, "/v1/datasets/"); ok {
		d, err := records.Get[record.DatasetItem](ctx, p.Store, store.Strong, record.DatasetKey(id))
		if err == nil && d != nil && d.Payer == p.ID {
			d.Payer = p.ReplacedBy
			tx.Replace(d)
		}
		return err
	}
	if taskID, id, ok := strings.Cut(strings.TrimPrefix(subject, "/v1/tasks/"), "/registrations/"); ok {
		r, err := records.Get[record.RegistrationItem](ctx, p.Store, store.Strong, record.RegistrationKey(taskID, id))
		if err == nil && r != nil && r.ReplaceFormer(p.ID, p.ReplacedBy) {
			tx.Replace(r)
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
