package main

import (
	"net/http"
	"testing"

	"assay/functions/acceptancetest"
)

func TestAccess(t *testing.T) {
	acceptancetest.AccessMatrix(t, setup(t))
}

func TestHiddenIsMissing(t *testing.T) {
	acceptancetest.HiddenIsMissing(t, setup(t))
}

// noRates lifts the limits of callers: acceptance tests send hundreds of requests of one caller at once.
const noRates = `{"write":{"perSecond":0},"tool":{"perSecond":0},"upload":{"perSecond":0}}`

// setup is the program over a fresh folder, as the acceptance tests reach it.
func setup(t *testing.T, flags ...string) acceptancetest.Setup {
	t.Helper()
	s := start(t, append(flags, "-demo=false", "-rates", noRates)...)
	return acceptancetest.Setup{
		URL:    s.url,
		Token:  func(user string, groups ...string) string { return s.token(t, user, groups...) },
		Client: http.DefaultClient,
	}
}
