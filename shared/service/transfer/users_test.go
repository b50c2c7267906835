package transfer

import (
	"bytes"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth"
	"assay/shared/storage/store"
)

// subjectID returns the ID of a user of the target's issuer.
func subjectID(subject string) string {
	return auth.Identity{Issuer: "https://target", Subject: subject}.UserID()
}

func idOfSubject(subject string) (string, error) { return subjectID(subject), nil }

// TestImport_MapsUsers maps users by rows and by address. The target must have the same records as if its own users had created them.
func TestImport_MapsUsers(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	ann := recordtest.UserID("ann")
	ben := recordtest.UserID("ben")
	eva := recordtest.UserID("eva")
	b := recordtest.New(t, to.store)
	b.Put(&record.User{Meta: record.MetaOf(subjectID("ben"), now), Name: "Ben of the target", Email: "BEN@example.org",
		AdminSeenAt: new(record.At(now))})
	admin := recordtest.Get[record.User](t, o.store, record.UserKey(ann))
	admin.AdminSeenAt = new(record.At(now))
	recordtest.New(t, o.store).Replace(admin)

	m := to.from(t, o.export(t, Scope{}))
	m.Users = UserMap{ByEmail: true, ID: idOfSubject, Rows: []UserRow{
		{"Ann@example.org", "ann"}, {recordtest.UserID(recordtest.OrganizerUser), subjectID("olga")}, {"nobody@example.org", "nobody"}}}
	plan, err := m.Plan(t.Context())
	if err != nil || len(plan.Users.Mapped) != 3 || len(plan.Users.Unmapped) != 2 || plan.Users.Unused != 1 {
		t.Fatalf("%+v, %v", plan.Users, err)
	}
	r := m.mustApply(t)
	got := items(t, to.store)
	for key, it := range got {
		text := []byte(key.Partition + " " + key.Sort + string(it.Data))
		for _, index := range it.Indexes {
			text = append(text, index.Partition+" "+index.Sort...)
		}
		for _, old := range []string{ann, ben, recordtest.UserID(recordtest.OrganizerUser)} {
			if bytes.Contains(text, []byte(old)) {
				t.Errorf("%v still names %s", key, old)
			}
		}
	}
	run := *o.run.RunItem
	run.UserID = subjectID("ann")
	if it, err := record.Item(&run); err != nil || got[run.Key()].Indexes != it.Indexes || !bytes.Equal(got[run.Key()].Data, it.Data) {
		t.Errorf("the run is\n%s\n%v\nwant\n%s\n%v", got[run.Key()].Data, got[run.Key()].Indexes, it.Data, it.Indexes)
	}
	if u := recordtest.Get[record.User](t, to.store, record.UserKey(subjectID("ben"))); u.Name != "Ben of the target" || u.AdminSeenAt == nil {
		t.Errorf("the profile in the target became %+v", u)
	}
	if u := recordtest.Get[record.User](t, to.store, record.UserKey(subjectID("ann"))); u == nil || u.AdminSeenAt != nil {
		t.Errorf("ann, whom the issuer of the target has not called an administrator, is %+v", u)
	}
	if u := recordtest.Get[record.User](t, to.store, record.UserKey(eva)); u == nil {
		t.Error("eva, who is not mapped, has no profile")
	}
	if f := r.Found["TOKENS"]; f[New] != 1 || f[Left] != 2 {
		t.Errorf("of the access tokens %+v were moved: their secrets name the user", f)
	}
	entry := recordtest.AuditEntries(t, to.store, o.organizer.ID)[0]
	for _, a := range recordtest.AuditEntries(t, to.store, o.organizer.ID) {
		if a.TaskID == o.task.ID {
			entry = a
		}
	}
	want := subjectID("ann")
	if entry.UserIDs[0] != want || entry.Subject != "/v1/users/"+want || !strings.Contains(string(entry.After), want) {
		t.Errorf("the audit entry names %+v", entry)
	}
}

func TestImport_RefusesToJoinUsers(t *testing.T) {
	o := newOrigin(t)
	folder := o.export(t, Scope{})
	ann, ben := recordtest.UserID("ann"), recordtest.UserID("ben")
	for name, rows := range map[string][]UserRow{
		"would both become": {{ann, "one"}, {ben, "one"}},
		"is another user":   {{ann, ben}},
	} {
		to := openServer(t)
		m := to.from(t, folder)
		m.Users = UserMap{Rows: rows, ID: idOfSubject}
		if _, err := m.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", rows, err)
		}
		if n := len(items(t, to.store)); n > 0 {
			t.Errorf("%d records were written", n)
		}
	}
	to := openServer(t)
	m := to.from(t, folder) // two users that exchange IDs
	m.Users = UserMap{Rows: []UserRow{{ann, ben}, {ben, ann}}}
	m.mustApply(t)
	if u := recordtest.Get[record.User](t, to.store, record.UserKey(ann)); u.Name != "ben" {
		t.Errorf("%+v", u)
	}
}

// TestImport_GivesNoMembershipThatTheOrganizerDoesNot moves a task to a server on which its organizer has other members.
func TestImport_GivesNoMembershipThatTheOrganizerDoesNot(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	changed := *o.organizer
	changed.Members = []string{recordtest.UserID("rival")}
	b := recordtest.New(t, to.store)
	b.Put(&changed, &record.Reservation{Meta: record.NewMeta(now), At: record.MembershipKey(recordtest.UserID("rival"), changed.ID)})
	r := to.from(t, o.export(t, Scope{Task: o.task.ID})).mustApply(t)
	former := record.MembershipKey(recordtest.UserID(recordtest.OrganizerUser), changed.ID)
	if it, err := to.store.Get(t.Context(), store.Strong, former); err != nil || it[0].Exists() || r.Found["USER/MEMBER"][Left] != 1 ||
		r.Found["ORGANIZER/ORGANIZER"][Stays] != 1 {
		t.Errorf("%v, %v, %+v", it, err, r.Found["USER/MEMBER"])
	}
}

func TestImport_NamesConflicts(t *testing.T) {
	o, to := newOrigin(t), openServer(t)
	folder := o.export(t, Scope{})
	other := *o.other.TaskItem
	other.Name = "of somebody else"
	recordtest.New(t, to.store).Put(&other)
	r, err := to.from(t, folder).Apply(t.Context())
	if err == nil || len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0], other.ID) {
		t.Errorf("%+v, %v", r, err)
	}
	if n := len(items(t, to.store)); n != 1 {
		t.Errorf("the store has %d records", n)
	}

	// A record that was moved and then changed in the target is no conflict, and stays.
	to = openServer(t)
	to.from(t, folder).mustApply(t)
	moved := recordtest.Get[record.TaskItem](t, to.store, other.Key())
	moved.Name = "changed since"
	record.Touch(moved, now)
	recordtest.New(t, to.store).Replace(moved)
	if r := to.from(t, folder).mustApply(t); r.Found["TASK/TASK"][Stays] != 1 || r.Found["TASK/TASK"][Same] != 2 {
		t.Errorf("%+v", r.Found["TASK/TASK"])
	}
	if left := recordtest.Get[record.TaskItem](t, to.store, other.Key()); left.Name != "changed since" {
		t.Errorf("the task is called %q", left.Name)
	}
}
