package registrations

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func list(ctx context.Context, c *api.Call, t *record.TaskItem) (p page.Page[*record.Registration], err error) {
	roles, err := c.Roles(ctx, t.Scope())
	if err != nil {
		return p, err
	}
	sources := []records.Source{records.Registrations(t.ID)}
	if roles&(access.Organizer|access.Admin) == 0 {
		if sources, err = ownSource(ctx, c, t.ID); err != nil {
			return p, err
		}
	}
	keep := func(r *record.RegistrationItem) bool { return c.Page.Matches("state", string(r.State)) }
	return api.PageOf(ctx, c, sources, keep, func(r *record.RegistrationItem) *record.Registration { return r.For(roles) })
}

// ownSource returns the source of the caller's own registration.
func ownSource(ctx context.Context, c *api.Call, taskID string) ([]records.Source, error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return nil, err
	}
	mine, ok := g.ForTask(taskID)
	if !ok {
		return nil, nil
	}
	key := func(id string) store.Key { return record.RegistrationKey(taskID, id) }
	return []records.Source{records.ByIDs([]string{mine.ID}, key)}, nil
}

// rows returns the rows of a table of registrations.
func rows(all []*record.Registration) [][]string {
	table := [][]string{{"id", "team", "alias", "anonymous", "state", "userId", "userName", "userEmail", "affiliation", "country", "contact",
		"createdAt", "acceptedTerms", "termsAcceptedAt", "memberIds", "memberNames"}}
	for _, r := range all {
		user := cmp.Or(r.User, new(record.Person))
		terms, acceptedAt := "", ""
		if r.TermsAcceptedAt != nil {
			terms = strconv.FormatInt(r.AcceptedTerms, 10)
			acceptedAt = r.TermsAcceptedAt.String()
		}
		names := lists.Map(r.Named, func(p *record.Person) string { return p.Name })
		table = append(table, []string{r.ID, r.Team, r.Alias, strconv.FormatBool(r.Anonymous), string(r.State), r.UserID, user.Name, user.Email,
			r.Affiliation, r.Country, r.Contact, r.CreatedAt.String(), terms, acceptedAt, strings.Join(r.Members, " "), strings.Join(names, "; ")})
	}
	return table
}
