package record

import (
	"slices"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// User is a user who signed in and changed something at least once.
type User struct {
	Meta
	Name  string `json:"name" doc:"the name that the sign-in issuer gave last"`
	Email string `json:"email" doc:"the address that the sign-in issuer gave last"`
	// EmailConfirmed reports whether the issuer confirmed that the address belongs to the user. Use ConfirmedAddress instead.
	EmailConfirmed bool `json:"emailConfirmed,omitempty"`
	// AdminSeenAt is when the issuer last said that the user is an administrator, to the day. It is nil if the issuer no longer says
	// so. It grants no role: only access tokens for work depend on it.
	AdminSeenAt *Instant `json:"adminSeenAt,omitempty"`
	// PendingWork is the deletion of the user. The user has no rights from then on.
	PendingWork *PendingWork `json:"pendingWork,omitempty"`
	// ReplacedBy is the random ID that replaces the user in the records that stay. DeletedBy is the administrator who deletes the user,
	// or ReplacedBy for users who delete themselves.
	DeletedBy  string `json:"deletedBy,omitempty"`
	ReplacedBy string `json:"replacedBy,omitempty"`
}

// Delete starts the deletion of the user. It removes name, address and AdminSeenAt at once, so access tokens that depend on the latter
// stop working.
func (u *User) Delete(by string, now time.Time) {
	*u = User{Meta: u.Meta, PendingWork: NewPendingWork(DeleteUser, now), DeletedBy: by, ReplacedBy: NewID(now)}
	if by == u.ID {
		u.DeletedBy = u.ReplacedBy
	}
}

// ConfirmedAddress returns the address that e-mails are sent to and organizers see. It returns "" without a confirmed address, and for
// a nil User.
func (u *User) ConfirmedAddress() string {
	if u == nil || u.Deleting() || !u.EmailConfirmed {
		return ""
	}
	return u.Email
}

// Deleting reports whether the user is being deleted. It returns false for a nil User.
func (u *User) Deleting() bool { return u != nil && u.PendingWork != nil }

// adminKnown is how long a user counts as an administrator after the issuer said so.
const adminKnown = 30 * Day

// RunsPlatform reports whether the issuer said within adminKnown that the user is an administrator. It returns false for a nil User.
func (u *User) RunsPlatform(now time.Time) bool {
	return u != nil && u.AdminSeenAt != nil && now.Sub(u.AdminSeenAt.Time) <= adminKnown
}

// SeeAdmin records whether the issuer says that the user is an administrator. It reports whether u must be stored.
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

// UserPartition returns the partition with the user's profile, grants and usage.
func UserPartition(userID string) string { return "USER#" + userID }

// UserKey returns the key of the user's profile.
func UserKey(id string) store.Key { return keyOf(KindUser, id, "PROFILE") }

// Key implements Record.
func (u *User) Key() store.Key { return UserKey(u.ID) }

// Indexes implements Record.
func (u *User) Indexes() [store.NumIndexes]store.Key {
	if u.Deleting() {
		return indexes{}.pending(DueOthers, u.PendingWork, u.ID)
	}
	return indexes{}.with(ByKind, kindPartition(KindUser, access.Nobody, u.ID), u.ID)
}

const (
	memberPrefix     = "MEMBER#"
	registeredPrefix = "REGISTERED#"
)

// GrantKind is a kind of grant with its limits. The number of grants is limited, because nearly every request reads all grants of its
// caller. Lists of all tasks also read partitions for each membership and each private task. Ended registrations do not count: others
// ended them, they convey no rights, and they expire after TrashTime.
type GrantKind struct {
	Max   int
	Name  string            // plural, for messages
	End   problem.Operation // with which a user ends a grant
	Count func(Grants) int
}

// CheckNext returns a problem if the user has the greatest number of grants of the kind.
func (k GrantKind) CheckNext(g Grants) error {
	if n := k.Count(g); n >= k.Max {
		return problem.Conflict.New("You have %d %s, which is the most. End one first (%s).", n, k.Name, k.End.With())
	}
	return nil
}

// The kinds of grants.
var (
	MembershipGrants = GrantKind{
		Max: 250, Name: "memberships of organizers", End: problem.DeleteMember,
		Count: func(g Grants) int { return len(g.Memberships) },
	}
	RegistrationGrants = GrantKind{
		Max: 1000, Name: "registrations for tasks", End: problem.DeleteRegistration,
		Count: func(g Grants) int { return len(g.Registered) },
	}
)

// MembershipKey returns the key of a user's membership of an organizer.
func MembershipKey(userID, organizerID string) store.Key {
	return keyOf(KindUser, userID, memberPrefix+organizerID)
}

// RegisteredKey returns the key of the grant of a user's registration for a task. The key keeps a user from registering twice.
func RegisteredKey(userID, taskID string) store.Key {
	return keyOf(KindUser, userID, registeredPrefix+taskID)
}

// IsGrantKey reports whether the key belongs to a grant of a user for a task.
func IsGrantKey(k store.Key) bool { return strings.HasPrefix(k.Sort, registeredPrefix) }

// Registered is the grant of a registration to a member of the team. It has the members of the registration that submitting needs.
type Registered struct {
	Meta        // ID is the ID of the registration
	UserID      string
	TaskID      string
	OrganizerID string
	PrivateTask bool
	Team        string
	Alias       string
	Anonymous   bool
	Affiliation string `json:",omitempty"`
	State       RegistrationState
	// Ended is nil while the grant conveys rights. Otherwise the grant is kept for TrashTime only to tell the user what became of it.
	Ended *GrantEnd `json:",omitempty"`
}

// GrantEnd says how another person ended a user's part in a team.
type GrantEnd struct {
	At           Instant
	ByOrganizers bool `json:",omitempty"` // otherwise the owner of the team did so
	Removed      bool `json:",omitempty"` // the user was removed from the team; otherwise its registration was deleted
}

// Clause tells the user what became of the user's part in the team. It is a sentence without the period.
func (e *GrantEnd) Clause(team string) string {
	by := "The owner of your team"
	if e.ByOrganizers {
		by = "The organizers"
	}
	if e.Removed {
		return by + " removed you from the team " + team
	}
	return by + " deleted the registration of your team " + team
}

// Expiry returns when the store deletes the record, and the zero Time for a grant that conveys rights.
func (r *Registered) Expiry() time.Time {
	if r.Ended == nil {
		return time.Time{}
	}
	return r.Ended.At.Add(TrashTime)
}

// Replaces makes the grant take the place of an ended one of the same user and task, which must not change until then.
func (r *Registered) Replaces(ended *Registered) { r.stored = ended.stored }

// Key implements Record.
func (r *Registered) Key() store.Key { return RegisteredKey(r.UserID, r.TaskID) }

// Grants holds the records of a user's partition.
type Grants struct {
	access.Grants
	Profile    *User  // nil if the user never changed anything
	Usage      *Usage // nil if the user has no usage
	Registered []Registered
	Ended      []Registered // grants that convey no rights any more
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
			if r.Ended != nil {
				g.Ended = append(g.Ended, r)
				break
			}
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

// EndedIn returns the ended grant of the user for the task, or nil.
func (g Grants) EndedIn(taskID string) *Registered {
	for i := range g.Ended {
		if g.Ended[i].TaskID == taskID {
			return &g.Ended[i]
		}
	}
	return nil
}

// Person is a user as organizers see one next to an ID. Name and address come from the user's profile whenever a resource is shown.
// They are stored nowhere else, except for a day in answers that an Idempotency-Key repeats. So deleting the profile removes the
// person.
type Person struct {
	ID    string `json:"id" doc:"id of the user"`
	Name  string `json:"name,omitempty" doc:"the name that the sign-in issuer gave last; absent when the user has no profile"`
	Email string `json:"email,omitempty" doc:"confirmed address of users who take part in the task or submitted to it, and of members of the organizer"`

	related             bool   // show the address, whatever the grants of the user
	nameOnly            bool   // never show the address
	organizerID, taskID string // otherwise: show the address of members of the organizer and registrants of the task
}

// PersonIn returns the person for a user who did something in the scope.
func PersonIn(s access.Scope, userID string) *Person {
	return &Person{ID: userID, organizerID: s.OrganizerID, taskID: s.TaskID}
}

// personFor returns the user who submitted something, or nil if the caller's roles must not learn who it is: only organizers may. For
// baselines the user's grants decide about the address, because the user may not be registered.
func personFor(roles access.Role, userID string, s AccessAttributes, taskID string) *Person {
	if roles&(access.Organizer|access.Admin) == 0 {
		return nil
	}
	return &Person{ID: userID, related: !s.Baseline, organizerID: s.OrganizerID, taskID: taskID}
}

// Keys returns the keys of the records that Tell needs: the profile first, then the grants that decide whether the address is shown.
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

// Tell fills in the name, and the address if it may be shown. granted reports whether the grant with the key exists.
func (p *Person) Tell(profile *User, granted func(store.Key) bool) {
	if profile == nil {
		return
	}
	p.Name = profile.Name
	if !p.nameOnly && (p.related || slices.ContainsFunc(p.Keys()[1:], granted)) {
		p.Email = profile.ConfirmedAddress()
	}
}

// People returns the people that the resource names.
func (s Submission) People() []*Person { return present(s.User) }

// People returns the people that the resource names.
func (r Run) People() []*Person { return present(r.User) }

// People returns the people that the resource names.
func (e Evaluation) People() []*Person { return present(e.User) }

// People returns the people that the resource names.
func (r Registration) People() []*Person { return present(append(slices.Clone(r.Named), r.User)...) }

// People returns the people that the resource names.
func (r Review) People() []*Person { return present(r.Reviewer) }

// People returns the people that the resource names.
func (d Deletion) People() []*Person { return present(d.By) }

// People returns the people that the resource names.
func (a AuditEntry) People() []*Person { return present(append(slices.Clone(a.Users), a.Actor)...) }

// People returns the people that the resource names.
func (o Organizer) People() []*Person { return o.Named }

func present(people ...*Person) []*Person {
	return slices.DeleteFunc(people, func(p *Person) bool { return p == nil })
}
