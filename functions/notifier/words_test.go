package notifier_test

import (
	"regexp"
	"strings"

	"assay/shared/edge/mail/mailtest"
)

var (
	addresses = regexp.MustCompile(`https?://[^\s"<]+`)
	markup    = regexp.MustCompile(`<[^>]*>`)
	// apiOnly are requests, paths, instants, ids and members of the API, which no letter has outside of addresses.
	apiOnly = regexp.MustCompile(`\b(GET|HEAD|POST|PUT|PATCH|DELETE)\b|/v1\b|\d{4}-\d\d-\d\dT\d\d|\b0[0-9A-HJKMNP-TV-Z]{25}\b|` +
		`\b[a-z]+[A-Z][a-z]`)
)

// checkWords fails if a letter has words of the API. The page with the choice of notifications is in the console.
func (f *fixture) checkWords(m mailtest.Received) {
	f.t.Helper()
	for _, text := range []string{m.Subject, addresses.ReplaceAllString(m.Text, ""), markup.ReplaceAllString(m.HTML, " ")} {
		if found := apiOnly.FindString(text); found != "" {
			f.t.Errorf("a letter says %q:\n%s", found, text)
		}
	}
	for _, text := range []string{m.Text, m.HTML} {
		if !strings.Contains(text, "https://assay.example/console#/me") {
			f.t.Errorf("a letter does not lead to the choice of notifications:\n%s", text)
		}
	}
}
