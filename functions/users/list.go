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

// listByStorage reads a page of the index of users by storage, and then the accounts of these users. The cursor is the id of a user. The
// user's usage has the place in the index.
func listByStorage(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[*Profile], err error) {
	selection := records.Selection{Sources: []records.Source{{Partition: record.StoragePartition}}, Limit: c.Page.Limit}
	if id := c.Page.Cursor; id != "" {
		first, err := records.Get[record.Usage](ctx, c.Store, c.Consistency, record.UsageKey(id))
		if err != nil {
			return p, err
		}
		selection.Cursor = cmp.Or(first.StorageKey().Sort, id) // An id without usage has no place in the index.
	}
	var all []*account
	var read []records.Target
	next, err := records.List(ctx, c.Store, selection, nil, func(r *record.Reservation) (bool, error) {
		a := &account{userTarget: userTarget(r.ID)}
		all, read = append(all, a), append(read, a.targets()...)
		return false, nil
	})
	if err := cmp.Or(err, records.Read(ctx, c.Store, c.Consistency, read...)); err != nil {
		return p, err
	}
	_, p.Cursor, _ = strings.Cut(next, "#")
	found := lists.Map(all, func(a *account) *Profile { return a.profile(c) })
	slices.SortStableFunc(found, func(a, b *Profile) int { return cmp.Compare(b.Taken.StoredBytes, a.Taken.StoredBytes) })
	for _, u := range found {
		if _, err := p.Add(u); err != nil {
			return p, err
		}
	}
	return p, nil
}

func listSubmissions(ctx context.Context, c *api.Call, id userTarget) (p page.Page[record.Submission], err error) {
	sources, err := c.VisibleOfUser(ctx, record.KindSubmission, string(id))
	if err != nil {
		return p, err
	}
	keep := func(s *record.SubmissionItem) bool {
		return s.UserID == string(id) && c.Page.Matches("taskId", s.TaskID)
	}
	return api.PageFor(ctx, c, sources, keep)
}
