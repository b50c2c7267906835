package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/access"
	"assay/shared/problem"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
)

func TestStatuses_CoverAllKindsOfProblems(t *testing.T) {
	for _, k := range problem.Kinds {
		code, ok := statuses[k]
		if !ok || code == codes.OK || code == codes.Unknown || (code == codes.Internal) != (k == problem.Internal) {
			t.Errorf("%s has the code %v", k.Slug, code)
		}
	}
	if len(statuses) != len(problem.Kinds) {
		t.Errorf("%d codes for %d kinds", len(statuses), len(problem.Kinds))
	}
}

func TestStatusOf_ProblemHasDetails(t *testing.T) {
	err := problem.Invalid.New("secret of the body").With(problem.Field{
		Pointer: "/files/0/mediaType", Detail: "is none"}).After(2 * time.Second)
	s := statusOf(t.Context(), err, "id-1")
	if s.Code() != codes.InvalidArgument || strings.Contains(s.Message(), "body") {
		t.Errorf("%v", s)
	}
	var found []string
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			found = append(found, d.GetFieldViolations()[0].GetField()+" "+d.GetFieldViolations()[0].GetDescription())
		case *errdetails.ErrorInfo:
			found = append(found, d.GetDomain()+" "+d.GetReason()+" "+d.GetMetadata()["slug"]+" "+d.GetMetadata()["type"])
		case *errdetails.RequestInfo:
			found = append(found, d.GetRequestId())
		case *errdetails.RetryInfo:
			found = append(found, d.GetRetryDelay().AsDuration().String())
		}
	}
	if got := strings.Join(found, "|"); got != "files[0].media_type is none|assay INVALID invalid urn:assay:problem:invalid|id-1|2s" {
		t.Errorf("%s", got)
	}
}

func TestStatusOf_OtherErrorsRevealNothing(t *testing.T) {
	if s := statusOf(t.Context(), errors.New("a secret"), "id"); s.Code() != codes.Internal || strings.Contains(s.Message(), "secret") {
		t.Errorf("%v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := statusOf(ctx, problem.Unavailable.Wrap(ctx.Err(), "x"), "id"); s.Code() != codes.Canceled {
		t.Errorf("%v", s)
	}
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	if s := statusOf(late, late.Err(), "id"); s.Code() != codes.DeadlineExceeded {
		t.Errorf("%v", s)
	}
}

func TestAuthorize_EveryMethodHasOneRole(t *testing.T) {
	s := New(Env{Log: slog.New(slog.DiscardHandler), Now: time.Now}, Options{
		Lease: time.Minute, FirstLease: time.Minute, QueuePollInterval: time.Minute, Reflection: true})
	served := map[string]bool{}
	for name, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			method := "/" + name + "/" + m.Name
			served[method] = true
			if methodRoles[method] == 0 {
				t.Errorf("nobody may call %s", method)
			}
			if workers := strings.HasPrefix(name, "assay.v1.Worker"); workers && methodRoles[method] != access.Worker {
				t.Errorf("%s may be called with %v", method, methodRoles[method])
			}
		}
	}
	for method := range methodRoles {
		if !served[method] {
			t.Errorf("the rule for %s is for nothing", method)
		}
	}
	if err := authorize(access.Caller{ID: "x", Admin: true, Worker: true}, "/assay.v1.RunService/Other"); err == nil {
		t.Error("a method without a rule may be called")
	}
	for _, tt := range []struct {
		caller access.Caller
		kind   *problem.Kind
	}{{access.Caller{}, problem.Unauthorized}, {access.Caller{ID: "x"}, problem.Forbidden},
		{access.Caller{ID: "x", Admin: true}, problem.Forbidden}, {access.Caller{ID: "x", Worker: true}, nil}} {
		if err := authorize(tt.caller, assayv1.WorkerService_Lease_FullMethodName); tt.kind == nil && err != nil || tt.kind != nil &&
			!tt.kind.Is(err) {
			t.Errorf("%+v: %v", tt.caller, err)
		}
	}
}
