package record

import (
	"cmp"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// Limits of invitations.
const (
	MaxInvitations        = 50 // of one organizer, task or team
	MaxInvitationUses     = 500
	MaxAddressesPerDay    = 20 // to which an organizer, with its tasks, invites, and a user to teams
	defaultInvitationTime = 14 * Day
	maxInvitationTime     = 90 * Day
)

// InvitationDraft is what a client writes of an invitation.
type InvitationDraft struct {
	Email     string   `json:"email,omitempty" maxLength:"254" doc:"address to which the link is sent, where the server sends e-mail; such an invitation works once, for anyone who has the link"`
	Role      string   `json:"role,omitempty" enum:"owner,editor" doc:"of organizers: what those who join become; editor unless given"`
	Uses      int      `json:"uses,omitempty" minimum:"1" maximum:"500" doc:"how many users can join by it, counted down; 1 unless given"`
	ExpiresAt *Instant `json:"expiresAt,omitempty" doc:"when it stops working, at most 90 days ahead; 14 days ahead unless given"`
}

// Invitation lets those who have its secret join an organizer, register for a task or join a team.
type Invitation struct {
	Meta
	InvitationDraft
	OrganizerID    string `json:"organizerId" doc:"the organizer, or that of the task"`
	TaskID         string `json:"taskId,omitempty" doc:"absent in an invitation to an organizer"`
	RegistrationID string `json:"registrationId,omitempty" doc:"the team, in an invitation to a team"`
	InvitedBy      string `json:"invitedBy" doc:"id of the user who made it"`
}

// InvitationItem is an invitation as the store holds it, under the SHA-256 of its secret.
type InvitationItem struct {
	Invitation
	Digest  string `json:"digest"`            // hexadecimal SHA-256 of the secret
	ByAdmin bool   `json:"byAdmin,omitempty"` // an administrator made it
	Epoch   int64  `json:"epoch,omitempty"`   // that of the organizer or the team when it was made
}

// To is the id of what the invitation is to.
func (i *Invitation) To() string { return cmp.Or(i.RegistrationID, i.TaskID, i.OrganizerID) }

// Parent is the path of what the invitation is to.
func (i *Invitation) Parent() string {
	switch {
	case i.RegistrationID != "":
		return "/v1/tasks/" + i.TaskID + "/registrations/" + i.RegistrationID
	case i.TaskID != "":
		return "/v1/tasks/" + i.TaskID
	default:
		return "/v1/organizers/" + i.OrganizerID
	}
}

// Path is that of the invitation.
func (i *Invitation) Path() string { return i.Parent() + "/invitations/" + i.ID }

// Scope is that of audit entries about the invitation.
func (i *Invitation) Scope() access.Scope {
	return access.Scope{OrganizerID: i.OrganizerID, TaskID: i.TaskID, Audience: access.Organizers}
}

// InvitationPrefix begins the secrets of invitations.
const InvitationPrefix = "assay-invitation_"

// InvitationLink is where those who have the secret join, below the address of the server. What follows # reaches no server.
func InvitationLink(secret string) string { return "/console#" + secret }

// InvitationPartition holds the invitations to what has the id.
func InvitationPartition(id string) string { return "INVITATIONS#" + id }

// InvitationKey is the key of the invitation, to what has the id, whose secret has the digest.
func InvitationKey(id, digest string) store.Key {
	return store.Key{Partition: InvitationPartition(id), Sort: digest}
}

// Key implements Record.
func (i *InvitationItem) Key() store.Key { return InvitationKey(i.To(), i.Digest) }

// Expiry says when the record goes by itself.
func (i *InvitationItem) Expiry() time.Time { return i.ExpiresAt.Time }

// Use counts one who joins, and reports whether others can join after.
func (i *InvitationItem) Use() bool {
	i.Uses--
	return i.Uses > 0
}

// Check says what is wrong with the draft.
func (d *InvitationDraft) Check() []problem.Field {
	var fields problem.Fields
	fields.AddIf(d.Email != "" && !IsAddress(d.Email), "/email", "must be one e-mail address, such as ada@example.org, without a name")
	fields.AddIf(d.Email != "" && d.Uses > 1, "/uses", "must be 1 in an invitation to an address")
	return fields
}

// Complete sets the defaults, and says what is wrong with the role, which organizers alone have, and with when the draft expires.
func (d *InvitationDraft) Complete(now time.Time, roles bool) error {
	if !roles && d.Role != "" {
		return problem.InvalidMember("/role", "is for invitations to an organizer")
	} else if roles {
		d.Role = cmp.Or(d.Role, RoleName(false))
	}
	d.Uses = max(d.Uses, 1)
	d.ExpiresAt = cmp.Or(d.ExpiresAt, new(At(now.Add(defaultInvitationTime))))
	if latest := now.Add(maxInvitationTime); !d.ExpiresAt.After(now) || d.ExpiresAt.After(latest) {
		return problem.InvalidMember("/expiresAt", "must be after now, %s, and at most 90 days later, until %s", At(now), At(latest))
	}
	return nil
}

// Addressed counts invitations to e-mail addresses: those of an organizer and to its tasks, or those of a user to teams. It is written
// in the transactions that make them.
type Addressed struct {
	Meta            // ID is the organizer's or the user's
	Recent []string // ids of those made within the last Day
}

// AddressedKey is the key of the count of an organizer's or a user's invitations to e-mail addresses.
func AddressedKey(by string) store.Key {
	return store.Key{Partition: "ADDRESSED#" + by, Sort: "ADDRESSED"}
}

// CountedFor is the id of the organizer or, of an invitation to a team, of the user whose Addressed counts the invitation.
func (i *Invitation) CountedFor() string {
	if i.RegistrationID != "" {
		return i.InvitedBy
	}
	return i.OrganizerID
}

// Key implements Record.
func (a *Addressed) Key() store.Key { return AddressedKey(a.ID) }

// Expiry says when the record goes by itself: nothing in it counts then.
func (a *Addressed) Expiry() time.Time { return a.UpdatedAt.Add(Day) }

// Add counts one more, or returns the problem that there were too many within the last Day.
func (a *Addressed) Add(invitationID string, now time.Time) error {
	a.Recent = slices.DeleteFunc(a.Recent, func(id string) bool { return !madeAt(id).After(now.Add(-Day)) })
	if len(a.Recent) >= MaxAddressesPerDay {
		free := madeAt(a.Recent[0]).Add(Day)
		return problem.QuotaToday.New("In 24 hours an organizer, with its tasks, can invite %d e-mail addresses, and so can a user, to teams. "+
			"The next can be invited at %s. Leave email out, and send the link yourself.", MaxAddressesPerDay, At(free)).After(free.Sub(now))
	}
	a.Recent = append(a.Recent, invitationID)
	return nil
}
