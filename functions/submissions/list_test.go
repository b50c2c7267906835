package submissions_test

import (
	"net/http"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestList_HasNothingOfAnotherTask(t *testing.T) {
	s := newScene(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked)))
	elsewhere := &record.SubmissionItem{Access: record.AccessAttributes{OrganizerID: s.task.OrganizerID}}
	elsewhere.Meta, elsewhere.TaskID, elsewhere.UserID = record.NewMeta(s.Now()), record.NewID(s.Now()), servertest.UserID("ada")
	s.Put(elsewhere)
	for _, user := range []string{"ada", "olga"} {
		var p struct{ Data []record.Submission }
		s.Want(http.StatusOK, &p, user, http.MethodGet, s.path, nil)
		if len(p.Data) != 1 || p.Data[0].ID != made.ID {
			t.Errorf("%s: %+v", user, p.Data)
		}
	}
	s.Want(http.StatusBadRequest, nil, "ada", http.MethodGet, s.path+"?cursor="+elsewhere.ID, nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, s.path+"/"+elsewhere.ID, nil)
}
