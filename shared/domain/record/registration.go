package record

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/shared/domain/access"
	"assay/shared/language/casefold"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/storage/store"

	"golang.org/x/text/unicode/norm"
)

// RegistrationState says whether a team takes part.
type RegistrationState string

// The states of a registration.
const (
	Accepted RegistrationState = "accepted"
	Pending  RegistrationState = "pending"
	Rejected RegistrationState = "rejected"
)

// RegistrationDraft holds the members of a registration that clients write.
type RegistrationDraft struct {
	UserID string `json:"userId" required:"false" maxLength:"26" doc:"the owner of the team; on creation the caller, who need not be named"`
	TeamDraft
}

// TeamDraft holds the members that the registered user writes and can change.
type TeamDraft struct {
	Team        string `json:"team" minLength:"1" maxLength:"100" doc:"name of the team; unique within the task among the names that are shown" example:"Lakeside"`
	Anonymous   bool   `json:"anonymous" required:"false" doc:"show the alias instead of team and user to everyone but the organizers and the team. Others then see neither the affiliation nor title, description, label, run tag and paper of what the team submits"`
	Affiliation string `json:"affiliation" required:"false" maxLength:"200"`
	Country     string `json:"country" required:"false" maxLength:"100"`
	Contact     string `json:"contact,omitempty" maxLength:"500" doc:"how to reach the team; only the team and the organizers see it"`

	AcceptedTerms int64 `json:"acceptedTerms,omitempty" minimum:"0" doc:"the version of the task's terms that the team accepts: terms.version of the task. Any member accepts a changed version, before the team submits again"`
}

// MaxTeam is the greatest number of members of a team. Changes that concern all members are one transaction.
const MaxTeam = 45

// Registration is a team that takes part in a task.
type Registration struct {
	Meta
	TaskID string `json:"taskId"`
	RegistrationDraft
	Members []string `json:"members" doc:"ids of the users who are the team, in the order of joining; userId is its owner"`
	// FormerIDs lists users who left the team. Their lists can have records that they submitted for the team.
	FormerIDs []string  `json:"formerIds,omitempty" doc:"ids of users who left the team; the runs that they submitted for it still belong to the team"`
	Named     []*Person `json:"people,omitempty" doc:"who the members are, of several; to organizers with addresses"`

	TermsAcceptedAt *Instant `json:"termsAcceptedAt,omitempty" doc:"when the team accepted acceptedTerms"`

	Alias string            `json:"alias" doc:"the name that others see while the team is anonymous" example:"anonymous-9f3k2x"`
	State RegistrationState `json:"state" enum:"accepted,pending,rejected" doc:"decided by the organizers"`
	User  *Person           `json:"user,omitempty" doc:"who the owner of the team is; for organizers"`
	Quota *Quota            `json:"quota,omitempty" doc:"the team's remaining quota; only when a single registration is asked for"`
	// ClosedAt is nil while the task takes submissions of the team, or will.
	ClosedAt *Instant `json:"closedAt,omitempty" doc:"when the last dataset of the task closed for the team: nobody can join the team from then on, unless the organizers move a close or grant the team a later one; absent if the team can still submit, or will be able to; only when a single registration is asked for"`

	Exceptions []Exception `json:"exceptions,omitempty" doc:"exceptions that the organizers have granted to the team; only when a single registration is asked for"`
}

// RegistrationItem is a stored registration.
type RegistrationItem struct {
	Registration
	OrganizerID string `json:"organizerId"`
	// InvitationEpoch grows when a member is removed or the team's owner changes. Invitations of earlier epochs do not work.
	InvitationEpoch int64        `json:"invitationEpoch,omitempty"`
	PendingWork     *PendingWork `json:"pendingWork,omitempty"`
	// Left is the remaining quota if it was read. It is not stored.
	Left *Quota `json:"-"`
	// Granted lists the exceptions if they were read. It is not stored.
	Granted []Exception `json:"-"`
	// Closed is ClosedAt if it was read. It is not stored.
	Closed *Instant `json:"-"`
}

// For returns the registration that a caller with the roles sees.
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

// shownAlias returns the alias if the team is anonymous.
func (r *RegistrationItem) shownAlias() string {
	if !r.Anonymous {
		return ""
	}
	return r.Alias
}

// TeamName returns the name of the team in texts for organizers and the team.
func (r *RegistrationItem) TeamName() string { return TeamName(r.Team, r.shownAlias()) }

// Grant returns the registration's grant to a member of the team at now.
func (r *RegistrationItem) Grant(userID string, privateTask bool, now time.Time) *Registered {
	return &Registered{
		Meta: MetaOf(r.ID, now), UserID: userID, TaskID: r.TaskID, OrganizerID: r.OrganizerID, PrivateTask: privateTask,
		Team: r.Team, Alias: r.Alias, Anonymous: r.Anonymous, Affiliation: r.Affiliation, State: r.State,
	}
}

// GrantKeys returns the keys of the grants of all members.
func (r *RegistrationItem) GrantKeys() []store.Key {
	return lists.Map(r.Members, func(id string) store.Key { return RegisteredKey(id, r.TaskID) })
}

// Leave removes a user from the team. If the owner leaves, the member who joined first becomes the owner.
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

// ReplaceFormer replaces the ID of a user who left the team, and reports whether the user had left it.
func (r *RegistrationItem) ReplaceFormer(userID, by string) bool {
	i := slices.Index(r.FormerIDs, userID)
	if i >= 0 {
		r.FormerIDs[i] = by
	}
	return i >= 0
}

// ReservedNames returns the key that reserves the team's name. Anonymous teams reserve none: a conflict would reveal that they take
// part.
func (r *RegistrationItem) ReservedNames() []store.Key {
	if r.Anonymous {
		return nil
	}
	return []store.Key{TeamKey(r.TaskID, r.Team)}
}

// Key implements Record.
func (r *RegistrationItem) Key() store.Key { return RegistrationKey(r.TaskID, r.ID) }

// RegistrationPrefix begins the sort keys of a task's registrations. RegistrationEnd is greater than all of them.
const (
	RegistrationPrefix = "REGISTRATION#"
	RegistrationEnd    = "REGISTRATION$"
)

// RegistrationKey returns the key of the registration.
func RegistrationKey(taskID, id string) store.Key {
	return keyOf(KindTask, taskID, RegistrationPrefix+id)
}

// Indexes implements Record.
func (r *RegistrationItem) Indexes() [store.NumIndexes]store.Key {
	x := indexes{}.pending(DueOthers, r.PendingWork, r.ID)
	if r.Todo() == nil {
		return x
	}
	return x.todo(r.OrganizerID, r.ID)
}

// Scope returns the scope of the registration: the members of the team and the organizers.
func (r *RegistrationItem) Scope() access.Scope {
	return access.Scope{OrganizerID: r.OrganizerID, TaskID: r.TaskID, RegistrationID: r.ID, OwnerID: r.UserID, Audience: access.Owners}
}

// Check reports the draft's errors.
func (d *TeamDraft) Check() []problem.Field {
	fields := checkName("/team", d.Team)
	fields.AddIf(looksLikeAlias(d.Team), "/team", "must not begin with %q, as the names of anonymous teams do", aliasPrefix)
	fields.AddIf(foldTeam(d.Team) == BaselineTeam, "/team", "is what the baselines of organizers are called: choose another")
	fields.AddIf(len(TeamKey("", d.Team).Sort) > store.MaxSortBytes, "/team",
		"is too long once its ligatures are written out: choose a shorter one")
	return slices.Concat(fields, CheckLine("/affiliation", d.Affiliation), CheckLine("/country", d.Country), CheckLine("/contact", d.Contact))
}

const aliasPrefix = "anonymous-"

// NewAlias returns the alias of the registration with the ID. An alias says nothing about the user. It contains all 80 random bits of
// the ID, so that aliases are unique. No team may choose such a name.
func NewAlias(id string) string { return aliasPrefix + strings.ToLower(id[len(id)-16:]) }

// looksLikeAlias reports whether a team's name reads like an alias, with any of Unicode's dashes.
func looksLikeAlias(team string) bool {
	dashes := func(r rune) rune {
		if unicode.Is(unicode.Pd, r) || r == '\u2212' {
			return '-'
		}
		return r
	}
	return strings.HasPrefix(strings.Map(dashes, foldTeam(team)), aliasPrefix)
}

// TeamKey returns the key that reserves a visible team name within a task. Names that differ only in case, width, spaces or invisible
// characters have the same key. Names are folded like Unicode's toNFKC_Casefold (section 3.13 of the standard), whose result folds to
// itself.
func TeamKey(taskID, team string) store.Key { return keyOf(KindTask, taskID, "TEAM#"+foldTeam(team)) }

func foldTeam(team string) string {
	if !strings.ContainsFunc(team, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.Join(strings.Fields(strings.ToLower(team)), " ") // equals the result below, without the tables
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

// Reservation is an item whose existence carries its meaning, such as a membership or a reserved name.
type Reservation struct {
	Meta
	At store.Key `json:"-"`
	// Editor reports whether a membership has the role of editor, not of owner.
	Editor bool `json:",omitempty"`
}

// Key implements Record.
func (r *Reservation) Key() store.Key { return r.At }
