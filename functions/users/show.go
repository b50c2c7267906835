package users

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

// Profile is what is known of a user.
type Profile struct {
	ID        string          `json:"id" doc:"id of the user, which comes from issuer and subject"`
	Name      string          `json:"name" doc:"as the sign-in issuer gave it last"`
	Email     string          `json:"email" doc:"as the sign-in issuer gave it last"`
	CreatedAt *record.Instant `json:"createdAt,omitempty" doc:"when the user first changed something; absent before"`
	UpdatedAt *record.Instant `json:"updatedAt,omitempty" doc:"when name or email last changed"`
	Deleting  bool            `json:"deleting,omitempty" doc:"the user is being deleted: name and email are gone, and there is no such user once it is done"`
	Taken     *record.Taken   `json:"taken,omitempty" doc:"what the user takes of the platform's quotas, which /info lists; absent in lists"`
	Version   int64           `json:"version" doc:"grows by one with each change; 0 before the user first changed something"`
}

func profile(u *record.User) *Profile {
	return &Profile{ID: u.ID, Name: u.Name, Email: u.Email, CreatedAt: &u.CreatedAt, UpdatedAt: &u.UpdatedAt, Version: u.Version,
		Deleting: u.Deleting()}
}

// show returns the profile; to a user who never changed anything, of whom nothing is stored, what the token says.
func show(ctx context.Context, c *api.Call, id userTarget) (*Profile, error) {
	var u *record.User
	var usage *record.Usage
	key := string(id)
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&u, record.UserKey(key)), records.Into(&usage, record.UsageKey(key)))
	if err != nil {
		return nil, err
	}
	var p *Profile
	switch {
	case u != nil:
		p = profile(u)
	case c.Caller.ID == key:
		name, email := c.NameAndEmail(nil)
		p = &Profile{ID: key, Name: name, Email: email}
	default:
		return nil, visibility.Missing
	}
	p.Taken = new(usage.Taken(c.Now()))
	return p, nil
}
