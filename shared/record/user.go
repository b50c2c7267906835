package record

import (
	"slices"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// User is somebody who logged in and changed something at least once.
type User struct {
	Meta
	Name  string `json:"name" doc:"as the sign-in issuer said last"`
	Email string `json:"email" doc:"as the sign-in issuer said last"`
	// EmailConfirmed says that the issuer has confirmed that the address is the user's. Only
	// ConfirmedAddress decides.
	EmailConfirmed bool `json:"emailConfirmed,omitempty"`
	// AdminSeenAt is when the issuer last said that the user runs the platform, to the day; nil once it no longer says so. It gives no
	// role: access tokens for work depend on it.
	AdminSeenAt *Instant `json:"adminSeenAt,omitempty"`
	// PendingWork is the deletion of the user, who has no rights from then on.
	PendingWork *PendingWork `json:"pendingWork,omitempty"`
	// ReplacedBy is the random id that stands for the user in what stays, and DeletedBy the administrator who deletes the user, or that id.
	DeletedBy  string `json:"deletedBy,omitempty"`
	ReplacedBy string `json:"replacedBy,omitempty"`
}

// Delete has the user be deleted. Who the user is, and access tokens that depend on it, end at once. Users who delete themselves do so
// under the id that replaces theirs.
func (u *User) Delete(by string, now time.Time) {
	*u = User{Meta: u.Meta, PendingWork: NewPendingWork(DeleteUser, now), DeletedBy: by, ReplacedBy: NewID(now)}
	if by == u.ID {
		u.DeletedBy = u.ReplacedBy
	}
}

// ConfirmedAddress returns the address to which e-mails go and which organizers are shown; empty: there is none. A nil User has none.
func (u *User) ConfirmedAddress() string {
	if u == nil || u.Deleting() || !u.EmailConfirmed {
		return ""
	}
	return u.Email
}

// Deleting reports whether the user is being deleted. A nil User is not.
func (u *User) Deleting() bool { return u != nil && u.PendingWork != nil }

// adminKnown is for how long a user counts as one who runs the platform after the issuer said so.
const adminKnown = 30 * Day

// RunsPlatform reports whether the issuer has lately said that the user runs the platform. A nil User does not.
func (u *User) RunsPlatform(now time.Time) bool {
	return u != nil && u.AdminSeenAt != nil && now.Sub(u.AdminSeenAt.Time) <= adminKnown
}

// SeeAdmin notes what the issuer says now, and reports whether that is to be stored.
func (u *User) SeeAdmin(admin bool, now time.Time) bool {
	switch {
	case !admin && u.AdminSeenAt != nil:
		u.AdminSeenAt = nil
	case admin && (u.AdminSeenAt == nil || now.Sub(u.AdminSeenAt.Time) >= Day):
		u.AdminSeenAt = new(At(now))
	default:
		return false
	}
	return true
}

// UserPartition holds all that is kept about a user: the profile and the grants.
func UserPartition(userID string) string { return "USER#" + userID }

// UserKey is the key of the user's profile.
func UserKey(id string) store.Key { return keyOf(KindUser, id, "PROFILE") }

// Key implements Record.
func (u *User) Key() store.Key { return UserKey(u.ID) }

// Indexes implements Record.
func (u *User) Indexes() [store.NumIndexes]store.Key {
	if u.Deleting() {
		return indexes{}.pending(u.PendingWork, u.ID)
	}
	return indexes{}.with(ByKind, kindPartition(KindUser, access.Nobody, u.ID), u.ID)
}

const (
	memberPrefix     = "MEMBER#"
	registeredPrefix = "REGISTERED#"
)

// GrantKind is a kind of grant with its limits. Nearly every request reads all grants of its caller, and lists over all
// tasks read partitions for each membership and each private task, so their number is bounded.
type GrantKind struct {
	Max   int
	Name  string // in the plural
	End   string // how a user ends one
	Count func(Grants) int
}

// CheckNext refuses a further grant of the kind to one who has the most.
func (k GrantKind) CheckNext(g Grants) error {
	if n := k.Count(g); n >= k.Max {
		return problem.Conflict.New("You have %d %s, which is the most. End one first (%s).", n, k.Name, k.End)
	}
	return nil
}

// The kinds of grants.
var (
	MembershipGrants = GrantKind{
		Max: 250, Name: "memberships of organizers", End: "DELETE /v1/organizers/{organizerId}/members/{userId}",
		Count: func(g Grants) int { return len(g.Memberships) },
	}
	RegistrationGrants = GrantKind{
		Max: 1000, Name: "registrations for tasks", End: "DELETE /v1/tasks/{taskId}/registrations/{registrationId}",
		Count: func(g Grants) int { return len(g.Registered) },
	}
)

// MembershipKey is the key of a user's membership of an organizer.
func MembershipKey(userID, organizerID string) store.Key {
	return keyOf(KindUser, userID, memberPrefix+organizerID)
}

// RegisteredKey is where the grant of a registration stands; it also keeps a user from registering twice.
func RegisteredKey(userID, taskID string) store.Key {
	return keyOf(KindUser, userID, registeredPrefix+taskID)
}

// Registered is the grant of a registration to a member of the team, with what submitting needs to know.
type Registered struct {
	Meta        // ID is the registration's
	UserID      string
	TaskID      string
	OrganizerID string
	PrivateTask bool
	Team        string
	Alias       string
	Anonymous   bool
	Affiliation string `json:",omitempty"`
	State       RegistrationState
}

// Key implements Record.
func (r *Registered) Key() store.Key { return RegisteredKey(r.UserID, r.TaskID) }

// Grants is what a user's partition says.
type Grants struct {
	access.Grants
	Profile    *User  // nil when the user never changed anything
	Usage      *Usage // nil when the user never took anything
	Registered []Registered
}

// DecodeGrants reads the items of a user's partition.
func DecodeGrants(items []store.Item) (Grants, error) {
	var g Grants
	for _, it := range items {
		var err error
		switch {
		case strings.HasPrefix(it.Sort, memberPrefix):
			var m Reservation
			err = Decode(it, &m)
			g.Memberships = append(g.Memberships, access.Membership{OrganizerID: it.Sort[len(memberPrefix):], Owner: !m.Editor})
		case strings.HasPrefix(it.Sort, registeredPrefix):
			var r Registered
			err = Decode(it, &r)
			g.Registered = append(g.Registered, r)
			g.Registrations = append(g.Registrations, access.Registration{ID: r.ID, TaskID: r.TaskID, PrivateTask: r.PrivateTask,
				Accepted: r.State == Accepted})
		case it.Sort == usageSort:
			g.Usage = new(Usage)
			err = Decode(it, g.Usage)
		case it.Sort == "PROFILE":
			g.Profile = new(User)
			err = Decode(it, g.Profile)
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// ForTask returns the grant of the user's registration for the task.
func (g Grants) ForTask(taskID string) (Registered, bool) {
	for _, r := range g.Registered {
		if r.TaskID == taskID {
			return r, true
		}
	}
	return Registered{}, false
}

// Person is a user as organizers see one next to an id. Name and address are read from the user's profile when a resource is
// shown, and are stored nowhere else but, for a day, in the answer that an Idempotency-Key repeats: to remove the profile removes
// the person.
type Person struct {
	ID    string `json:"id" doc:"id of the user"`
	Name  string `json:"name,omitempty" doc:"as the sign-in issuer gave it last; absent when the user has no profile"`
	Email string `json:"email,omitempty" doc:"confirmed address of users who take part in the task or submitted to it, and of members of the organizer"`

	related             bool   // the user is known to be one of those whose address is shown
	nameOnly            bool   // no address is shown
	organizerID, taskID string // otherwise: of whose members and registrants the addresses are shown
}

// PersonIn is a user who did something in the scope.
func PersonIn(s access.Scope, userID string) *Person {
	return &Person{ID: userID, organizerID: s.OrganizerID, taskID: s.TaskID}
}

// personFor is the user who submitted something, as one who has the roles is shown one: organizers alone learn who a user is.
// A baseline may be of a user who is not registered.
func personFor(roles access.Role, userID string, s AccessAttributes, taskID string) *Person {
	if roles&(access.Organizer|access.Admin) == 0 {
		return nil
	}
	return &Person{ID: userID, related: !s.Baseline, organizerID: s.OrganizerID, taskID: taskID}
}

// Keys are those of the records that say who the person is; the first is that of the profile.
func (p *Person) Keys() []store.Key {
	keys := []store.Key{UserKey(p.ID)}
	if !p.related && !p.nameOnly {
		keys = append(keys, MembershipKey(p.ID, p.organizerID))
		if p.taskID != "" {
			keys = append(keys, RegisteredKey(p.ID, p.taskID))
		}
	}
	return keys
}

// Tell fills in the name, and the address if it is to be shown. granted reports whether the grant with the key exists.
func (p *Person) Tell(profile *User, granted func(store.Key) bool) {
	if profile == nil {
		return
	}
	p.Name = profile.Name
	if !p.nameOnly && (p.related || slices.ContainsFunc(p.Keys()[1:], granted)) {
		p.Email = profile.ConfirmedAddress()
	}
}

// People are those that the resource names.
func (s Submission) People() []*Person { return present(s.User) }

// People are those that the resource names.
func (r Run) People() []*Person { return present(r.User) }

// People are those that the resource names.
func (e Evaluation) People() []*Person { return present(e.User) }

// People are those that the resource names.
func (r Registration) People() []*Person { return present(append(slices.Clone(r.Named), r.User)...) }

// People are those that the resource names.
func (r Review) People() []*Person { return present(r.Reviewer) }

// People are those that the resource names.
func (d Deletion) People() []*Person { return present(d.By) }

// People are those that the resource names.
func (a AuditEntry) People() []*Person { return present(append(slices.Clone(a.Users), a.Actor)...) }

// People are those that the resource names.
func (o Organizer) People() []*Person { return o.Named }

func present(people ...*Person) []*Person {
	return slices.DeleteFunc(people, func(p *Person) bool { return p == nil })
}
