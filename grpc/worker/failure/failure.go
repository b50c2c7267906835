// Package failure tells what cannot succeed because of the run itself from everything else that goes wrong on a worker: the
// first ends the run, the second is tried again, by another worker perhaps.
package failure

import (
	"fmt"
	"strings"

	"assay/grpc/assayv1"
)

// OfRun is an error that is the run's own: of its image, its repository, its program or its output. Every other error is
// the worker's.
type OfRun struct {
	// Diagnostics say what happened, the discreet ones first: those may be read by the owner of a blinded run.
	Diagnostics []*assayv1.Diagnostic
}

// New returns a failure of the run with a discreet diagnostic: it may tell nothing of the truth, nor of what the run printed.
func New(format string, args ...any) *OfRun {
	return (&OfRun{}).add("", true, fmt.Sprintf(format, args...))
}

// Of returns a failure of the run that is about one of its files.
func Of(file, format string, args ...any) *OfRun {
	return (&OfRun{}).add(file, true, fmt.Sprintf(format, args...))
}

// With adds a diagnostic that is not discreet, unless the text is empty.
func (f *OfRun) With(text string) *OfRun {
	if text == "" {
		return f
	}
	return f.add("", false, text)
}

func (f *OfRun) add(file string, discreet bool, text string) *OfRun {
	d := Diagnostic(text, discreet)
	d.File = file
	f.Diagnostics = append(f.Diagnostics, d)
	return f
}

// maxCharacters is how long the server lets a message be.
const maxCharacters = 2000

// Diagnostic is an error with the text, which is cut and mended so that the server takes it.
func Diagnostic(text string, discreet bool) *assayv1.Diagnostic {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if r := []rune(text); len(r) > maxCharacters {
		text = string(r[:maxCharacters-1]) + "…"
	}
	return &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: text, Discreet: discreet}
}

// Error implements error.
func (f *OfRun) Error() string {
	var said []string
	for _, d := range f.Diagnostics {
		said = append(said, d.GetMessage())
	}
	return strings.Join(said, "\n")
}
