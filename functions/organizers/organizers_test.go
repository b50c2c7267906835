package organizers_test

import (
	"net/http"
	"testing"

	"assay/functions/organizers"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

func TestCreate_MakesTheCallerTheFirstMember(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	var made struct{ URL string }
	s.Want(http.StatusCreated, &made, "alice", http.MethodPost, "/v1/organizers", map[string]any{"name": "Lake Lab"})
	o := servertest.Get[record.Organizer](s, "", made.URL)
	if len(o.Members) != 1 || o.Members[0] != recordtest.UserID("alice") {
		t.Fatalf("members %v, want the creator", o.Members)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPatch, made.URL, map[string]any{"members": []string{}})
	s.Records().User("bob")
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, made.URL, map[string]any{
		"members": []string{o.Members[0], recordtest.UserID("bob")}})
	s.Want(http.StatusOK, nil, "bob", http.MethodPatch, made.URL, map[string]any{"members": []string{recordtest.UserID("bob")}})
	s.Want(http.StatusForbidden, nil, "alice", http.MethodDelete, made.URL, nil)
	s.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, made.URL, nil)
	s.Want(http.StatusNotFound, nil, "bob", http.MethodGet, made.URL, nil)
}

func TestList_FiltersByName(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	s.Create("alice", "/v1/organizers", map[string]any{"name": "Lake Lab"})
	for query, want := range map[string]int{"": 1, "?filter[name]=LAKE": 1, "?filter[name]=nothing": 0} {
		if got := s.IDs("", "/v1/organizers"+query); len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}
