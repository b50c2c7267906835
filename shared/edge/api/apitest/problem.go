package apitest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"assay/shared/language/problem"
)

// typed matches values that must be parts of a problem's text: instants, ids, and requests of operations.
var typed = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:|\b0[0-9A-HJKMNP-TV-Z]{25}\b|\b(GET|POST|PATCH|DELETE) /`)

// problemFaults checks the texts of a problem document.
func problemFaults(body []byte) (faults []string) {
	var d problem.Document
	if err := json.Unmarshal(body, &d); err != nil {
		return []string{err.Error()}
	}
	texts := []problem.Text{d.Text}
	for _, f := range d.Errors {
		texts = append(texts, f.Text)
	}
	for _, t := range texts {
		plain, all := t.Detail, t.Detail
		if t.Parts != nil {
			plain, all = "", ""
		}
		for _, p := range t.Parts {
			all += p.Value
			if p.Type == problem.PlainText {
				plain += p.Value + "\n"
			}
		}
		if all != t.Detail {
			faults = append(faults, fmt.Sprintf("the values of the parts are %q, and the detail is %q", all, t.Detail))
		}
		if found := typed.FindString(plain); found != "" {
			faults = append(faults, fmt.Sprintf("%q of %q is in no part of its own", found, strings.TrimSpace(t.Detail)))
		}
	}
	return faults
}
