// Package visibility decides what one caller may see. HTTP and gRPC both use it, so that they hide the same resources.
//
// A Viewer applies the rights of shared/domain/access to the caller's grants in the store. Hidden resources get the same answer as
// missing ones, after the same work.
package visibility

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Viewer is a caller who reads resources. It reads the caller's grants at most once until Forget drops them. It serves one request, or
// one goroutine of a longer exchange.
type Viewer struct {
	Store  store.Store
	Caller access.Caller
	// Consistency is the consistency of reads. It must be strong for reads that decide about a write or precede it, and may be eventual
	// for display.
	Consistency store.Consistency
	// Public limits the roles of the caller to those of every caller who sees the task.
	Public bool

	grants *record.Grants
	people map[store.Key]store.Item      // items that ResolvePeople has read; zero for missing ones
	rules  map[string]*record.ValueRules // by dataset
	terms  map[string]error              // by task: why the caller's team gets no inputs for registrants, or nil
}

// Missing is the answer for resources that do not exist, and for resources whose existence the caller may not know.
var Missing error = problem.NotFound.New(problem.Nothing)

// NotAccepted is the answer about a private task and its datasets to a user with a pending or rejected registration. These are not
// missing for that user, whose registration and submissions belong to them.
var NotAccepted error = problem.Forbidden.New("The task is private, and your registration for it is not accepted. Ask its organizers "+
	"about it; %s names your registration and its state.", problem.GetCurrentUser.With())

// LacksScope refuses a caller whose access token has none of the scopes.
func LacksScope(c access.Caller, oneOf access.TokenScope) error {
	return problem.InsufficientScope.New("The scopes of this access token (%s) do not allow this. It takes %s.",
		strings.Join(c.Token.Scopes.Names(), ", "), oneOf.Needed())
}

// grantsPage is how many grants one call of the store returns. Nearly every user has fewer. A user can have the greatest number of each
// record.GrantKind, and registrations that others ended within record.TrashTime, so more calls can follow.
const grantsPage = 1000

// Grants returns the caller's grants. The first call reads them from the store, once.
func (v *Viewer) Grants(ctx context.Context) (record.Grants, error) {
	switch {
	case v.grants != nil:
		return *v.grants, nil
	case v.Caller.Anonymous():
		return record.Grants{}, nil
	}
	g, err := GrantsOf(ctx, v.Store, v.Consistency, v.Caller.ID)
	if err == nil && g.Profile.Deleting() {
		g = record.Grants{}
		err = problem.InvalidToken.New("The user of this token is being deleted, which takes some minutes. Ask without a " +
			"token, or sign in again later, as a new user.")
	}
	if err == nil {
		v.grants = &g
	}
	return g, err
}

// GrantsOf returns the grants of a user, with the profile.
func GrantsOf(ctx context.Context, s store.Store, c store.Consistency, userID string) (record.Grants, error) {
	var all []store.Item
	for it, err := range records.Items(ctx, s, store.Query{Partition: record.UserPartition(userID), Limit: grantsPage, Consistency: c}) {
		if err != nil {
			return record.Grants{}, err
		}
		all = append(all, it)
	}
	return record.DecodeGrants(all)
}

// Forget drops everything that was read, so that later calls read it again.
func (v *Viewer) Forget() {
	v.grants = nil
	v.people = nil
	v.rules = nil
	v.terms = nil
}

// Roles returns the caller's roles for resources of the scope. It reads the grants of callers who are signed in.
func (v *Viewer) Roles(ctx context.Context, s access.Scope) (access.Role, error) {
	of, err := v.RolesOf(ctx)
	if err != nil {
		return 0, err
	}
	return of(s), nil
}

// RolesOf is like Roles, for many scopes. It reads the grants at once.
func (v *Viewer) RolesOf(ctx context.Context) (func(access.Scope) access.Role, error) {
	g, err := v.Grants(ctx)
	return func(s access.Scope) access.Role {
		roles := access.Roles(v.Caller, g.Grants, s)
		if v.Public {
			return access.Public(roles)
		}
		return roles
	}, err
}

// Require returns nil if the caller has one of the allowed roles for resources of the scope, and the problem otherwise. It reads the
// caller's grants only if the decision depends on them.
func (v *Viewer) Require(ctx context.Context, allowed access.Role, s access.Scope) error {
	decision := access.Decide(allowed, access.Roles(v.Caller, access.Grants{}, s), s)
	var roles access.Role
	if decision != access.Allow && !v.Caller.Anonymous() {
		var err error
		if roles, err = v.Roles(ctx, s); err != nil {
			return err
		}
		decision = access.Decide(allowed, roles, s)
		unlimited := access.Roles(v.Caller.Unlimited(), v.grants.Grants, s)
		if v.Caller.Token != nil && !v.Public && decision != access.Allow && access.Decide(allowed, unlimited, s) == access.Allow {
			return LacksScope(v.Caller, access.ScopesFor(allowed&unlimited))
		}
	}
	switch decision {
	case access.Allow:
		return nil
	case access.Login:
		return problem.Unauthorized.New("This needs a login. Send a bearer token of the sign-in issuer that %s names: Authorization: Bearer "+
			"<token>.", problem.GetInfo.With())
	case access.Forbid:
		if !access.Sees(roles, s.Audience) {
			return NotAccepted
		}
		return problem.Forbidden.New("Only %s can do this.", allowed)
	default:
		return Missing
	}
}

// Sees reports whether the caller may know of a resource of the scope.
func (v *Viewer) Sees(ctx context.Context, s access.Scope) (bool, error) {
	if access.Sees(access.Anyone, s.Audience) {
		return true, nil
	}
	roles, err := v.Roles(ctx, s)
	return access.Sees(roles, s.Audience), err
}

// scoped is a record with a scope.
type scoped[R any] interface {
	records.Pointer[R]
	Scope() access.Scope
}

// Find reads the record with the ID, or returns Missing. It does not decide whether the caller may see the record.
func Find[R any, P records.Pointer[R]](ctx context.Context, v *Viewer, id string, key func(id string) store.Key) (P, error) {
	if !record.IsID(id) {
		return nil, Missing
	}
	return records.Require[R, P](ctx, v.Store, v.Consistency, key(id), Missing)
}

// FindIn is like Find, for a record below the parent with the ID.
func FindIn[R any, P records.Pointer[R]](ctx context.Context, v *Viewer, parentID, id string,
	key func(parentID, id string) store.Key) (P, error) {
	if !record.IsID(parentID) {
		return nil, Missing
	}
	return Find[R, P](ctx, v, id, func(id string) store.Key { return key(parentID, id) })
}

// Get reads the record with the ID, and returns it with the caller's roles for it. It returns Missing also if the caller may not see
// the record. It always reads the grants, so that its duration does not distinguish hidden records from missing ones.
func Get[R any, P scoped[R]](ctx context.Context, v *Viewer, id string, key func(id string) store.Key) (P, access.Role, error) {
	r, err := Find[R, P](ctx, v, id, key)
	if err != nil && !problem.NotFound.Is(err) {
		return nil, 0, err
	}
	rolesOf, grantsErr := v.RolesOf(ctx)
	if err := cmp.Or(grantsErr, err); err != nil {
		return nil, 0, err
	}
	s := r.Scope()
	roles := rolesOf(s)
	if !access.Sees(roles, s.Audience) {
		return nil, 0, Missing
	}
	return r, roles, nil
}

// maxNamingKeys limits the records that one answer reads for the names of people: enough for profiles and grants of all members of an
// organizer. Further people are shown with their IDs only.
const maxNamingKeys = 2 * record.MaxMembers

// ResolvePeople fills in names and addresses of the people, with one call for each store.MaxKeys of their records. Each record is read
// once for a request, so a page costs half a unit for each user on it. Names are not copied elsewhere, because every copy would have to
// be deleted with the user.
func (v *Viewer) ResolvePeople(ctx context.Context, people []*record.Person) error {
	if v.people == nil {
		v.people = map[store.Key]store.Item{}
	}
	var keys []store.Key
	for _, p := range people {
		for _, k := range p.Keys() {
			if _, read := v.people[k]; !read && len(keys) < maxNamingKeys {
				v.people[k] = store.Item{}
				keys = append(keys, k)
			}
		}
	}
	chunks := slices.Collect(slices.Chunk(keys, store.MaxKeys))
	found := make([][]store.Item, len(chunks))
	err := records.Concurrently(len(chunks), func(i int) (err error) {
		found[i], err = v.Store.Get(ctx, store.Eventual, chunks[i]...)
		return records.Failed(err)
	})
	if err != nil {
		return err
	}
	for _, it := range slices.Concat(found...) {
		v.people[it.Key] = it
	}
	granted := func(k store.Key) bool {
		it := v.people[k]
		if !it.Exists() {
			return false
		}
		g, err := record.DecodeGrants([]store.Item{it})
		return err == nil && len(g.Memberships)+len(g.Registered) > 0
	}
	for _, p := range people {
		profile, err := records.Decode[record.User](v.people[p.Keys()[0]])
		if err != nil {
			return err
		}
		p.Tell(profile, granted)
	}
	return nil
}
