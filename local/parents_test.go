package main

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"assay/functions"
)

// No parent of a URL at which there is something is missing: for the operations with what the demo has, and for what the
// server serves besides, the signed links and the development issuer.
func TestParents_AreNeverMissing(t *testing.T) {
	s := start(t)
	admin := s.token(t, "root", "admins")
	status := func(token, path string) int { return s.send(t, token, http.MethodGet, path, nil).status }
	first := func(path string) (resource map[string]any) {
		t.Helper()
		var p struct{ Data []map[string]any }
		s.get(t, admin, path, &p)
		return p.Data[0]
	}
	ids := map[string]string{"{$}": "", "{tool}": "evaluator"}
	for _, list := range []string{"organizers", "tasks", "datasets", "runs", "evaluations", "users"} {
		ids["{"+strings.TrimSuffix(list, "s")+"Id}"] = first("/v1/" + list)["id"].(string)
	}
	for _, list := range []string{"registrations", "submissions"} {
		ids["{"+strings.TrimSuffix(list, "s")+"Id}"] = first("/v1/tasks/" + ids["{taskId}"] + "/" + list)["id"].(string)
	}
	ids["{componentId}"] = first("/v1/platform/components")["id"].(string)
	ids["{userId}"] = first("/v1/organizers/" + ids["{organizerId}"] + "/members")["id"].(string)

	var run struct{ Files []struct{ URL string } }
	s.get(t, admin, "/v1/runs/"+ids["{runId}"], &run)
	file, err := url.Parse(run.Files[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{file.Path: true, "/dev/token": true, "/dev/jwks.json": true, "/dev/.well-known/openid-configuration": true}
	for _, op := range functions.Operations() {
		filled := op.Path
		for name, id := range ids {
			filled = strings.ReplaceAll(filled, name, id)
		}
		paths[filled] = true
	}
	parents := map[string]bool{}
	for p := range paths {
		for p = path.Dir(p); p != "/"; p = path.Dir(p) {
			parents[p] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(parents)) {
		for _, token := range []string{"", admin} {
			if status := status(token, p); status == http.StatusNotFound || strings.Contains(p, "{") {
				t.Errorf("GET %s: %d, and there is something under it", p, status)
			}
		}
	}
	for _, missing := range []string{"/dev/none", "/v1/none", "/fil"} {
		if status := status("", missing); status != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", missing, status)
		}
	}
}
