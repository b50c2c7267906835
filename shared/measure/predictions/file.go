package predictions

import (
	"context"
	"errors"
	"io"
	"strconv"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// file is one file while it is read.
type file struct {
	name   string
	format Format
	values Values
	report *measure.Report
}

// example is what one line or record says. Its id and label are valid until the next one.
type example struct {
	line   int
	id     []byte
	sound  bool // whether it has a value; when not, the report says why
	label  []byte
	number float64
}

// read calls add with every example whose id can be read, until add returns false or the report is full. Its error is
// one of r or of the context.
func (f *file) read(ctx context.Context, r io.Reader, add func(example) bool) error {
	before := len(f.report.Diagnostics())
	examples := 0
	counted := func(e example) bool {
		examples++
		return add(e)
	}
	in := lines.NewReader(ctx, f.name, r, f.report)
	if f.format.Kind == CSV {
		f.readCSV(in, counted)
	} else {
		f.readJSONL(in, counted)
	}
	if err := in.Err(); err != nil {
		return err
	}
	if examples == 0 && len(f.report.Diagnostics()) == before {
		f.errorf(0, "the file is empty or has no examples; expected one for each line, with the fields %q and %q", f.format.IDField,
			f.format.ValueField)
	}
	return nil
}

func (f *file) errorf(line int, format string, args ...any) {
	f.report.Errorf(f.name, line, format, args...)
}

// setID checks the text of an id.
func (f *file) setID(e *example, text []byte) bool {
	e.id = text
	return f.bounded(e.line, f.format.IDField, text)
}

// setValue checks the text of a label or number.
func (f *file) setValue(e *example, text []byte) {
	if !f.bounded(e.line, f.format.ValueField, text) {
		return
	}
	if f.values == Labels {
		e.label, e.sound = text, true
		return
	}
	if e.number, e.sound = fields.ParseScore(text); e.sound {
		return
	}
	if _, err := strconv.ParseFloat(string(text), 64); errors.Is(err, strconv.ErrRange) {
		f.errorf(e.line, "%q is %s, which is too large for a double-precision number; expected at most 1.7e308", f.format.ValueField,
			fields.Quote(text))
		return
	}
	f.errorf(e.line, "%q is %s; expected a finite decimal number such as -1.5 or 2e-3", f.format.ValueField, fields.Quote(text))
}

func (f *file) bounded(line int, field string, text []byte) bool {
	switch {
	case len(text) == 0:
		f.errorf(line, "%q is empty; expected a value", field)
	case len(text) > MaxText:
		f.errorf(line, "%q has %d bytes (%s); expected at most %d", field, len(text), fields.Quote(text), MaxText)
	default:
		return true
	}
	return false
}
