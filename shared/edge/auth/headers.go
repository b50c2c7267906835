package auth

import (
	"regexp"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// BearerToken returns the token in the values of the authorization header, or of the gRPC metadata with that name. It returns "" if there
// are no values. It refuses values that are not exactly one bearer token, even where no login is needed, because the client expects to be
// identified.
func BearerToken(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", problem.InvalidToken.New("Send one value of authorization, of the form: Bearer <token>.")
	}
	return token, nil
}

// maxRequestID is the greatest length of a request id. The pattern does not contain this bound, because compiling it would take a
// quarter of a millisecond at every cold start.
const maxRequestID = 128

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// RequestID returns the request id that the caller sent, or a new one if that is missing or invalid.
func RequestID(sent string, now time.Time) string {
	if len(sent) > maxRequestID || !requestIDs.MatchString(sent) {
		return record.NewID(now)
	}
	return sent
}
