package auth

import (
	"regexp"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
)

// BearerToken returns the token in the values of the authorization header, or of the gRPC metadata of that name; empty when
// there are none. Values that are no single bearer token are refused, also where no login is needed: a client that sends one
// expects to be identified.
func BearerToken(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if token = strings.TrimSpace(token); len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", problem.InvalidToken.New("Send one value of authorization, of the form: Bearer <token>.")
	}
	return token, nil
}

// maxRequestID is how long an id of a request may be. A bound within the pattern would cost a quarter of a millisecond at
// every cold start.
const maxRequestID = 128

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// RequestID returns the id that the caller sent for a request, or a new one when that is missing or not valid.
func RequestID(sent string, now time.Time) string {
	if len(sent) > maxRequestID || !requestIDs.MatchString(sent) {
		return record.NewID(now)
	}
	return sent
}
