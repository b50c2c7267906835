package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"assay/functions/tools/conversion"
	"assay/functions/tools/detection"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
)

func convert(c *call) {
	if kind := measure.Kind(c.text("kind")); kind != "" && !kind.Ranks() {
		c.convertValues(kind)
		return
	}
	kind, from, to := c.conversion()
	for _, f := range []struct {
		flag   string
		format conversion.Format
		all    []conversion.Format
	}{{"from", from, kind.Sources}, {"to", to, kind.Formats}} {
		c.requireKnown(f.flag, f.format, f.all)
	}
	if c.err != nil {
		return
	}
	c.fail(c.save(func(w io.Writer, files []measure.File) error {
		return c.diagnosed(kind.Convert(c.ctx, w, from, to, files...))
	}))
}

// conversion returns what to convert, from the flags and from the content of the first file.
func (c *call) conversion() (kind *conversion.Kind, from, to conversion.Format) {
	from, to = conversion.Format(c.text("from")), conversion.Format(c.text("to"))
	ofQrels := func(f conversion.Format) bool { return f == conversion.TRECQrels || f == conversion.BEIR }
	switch {
	case c.yes("qrels") || ofQrels(from):
		kind = conversion.Qrels
	case from == conversion.TRECRun:
		kind = conversion.Runs
	case ofQrels(to):
		kind = conversion.Qrels
	case to == conversion.TRECRun:
		kind = conversion.Runs
	}
	if from == "" {
		var err error
		if kind, from, err = detection.Ranking(kind, c.files(c.args[0])[0]); c.fail(err) {
			return conversion.Runs, from, to
		}
	}
	kind = cmp.Or(kind, conversion.Runs)
	switch {
	case to != "":
	case from == kind.Formats[0]:
		to = conversion.JSONL
	default:
		to = kind.Formats[0]
	}
	return kind, from, to
}

// requireKnown refuses a flag that names none of the formats.
func (c *call) requireKnown(flag string, format conversion.Format, all []conversion.Format) {
	if !slices.Contains(all, format) {
		c.fail(&refusal{failed, fmt.Sprintf("There is no format %q for --%s here; there are %v.", format, flag, all), ""})
	}
}

// convertValues converts files of values, such as labels, for a kind of evaluator.
func (c *call) convertValues(kind measure.Kind) {
	e := measure.EvaluatorOf(kind)
	if e == nil {
		c.fail(&refusal{failed, fmt.Sprintf("There is no kind %q; there are %v.", kind, measure.Kinds()), ""})
		return
	}
	v := conversion.Values{Kind: kind, From: measure.Format{Kind: c.text("from"), IDField: c.text("id"), ValueField: c.text("value")}}
	if v.From.Kind == "" || v.From.IDField == "" || v.From.ValueField == "" {
		found, err := offline.RecognizedValues(kind, c.files(c.args[0])[0])
		if c.fail(err) {
			return
		}
		v.From = measure.Format{Kind: cmp.Or(v.From.Kind, found.Kind), IDField: cmp.Or(v.From.IDField, found.IDField),
			ValueField: cmp.Or(v.From.ValueField, found.ValueField)}
	}
	otherwise := measure.JSONL
	if v.From.Kind == measure.JSONL {
		otherwise = measure.CSV
	}
	v.To = measure.Format{Kind: cmp.Or(c.text("to"), otherwise), IDField: cmp.Or(c.text("to-id"), "id"),
		ValueField: cmp.Or(c.text("to-value"), e.ValueField)}
	c.requireKnown("from", conversion.Format(v.From.Kind), conversion.ValueSources)
	c.requireKnown("to", conversion.Format(v.To.Kind), conversion.ValueFormats)
	if c.err != nil {
		return
	}
	c.fail(c.save(func(w io.Writer, files []measure.File) error { return c.diagnosed(v.Convert(c.ctx, w, files...)) }))
}
