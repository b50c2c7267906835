package deletion_test

import (
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// Deleting a user removes the user's resources from the trash, and no other item names the user.
func TestTrash_ForgetsUser(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
			f.must(f.delete(t.Context(), f.Store))
			f.background(4 * record.RequestTime)
			f.deleteUser("ann")
			ann := recordtest.UserID("ann")
			left := f.contents()
			for key, data := range left {
				if strings.HasPrefix(key.Partition, "TRASH#") || strings.HasPrefix(key.Partition, "DELETION#") {
					if strings.Contains(data, ann) || f.run != nil && strings.Contains(key.Partition, f.run.ID) {
						t.Errorf("%v is left: %s", key, data)
					}
				}
			}
			if trashed, _ := deleted(left); (trashed > 0) != (kind == record.TaskInTrash || kind == record.DatasetInTrash) {
				t.Errorf("%d items are left", trashed)
			}
		})
	}
}

// When a member is deleted, resources that another member could restore stay in the trash, also those of a deleted task.
func TestTrash_KeepsWhatIsOfOthers(t *testing.T) {
	for _, kind := range []record.DeletedKind{record.TaskInTrash, record.SubmissionInTrash, record.RunInTrash} {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
			r := recordtest.Get[record.RegistrationItem](t, f.Store, record.RegistrationKey(f.task.ID, f.run.Access.RegistrationID))
			r.Members = append(r.Members, recordtest.UserID("zoe"))
			f.Replace(r)
			f.must(f.delete(t.Context(), f.Store))
			f.background(4 * record.RequestTime)
			ann, replaced := recordtest.UserID("ann"), f.deleteUser("ann")
			for key, data := range f.contents() {
				if (strings.HasPrefix(key.Partition, "TRASH#") || strings.HasPrefix(key.Partition, "DELETION#")) && strings.Contains(data, ann) {
					t.Errorf("%v names the user: %s", key, data)
				}
			}
			f.must(f.restore(t.Context(), f.Store))
			if run := recordtest.Get[record.RunItem](t, f.Store, f.run.Key()); run == nil || run.UserID != replaced {
				t.Errorf("restored is %+v", run)
			}
		})
	}
}

// An anonymous team reserves no name, so what is forgotten of it leaves the name to the team that is shown under it.
func TestTrash_KeepsReservedNames(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.TaskInTrash)
	shown := recordtest.Get[record.RegistrationItem](t, f.Store, record.RegistrationKey(f.task.ID, f.run.Access.RegistrationID))
	f.task.Register("zoe", func(r *record.RegistrationItem) { r.Team, r.Anonymous = shown.Team, true })
	f.must(f.delete(t.Context(), f.Store))
	f.background(4 * record.RequestTime)
	f.deleteUser("zoe")
	f.must(f.restore(t.Context(), f.Store))
	name := record.TeamKey(f.task.ID, shown.Team)
	items, err := f.Store.Get(t.Context(), store.Strong, name)
	f.must(err)
	if !items[0].Exists() {
		t.Errorf("the name %v is free", name)
	}
}

// A baseline is the organizers', but for the notes of the user who submitted it.
func TestTrash_ForgetsNotesOfBaselines(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.SubmissionInTrash, recordtest.Baseline, func(r *recordtest.Run) {
		r.Submission.Notes = "Mine."
		r.Submission.Access.RegistrationID = ""
		r.Access.RegistrationID = ""
	})
	f.must(f.delete(t.Context(), f.Store))
	f.background(4 * record.RequestTime)
	ann, replaced := recordtest.UserID("ann"), f.deleteUser("ann")
	for key, data := range f.contents() {
		if strings.HasPrefix(key.Partition, "TRASH#") && (strings.Contains(data, ann) || strings.Contains(data, "Mine.")) {
			t.Errorf("%v: %s", key, data)
		}
	}
	f.must(f.restore(t.Context(), f.Store))
	if s := recordtest.Get[record.SubmissionItem](t, f.Store, f.run.Submission.Key()); s == nil || s.UserID != replaced {
		t.Errorf("restored is %+v", s)
	}
}

// The deletion of a user waits for a task that still moves to the trash.
func TestTrash_ForgetsUserOnceAllHasMoved(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.TaskInTrash)
	f.must(f.delete(t.Context(), f.Store))
	u := &record.User{Meta: record.MetaOf(recordtest.UserID("ann"), f.now)}
	u.Delete(recordtest.UserID("root"), f.now)
	u.PendingWork = record.NewConfirmingPass(record.DeleteUser, f.now)
	f.Put(u)
	f.must(f.deleter(f.Store).ContinueUser(t.Context(), u.Key()))
	if recordtest.Get[record.User](t, f.Store, u.Key()) == nil {
		t.Error("the user is deleted, though the confirming pass of the task is to come")
	}
	f.background(4 * record.RequestTime)
	if recordtest.Get[record.User](t, f.Store, u.Key()) != nil {
		t.Error("the user is not deleted")
	}
}
