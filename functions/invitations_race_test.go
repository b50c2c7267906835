package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"

	"github.com/anishathalye/porcupine"
)

// useOfInvitation is a request that uses an invitation, or withdraws it; the output is whether it was granted.
type useOfInvitation struct{ withdraws bool }

// invitationOf is an invitation that works so many times, until it is withdrawn.
func invitationOf(uses int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return uses },
		Step: func(state, input, output any) (bool, any) {
			left := state.(int)
			switch {
			case !output.(bool):
				return left == 0, left
			case input.(useOfInvitation).withdraws:
				return left > 0, 0
			default:
				return left > 0, left - 1
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, output) },
	}
}

// TestJoin_IsLinearizable has many users join by one invitation at the same time, while it is withdrawn: no more than its uses join,
// nobody is refused before, and nobody joins once it was withdrawn.
func TestJoin_IsLinearizable(t *testing.T) {
	const users, uses = 12, 5
	for round := range 6 {
		f := newInviting(t)
		secret := f.Invite("olga", f.organizer, map[string]any{"uses": uses})
		invitation := f.organizer + "/invitations/" + f.IDs("olga", f.organizer+"/invitations")[0]
		var history []porcupine.Operation
		var mu sync.Mutex
		var all sync.WaitGroup
		start := time.Now()
		send := func(client int, in useOfInvitation, request func() int, granted, refused int) {
			defer all.Done()
			begun := time.Since(start)
			status := request()
			ended := time.Since(start)
			switch status {
			case granted, refused:
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(begun), Output: status == granted,
					Return: int64(ended)})
				mu.Unlock()
			case http.StatusServiceUnavailable: // which changed nothing
			default:
				t.Errorf("status %d", status)
			}
		}
		all.Add(users)
		for i := range users {
			go send(i, useOfInvitation{}, func() int {
				return f.Do(fmt.Sprint("user", i), http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret}).Status
			}, http.StatusCreated, http.StatusUnprocessableEntity)
		}
		if round%2 == 1 {
			all.Add(1)
			go send(users, useOfInvitation{withdraws: true}, func() int { return f.Do("olga", http.MethodDelete, invitation, nil).Status },
				http.StatusNoContent, http.StatusNotFound)
		}
		all.Wait()
		if result := porcupine.CheckOperationsTimeout(invitationOf(uses), history, 20*time.Second); result != porcupine.Ok {
			t.Errorf("the history is %s: %v", result, history)
		}
		joined := 0
		for _, op := range history {
			if op.Output.(bool) && !op.Input.(useOfInvitation).withdraws {
				joined++
			}
		}
		if o := servertest.Get[record.Organizer](f.Server, "", f.organizer); len(o.Members) != 2+joined {
			t.Errorf("%d joined, and the members are %v", joined, o.Members)
		}
	}
}

// TestDeleteUser_KeepsAnOwnerInARace: of two owners who are deleted at the same moment, or one of whom is deleted while the other leaves,
// one stays; and nobody is made an owner while being deleted.
func TestDeleteUser_KeepsAnOwnerInARace(t *testing.T) {
	olga, bob := recordtest.UserID("olga"), recordtest.UserID("bob")
	for round := range 9 {
		p := newPlatform(t, nil)
		p.Join("bob", p.Invite("olga", p.organizer, map[string]any{"role": []string{"owner", "owner", "editor"}[round%3]}), nil)
		servertest.Concurrently(2, func(i int) servertest.Answer {
			switch {
			case i == 0:
				return p.Do("root", http.MethodDelete, "/v1/users/"+bob, nil)
			case round%3 == 0:
				return p.Do("root", http.MethodDelete, "/v1/users/"+olga, nil)
			case round%3 == 1:
				return p.Do("olga", http.MethodDelete, p.organizer+"/members/"+olga, nil)
			default:
				return p.Do("olga", http.MethodPatch, p.organizer, map[string]any{"owners": []string{bob}})
			}
		})
		p.runDue()
		o := servertest.Get[record.Organizer](p.Server, "", p.organizer)
		if len(o.Owners) == 0 || slices.ContainsFunc(o.Owners, func(id string) bool {
			return recordtest.Get[record.User](t, p.Store, record.UserKey(id)).Deleting()
		}) {
			t.Errorf("the owners are %v", o.Owners)
		}
	}
}
