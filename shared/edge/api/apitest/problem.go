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
		faults = append(faults, textFaults(t)...)
	}
	return faults
}

// mediaPreview is the media type of previews.
const mediaPreview = "application/vnd.assay.preview+json"

// whole matches a text of whole sentences.
var whole = regexp.MustCompile(`(?s)^[^a-z].*[.?!]$`)

// counted matches a number in parentheses, which repeats a number of the sentence.
var counted = regexp.MustCompile(`\(\d+\)`)

// previewFaults checks the texts of the effects in a preview, which people read without the other members.
func previewFaults(body []byte) (faults []string) {
	var p struct{ Effects []problem.Text }
	if err := json.Unmarshal(body, &p); err != nil {
		return []string{err.Error()}
	}
	for _, t := range p.Effects {
		faults = append(faults, textFaults(t)...)
		if !whole.MatchString(t.Detail) || strings.Contains(t.Detail, "..") || counted.MatchString(t.Detail) {
			faults = append(faults, fmt.Sprintf("the effect is not in whole sentences: %q", t.Detail))
		}
	}
	return faults
}

// textFaults checks that the parts are the detail, and that values which programs say in their own words are parts.
func textFaults(t problem.Text) (faults []string) {
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
	return faults
}
