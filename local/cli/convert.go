package main

import (
	"cmp"
	"io"

	"assay/functions/tools/conversion"
	"assay/functions/tools/detection"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/language/lists"
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
		c.requireConverted(f.flag, f.format, f.all)
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

// requireConverted refuses the format of a flag unless convert reads or writes it, as all lists.
func (c *call) requireConverted(flag string, format conversion.Format, all []conversion.Format) {
	c.requireKnown("format", flag, string(format), lists.Map(all, func(f conversion.Format) string { return string(f) }))
}

// convertValues converts files of values, such as labels, for a kind of evaluator.
func (c *call) convertValues(kind measure.Kind) {
	e := measure.EvaluatorOf(kind)
	if e == nil {
		c.requireKnown("kind", "kind", string(kind), valueKinds)
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
	c.requireConverted("from", conversion.Format(v.From.Kind), conversion.ValueSources)
	c.requireConverted("to", conversion.Format(v.To.Kind), conversion.ValueFormats)
	if c.err != nil {
		return
	}
	c.fail(c.save(func(w io.Writer, files []measure.File) error { return c.diagnosed(v.Convert(c.ctx, w, files...)) }))
}
