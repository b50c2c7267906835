package functions_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions/users"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

func pathOfUser(user string) string { return "/v1/users/" + recordtest.UserID(user) }

func TestUserQuota_ReplacesTheDefaults(t *testing.T) {
	p := newCharged(t)
	p.register("tom", nil)
	p.Quotas.Quotas.User = record.UsageLimits{PerDay: map[string]int64{record.MadeRuns: 3, record.MadeTasks: 7}, StoredBytes: 100}
	tom := pathOfUser("tom")
	upload := servertest.Upload(servertest.ID(p.dataset), fileOf(60))
	p.submit("tom", upload)
	p.refused(http.StatusForbidden, "tom", http.MethodPost, p.task+"/submissions", upload)

	p.change("root", tom, map[string]any{"quota": map[string]any{"storedBytes": 200, "perDay": map[string]any{"runs": 2}}})
	p.submit("tom", upload)
	detail := p.refused(http.StatusTooManyRequests, "tom", http.MethodPost, p.task+"/submissions", upload)
	if !strings.Contains(detail, " 2.") {
		t.Errorf("the refusal has another limit: %s", detail)
	}
	for _, user := range []string{"tom", "root"} {
		u := servertest.Get[users.Profile](p.Server, user, tom)
		if u.Limits.StoredBytes != 200 || u.Limits.PerDay[record.MadeRuns] != 2 || u.Limits.PerDay[record.MadeTasks] != 7 ||
			*u.Quota.StoredBytes != 200 || len(u.Quota.PerDay) != 1 || u.Taken.StoredBytes != 120 || u.Taken.PerDay[record.MadeRuns] != 2 {
			t.Errorf("%s sees %+v with %+v of %+v", user, u.Quota, u.Taken, u.Limits)
		}
	}
	p.advance(26 * time.Hour) // all counts of a day have expired
	p.change("root", tom, map[string]any{"quota": map[string]any{"storedBytes": nil}})
	p.refused(http.StatusForbidden, "tom", http.MethodPost, p.task+"/submissions", upload)
	if u := servertest.Get[users.Profile](p.Server, "tom", tom); u.Limits.StoredBytes != 100 || u.Limits.PerDay[record.MadeRuns] != 2 {
		t.Errorf("%+v", u.Limits)
	}
	for _, patch := range []string{`{"quota":{"perDay":{"runs":null}}}`, `{"quota":{"perDay":null}}`} {
		p.change("root", tom, map[string]any{"quota": map[string]any{"perDay": map[string]any{"runs": 1}}})
		p.Want(http.StatusOK, nil, "root", http.MethodPatch, tom, patch)
		if u := servertest.Get[users.Profile](p.Server, "tom", tom); !u.Quota.IsZero() || u.Limits.PerDay[record.MadeRuns] != 3 {
			t.Errorf("after %s: %+v", patch, u.Quota)
		}
	}
}

func TestUserQuota_IsPatchedByAdministratorsAlone(t *testing.T) {
	p := newCharged(t)
	olga := pathOfUser("olga")
	patch := map[string]any{"quota": map[string]any{"storedBytes": 5}}
	for user, want := range map[string]int{"": http.StatusUnauthorized, "olga": http.StatusForbidden, "robot": http.StatusForbidden} {
		p.Want(want, nil, user, http.MethodPatch, olga, patch)
		p.Want(want, nil, user, http.MethodPatch, pathOfUser("nobody"), patch)
	}
	p.change("root", "/v1/user", map[string]any{})
	var token struct{ Secret string }
	p.Want(http.StatusCreated, &token, "root", http.MethodPost, tokensPath, map[string]any{"name": "t", "scopes": []string{"organize"}})
	p.Want(http.StatusForbidden, nil, token.Secret, http.MethodPatch, olga, patch)
	p.Want(http.StatusNotFound, nil, "root", http.MethodPatch, pathOfUser("nobody"), patch)

	const jsonPatch = "application/json-patch+json"
	var u users.Profile
	before := p.Want(http.StatusOK, &u, "root", http.MethodGet, olga, nil)
	var preview struct {
		Resource users.Profile
		Effects  []any
	}
	p.Want(http.StatusOK, &preview, "root", http.MethodPatch, olga+"?preview=true", patch)
	if preview.Resource.Limits.StoredBytes != 5 || len(preview.Effects) > 0 {
		t.Errorf("%+v", preview)
	}
	tag := before.Header.Get("ETag")
	changed := p.Want(http.StatusOK, &u, "root", http.MethodPatch, olga, `[{"op":"add","path":"/quota/storedBytes","value":5}]`,
		"Content-Type", jsonPatch, "If-Match", tag)
	if u.Limits.StoredBytes != 5 || changed.Header.Get("ETag") == tag {
		t.Errorf("the tag %s after %s", tag, changed.Body)
	}
	p.Want(http.StatusPreconditionFailed, nil, "root", http.MethodPatch, olga, patch, "If-Match", tag)
	same := p.Want(http.StatusOK, nil, "root", http.MethodPatch, olga, patch, "If-Match", changed.Header.Get("ETag"))
	if same.Header.Get("ETag") != changed.Header.Get("ETag") {
		t.Error("a patch that changes nothing made another version")
	}
	for patch, want := range map[string]string{
		`{"quota":{"perDay":{"runz":1}}}`:  "/quota/perDay",
		`{"quota":{"perDay":{"runs":-1}}}`: "/quota/perDay",
		`{"quota":{"storedBytes":-1}}`:     "/quota/storedBytes",
		`{"quota":{"storedBytes":1.5}}`:    "/quota/storedBytes",
		`{"quota":{"storedbytes":1}}`:      "/quota/storedbytes",
		`{"limits":{"storedBytes":1}}`:     "/limits",
		`{"name":"Olga"}`:                  "/name",
	} {
		var refused struct{ Errors []problem.Field }
		p.Want(http.StatusUnprocessableEntity, &refused, "root", http.MethodPatch, olga, patch)
		if len(refused.Errors) != 1 || !strings.HasPrefix(refused.Errors[0].Pointer, want) {
			t.Errorf("%s: %+v", patch, refused)
		}
	}
	if all := servertest.List[users.Profile](p.Server, "root", "/v1/users"); all[0].Quota != nil || all[0].Limits != nil {
		t.Errorf("the list of users has %+v", all[0])
	}
}

// The deletion of a user removes the quota and the place in the list. No quota can be set during the deletion.
func TestUserQuota_GoesWithTheUser(t *testing.T) {
	p := newWithPerson(t, nil)
	user, id := pathOfUser(zebra), recordtest.UserID(zebra)
	p.change("root", user, map[string]any{"quota": map[string]any{"storedBytes": 5}})
	listed := func() bool {
		return slices.Contains(p.IDs("root", "/v1/platform/storage/users"), id)
	}
	if !listed() {
		t.Error("the user is not listed by storage")
	}
	p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, user, nil)
	p.Want(http.StatusConflict, nil, "root", http.MethodPatch, user, map[string]any{"quota": map[string]any{"storedBytes": 6}})
	p.delete("root")
	p.Want(http.StatusNotFound, nil, "root", http.MethodPatch, user, map[string]any{"quota": map[string]any{"storedBytes": 6}})
	if listed() || recordtest.Get[record.Usage](t, p.Store, record.UsageKey(id)) != nil {
		t.Error("something of the user is left")
	}
}

// TestListUsersByStorage_HasThoseWithMostFirst: each user occurs once, in pages of any length. If the bytes of two users differ
// by a factor of two, the user with more comes first.
func TestListUsersByStorage_HasThoseWithMostFirst(t *testing.T) {
	const list = "/v1/platform/storage/users"
	s := newServer(t)
	s.Want(http.StatusNoContent, nil, "root", http.MethodGet, list, nil)
	want := map[string]int64{}
	for i, n := range []int64{1, 5, 6, 7, 100, 3_000_000_000, 3_100_000_000, 120, 1 << 40, 2} {
		user := fmt.Sprint("user", i)
		s.Records().User(user)
		storeMore(t, s, user, n)
		want[recordtest.UserID(user)] = n
	}
	s.Records().User("none")
	storeMore(t, s, "none", 9)
	storeMore(t, s, "none", -9)
	for limit := 1; limit <= 11; limit++ {
		var got []users.Profile
		for path := fmt.Sprintf("%s?limit=%d", list, limit); path != ""; {
			var p page.Page[users.Profile]
			s.Want(http.StatusOK, &p, "root", http.MethodGet, path, nil)
			exact := slices.IsSortedFunc(p.Data, func(a, b users.Profile) int { return int(b.Taken.StoredBytes - a.Taken.StoredBytes) })
			if len(p.Data) > limit || !exact {
				t.Fatalf("a page of %d has %+v", limit, p.Data)
			}
			got, path = append(got, p.Data...), p.Links.Next
		}
		if len(got) != len(want) {
			t.Fatalf("pages of %d have %d users", limit, len(got))
		}
		most := int64(1 << 61)
		for _, u := range got {
			if n := u.Taken.StoredBytes; n != want[u.ID] || n > 2*most || u.Name == "" || u.Limits.StoredBytes != s.Quotas.Quotas.User.StoredBytes {
				t.Errorf("pages of %d have %+v after one with %d bytes", limit, u, most)
			}
			delete(want, u.ID)
			most = min(most, u.Taken.StoredBytes)
		}
		if len(want) > 0 {
			t.Fatalf("pages of %d lack %v", limit, want)
		}
		for _, u := range got {
			want[u.ID] = u.Taken.StoredBytes
		}
	}
	for _, cursor := range []string{recordtest.UserID("none"), recordtest.UserID("nobody")} {
		s.Want(http.StatusBadRequest, nil, "root", http.MethodGet, list+"?cursor="+cursor, nil)
	}
}

// storeMore stores a number of bytes as the user.
func storeMore(t *testing.T, s *servertest.Server, user string, bytes int64) {
	t.Helper()
	tx := new(records.Tx)
	a := quota.Account{Store: s.Store, Tx: tx, Now: s.Now(), UserID: recordtest.UserID(user)}
	if err := a.Credit(t.Context(), record.Charge{Bytes: bytes}); err != nil {
		t.Fatal(err)
	}
	recordtest.New(t, s.Store).Commit(tx)
}

// madeOf is the state of a user who makes organizers: the quota and the number of organizers.
type madeOf struct{ limit, made int64 }

var userQuotaModel = porcupine.Model{
	Init: func() any { return madeOf{limit: 2} },
	Step: func(state, input, output any) (bool, any) {
		l := state.(madeOf)
		set := input.(int64)
		was := output.(madeOf)
		switch {
		case set > 0:
			return true, madeOf{set, l.made}
		case set < 0: // a read of the user
			return was == l, l
		case was.made > 0:
			return l.made < l.limit, madeOf{l.limit, l.made + 1}
		default:
			return l.made >= l.limit, l
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %+v", input, output) },
}

// TestUserQuota_IsLinearizable lets users create organizers up to their quota while administrators change it. The answers must
// equal those to the same requests in some sequence.
func TestUserQuota_IsLinearizable(t *testing.T) {
	eachSlowStore(t, func(t *testing.T, slow store.Store) {
		s := newServer(t)
		s.Store = slow
		for round := range raceRounds {
			raceUserQuota(t, s, fmt.Sprint("ada", round))
		}
	})
}

func raceUserQuota(t *testing.T, s *servertest.Server, user string) {
	t.Helper()
	s.Want(http.StatusOK, nil, user, http.MethodPatch, "/v1/user", map[string]any{})
	set := func(n int64) servertest.Answer {
		limits := map[string]any{"perDay": map[string]any{record.MadeOrganizers: n}}
		return s.Do("root", http.MethodPatch, pathOfUser(user), map[string]any{"quota": limits})
	}
	if a := set(2); a.Status != http.StatusOK {
		t.Fatalf("%s", a.Body)
	}
	history := storetest.NewHistory()
	var all sync.WaitGroup
	ask := func(input int64) (any, bool) {
		output, status := madeOf{}, http.StatusOK
		switch {
		case input > 0:
			status = set(input).Status
		case input < 0:
			u := servertest.Get[users.Profile](s, "root", pathOfUser(user))
			output = madeOf{u.Limits.PerDay[record.MadeOrganizers], u.Taken.PerDay[record.MadeOrganizers]}
		default:
			status = s.Do(user, http.MethodPost, "/v1/organizers", map[string]any{"name": "New"}).Status
			if status == http.StatusCreated {
				output.made = 1
			}
		}
		if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status) {
			t.Errorf("%d: status %d", input, status)
		}
		return output, status != http.StatusServiceUnavailable // a 503 changed nothing
	}
	for client := range racers {
		all.Go(func() {
			for range raceCalls {
				input := rand.Int64N(3) - 1
				if input > 0 {
					input += rand.Int64N(8)
				}
				history.Call(client, input, func() (any, bool) { return ask(input) })
			}
		})
	}
	all.Wait()
	history.CheckLinearizable(t, userQuotaModel)
}
