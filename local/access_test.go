package main

import (
	"net/http"
	"testing"

	"assay/shared/api/acceptancetest"
)

func TestAccess(t *testing.T) {
	acceptancetest.AccessMatrix(t, setup(t))
}

func TestHiddenIsMissing(t *testing.T) {
	acceptancetest.HiddenIsMissing(t, setup(t))
}

// setup is the program over a fresh folder, as the acceptance tests reach it: they send hundreds of requests of one caller at
// once, which no limit is to answer in place of the operation.
func setup(t *testing.T, flags ...string) acceptancetest.Setup {
	t.Helper()
	s := start(t, append(flags, "-demo=false", "-rates", `{"write":{"perSecond":0},"tool":{"perSecond":0},"upload":{"perSecond":0}}`)...)
	return acceptancetest.Setup{
		URL:    s.url,
		Token:  func(user string, groups ...string) string { return s.token(t, user, groups...) },
		Client: http.DefaultClient,
	}
}
