package record

import (
	"slices"

	"assay/shared/access"
	"assay/shared/store"
)

// Person is a user as organizers see one next to an id. Name and address are read from the user's profile when a resource is
// shown, and are stored nowhere else but, for a day, in the answer that an Idempotency-Key repeats: to remove the profile removes
// the person.
type Person struct {
	ID    string `json:"id" doc:"id of the user"`
	Name  string `json:"name,omitempty" doc:"as the sign-in issuer gave it last; absent when the user has no profile"`
	Email string `json:"email,omitempty" doc:"of users who registered for the task themselves or submitted to it, and of members of the organizer who founded it or have changed something as members"`

	related             bool   // the user is known to be one of those whose address is shown
	organizerID, taskID string // otherwise: of whose members and registrants the addresses are shown, unless others added them
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
	if !p.related {
		keys = append(keys, MembershipKey(p.ID, p.organizerID))
		if p.taskID != "" {
			keys = append(keys, RegisteredKey(p.ID, p.taskID))
		}
	}
	return keys
}

// Tell fills in the name, and the address if it is to be shown. agreed reports whether there is a grant with the key that
// the user asked for: anyone can add a user to an organizer or a task, and must not learn the address by that.
func (p *Person) Tell(profile *User, agreed func(store.Key) bool) {
	if profile == nil {
		return
	}
	p.Name = profile.Name
	if p.related || slices.ContainsFunc(p.Keys()[1:], agreed) {
		p.Email = profile.Email
	}
}

// People are those that the resource names.
func (s Submission) People() []*Person { return present(s.User) }

// People are those that the resource names.
func (r Run) People() []*Person { return present(r.User) }

// People are those that the resource names.
func (e Evaluation) People() []*Person { return present(e.User) }

// People are those that the resource names.
func (r Registration) People() []*Person { return present(r.User) }

// People are those that the resource names.
func (r Review) People() []*Person { return present(r.Reviewer) }

// People are those that the resource names.
func (a AuditEntry) People() []*Person { return present(append(slices.Clone(a.Users), a.Actor)...) }

// People are those that the resource names.
func (o Organizer) People() []*Person { return o.Named }

func present(people ...*Person) []*Person {
	return slices.DeleteFunc(people, func(p *Person) bool { return p == nil })
}
