package users

import (
	"cmp"
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
	Email     string          `json:"email" doc:"as the sign-in issuer gave it last; empty without a confirmed address"`
	CreatedAt *record.Instant `json:"createdAt,omitempty" doc:"when the user first changed something; absent before"`
	UpdatedAt *record.Instant `json:"updatedAt,omitempty" doc:"when name or email last changed"`
	Deleting  bool            `json:"deleting,omitempty" doc:"the user is being deleted: name and email are gone, and there is no such user once it is done"`
	Version   int64           `json:"version" doc:"grows by one with each change; 0 before the user first changed something"`

	Taken  *record.Taken       `json:"taken,omitempty" doc:"what the user takes of the platform's quotas; absent in the list of all users"`
	Limits *record.UsageLimits `json:"limits,omitempty" doc:"what the user may take: quota, and where that has no limit, what /info lists; administrators may take more. What is 0 is not limited; absent as taken is"`
	Quota  *record.UserQuota   `json:"quota,omitempty" doc:"limits of this user alone, set by administrators; absent as taken is"`
}

func profile(u *record.User) *Profile {
	return &Profile{ID: u.ID, Name: u.Name, Email: u.ConfirmedAddress(), CreatedAt: &u.CreatedAt, UpdatedAt: &u.UpdatedAt, Version: u.Version,
		Deleting: u.Deleting()}
}

// account is a user with what the user takes of the platform.
type account struct {
	userTarget
	user  *record.User // nil for one who never changed anything
	usage *record.Usage
}

// Revision is that of the profile, which a change of the quota makes its next version.
func (a *account) Revision() int64 {
	if a.user == nil {
		return 0
	}
	return a.user.Version
}

// userAccount reads the account of the user whom the path names; also of an id that is nobody's, which is answered alike.
func userAccount(ctx context.Context, c *api.Call) (*account, error) {
	id, err := userID(ctx, c)
	if err != nil {
		return nil, err
	}
	a := &account{userTarget: id}
	return a, records.Read(ctx, c.Store, c.Consistency, a.targets()...)
}

func (a *account) targets() []records.Target {
	id := string(a.userTarget)
	return []records.Target{records.Into(&a.user, record.UserKey(id)), records.Into(&a.usage, record.UsageKey(id))}
}

// show returns the profile; to a user who never changed anything, of whom nothing is stored, what the token says.
func show(_ context.Context, c *api.Call, a *account) (*Profile, error) {
	if a.user == nil && c.Caller.ID != string(a.userTarget) {
		return nil, visibility.Missing
	}
	p := a.profile(c)
	if a.user == nil {
		p.Name, p.Email = c.NameAndEmail(nil)
	}
	return p, nil
}

// profile is the profile with what the user takes and may take.
func (a *account) profile(c *api.Call) *Profile {
	p := &Profile{ID: string(a.userTarget)}
	if a.user != nil {
		p = profile(a.user)
	}
	usage := cmp.Or(a.usage, new(record.Usage))
	p.Taken = new(usage.Taken(c.Now()))
	p.Limits = new(usage.Limits(c.Quotas.Quotas.User))
	p.Quota = &usage.Quota
	return p
}
