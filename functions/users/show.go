package users

import (
	"cmp"
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// Profile is the profile of a user, with the user's usage.
type Profile struct {
	ID        string          `json:"id" doc:"id of the user, derived from issuer and subject"`
	Name      string          `json:"name" doc:"latest name from the sign-in issuer"`
	Email     string          `json:"email" doc:"latest address from the sign-in issuer; empty without a confirmed address"`
	CreatedAt *record.Instant `json:"createdAt,omitempty" doc:"when the user first changed something; absent before"`
	UpdatedAt *record.Instant `json:"updatedAt,omitempty" doc:"when name or email last changed"`
	Deleting  bool            `json:"deleting,omitempty" doc:"the user is being deleted: name and email are empty, and later the user does not exist any more"`
	Version   int64           `json:"version" doc:"grows by one with each change; 0 before the user first changed something"`

	Taken  *record.Taken       `json:"taken,omitempty" doc:"usage of the user; absent in the list of all users"`
	Limits *record.UsageLimits `json:"limits,omitempty" doc:"limits of the usage: from quota, otherwise from /info; administrators may use more. 0 means no limit; absent in the list of all users"`
	Quota  *record.UserQuota   `json:"quota,omitempty" doc:"limits that administrators set for this user; absent in the list of all users"`
}

func profile(u *record.User) *Profile {
	return &Profile{ID: u.ID, Name: u.Name, Email: u.ConfirmedAddress(), CreatedAt: &u.CreatedAt, UpdatedAt: &u.UpdatedAt, Version: u.Version,
		Deleting: u.Deleting()}
}

// account is a user with the user's usage.
type account struct {
	userTarget
	user  *record.User // nil for a user who never changed anything
	usage *record.Usage
}

// Revision returns the version of the profile. Changes of the quota change it, too.
func (a *account) Revision() int64 {
	if a.user == nil {
		return 0
	}
	return a.user.Version
}

// userAccount reads the account of the user that the path names. It also succeeds if the user does not exist, so that callers without the
// right to see the account do not learn this.
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

// show returns the profile. Nothing is stored of users who never changed anything; they see the name and address of their token.
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

// profile returns the profile with the usage and its limits.
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
