package text

import (
	"fmt"

	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"

	"golang.org/x/text/unicode/norm"
)

// forms counts the texts that are in another Unicode form than all of their references. Measures compare them as different characters,
// although they look alike.
type forms struct {
	found int
	first string // id of the first such item
}

// compare compares the forms of a text and its references.
func (f *forms) compare(counter *steps.Counter, references [][]byte, text []byte, id func() string) {
	if len(references) == 0 || mismatch.IsASCII(text) {
		return
	}
	size := len(text)
	composed := norm.NFC.IsNormal(text)
	differs := true
	for _, reference := range references {
		size += len(reference)
		differs = differs && composed != norm.NFC.IsNormal(reference) && !mismatch.IsASCII(reference)
	}
	_ = counter.Add(size)                                // the comparison itself returns the error
	if !differs || composed && norm.NFD.IsNormal(text) { // no character of the text has two forms
		return
	}
	if f.found == 0 {
		f.first = id()
	}
	f.found++
}

// warnings returns the warning about the texts, if there are any.
func (f *forms) warnings() []string {
	if f.found == 0 {
		return nil
	}
	first := fields.Quote([]byte(f.first))
	return []string{fmt.Sprintf("%s and their references have different Unicode forms, which count as different characters although they "+
		"look alike; the first is that of the item %s: write all files in the form NFC", plural.Count(f.found, "text"), first)}
}
