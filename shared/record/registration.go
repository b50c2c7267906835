package record

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/shared/access"
	"assay/shared/casefold"
	"assay/shared/lists"
	"assay/shared/problem"
	"assay/shared/store"

	"golang.org/x/text/unicode/norm"
)

// RegistrationState says whether a registrant takes part.
type RegistrationState string

// The states of a registration.
const (
	Accepted RegistrationState = "accepted"
	Pending  RegistrationState = "pending"
	Rejected RegistrationState = "rejected"
)

// RegistrationDraft is what a client writes of a registration.
type RegistrationDraft struct {
	UserID string `json:"userId" required:"false" maxLength:"26" doc:"the owner of the team; on creation the caller, who need not be named"`
	TeamDraft
}

// TeamDraft is what the registered user writes of the team, and can change.
type TeamDraft struct {
	Team        string `json:"team" minLength:"1" maxLength:"100" doc:"name of the team; unique within the task among the names that are shown" example:"Lakeside"`
	Anonymous   bool   `json:"anonymous" required:"false" doc:"show the alias instead of team and user to everyone but the organizers"`
	Affiliation string `json:"affiliation" required:"false" maxLength:"200"`
	Country     string `json:"country" required:"false" maxLength:"100"`
	Contact     string `json:"contact,omitempty" maxLength:"500" doc:"how to reach the team; seen by itself and the organizers"`

	AcceptedTerms int64 `json:"acceptedTerms,omitempty" minimum:"0" doc:"the version of the task's terms that the team accepts: terms.version of the task. Any member accepts a changed version, before the team submits again"`
}

// MaxTeam is how many members a team has at most: what concerns all of them is one transaction.
const MaxTeam = 45

// Registration is a team that takes part in a task.
type Registration struct {
	Meta
	TaskID string `json:"taskId"`
	RegistrationDraft
	Members []string  `json:"members" doc:"ids of the users who are the team, in the order of joining; userId is its owner"`
	Named   []*Person `json:"people,omitempty" doc:"who the members are, of several; to organizers with addresses"`

	TermsAcceptedAt *Instant `json:"termsAcceptedAt,omitempty" doc:"when the team accepted acceptedTerms"`

	Alias      string            `json:"alias" doc:"what an anonymous team is called" example:"anonymous-9f3k2x"`
	State      RegistrationState `json:"state" enum:"accepted,pending,rejected" doc:"decided by the organizers"`
	User       *Person           `json:"user,omitempty" doc:"who the owner of the team is; for organizers"`
	Quota      *Quota            `json:"quota,omitempty" doc:"what is left to the team now; only when a single registration is asked for"`
	Exceptions []Exception       `json:"exceptions,omitempty" doc:"what the organizers have granted to the team; only when a single registration is asked for"`
}

// RegistrationItem is a registration as the store holds it.
type RegistrationItem struct {
	Registration
	OrganizerID string `json:"organizerId"`
	// FormerIDs are the users who left the team: their lists can have what they submitted for it.
	FormerIDs []string `json:"formerIds,omitempty"`
	// InvitationEpoch grows when a member is removed or the team has another owner: invitations of an earlier epoch do not work.
	InvitationEpoch int64        `json:"invitationEpoch,omitempty"`
	PendingWork     *PendingWork `json:"pendingWork,omitempty"`
	// Left is what is left of the task's quota, once it was read; it is not stored.
	Left *Quota `json:"-"`
	// Granted are the exceptions, which are read and not stored as Left is.
	Granted []Exception `json:"-"`
}

// For returns the registration as one who has the roles sees it.
func (r *RegistrationItem) For(roles access.Role) *Registration {
	v := r.Registration
	organizes := roles&(access.Organizer|access.Admin) != 0
	if len(r.Members) > 1 {
		v.Named = lists.Map(r.Members, func(id string) *Person {
			return &Person{ID: id, related: organizes, nameOnly: !organizes, organizerID: r.OrganizerID,
				taskID: r.TaskID}
		})
	}
	if organizes {
		v.User = &Person{ID: r.UserID, related: true, organizerID: r.OrganizerID, taskID: r.TaskID}
	}
	return &v
}

// Grant returns the registration's grant to a member of the team, as of now.
func (r *RegistrationItem) Grant(userID string, privateTask bool, now time.Time) *Registered {
	return &Registered{
		Meta: MetaOf(r.ID, now), UserID: userID, TaskID: r.TaskID, OrganizerID: r.OrganizerID, PrivateTask: privateTask,
		Team: r.Team, Alias: r.Alias, Anonymous: r.Anonymous, Affiliation: r.Affiliation, State: r.State,
	}
}

// GrantKeys are the keys of the grants of all members.
func (r *RegistrationItem) GrantKeys() []store.Key {
	return lists.Map(r.Members, func(id string) store.Key { return RegisteredKey(id, r.TaskID) })
}

// Leave removes a user from the team. The successor of its owner is the earliest member.
func (r *RegistrationItem) Leave(userID string) {
	r.Members = lists.Without(r.Members, userID)
	if !slices.Contains(r.FormerIDs, userID) {
		r.FormerIDs = append(slices.Clone(r.FormerIDs), userID)
	}
	if r.UserID == userID && len(r.Members) > 0 {
		r.HandOver(r.Members[0])
	}
}

// HandOver makes a member the owner of the team.
func (r *RegistrationItem) HandOver(userID string) {
	if r.UserID != userID {
		r.UserID = userID
		r.InvitationEpoch++
	}
}

// ReplaceFormer puts another id in the place of a user who left the team, and reports whether there was one.
func (r *RegistrationItem) ReplaceFormer(userID, by string) bool {
	i := slices.Index(r.FormerIDs, userID)
	if i >= 0 {
		r.FormerIDs[i] = by
	}
	return i >= 0
}

// ReservedNames has the key that reserves the name of the team. An anonymous team reserves none, or others could find out by a
// conflict that it takes part.
func (r *RegistrationItem) ReservedNames() []store.Key {
	if r.Anonymous {
		return nil
	}
	return []store.Key{TeamKey(r.TaskID, r.Team)}
}

// Key implements Record.
func (r *RegistrationItem) Key() store.Key { return RegistrationKey(r.TaskID, r.ID) }

// RegistrationPrefix begins the sort keys of a task's registrations; RegistrationEnd is past the last of them.
const (
	RegistrationPrefix = "REGISTRATION#"
	RegistrationEnd    = "REGISTRATION$"
)

// RegistrationKey is the key of the registration.
func RegistrationKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, RegistrationPrefix+id)
}

// Indexes implements Record.
func (r *RegistrationItem) Indexes() [store.NumIndexes]store.Key {
	x := indexes{}.pending(r.PendingWork, r.ID)
	if r.Todo() == nil {
		return x
	}
	return x.todo(r.OrganizerID, r.ID)
}

// Scope is the scope of the registration: between the members of the team and the organizers.
func (r *RegistrationItem) Scope() access.Scope {
	return access.Scope{OrganizerID: r.OrganizerID, TaskID: r.TaskID, RegistrationID: r.ID, OwnerID: r.UserID, Audience: access.Owners}
}

// Check says what is wrong with the draft.
func (d *TeamDraft) Check() []problem.Field {
	fields := checkName("/team", d.Team)
	fields.AddIf(looksLikeAlias(d.Team), "/team", "must not begin with %q, as the names of anonymous teams do", aliasPrefix)
	fields.AddIf(foldTeam(d.Team) == BaselineTeam, "/team", "is what the baselines of organizers are called: choose another")
	fields.AddIf(len(TeamKey("", d.Team).Sort) > store.MaxSortBytes, "/team",
		"is too long once its ligatures are written out: choose a shorter one")
	return slices.Concat(fields, CheckLine("/affiliation", d.Affiliation), CheckLine("/country", d.Country), CheckLine("/contact", d.Contact))
}

const aliasPrefix = "anonymous-"

// NewAlias returns what an anonymous registration is called; it says nothing about the user. It has all 80 random bits
// of the id, so that no two are the same, and no team may take such a name.
func NewAlias(id string) string { return aliasPrefix + strings.ToLower(id[len(id)-16:]) }

// looksLikeAlias reports whether a team's name reads as an alias does, by whichever of Unicode's dashes.
func looksLikeAlias(team string) bool {
	dashes := func(r rune) rune {
		if unicode.Is(unicode.Pd, r) || r == '\u2212' {
			return '-'
		}
		return r
	}
	return strings.HasPrefix(strings.Map(dashes, foldTeam(team)), aliasPrefix)
}

// TeamKey reserves the name of a team that is shown, within a task: names that differ only in case, width, spaces or invisible characters
// are the same. It folds as Unicode's toNFKC_Casefold does (section 3.13 of the standard), whose result folds to itself.
func TeamKey(taskID, team string) store.Key { return keyOf(KindTask, taskID, "TEAM#"+foldTeam(team)) }

func foldTeam(team string) string {
	if !strings.ContainsFunc(team, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.Join(strings.Fields(strings.ToLower(team)), " ") // as below, without its tables
	}
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, team)
	name := norm.NFKC.String(casefold.Fold(norm.NFKC.String(casefold.Fold(norm.NFD.String(visible)))))
	return strings.Join(strings.Fields(name), " ")
}

// Reservation is an item whose existence is nearly all that it says.
type Reservation struct {
	Meta
	At store.Key `json:"-"`
	// Editor says of a membership that it is not one of an owner.
	Editor bool `json:",omitempty"`
}

// Key implements Record.
func (r *Reservation) Key() store.Key { return r.At }
