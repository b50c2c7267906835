package server

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"assay/shared/language/problem"
	"assay/shared/storage/diskfull"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// statuses maps each kind of problem to its gRPC code.
var statuses = map[*problem.Kind]codes.Code{
	problem.BadRequest:          codes.InvalidArgument,
	problem.InvalidParameter:    codes.InvalidArgument,
	problem.InvalidCursor:       codes.InvalidArgument,
	problem.Unauthorized:        codes.Unauthenticated,
	problem.InvalidToken:        codes.Unauthenticated,
	problem.Forbidden:           codes.PermissionDenied,
	problem.InsufficientScope:   codes.PermissionDenied,
	problem.OutsideWindow:       codes.FailedPrecondition,
	problem.QuotaExhausted:      codes.ResourceExhausted,
	problem.NotFound:            codes.NotFound,
	problem.MethodNotAllowed:    codes.Unimplemented,
	problem.NotAcceptable:       codes.InvalidArgument,
	problem.Conflict:            codes.FailedPrecondition,
	problem.StaleLease:          codes.FailedPrecondition,
	problem.TruthChanged:        codes.Aborted,
	problem.PatchFailed:         codes.FailedPrecondition,
	problem.UnderWay:            codes.Aborted,
	problem.LengthRequired:      codes.InvalidArgument,
	problem.PreconditionFailed:  codes.FailedPrecondition,
	problem.TooLarge:            codes.ResourceExhausted,
	problem.HeadersTooLarge:     codes.ResourceExhausted,
	problem.UnsupportedMedia:    codes.InvalidArgument,
	problem.RangeNotSatisfiable: codes.OutOfRange,
	problem.Invalid:             codes.InvalidArgument,
	problem.IdempotencyMismatch: codes.InvalidArgument,
	problem.QuotaToday:          codes.ResourceExhausted,
	problem.TooManyRequests:     codes.ResourceExhausted,
	problem.Internal:            codes.Internal,
	problem.Unavailable:         codes.Unavailable,
	problem.StorageFull:         codes.Unavailable, // so that clients try again
}

// errorDomain is the domain of the reasons in ErrorInfo.
const errorDomain = "assay"

// reason converts a problem's slug to UPPER_SNAKE_CASE, which AIP-193 requires.
func reason(k *problem.Kind) string { return strings.ToUpper(strings.ReplaceAll(k.Slug, "-", "_")) }

// problemOf returns the problem in err. Any other error becomes an internal error, and only the log shows its text.
func problemOf(err error) *problem.Error {
	p := diskfull.Problem(err)
	if p != nil || errors.As(err, &p) {
		return p
	}
	return problem.Internal.Wrap(err,
		"Something went wrong in the server. Try again; if it happens again, report the request id to the operators of the server.")
}

// statusOf returns the status of a call that failed with err. If the context of the call has ended, the status is DEADLINE_EXCEEDED or
// CANCELLED. An err that is already a status remains unchanged.
func statusOf(ctx context.Context, err error, requestID string) *status.Status {
	p := problemOf(err)
	if p.Kind == problem.Internal || p.Kind == problem.Unavailable {
		s, ok := status.FromError(err)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return status.New(codes.DeadlineExceeded, "The call took longer than its deadline. Try again, with a longer one if yours was short.")
		case ctx.Err() != nil:
			return status.New(codes.Canceled, "The call was cancelled.")
		case ok && p.Kind == problem.Internal:
			return s
		}
	}
	detail := p.Detail
	var details []protoadapt.MessageV1
	if len(p.Fields) > 0 {
		detail = "The request has faults; its field violations say where and what."
		bad := &errdetails.BadRequest{}
		for _, f := range p.Fields {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Field: fieldPath(f.Pointer), Description: f.Detail})
		}
		details = append(details, bad)
	}
	details = append(details,
		&errdetails.ErrorInfo{Reason: reason(p.Kind), Domain: errorDomain, Metadata: map[string]string{
			"slug": p.Kind.Slug, "type": p.Kind.Type(), "requestId": requestID}},
		&errdetails.RequestInfo{RequestId: requestID})
	if p.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(p.RetryAfter)})
	}
	s := status.New(cmp.Or(statuses[p.Kind], codes.Internal), detail) // never OK, which would report success
	if with, err := s.WithDetails(details...); err == nil {
		return with
	}
	return s
}

// fieldPath converts a JSON Pointer to a path of fields: /files/0/mediaType to files[0].media_type.
func fieldPath(pointer string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		for _, r := range part {
			if unicode.IsUpper(r) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
