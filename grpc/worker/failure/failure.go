// Package failure distinguishes failures of a run, which end it, from those of its worker, after which the run is tried again.
package failure

import (
	"fmt"
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/lists"
)

// RunError is an error of the run: of its image, repository, program or output. Every other error is the worker's.
type RunError struct {
	// Diagnostics say what happened. Those that are safe while the run is blinded, which its owner may read, come first.
	Diagnostics []*assayv1.Diagnostic
}

// New returns an error of the run with a diagnostic that is safe while the run is blinded: it must reveal nothing of the truth, nor
// of what the run printed.
func New(format string, args ...any) *RunError { return InFile("", format, args...) }

// InFile is New for an error in a file of the run.
func InFile(file, format string, args ...any) *RunError {
	d := Diagnostic(fmt.Sprintf(format, args...), true)
	d.File = file
	return &RunError{Diagnostics: []*assayv1.Diagnostic{d}}
}

// Behind puts a diagnostic as New makes it before those of the error.
func (f *RunError) Behind(format string, args ...any) *RunError {
	return &RunError{Diagnostics: append(New(format, args...).Diagnostics, f.Diagnostics...)}
}

// With adds a diagnostic that is not safe while the run is blinded, of a heading and the text, unless the text is empty.
func (f *RunError) With(heading, text string) *RunError {
	if text != "" {
		f.Diagnostics = append(f.Diagnostics, Diagnostic(heading+text, false))
	}
	return f
}

// maxCharacters is how long the server lets a message be.
const maxCharacters = 2000

// Diagnostic returns an error with the text, shortened and made valid UTF-8 as the server requires.
func Diagnostic(text string, safeWhileBlinded bool) *assayv1.Diagnostic {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if r := []rune(text); len(r) > maxCharacters {
		text = string(r[:maxCharacters-1]) + "…"
	}
	return &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: text, Discreet: safeWhileBlinded}
}

func (f *RunError) Error() string {
	return strings.Join(lists.Map(f.Diagnostics, (*assayv1.Diagnostic).GetMessage), "\n")
}
