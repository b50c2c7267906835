// Package failure distinguishes failures of a run, which end the run, from failures of its worker, after which the run is tried again.
package failure

import (
	"fmt"
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/language/lists"
)

// RunError is an error of the run: of its image, repository, program or output. All other errors are the worker's.
type RunError struct {
	// Diagnostics describe the error. Those that are safe while the run is blinded come first; its owner may read them.
	Diagnostics []*assayv1.Diagnostic
}

// New returns an error of the run with a diagnostic that is safe while the run is blinded. The text must reveal neither the ground truth
// nor output of the run.
func New(format string, args ...any) *RunError { return InFile("", format, args...) }

// InFile is like New, for an error in a file of the run.
func InFile(file, format string, args ...any) *RunError {
	d := Diagnostic(fmt.Sprintf(format, args...), true)
	d.File = file
	return &RunError{Diagnostics: []*assayv1.Diagnostic{d}}
}

// Behind returns an error with a diagnostic like New's, followed by those of f.
func (f *RunError) Behind(format string, args ...any) *RunError {
	return &RunError{Diagnostics: append(New(format, args...).Diagnostics, f.Diagnostics...)}
}

// With adds a diagnostic that is not safe while the run is blinded. It consists of the heading and the text. An empty text adds nothing.
func (f *RunError) With(heading, text string) *RunError {
	if text != "" {
		f.Diagnostics = append(f.Diagnostics, Diagnostic(heading+text, false))
	}
	return f
}

// maxCharacters is the server's limit for a message.
const maxCharacters = 2000

// Diagnostic returns an error with the text, which it shortens and makes valid UTF-8, as the server requires.
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
