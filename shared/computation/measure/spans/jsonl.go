package spans

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// texts holds the spans of documents with ids.
type texts struct {
	types   *types
	report  *measure.Report
	field   string // the field with the spans
	list    []span
	places  []place  // by document
	others  [][]byte // the unknown members of the last span
	isTruth bool
	// recounted holds, for a truth, the list by the ways in which runs may count offsets. It is nil if the ways do not differ.
	recounted [recounts][]span
}

// place is the part of the list with the spans of a document.
type place struct{ start, end uint32 }

// take reads the spans of a document. It implements predictions.Take.
func (x *texts) take(file string, line, index int, array, text []byte) (fault string) {
	start := len(x.list)
	for element := range fields.Elements(array) {
		if len(x.list) == bounds.Spans {
			return fmt.Sprintf("these are more than %d spans up to here", bounds.Spans)
		}
		s, fault := x.span(file, line, element)
		if fault != "" {
			return fmt.Sprintf("span %d of %q: %s", len(x.list)-start+1, x.field, fault)
		}
		x.list = append(x.list, s)
	}
	of := x.list[start:]
	if warning := beyond(of, sizeOf(text), ""); warning != "" {
		x.report.Warnf(file, line, "%s", warning)
	}
	slices.SortFunc(of, span.compare)
	for i := 1; i < len(of); i++ {
		if s := of[i]; s == of[i-1] {
			return fmt.Sprintf("%q has the span from %d to %d with the type %s twice; expected every span once", x.field, s.start, s.end,
				fields.Quote([]byte(x.types.names[s.kind])))
		}
	}
	if x.isTruth {
		x.recount(start, text)
	}
	for len(x.places) <= index {
		x.places = append(x.places, place{})
	}
	x.places[index] = place{uint32(start), uint32(len(x.list))}
	return ""
}

// The members of a span, and names of the type in other programs' files.
var (
	members   = [...]string{"start", "end", "type"}
	typeNames = []string{`"label"`, `"labels"`, `"tag"`, `"class"`, `"category"`, `"entity"`, `"entity_type"`, `"entity_group"`}
)

// span reads one span.
func (x *texts) span(file string, line int, object []byte) (s span, fault string) {
	if object[0] != '{' {
		return s, `expected an object like {"start": 0, "end": 4, "type": "PER"}`
	}
	var values [len(members)][]byte
	x.others = x.others[:0]
	for key, value := range fields.Members(object) {
		switch i := slices.IndexFunc(members[:], func(name string) bool { return fields.Names(key, name) }); {
		case i < 0:
			x.others = append(x.others, key)
		case values[i] != nil:
			return s, fmt.Sprintf("it has %s twice; expected it once", key)
		default:
			values[i] = value
		}
	}
	if s.start, fault = x.offset("start", values[0]); fault != "" {
		return s, fault
	}
	if s.end, fault = x.offset("end", values[1]); fault != "" {
		return s, fault
	}
	if s.start >= s.end {
		return s, fmt.Sprintf("it begins at %d and ends before %d; expected an end after the start: the span of only the first character "+
			"begins at 0 and ends at 1", s.start, s.end)
	}
	kind := []byte(untyped)
	if values[2] != nil {
		if kind, fault = fields.Text("type", values[2], []string{"string"}); fault != "" {
			return s, fault
		}
		if len(kind) == 0 {
			return s, `"type" is empty; give a type, or leave it out where spans have none`
		}
	} else if slices.ContainsFunc(x.others, func(key []byte) bool { return slices.Contains(typeNames, string(key)) }) {
		return s, x.lacks("type") + `; name a type so, or leave it out where spans have none`
	}
	s.kind, fault = x.types.code(kind, x.report, file, line)
	return s, fault
}

// lacks says which member a span lacks, and which unknown members it has.
func (x *texts) lacks(name string) string {
	text := fmt.Sprintf("it has no %q", name)
	if n := len(x.others); n > 0 {
		text += " but " + fields.JoinFirst(lists.Map(x.others, func(key []byte) string { return string(bytes.Trim(key, `"`)) }), n)
	}
	return text
}

// offset reads the number of a character.
func (x *texts) offset(name string, raw []byte) (int32, string) {
	if raw == nil {
		return 0, x.lacks(name) + "; expected the number of a character"
	}
	n, err := strconv.ParseUint(string(raw), 10, 32)
	if err != nil || n > bounds.Offset {
		if text := bytes.Trim(raw, `"`); len(text) < len(raw) {
			what := "the text " + fields.Quote(text)
			if _, isNumber := fields.ParseScore(text); isNumber {
				return 0, fmt.Sprintf("%q is %s; expected a number: write %s without quotes", name, what, text)
			}
			return 0, fmt.Sprintf("%q is %s; expected a whole number from 0 to %d", name, what, bounds.Offset)
		}
		return 0, fmt.Sprintf("%q is %s; expected a whole number from 0 to %d", name, fields.Quote(raw), bounds.Offset)
	}
	return int32(n), ""
}

// readTexts reads a truth of documents.
func readTexts(ctx context.Context, format measure.Format, options measure.Options, asked []measure.Measure, files []measure.File,
	report *measure.Report) (*measure.Reference, []string, error) {
	truth := &texts{types: newTypes(ctx), report: report, field: format.ValueField, isTruth: true}
	items, err := predictions.ReadArrays(ctx, format, options, truth.take, files, report)
	if err != nil {
		return nil, nil, err
	}
	kept := cap(truth.list) + cap(truth.recounted[inUnits]) + cap(truth.recounted[inBytes])
	size := items.Bytes() + int64(12*kept+8*cap(truth.places)+truth.types.bytes())
	reference := newTruth(asked, items.Len(), len(truth.list), size, truth.contents, func(ctx context.Context, ids, types bool,
		files []measure.File, report *measure.Report) (documents, error) {
		run := &texts{types: truth.types.ofRun(ctx, types), report: report, field: format.ValueField}
		var err error
		if ids {
			run.places = make([]place, items.Len())
			err = items.ReadRunArrays(ctx, run.take, files, report)
		} else {
			_, err = predictions.ReadArrays(ctx, format, options, run.take, files, report)
		}
		return documents{
			count: items.Len(),
			kinds: run.types.names,
			name:  items.ID,
			at: func(_ *steps.Counter, _ string, i int) (actual, predicted []span) {
				return truth.at(i), run.at(i)
			},
			warning: func() string { return run.shifted(truth) },
		}, cmp.Or(err, run.types.counter.Err())
	})
	reference.IDs = items.Items()
	return reference, truth.types.names, nil
}

// at returns the spans of a document.
func (x *texts) at(i int) []span { return x.list[x.places[i].start:x.places[i].end] }
