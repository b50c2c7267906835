package team_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

const (
	quota   = 6
	clients = 5
	calls   = 6
)

// request is what a client asks: to join or leave team 0 or 1, to withdraw it, to use one run of its quota, or to see who its members are.
type request struct {
	kind       string
	user, team int
}

// teams is the state of the task: the members of each team in the order of joining, the owner first, and what each has used.
type teams struct {
	members [2]string // a digit for each user
	used    [2]int
	gone    [2]bool
	former  [clients]int // what each user has used in teams that the user left
}

// answer is what a request comes to: whether it was done and, of "see", the members.
type answer struct {
	done    bool
	members string
}

// step says what the request comes to in the state, and the state after it.
func (s teams) step(r request) (answer, teams) {
	user := fmt.Sprint(r.user)
	in := func(t int) bool { return slices.Contains([]byte(s.members[t]), user[0]) }
	refused := answer{members: s.members[r.team]}
	switch r.kind {
	case "join":
		if s.gone[r.team] || in(0) || in(1) {
			return refused, s
		}
		s.members[r.team] += user
		s.used[r.team] = max(s.used[r.team], s.former[r.user])
	case "leave":
		if s.gone[r.team] || !in(r.team) || s.members[r.team][:1] == user {
			return refused, s
		}
		s.members[r.team] = string(slices.DeleteFunc([]byte(s.members[r.team]), func(b byte) bool { return b == user[0] }))
		s.former[r.user] = max(s.former[r.user], s.used[r.team])
	case "withdraw":
		if s.gone[r.team] || s.members[r.team] != user {
			return refused, s
		}
		s.members[r.team], s.gone[r.team] = "", true
		s.former[r.user] = max(s.former[r.user], s.used[r.team])
	case "use":
		if s.gone[r.team] || !in(r.team) || s.used[r.team] == quota {
			return refused, s
		}
		s.used[r.team]++
	case "see":
		return answer{true, s.members[r.team]}, s
	}
	return answer{true, s.members[r.team]}, s
}

var linearizable = porcupine.Model{
	Init: func() any { return teams{members: [2]string{"0", "1"}} },
	Step: func(state, input, output any) (bool, any) {
		r, got := input.(request), output.(answer)
		want, next := state.(teams).step(r)
		return want.done == got.done && (r.kind != "see" || want.members == got.members), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// task is a task in the store with two teams, whose owners are the users 0 and 1.
type task struct {
	store.Store
	t     *testing.T
	task  *record.TaskItem
	teams [2]string // ids of their registrations
}

func newTask(t *testing.T, s store.Store) *task {
	b := recordtest.New(t, s)
	made := b.Task()
	return &task{
		Store: storetest.SlowWrites(s),
		t:     t,
		task:  made.TaskItem,
		teams: [2]string{made.Register("0").ID, made.Register("1").ID},
	}
}

// do does what the request asks, again after each conflict, and reports whether it was done.
func (k *task) do(ctx context.Context, r request) (answer, error) {
	var members string
	err := records.Retry(ctx, func() error {
		now, user := time.Now(), recordtest.UserID(fmt.Sprint(r.user))
		of, err := records.Get[record.RegistrationItem](ctx, k, store.Strong, record.RegistrationKey(k.task.ID, k.teams[r.team]))
		if err != nil || of == nil {
			members = ""
			return errors.Join(err, problem.NotFound.New("gone"))
		}
		members = ""
		for _, id := range of.Members {
			members += k.name(id)
		}
		change := team.Change{Store: k, Tx: new(records.Tx), Now: now, ActorID: user}
		switch r.kind {
		case "see":
			return nil
		case "join":
			err = change.Join(ctx, k.task, of, user)
		case "leave":
			err = change.Leave(ctx, of, user)
			if !slices.Contains(of.Members, user) {
				err = problem.NotFound.New("no member")
			}
		case "withdraw":
			err = change.Withdraw(ctx, of)
			if len(of.Members) > 1 || of.UserID != user {
				err = problem.Forbidden.New("others are there")
			}
		case "use":
			err = k.use(ctx, change.Tx, user, of.ID, now)
		}
		if err != nil {
			return err
		}
		return change.Tx.Commit(ctx, k)
	})
	if _, refused := errors.AsType[*problem.Error](err); refused && !problem.Unavailable.Is(err) {
		return answer{r.kind == "see", members}, nil
	}
	return answer{err == nil, members}, err
}

// use counts a run like a submission does, under the current grant of the user.
func (k *task) use(ctx context.Context, tx *records.Tx, user, registration string, now time.Time) error {
	grant, err := records.Get[record.Registered](ctx, k, store.Strong, record.RegisteredKey(user, k.task.ID))
	if err != nil || grant == nil || grant.ID != registration {
		return errors.Join(err, problem.Forbidden.New("not registered"))
	}
	of := (&record.RegistrationItem{Registration: record.Registration{Meta: record.MetaOf(registration, now), TaskID: k.task.ID}}).Scope()
	of.OwnerID = user
	used, err := allowance.Of(ctx, k, store.Strong, of)
	if err != nil {
		return err
	}
	used = allowance.OfTeam(tx, used, k.task.ID, registration, now)
	limited := new(record.TaskItem)
	limited.Submissions.Total = quota
	if err := used.Charge(limited, nil, []string{record.NewID(now)}, now); err != nil {
		return err
	}
	tx.Check(grant).Save(used, now)
	return nil
}

func (k *task) name(id string) string {
	for i := range clients {
		if recordtest.UserID(fmt.Sprint(i)) == id {
			return fmt.Sprint(i)
		}
	}
	k.t.Errorf("%s is nobody", id)
	return ""
}

var stores = map[string]func(*testing.T) store.Store{
	"embedded": func(t *testing.T) store.Store { return recordtest.OpenStore(t, embedded.Options{}) },
	"DynamoDB": func(t *testing.T) store.Store { return dynamotest.Open(t, dynamotest.Start(t)) },
}

// TestChange_IsLinearizable lets users join two teams, leave, withdraw registrations without other members, and use the quota, all at once.
// Some order of these calls, one after the other, must give the same answers.
func TestChange_IsLinearizable(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for round := range 40 {
				checkHistory(t, newTask(t, s), uint64(round))
			}
		})
	}
}

func checkHistory(t *testing.T, k *task, seed uint64) {
	t.Helper()
	history := storetest.NewHistory()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			for range calls {
				kinds := []string{"join", "leave", "use", "use", "see"}
				if client < 2 {
					kinds = []string{"withdraw", "leave", "use", "see"}
				}
				r := request{kinds[random.IntN(len(kinds))], client, random.IntN(2)}
				if r.kind != "withdraw" { // in several places at once; to leave is also to be removed
					r.user = random.IntN(clients)
				}
				history.Call(client, r, func() (any, bool) {
					got, err := k.do(t.Context(), r)
					if err != nil {
						t.Error(err)
					}
					return got, true
				})
			}
		})
	}
	wg.Wait()
	history.CheckLinearizable(t, linearizable)
	k.checkGrants()
}

// checkGrants requires that a user has a grant of exactly the team that has the user as a member.
func (k *task) checkGrants() {
	k.t.Helper()
	of := map[string]string{}
	for _, id := range k.teams {
		r := recordtest.Get[record.RegistrationItem](k.t, k, record.RegistrationKey(k.task.ID, id))
		if r == nil {
			continue
		}
		for _, user := range r.Members {
			if of[user] != "" {
				k.t.Errorf("%s is in two teams", k.name(user))
			}
			of[user] = id
		}
	}
	granted := map[string]string{}
	for i := range clients {
		user := recordtest.UserID(fmt.Sprint(i))
		if g := recordtest.Get[record.Registered](k.t, k, record.RegisteredKey(user, k.task.ID)); g != nil {
			granted[user] = g.ID
		}
	}
	if !maps.Equal(of, granted) {
		k.t.Errorf("members %v, grants %v", of, granted)
	}
}
