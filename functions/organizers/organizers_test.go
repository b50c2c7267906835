package organizers_test

import (
	"bytes"
	"net/http"
	"testing"

	"assay/functions/organizers"
	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestCreate_MakesTheCallerTheFirstMember(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	var made struct{ URL string }
	s.Want(http.StatusCreated, &made, "alice", http.MethodPost, "/v1/organizers", map[string]any{"name": "Lake Lab"})
	var o record.Organizer
	s.Want(http.StatusOK, &o, "", http.MethodGet, made.URL, nil)
	if len(o.Members) != 1 || o.Members[0] != servertest.UserID("alice") {
		t.Fatalf("members %v, want the creator", o.Members)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPatch, made.URL, map[string]any{"members": []string{}})
	s.Want(http.StatusForbidden, nil, "bob", http.MethodPatch, made.URL, map[string]any{"name": "Bob's"})
	s.Want(http.StatusUnauthorized, nil, "", http.MethodPatch, made.URL, map[string]any{"name": "Nobody's"})

	s.Know("bob")
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, made.URL, map[string]any{"members": []string{o.Members[0], servertest.UserID("bob")}})
	s.Want(http.StatusOK, nil, "bob", http.MethodPatch, made.URL, map[string]any{"members": []string{servertest.UserID("bob")}})
	s.Want(http.StatusForbidden, nil, "alice", http.MethodDelete, made.URL, nil)
	s.Want(http.StatusNoContent, nil, "bob", http.MethodDelete, made.URL, nil)
	s.Want(http.StatusNotFound, nil, "bob", http.MethodGet, made.URL, nil)
}

func TestChange_KeepsOtherMembers(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	path := s.Create("alice", "/v1/organizers", map[string]any{"name": "Lake Lab", "website": "https://example.org"})
	a := s.Want(http.StatusOK, nil, "alice", http.MethodGet, path, nil)
	stale := a.Header.Get("ETag")
	var o record.Organizer
	s.Want(http.StatusOK, &o, "alice", http.MethodPatch, path, `[{"op":"replace","path":"/name","value":"River Lab"}]`, "Content-Type", "application/json-patch+json", "If-Match", stale)
	if o.Name != "River Lab" || o.Website != "https://example.org" || o.Version != 2 {
		t.Fatalf("%+v", o)
	}
	s.Want(http.StatusPreconditionFailed, nil, "alice", http.MethodPatch, path, map[string]any{"name": "x"}, "If-Match", stale)
	s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPatch, path, map[string]any{"id": "x"})
	s.Want(http.StatusUnsupportedMediaType, nil, "alice", http.MethodPatch, path, `{}`, "Content-Type", "text/plain")
	s.Want(http.StatusConflict, nil, "alice", http.MethodPatch, path, `[{"op":"test","path":"/name","value":"Lake Lab"}]`, "Content-Type", "application/json-patch+json")
}

func TestCreate_IsIdempotentWithAKey(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	body := map[string]any{"name": "Lake Lab"}
	first := s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/organizers", body, "Idempotency-Key", "k1")
	again := s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/organizers", body, "Idempotency-Key", "k1")
	if !bytes.Equal(first.Body, again.Body) || first.Header.Get("Location") != again.Header.Get("Location") {
		t.Fatalf("%s and %s", first.Body, again.Body)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPost, "/v1/organizers", map[string]any{"name": "Other"}, "Idempotency-Key", "k1")
	s.Want(http.StatusUnprocessableEntity, nil, "alice", http.MethodPost, "/v1/organizers", map[string]any{"name": ""}, "Idempotency-Key", "k2")
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/organizers", body, "Idempotency-Key", "k2")
	var list struct{ Data []record.Organizer }
	s.Want(http.StatusOK, &list, "", http.MethodGet, "/v1/organizers", nil)
	if len(list.Data) != 2 {
		t.Fatalf("%d organizers, want 2", len(list.Data))
	}
}

func TestList_ContinuesAtTheCursor(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	for range 5 {
		s.Create("alice", "/v1/organizers", map[string]any{"name": "Lab"})
	}
	seen := map[string]bool{}
	for next := "/v1/organizers?limit=2"; next != ""; {
		var p struct {
			Data  []record.Organizer
			Links struct{ Next string }
		}
		s.Want(http.StatusOK, &p, "", http.MethodGet, next, nil)
		for _, o := range p.Data {
			seen[o.ID] = true
		}
		next = p.Links.Next
	}
	if len(seen) != 5 {
		t.Fatalf("%d organizers over all pages, want 5", len(seen))
	}
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, "/v1/organizers?cursor=01JZ3V7Q0D8T5RZ0S6R1W9C4XK", nil)
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, "/v1/organizers?limit=0", nil)
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/organizers?filter[name]=nothing", nil)
}

func TestChange_WithoutEffectKeepsTheVersion(t *testing.T) {
	s := servertest.New(t, organizers.Operations...)
	path := s.Create("alice", "/v1/organizers", map[string]any{"name": "Lake Lab"})
	var o record.Organizer
	s.Want(http.StatusOK, &o, "alice", http.MethodPatch, path, map[string]any{"name": "Lake Lab"})
	if o.Version != 1 || o.Name != "Lake Lab" {
		t.Errorf("%+v", o)
	}
}
