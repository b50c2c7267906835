//go:build browser

package main

import (
	"net/http"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// TestConsole_LimitsOneUser finds the user who stores most, as an administrator, and limits the storage of that user.
func TestConsole_LimitsOneUser(t *testing.T) {
	t.Parallel()
	s := start(t, "-demo=false") // On this server nobody else stores files.
	owner, root := s.token(t, "owner"), s.token(t, "root", "admins")
	s.dataset(t, owner, s.task(t, owner, "Lakes"), "1 0 lake 1\n", nil)
	var who struct{ ID string }
	s.get(t, owner, "/v1/user", &who)
	p := s.open(t, "/console#/sign-in", browsertest.DeskLight)
	p.adopt(root, "/admin")
	p.Sees("Users who store most")
	p.Await(`document.querySelector(".top [aria-current]")?.textContent === "Admin"`)
	p.Press("owner")
	p.Press("Change the limits of this user")
	p.Fill("Stored (MB)", "2")
	s.call(t, root, http.MethodPatch, "/v1/users/"+who.ID, map[string]any{"quota": map[string]any{"pendingFiles": 7}}, nil)
	p.Press("Save")
	p.Sees("Somebody else changed this while you edited it.")
	p.Press("Save")
	p.Sees("The limits are changed.")
	p.Sees("of 2.0 MB")
	var user struct {
		Limits struct{ StoredBytes, PendingBytes int64 }
		Quota  struct{ StoredBytes, PendingBytes, PendingFiles *int64 }
	}
	s.get(t, owner, "/v1/users/"+who.ID, &user)
	if user.Limits.StoredBytes != 2_000_000 || *user.Quota.StoredBytes != 2_000_000 || user.Quota.PendingBytes != nil ||
		*user.Quota.PendingFiles != 7 || user.Limits.PendingBytes == 0 {
		t.Errorf("the limits are %+v of %+v", user.Limits, user.Quota)
	}
	p.Press("Undo")
	p.Await(`!document.querySelector("main").innerText.includes("of 2.0 MB")`)
}
