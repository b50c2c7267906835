package users

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (page.Page[*Profile], error) {
	keep := func(u *record.User) bool { return c.Page.MatchesText("name", u.Name) }
	return api.PageOf(ctx, c, records.OfKind(record.KindUser, access.Nobody), keep, profile)
}

// listByStorage returns a page of the users with the most stored bytes. It reads the order from StoragePartition, and then the accounts of
// these users.
func listByStorage(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[*Profile], err error) {
	selection := records.Selection{Sources: []records.Source{{Partition: record.StoragePartition}}, Limit: c.Page.Limit}
	if selection.Cursor, err = storageCursor(ctx, c); err != nil {
		return p, err
	}
	var accounts []*account
	next, err := records.List(ctx, c.Store, selection, nil, func(r *record.Reservation) (bool, error) {
		accounts = append(accounts, &account{userTarget: userTarget(r.ID)})
		return false, nil
	})
	if err != nil {
		return p, err
	}
	var targets []records.Target
	for _, a := range accounts {
		targets = append(targets, a.targets()...)
	}
	if err := records.Read(ctx, c.Store, c.Consistency, targets...); err != nil {
		return p, err
	}
	_, p.Cursor, _ = strings.Cut(next, "#") // the id of the user, whose position may change before the next page
	profiles := lists.Map(accounts, func(a *account) *Profile { return a.profile(c) })
	// StoragePartition orders users by the number of bits of their bytes only.
	slices.SortStableFunc(profiles, func(a, b *Profile) int { return cmp.Compare(b.Taken.StoredBytes, a.Taken.StoredBytes) })
	for _, u := range profiles {
		if _, err := p.Add(u); err != nil {
			return p, err
		}
	}
	return p, nil
}

// storageCursor returns the position in StoragePartition of the user whose id is the cursor of the request. The user's usage holds the
// position. The result is empty for the first page, and the id itself for a user without a position.
func storageCursor(ctx context.Context, c *api.Call) (string, error) {
	id := c.Page.Cursor
	if id == "" {
		return "", nil
	}
	usage, err := records.Get[record.Usage](ctx, c.Store, c.Consistency, record.UsageKey(id))
	if err != nil {
		return "", err
	}
	return cmp.Or(usage.StorageKey().Sort, id), nil
}

func listSubmissions(ctx context.Context, c *api.Call, id userTarget) (p page.Page[record.Submission], err error) {
	sources, err := c.VisibleOfUser(ctx, record.KindSubmission, string(id))
	if err != nil {
		return p, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	keep := func(s *record.SubmissionItem) bool {
		return s.UserID == string(id) && c.Page.Matches("taskId", s.TaskID)
	}
	return api.PageOf(ctx, c, sources, keep, func(s *record.SubmissionItem) record.Submission { return s.For(rolesOf(s.Scope())) })
}
