package server_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"assay/functions/users"
	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/service/records"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

// accessToken makes an access token for the user, and returns it.
func (s *fixture) accessToken(user string, scopes []string, pools ...string) users.NewToken {
	s.t.Helper()
	var made users.NewToken
	draft := map[string]any{"name": "worker", "scopes": scopes, "pools": append([]string{}, pools...)}
	s.Want(http.StatusCreated, &made, user, http.MethodPost, "/v1/user/tokens", draft)
	return made
}

// A worker with an access token of an organizer's member gets only the runs of that organizer's pool.
func TestLease_WithAnAccessTokenIsForItsPools(t *testing.T) {
	s := newFixture(t)
	own, other := s.task.OrganizerID+"/gpu", s.Records().Organizer("olga").ID+"/gpu"
	private := s.dataset(func(d *record.DatasetItem) { d.Pool = own })
	s.image("ada", s.dataset())
	made := s.accessToken("olga", []string{"work"}, own)
	lease := func(token string, pools ...string) (*assayv1.LeaseResponse, error) {
		return s.work.Lease(s.as(token), &assayv1.LeaseRequest{Worker: "w", Pools: pools})
	}
	if got, err := lease(made.Secret); err != nil || got.GetWork() != nil {
		t.Errorf("a run of the default pool was leased: %v %v", got, err)
	}
	run := s.image("ada", private)[0]
	for _, pool := range []string{record.DefaultPool, other} {
		_, err := lease(made.Secret, pool)
		wantCode(t, err, codes.InvalidArgument, "has faults")
	}
	got, err := lease(made.Secret)
	if err != nil || got.GetWork().GetRunId() != run {
		t.Fatalf("%v %v, want the run %s", got, err, run)
	}
	_, err = lease(s.accessToken("olga", []string{"read", "submit", "organize"}).Secret)
	wantCode(t, err, codes.PermissionDenied, "with the scope work")
}

// The user's current rights decide: a token for all pools needs an administrator, and other tokens need membership.
func TestLease_WithAnAccessTokenNeedsTheRightsOfItsUserNow(t *testing.T) {
	s := newFixture(t)
	lab := s.Records().Organizer("olga", "oskar")
	s.Records().User("olga", "oskar")
	administrator := s.accessToken("root", []string{"work"}).Secret
	member := s.accessToken("oskar", []string{"work"}, lab.ID+"/gpu").Secret
	lease := func(token string) error {
		_, err := s.work.Lease(s.as(token), &assayv1.LeaseRequest{Worker: "w"})
		return err
	}
	for _, token := range []string{administrator, member} {
		if err := lease(token); err != nil {
			t.Error(err)
		}
	}
	demoted := recordtest.Get[record.User](t, s.Store, record.UserKey(recordtest.UserID("root")))
	demoted.AdminSeenAt = new(record.At(time.Now().Add(-31 * record.Day)))
	s.Records().Replace(demoted)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/organizers/"+lab.ID+"/members/"+recordtest.UserID("oskar"), nil)
	for _, token := range []string{administrator, member} {
		wantCode(t, lease(token), codes.PermissionDenied, "may not work for its pools any more")
	}
}

// A waiting worker gets no run after its user has lost the right. A token cannot use the lease of another token.
func TestLease_WithAnAccessTokenEndsWithTheRight(t *testing.T) {
	s := newFixture(t)
	lab, pool := s.task.OrganizerID, s.task.OrganizerID+"/gpu"
	s.Records().User("olga")
	dataset := s.dataset(func(d *record.DatasetItem) { d.Pool = pool })
	run := s.image("ada", dataset)[0]
	first := s.accessToken("olga", []string{"work"}, pool).Secret
	second := s.accessToken("olga", []string{"work"}, pool).Secret
	got, err := s.work.Lease(s.as(first), &assayv1.LeaseRequest{Worker: "w"})
	if err != nil || got.GetWork().GetRunId() != run {
		t.Fatalf("%v %v", got, err)
	}
	beat := func(token string) error {
		in := &assayv1.HeartbeatRequest{RunId: run, LeaseId: got.GetWork().GetLeaseId()}
		_, err := s.work.Heartbeat(s.as(token), in)
		return err
	}
	wantCode(t, beat(second), codes.FailedPrecondition, "expired")
	if err := beat(first); err != nil {
		t.Error(err)
	}
	waiting := make(chan error, 1)
	go func() {
		got, err := s.work.Lease(s.as(second), &assayv1.LeaseRequest{Worker: "w", Wait: durationpb.New(time.Minute)})
		if got.GetWork() != nil {
			err = errors.New("a run was leased")
		}
		waiting <- err
	}()
	s.awaitWaitingWorker()
	s.Records().Commit(new(records.Tx).DeleteKeys(record.MembershipKey(recordtest.UserID("olga"), lab)))
	s.image("ada", dataset)
	wantCode(t, <-waiting, codes.PermissionDenied, "may not work for its pools any more")
	wantCode(t, beat(first), codes.PermissionDenied, "may not work for its pools any more")
}

// A running call ends soon after its token is revoked.
func TestCall_EndsWhenItsAccessTokenIsRevoked(t *testing.T) {
	s := newFixture(t)
	made := s.accessToken("root", []string{"work", "read"})
	ended := make(chan error, 1)
	go func() {
		_, err := s.work.Lease(s.as(made.Secret), &assayv1.LeaseRequest{Worker: "w", Wait: durationpb.New(time.Minute)})
		ended <- err
	}()
	s.awaitWaitingWorker()
	s.Want(http.StatusNoContent, nil, "root", http.MethodDelete, "/v1/user/tokens/"+made.ID, nil)
	wantCode(t, waittest.Receive(t, "the call has ended", ended), codes.Unauthenticated, "revoked")
}

// Lookups of made-up tokens from an address are bounded. A worker with a known token is not affected.
func TestCall_BoundsTokensThatAnAddressMakesUp(t *testing.T) {
	s := newFixture(t)
	rates := ratelimit.New(ratelimit.Rates{Token: ratelimit.Policy{PerSecond: 1, Burst: 3}}, "")
	now := time.Now()
	verify := auth.NewAuthenticator(nil, s.Store, func() time.Time { return now }, rates) // no further lookup becomes allowed
	made := s.accessToken("olga", []string{"read"})
	s.Verify = verify.Caller
	list := func(token string) error {
		_, err := s.runs.ListRuns(s.as(token), &assayv1.ListRunsRequest{})
		return err
	}
	if err := list(made.Secret); err != nil {
		t.Fatal(err)
	}
	forged, _ := auth.NewAccessToken(recordtest.UserID("olga"))
	for _, code := range []codes.Code{codes.Unauthenticated, codes.Unauthenticated, codes.Unavailable} {
		wantCode(t, list(forged), code, "")
	}
	if err := list(made.Secret); err != nil {
		t.Errorf("a token that was seen before: %v", err)
	}
}
