// Package failure distinguishes permanent failures, which lie in the run itself and end it, from everything else that goes wrong
// on a worker, which is retried, perhaps by another worker.
package failure

import (
	"fmt"
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/lists"
)

// OfRun is an error that is the run's own: of its image, its repository, its program or its output. Every other error is
// the worker's.
type OfRun struct {
	// Diagnostics say what happened. Those that are safe while the run is blinded, which its owner may read, come first.
	Diagnostics []*assayv1.Diagnostic
}

// New returns a failure of the run with a diagnostic that is safe while the run is blinded: it must reveal nothing of the truth,
// nor of what the run printed.
func New(format string, args ...any) *OfRun { return Of("", format, args...) }

// Of returns a failure of the run that is about one of its files.
func Of(file, format string, args ...any) *OfRun {
	d := Diagnostic(fmt.Sprintf(format, args...), true)
	d.File = file
	return &OfRun{Diagnostics: []*assayv1.Diagnostic{d}}
}

// With adds a diagnostic that is not safe while the run is blinded, unless the text is empty.
func (f *OfRun) With(text string) *OfRun {
	if text != "" {
		f.Diagnostics = append(f.Diagnostics, Diagnostic(text, false))
	}
	return f
}

// maxCharacters is how long the server lets a message be.
const maxCharacters = 2000

// Diagnostic is an error with the text, cut and made valid UTF-8 so that the server accepts it.
func Diagnostic(text string, safeWhileBlinded bool) *assayv1.Diagnostic {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if r := []rune(text); len(r) > maxCharacters {
		text = string(r[:maxCharacters-1]) + "…"
	}
	return &assayv1.Diagnostic{Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: text, Discreet: safeWhileBlinded}
}

// Error implements error.
func (f *OfRun) Error() string {
	return strings.Join(lists.Map(f.Diagnostics, (*assayv1.Diagnostic).GetMessage), "\n")
}
