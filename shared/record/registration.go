package record

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/access"
	"assay/shared/casefold"
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
	UserID string `json:"userId" required:"false" maxLength:"26" doc:"the user who takes part: the caller, unless an organizer registers another user, by the id that GET /v1/user tells that user"`
	TeamDraft
}

// TeamDraft is what the registered user writes of the team, and can change.
type TeamDraft struct {
	Team        string `json:"team" minLength:"1" maxLength:"100" doc:"name of the team; unique within the task among the names that are shown" example:"Lakeside"`
	Anonymous   bool   `json:"anonymous" required:"false" doc:"show the alias instead of team and user to everyone but the organizers"`
	Affiliation string `json:"affiliation" required:"false" maxLength:"200"`
	Country     string `json:"country" required:"false" maxLength:"100"`
	Contact     string `json:"contact,omitempty" maxLength:"500" doc:"how to reach the team; seen by itself and the organizers"`
}

// Registration is a user, with a team, taking part in a task.
type Registration struct {
	Meta
	TaskID string `json:"taskId"`
	RegistrationDraft
	Alias string            `json:"alias" doc:"what an anonymous team is called" example:"anonymous-9f3k2x"`
	State RegistrationState `json:"state" enum:"accepted,pending,rejected" doc:"decided by the organizers"`
	User  *Person           `json:"user,omitempty" doc:"who takes part; for organizers"`
	Quota *Quota            `json:"quota,omitempty" doc:"what is left to the user now; only when a single registration is asked for"`
}

// RegistrationItem is a registration as the store holds it.
type RegistrationItem struct {
	Registration
	OrganizerID string `json:"organizerId"`
	// Added says that an organizer made the registration, and not its user, who can therefore withdraw it in any state.
	Added       bool         `json:"added,omitempty"`
	PendingWork *PendingWork `json:"pendingWork,omitempty"`
	// Left is what is left of the task's quota, once it was read; it is not stored.
	Left *Quota `json:"-"`
}

// For returns the registration as one who has the roles sees it.
func (r *RegistrationItem) For(roles access.Role) *Registration {
	v := r.Registration
	if roles&(access.Organizer|access.Admin) != 0 {
		v.User = &Person{ID: r.UserID, related: !r.Added, organizerID: r.OrganizerID, taskID: r.TaskID}
	}
	return &v
}

// ReservedName is the key that reserves the name of the team. An anonymous team reserves none, or others could find out by a
// conflict that it takes part.
func (r *RegistrationItem) ReservedName() (store.Key, bool) {
	return TeamKey(r.TaskID, r.Team), !r.Anonymous
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
	return indexes{}.pending(r.PendingWork, r.ID)
}

// Scope is the scope of the registration: between its user and the organizers.
func (r *RegistrationItem) Scope() access.Scope {
	return access.Scope{OrganizerID: r.OrganizerID, TaskID: r.TaskID, OwnerID: r.UserID, Audience: access.Owners}
}

// Check says what is wrong with the draft.
func (d *TeamDraft) Check() []problem.Field {
	fields := checkName("/team", d.Team)
	fields.AddIf(looksLikeAlias(d.Team), "/team", "must not begin with %q, as the names of anonymous teams do", aliasPrefix)
	fields.AddIf(foldTeam(d.Team) == BaselineTeam, "/team", "is what the baselines of organizers are called: choose another")
	fields.AddIf(len(TeamKey("", d.Team).Sort) > store.MaxSortBytes, "/team",
		"is too long once its ligatures are written out: choose a shorter one")
	fields = append(fields, CheckLine("/affiliation", d.Affiliation)...)
	fields = append(fields, CheckLine("/country", d.Country)...)
	return append(fields, CheckLine("/contact", d.Contact)...)
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
	// Added says of a membership that another user made it, and that the user has changed nothing as a member since.
	Added bool `json:",omitempty"`
}

// TableIdentityKey is where the Reservation stands whose id tells the table from others.
func TableIdentityKey() store.Key { return store.Key{Partition: "TABLE", Sort: "IDENTITY"} }

// Key implements Record.
func (r *Reservation) Key() store.Key { return r.At }
