package notifier_test

import (
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// Former members of a team are told who ended that, with an address that they can open. Users who take part again are told nothing.
func TestMail_SaysHowARegistrationEnded(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "bea", "cyd", "dan")
	open := f.Task(func(t *record.TaskItem) { t.Name = "Lakes" })
	hidden := f.Task(recordtest.Private, func(t *record.TaskItem) { t.Name = "Rivers" })
	for _, c := range []struct {
		user, want, url string
		task            *recordtest.Task
		end             record.GrantEnd
	}{
		{"ann", "The organizers deleted the registration of your team “Team of ann” in the task “Lakes”", open.Path(), open,
			record.GrantEnd{ByOrganizers: true}},
		{"bea", "The owner of your team removed you from the team “Team of bea” in the task “Rivers”", "/v1/user", hidden,
			record.GrantEnd{Removed: true}},
		{"cyd", "The organizers removed you from the team “Team of cyd” in the task “Rivers”", "/v1/user", hidden,
			record.GrantEnd{ByOrganizers: true, Removed: true}},
	} {
		r := c.task.Register(c.user, func(r *record.RegistrationItem) { r.Team = "Team of " + c.user })
		grant := recordtest.Get[record.Registered](t, f.Builder.Store, record.RegisteredKey(recordtest.UserID(c.user), c.task.ID))
		c.end.At = record.At(f.now)
		grant.Ended = &c.end
		f.Replace(grant)
		e := record.NewEvent(f.now, record.EventRegistrationEnded, r.Scope(), c.task.Path()+"/registrations/"+r.ID)
		e.UserIDs = []string{recordtest.UserID(c.user), recordtest.UserID("dan")}
		f.Put(e)
		m := f.one()
		if m.To != c.user+"@example.org" || !strings.Contains(m.Text, c.want) || !strings.Contains(m.Text, "https://assay.example"+c.url) {
			t.Errorf("%s gets\n%s\nwant %q and %q", m.To, m.Text, c.want, c.url)
		}
	}
	r := open.Register("dan")
	e := record.NewEvent(f.now, record.EventRegistrationEnded, r.Scope(), open.Path()+"/registrations/"+r.ID)
	e.UserIDs = []string{recordtest.UserID("dan")}
	f.Put(e)
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("dan takes part, and gets %+v", all)
	}
}
