package record

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// MaxMembers is the greatest number of members of an organizer. MaxMemberChanges is how many members one request can remove or give
// another role: one transaction writes a grant for each, and a profile for each new owner.
const (
	MaxMembers       = 500
	MaxMemberChanges = 45
)

// OrganizerDraft holds the members of an organizer that clients write.
type OrganizerDraft struct {
	Name        string   `json:"name" minLength:"1" maxLength:"200" doc:"name of the organization" example:"TREC Conversational Assistance Track"`
	Description string   `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	Website     string   `json:"website,omitempty" format:"uri" maxLength:"2000" doc:"http or https URL" example:"https://www.treccast.ai"`
	Members     []string `json:"members" required:"false" maxItems:"500" maxLength:"26" doc:"ids of the users who are members, in the order in which they joined; a change can only remove some, since others join by an invitation"`
	Owners      []string `json:"owners" required:"false" maxItems:"500" maxLength:"26" doc:"ids of the members who are owners: they decide on members and owners, invite, and can delete the organizer; the others are editors, who do the rest"`
}

// Organizer is an organization that runs tasks.
type Organizer struct {
	Meta
	OrganizerDraft
	Named []*Person `json:"people,omitempty" doc:"who the members are; only for members"`
	// InvitationEpoch grows when a member is removed or an owner loses that role. Invitations of earlier epochs do not work.
	InvitationEpoch int64 `json:"invitationEpoch,omitempty" hidden:"true"`
	// Payer identifies the user who made the organizer in the turns of queues: it is the ID of the first organizer that the user made.
	// It is empty for that organizer itself. It stays when others become owners, and when the user is deleted.
	Payer string `json:"payer,omitempty" hidden:"true"`
}

// PayerID identifies the payer of the organizer's tasks in the turns of queues: the user who made the organizer.
func (o *Organizer) PayerID() string { return cmp.Or(o.Payer, o.ID) }

// NamesMembersTo reports whether the caller may see who the members are: administrators and members may. The organizer itself lists its
// members, so no grants need to be read.
func (o *Organizer) NamesMembersTo(c access.Caller) bool {
	return c.Admin || slices.Contains(o.Members, c.ID)
}

// For returns the organizer that the caller sees.
func (o *Organizer) For(c access.Caller) *Organizer {
	v := *o
	v.InvitationEpoch = 0
	v.Payer = ""
	if o.NamesMembersTo(c) {
		v.Named = lists.Map(o.Members, func(id string) *Person { return PersonIn(o.Scope(), id) })
	}
	return &v
}

// AuditedOrganizer is the part of an organizer that audit entries keep.
type AuditedOrganizer struct {
	Name string `json:"name"`
}

// Audited returns the part of the organizer that audit entries keep.
func (o *Organizer) Audited() AuditedOrganizer { return AuditedOrganizer{o.Name} }

// Key implements Record.
func (o *Organizer) Key() store.Key { return OrganizerKey(o.ID) }

// OrganizerKey returns the key of the organizer.
func OrganizerKey(id string) store.Key { return keyOf(KindOrganizer, id, "ORGANIZER") }

// Indexes implements Record.
func (o *Organizer) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.with(ByKind, kindPartition(KindOrganizer, access.Everyone, o.ID), o.ID)
}

// TaskCountParts is the number of records over which the count of an organizer's tasks is spread, so that many tasks can be made at
// once.
const TaskCountParts = 64

// TaskCount is one part of the number of an organizer's tasks. Each transaction that creates or deletes tasks writes one part. So an
// organizer with tasks is never deleted, even if lists lag behind. A single part can be negative.
type TaskCount struct {
	Meta  // ID is the ID of the organizer
	Part  int
	Tasks int
}

// TaskCountKey returns the key of one part of an organizer's task count.
func TaskCountKey(organizerID string, part int) store.Key {
	return keyOf(KindOrganizer, organizerID, "TASKS#"+strconv.Itoa(part))
}

// TaskCountKeys returns the keys of all parts.
func TaskCountKeys(organizerID string) []store.Key {
	keys := make([]store.Key, TaskCountParts)
	for part := range keys {
		keys[part] = TaskCountKey(organizerID, part)
	}
	return keys
}

// Key implements Record.
func (n *TaskCount) Key() store.Key { return TaskCountKey(n.ID, n.Part) }

// Scope returns the scope of the organizer. Its members are its organizers.
func (o *Organizer) Scope() access.Scope {
	return access.Scope{OrganizerID: o.ID, Audience: access.Everyone}
}

// RoleName returns the API's name of a member's role.
func RoleName(owner bool) string {
	if owner {
		return "owner"
	}
	return "editor"
}

// Membership returns the grant of a membership to the user.
func (o *Organizer) Membership(userID string, now time.Time) *Reservation {
	return &Reservation{Meta: NewMeta(now), At: MembershipKey(userID, o.ID), Editor: !slices.Contains(o.Owners, userID)}
}

// MembershipKeys returns the keys of the users' memberships.
func (o *Organizer) MembershipKeys(userIDs []string) []store.Key {
	return lists.Map(userIDs, func(id string) store.Key { return MembershipKey(id, o.ID) })
}

// Remove ends the membership of the user.
func (o *Organizer) Remove(userID string) {
	if slices.Contains(o.Owners, userID) {
		o.InvitationEpoch++
	}
	o.Members = lists.Without(o.Members, userID)
	o.Owners = lists.Without(o.Owners, userID)
}

// Check reports the draft's errors.
func (d *OrganizerDraft) Check() []problem.Field {
	return slices.Concat(checkName("/name", d.Name), checkText("/description", d.Description), checkDistinct("/members", d.Members),
		checkDistinct("/owners", d.Owners))
}
