//go:build browser

package main

import (
	"testing"

	"assay/shared/webpage/browsertest"
)

// TestConsole_LimitsOneUser has an administrator find the user who stores most, and limit what that user stores.
func TestConsole_LimitsOneUser(t *testing.T) {
	s := start(t, "-demo=false")
	owner, root := s.token(t, "owner"), s.token(t, "root", "admins")
	task := s.task(t, owner, "Lakes")
	s.dataset(t, owner, task, "1 0 lake 1\n", nil)
	p := s.open(t, browsertest.Start(t), "/console#/sign-in", browsertest.View{Width: 1280})
	browsertest.Evaluate[any](p.Page, `sessionStorage.setItem("session", '{"token":"`+root+`"}'); location.hash = "/admin"; location.reload()`)
	p.Sees("Users who store most")
	p.Press("owner")
	p.Press("Change the limits of this user")
	p.Fill("Stored (MB)", "2")
	s.dataset(t, owner, task, "1 0 lake 1\n2 0 lake 1\n", nil) // the user takes more meanwhile
	p.Press("Save")
	p.Sees("The limits are changed.")
	p.Sees("of 2.0 MB")
	var who struct{ ID string }
	var user struct {
		Limits struct{ StoredBytes, PendingBytes int64 }
		Quota  struct{ StoredBytes, PendingBytes *int64 }
	}
	s.get(t, owner, "/v1/user", &who)
	s.get(t, owner, "/v1/users/"+who.ID, &user)
	if user.Limits.StoredBytes != 2_000_000 || *user.Quota.StoredBytes != 2_000_000 || user.Quota.PendingBytes != nil ||
		user.Limits.PendingBytes == 0 {
		t.Errorf("the limits are %+v of %+v", user.Limits, user.Quota)
	}
	p.Press("Undo")
	p.Await(`!document.querySelector("main").innerText.includes("of 2.0 MB")`)
}
