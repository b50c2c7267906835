package submissions_test

import (
	"net/http"
	"slices"
	"testing"

	"assay/shared/record"
	"assay/shared/record/recordtest"
)

func TestList_HasNothingOfAnotherTask(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked)))
	elsewhere := s.Records().Task(recordtest.OwnedBy(&record.Organizer{
		Meta: record.Meta{ID: s.task.OrganizerID}})).Dataset().Run("ada").Submission
	for _, user := range []string{"ada", "olga"} {
		if got := s.IDs(user, s.path); !slices.Equal(got, []string{made.ID}) {
			t.Errorf("%s: %v", user, got)
		}
	}
	s.Want(http.StatusBadRequest, nil, "ada", http.MethodGet, s.path+"?cursor="+elsewhere.ID, nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, s.path+"/"+elsewhere.ID, nil)
}
