package record

import (
	"cmp"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// Limits of invitations.
const (
	MaxInvitations        = 50 // to one organizer, task or team
	MaxInvitationUses     = 500
	MaxAddressesPerDay    = 20 // that an organizer with its tasks invites, or that a user invites to teams
	defaultInvitationTime = 14 * Day
	maxInvitationTime     = 90 * Day
)

// InvitationDraft holds the members of an invitation that clients write.
type InvitationDraft struct {
	Email     string   `json:"email,omitempty" maxLength:"254" doc:"address to which the link is sent, where the server sends e-mail; such an invitation works once, for anyone who has the link"`
	Role      string   `json:"role,omitempty" enum:"owner,editor" doc:"for organizers: the role of users who join; editor unless given"`
	Uses      int      `json:"uses,omitempty" minimum:"1" maximum:"500" doc:"how many more users can join with it; 1 unless given"`
	ExpiresAt *Instant `json:"expiresAt,omitempty" doc:"when it stops working, at most 90 days ahead; 14 days ahead unless given"`
}

// Invitation lets users with its secret join an organizer, register for a task or join a team.
type Invitation struct {
	Meta
	InvitationDraft
	OrganizerID    string `json:"organizerId" doc:"the organizer, or the organizer of the task"`
	TaskID         string `json:"taskId,omitempty" doc:"absent in an invitation to an organizer"`
	RegistrationID string `json:"registrationId,omitempty" doc:"the team, in an invitation to a team"`
	InvitedBy      string `json:"invitedBy" doc:"id of the user who made it"`
}

// InvitationItem is a stored invitation. Its key contains the SHA-256 of its secret.
type InvitationItem struct {
	Invitation
	Digest  string `json:"digest"`            // hexadecimal SHA-256 of the secret
	ByAdmin bool   `json:"byAdmin,omitempty"` // an administrator made it
	Epoch   int64  `json:"epoch,omitempty"`   // InvitationEpoch of the organizer or team when the invitation was made
}

// To returns the ID of the team, task or organizer that the invitation is to.
func (i *Invitation) To() string { return cmp.Or(i.RegistrationID, i.TaskID, i.OrganizerID) }

// Parent returns the path of the team, task or organizer that the invitation is to.
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

// Path returns the path of the invitation.
func (i *Invitation) Path() string { return i.Parent() + "/invitations/" + i.ID }

// Scope returns the scope of audit entries about the invitation.
func (i *Invitation) Scope() access.Scope {
	return access.Scope{OrganizerID: i.OrganizerID, TaskID: i.TaskID, Audience: access.Organizers}
}

// InvitationPrefix begins the secrets of invitations.
const InvitationPrefix = "assay-invitation_"

// InvitationLink returns the path and fragment at which users with the secret join. Browsers do not send the fragment to servers.
func InvitationLink(secret string) string { return "/console#" + secret }

// InvitationPartition returns the partition with the invitations to the organizer, task or team.
func InvitationPartition(id string) string { return "INVITATIONS#" + id }

// InvitationKey returns the key of an invitation to the organizer, task or team with the ID, whose secret has the digest.
func InvitationKey(id, digest string) store.Key {
	return store.Key{Partition: InvitationPartition(id), Sort: digest}
}

// Key implements Record.
func (i *InvitationItem) Key() store.Key { return InvitationKey(i.To(), i.Digest) }

// Expiry returns when the store deletes the record.
func (i *InvitationItem) Expiry() time.Time { return i.ExpiresAt.Time }

// Use counts a user who joins, and reports whether more users can join.
func (i *InvitationItem) Use() bool {
	i.Uses--
	return i.Uses > 0
}

// Check reports the draft's errors.
func (d *InvitationDraft) Check() []problem.Field {
	var fields problem.Fields
	fields.AddIf(d.Email != "" && !IsAddress(d.Email), "/email", "must be one e-mail address, such as ada@example.org, without a name")
	fields.AddIf(d.Email != "" && d.Uses > 1, "/uses", "must be 1 in an invitation to an address")
	return fields
}

// Complete sets the defaults, and reports errors of the role and the expiry. roles says whether the invitation is to an organizer: only
// members of organizers have roles.
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

// Addressed counts invitations to e-mail addresses: those to an organizer and its tasks, or those of a user to teams. Each transaction
// that makes an invitation updates it.
type Addressed struct {
	Meta            // ID is the ID of the organizer or user
	Recent []string // IDs of the invitations made within the last Day
}

// AddressedKey returns the key of the Addressed of an organizer or user.
func AddressedKey(by string) store.Key {
	return store.Key{Partition: "ADDRESSED#" + by, Sort: "ADDRESSED"}
}

// CountedFor returns the ID of the Addressed that counts the invitation: the user's for invitations to teams, the organizer's for
// others.
func (i *Invitation) CountedFor() string {
	if i.RegistrationID != "" {
		return i.InvitedBy
	}
	return i.OrganizerID
}

// Key implements Record.
func (a *Addressed) Key() store.Key { return AddressedKey(a.ID) }

// Expiry returns when the store deletes the record. None of its invitations counts then.
func (a *Addressed) Expiry() time.Time { return a.UpdatedAt.Add(Day) }

// Add counts an invitation, or returns a problem if the last Day has the greatest number already.
func (a *Addressed) Add(invitationID string, now time.Time) error {
	a.Recent = slices.DeleteFunc(a.Recent, func(id string) bool { return !madeAt(id).After(now.Add(-Day)) })
	if len(a.Recent) >= MaxAddressesPerDay {
		free := madeAt(a.Recent[0]).Add(Day)
		return problem.QuotaToday.New("In 24 hours an organizer, with its tasks, can invite %d e-mail addresses, and so can a user, to teams. "+
			"The next can be invited at %s. Leave {email} out, and send the link yourself.", MaxAddressesPerDay, At(free)).After(free.Sub(now))
	}
	a.Recent = append(a.Recent, invitationID)
	return nil
}
