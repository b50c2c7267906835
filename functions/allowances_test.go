package functions_test

import (
	"net/http"
	"testing"
	"time"

	"assay/functions/background"
	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// TestEmbargo_EndsWithTheTeam: scores do not wait for the later close of a team that withdrew or whose last user was deleted,
// even if the task was in the trash at that time.
func TestEmbargo_EndsWithTheTeam(t *testing.T) {
	for name, end := range map[string]func(*phases){
		"withdrawn": func(f *phases) {
			f.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, f.task.Path()+"/registrations/"+f.bob.ID, nil)
		},
		"deleted": func(f *phases) { f.deleteUser("bob") },
		"deleted in the trash": func(f *phases) {
			f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, f.task.Path(), nil)
			f.deleteUser("bob")
			var all struct{ Data []record.Deletion }
			f.Want(http.StatusOK, &all, olga, http.MethodGet, "/v1/deletions", nil)
			f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, "/v1/deletions/"+all.Data[0].ID, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPhases(t, recordtest.AfterClose)
			f.closeTask(time.Hour)()
			f.patch(http.StatusOK, "bob", "/v1/user", map[string]any{})
			f.grant(f.bob, map[string]any{"closesAt": f.in(3000 * time.Hour)})
			kept := f.grant(f.ada, map[string]any{"closesAt": f.in(2000 * time.Hour)})
			end(f)
			e := recordtest.Get[record.Embargo](t, f.Store, record.EmbargoKey(f.task.ID))
			if e == nil || len(e.Extensions) != 1 || e.Extensions[kept.ID].ClosesAt.IsZero() {
				t.Errorf("the embargo has %+v", e)
			}
		})
	}
}

// deleteUser deletes the user with all of the user's data.
func (f *phases) deleteUser(name string) {
	f.t.Helper()
	path := "/v1/users/" + recordtest.UserID(name)
	f.Want(http.StatusNoContent, nil, "root", http.MethodDelete, path, nil)
	w := background.New(f.Store, f.Files, f.Now, f.Log)
	for range 20 {
		if err := w.RunDue(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
		f.ahead.Add(int64(10 * time.Minute))
	}
	f.Want(http.StatusNotFound, nil, "root", http.MethodGet, path, nil)
}

// TestStorage_CountsFiles: administrators see the number of files and how many of them are in the trash.
func TestStorage_CountsFiles(t *testing.T) {
	f := newPhases(t)
	made, _ := f.submit(http.StatusCreated, "ada")
	f.submit(http.StatusCreated, "bob")
	f.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, f.task.Path()+"/submissions/"+made.ID, nil)
	if s := servertest.Get[users.Storage](f.Server, "root", "/v1/platform/storage"); s.Files != nil {
		t.Errorf("counted before: %+v", s.Files)
	}
	f.ahead.Store(int64(record.AbandonedAfter + time.Hour))
	w := background.New(f.Store, f.Files, f.Now, f.Log)
	for range 2 { // twice, from the start each time
		if _, err := w.DeleteAbandonedFiles(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	s := servertest.Get[users.Storage](f.Server, "root", "/v1/platform/storage")
	if s.Files == nil || s.Files.Files != 3 || s.Files.InTrash != 1 { // files of the truth and of two runs
		t.Errorf("the files are %+v", s.Files)
	}
}
