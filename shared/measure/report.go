package measure

import "fmt"

// Report gathers the diagnostics of one evaluation, in the order in which they are found and at most MaxDiagnostics
// of them. A reader stops when it is Full. The zero value is ready for use; it is not safe for concurrent use.
type Report struct {
	list   []Diagnostic
	errors int
}

// Errorf adds an error. Line 0 means the whole file.
func (r *Report) Errorf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Error, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning as Errorf adds an error.
func (r *Report) Warnf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Warning, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Add adds a diagnostic. When the report is full an error still counts for Failed, so that no number of warnings
// lets a bad file pass, and takes the place of the last warning.
func (r *Report) Add(d Diagnostic) {
	if d.Severity == Error {
		r.errors++
	}
	if len(r.list) < MaxDiagnostics {
		r.list = append(r.list, d)
		return
	}
	if d.Severity != Error {
		return
	}
	for i := len(r.list) - 1; i >= 0; i-- {
		if r.list[i].Severity == Warning {
			r.list = append(append(r.list[:i], r.list[i+1:]...), d)
			return
		}
	}
}

// Full says that there is no room for another error, so that reading on would report nothing new.
func (r *Report) Full() bool { return r.errors >= MaxDiagnostics }

// Failed says whether there is an error, in the list or beyond its end.
func (r *Report) Failed() bool { return r.errors > 0 }

// Diagnostics returns what was gathered; nil when there is nothing.
func (r *Report) Diagnostics() []Diagnostic { return r.list }
