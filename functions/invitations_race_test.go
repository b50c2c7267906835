package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

// useOfInvitation is a request that uses an invitation or withdraws it. The output is whether the request succeeded.
type useOfInvitation struct{ withdraws bool }

// invitationOf is an invitation with the given number of uses, until it is withdrawn.
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

// TestJoin_IsLinearizable lets many users join by one invitation at the same time while it is withdrawn. No more users join than
// it has uses. Nobody is refused before the uses are used up, and nobody joins after the withdrawal.
func TestJoin_IsLinearizable(t *testing.T) {
	eachSlowStore(t, func(t *testing.T, slow store.Store) {
		for round := range 6 {
			raceToJoin(t, slow, round%2 == 1)
		}
	})
}

func raceToJoin(t *testing.T, slow store.Store, withdrawn bool) {
	t.Helper()
	const users, uses = 12, 5
	s := newServer(t)
	s.Store = slow
	organizer := s.Create("olga", "/v1/organizers", map[string]any{"name": "Lake Lab"})
	secret := s.Invite("olga", organizer, map[string]any{"uses": uses})
	invitation := organizer + "/invitations/" + s.IDs("olga", organizer+"/invitations")[0]
	history := storetest.NewHistory()
	var joined atomic.Int64
	var all sync.WaitGroup
	send := func(client int, in useOfInvitation, request func() int, granted, refused int) {
		history.Call(client, in, func() (any, bool) {
			status := request()
			if status != granted && status != refused && status != http.StatusServiceUnavailable {
				t.Errorf("status %d", status)
			}
			if status == granted && !in.withdraws {
				joined.Add(1)
			}
			return status == granted, status != http.StatusServiceUnavailable // a 503 changed nothing
		})
	}
	for i := range users {
		all.Go(func() {
			send(i, useOfInvitation{}, func() int {
				return s.Do(fmt.Sprint("user", i), http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret}).Status
			}, http.StatusCreated, http.StatusUnprocessableEntity)
		})
	}
	if withdrawn {
		all.Go(func() {
			send(users, useOfInvitation{withdraws: true}, func() int { return s.Do("olga", http.MethodDelete, invitation, nil).Status },
				http.StatusNoContent, http.StatusNotFound)
		})
	}
	all.Wait()
	history.CheckLinearizable(t, invitationOf(uses))
	if o := servertest.Get[record.Organizer](s, "", organizer); len(o.Members) != 1+int(joined.Load()) {
		t.Errorf("%d joined, and the members are %v", joined.Load(), o.Members)
	}
}

// TestDeleteUser_KeepsAnOwnerInARace: two owners are deleted at the same moment, or one is deleted while the other leaves. One
// owner must remain, and nobody becomes an owner while being deleted.
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
