package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay/functions/tools/conversion"
	"assay/functions/tools/fusion"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// settings returns how to read a file. The flags decide; the content of the file decides what no flag names.
func (c *call) settings(file scoring.File) (scoring.Settings, error) {
	f := measure.Format{Kind: c.text("format"), Separator: c.text("separator")}
	named := func(field string) string {
		if f.Kind == "" && !c.flags.Changed(field) { // The field is guessed together with the format.
			return ""
		}
		return c.text(field)
	}
	if f.Kind == "" || measure.HasFields(f.Kind) {
		f.IDField, f.ValueField = named("id"), named("value")
	}
	s, because, err := offline.Settings(measure.Kind(c.text("kind")), f, file)
	switch {
	case err != nil || because == "" || s.Kind.Ranks() || c.json:
	case measure.HasFields(s.Format.Kind):
		c.note("%s: read as %s for %s, with the id in %q and the value in %q (--format, --kind, --id and --value say otherwise)", because,
			s.Format.Kind, s.Kind, s.Format.IDField, s.Format.ValueField)
	default:
		c.note("%s: read as %s for %s (--format and --kind say otherwise)", because, s.Format.Kind, s.Kind)
	}
	return s, err
}

// diagnosed returns an error if a diagnostic is an error or err is not nil. Otherwise it prints the warnings.
func (p *program) diagnosed(found []measure.Diagnostic, err error) error {
	if err = offline.Refuse(found, err); err == nil {
		for _, warning := range offline.Lines(found) {
			p.note("%s", warning)
		}
	}
	return err
}

func validate(c *call) {
	all, lines := []measure.Diagnostic{}, [][]string{}
	for _, f := range offline.Files(c.args...) {
		s, err := c.settings(f)
		if c.fail(err) {
			return
		}
		found, err := scoring.ValidateRun(c.ctx, s, []scoring.File{f})
		c.fail(err)
		all = append(all, found...)
	}
	for _, line := range offline.Lines(all) {
		lines = append(lines, []string{line})
	}
	switch inAll := measure.InAll(all); {
	case len(all) == 0:
		lines = [][]string{{"Valid."}}
	case inAll != "":
		lines = append(lines, []string{inAll})
	}
	c.print(all, lines...)
	if measure.HasErrors(all) {
		c.fail(&refusal{fileRefused, "The files have errors.", ""})
	}
}

func convert(c *call) {
	from, to := conversion.Format(c.text("from")), conversion.Format(c.text("to"))
	kind := conversion.Runs
	ofQrels := func(f conversion.Format) bool { return f == conversion.TRECQrels || f == conversion.BEIR }
	if c.yes("qrels") || ofQrels(from) || ofQrels(to) {
		kind = conversion.Qrels
	}
	for _, f := range []conversion.Format{from, to} {
		if !slices.Contains(kind.Formats, f) {
			c.fail(&refusal{failed, fmt.Sprintf("There is no format %q here; there are %v.", f, kind.Formats), ""})
			return
		}
	}
	c.fail(c.save(func(w io.Writer, files []measure.File) error {
		return c.diagnosed(kind.Convert(c.ctx, w, from, to, files...))
	}))
}

func fuse(c *call) {
	s := fusion.Options{Method: fusion.Method(c.text("method")), K: c.number("k"), Depth: c.number("depth"), Tag: c.text("tag")}
	if s.Method != fusion.ReciprocalRank {
		s.K, s.Normalization = 0, fusion.Normalization(c.text("normalization"))
	}
	if fields := s.Check(); len(fields) > 0 {
		c.fail(&refusal{failed, strings.TrimPrefix(fields[0].Pointer, "/") + " " + fields[0].Detail, ""})
		return
	}
	c.fail(c.save(func(w io.Writer, files []measure.File) error {
		runs := lists.Map(files, func(f measure.File) fusion.Run { return fusion.Run{f} })
		return c.diagnosed(fusion.Fuse(c.ctx, w, s, runs))
	}))
}

// eval evaluates runs against a truth, and compares them. The arguments are the truth, one run or several, and measures.
func eval(c *call) {
	if c.yes("trec") {
		c.fail(c.evalAsTREC())
		return
	}
	n := 1
	for n < len(c.args) && isFile(c.args[n]) {
		n++
	}
	if n == 1 {
		c.fail(&refusal{fileRefused, fmt.Sprintf("There is no file %s.", c.arg(1)), ""})
		return
	}
	names, _ := c.flags.GetStringArray("measure")
	names = append(names, c.args[n:]...)
	truth, runs := offline.Files(c.args[0]), offline.Files(c.args[1:n]...)
	s, err := c.evalSettings(truth[0], runs[0], names)
	if c.fail(err) {
		return
	}
	evaluated, err := offline.Evaluate(c.ctx, s, truth, runs...)
	if c.fail(err) {
		return
	}
	compared, err := offline.Compare(c.ctx, evaluated, s.Kind, s.Measures[0])
	if c.fail(err) {
		return
	}
	c.printEvaluated(s.Measures, evaluated, compared)
}

// evalSettings returns the settings for the truth and the runs, with the named measures or, without names, the defaults of the evaluator.
func (c *call) evalSettings(truth, run scoring.File, names []string) (scoring.Settings, error) {
	if kind := offline.KindOf(names); kind != "" && !c.flags.Changed("kind") {
		c.fail(c.flags.Set("kind", string(kind)))
	}
	s, err := c.settings(run)
	if err == nil && c.text("format") == "" {
		err = offline.SameFormat(s, truth, run)
	}
	if err != nil {
		return s, err
	}
	if e := measure.EvaluatorOf(s.Kind); e != nil && len(names) == 0 {
		names = e.Defaults
	}
	if s.Measures, err = offline.Parse(s.Kind, names); err != nil {
		err = fmt.Errorf("what is no file is a measure, runs stand before measures, and --kind names the kind: %w", err)
	}
	return s, err
}

// printEvaluated prints the runs, with notes about measures without a value and about runs that were not compared.
func (c *call) printEvaluated(measures []string, evaluated []offline.Run, compared bool) {
	if len(evaluated) > 1 && !compared {
		c.note("The runs are not compared: %s is no mean of values by topic or example. Name such a measure first for that.", measures[0])
	}
	for i := range evaluated {
		c.fail(c.diagnosed(evaluated[i].Warnings, nil))
		c.explain(evaluated[i].Name+": ", "has no value: ", evaluated[i].Reasons)
		c.explain(evaluated[i].Name+": ", "was computed with ", evaluated[i].Signatures)
		if !c.yes("per-topic") {
			evaluated[i].PerTopic = nil
		}
	}
	c.print(map[string]any{"measures": measures, "runs": evaluated}, table(measures, evaluated, compared)...)
}

// explain prints a note for each measure in texts: the name, the measure, a verb phrase and its text. JSON output has the texts itself.
func (c *call) explain(name, phrase string, texts map[string]string) {
	for _, m := range slices.Sorted(maps.Keys(texts)) {
		if !c.json {
			c.note("%s%s %s%s", name, m, phrase, texts[m])
		}
	}
}

func (c *call) evalAsTREC() error {
	if len(c.args) != 2 {
		return &refusal{failed, "trec_eval takes one file of judgments and one run.", "assay eval --trec QRELS RUN"}
	}
	measures, _ := c.flags.GetStringArray("measure")
	t := offline.TREC{Measures: measures, PerTopic: c.yes("per-topic"), Complete: c.yes("complete"), NoSummary: c.yes("no-summary"),
		Judged: c.yes("judged"), Level: c.number("level")}
	files := offline.Files(c.args...)
	out := transform.NewWriter(c.out, runes.Map(visible))
	return errors.Join(t.Print(c.ctx, out, files[0], files[1]), out.Close())
}

// table returns the lines of a table: for each run its topics, if they are evaluated, and then the run.
func table(measures []string, runs []offline.Run, compared bool) [][]string {
	header := append([]string{"RUN"}, measures...)
	if compared {
		header = append(header, "DIFFERENCE", "P")
	}
	lines := [][]string{header}
	for _, r := range runs {
		for _, topic := range slices.Sorted(maps.Keys(r.PerTopic)) {
			values := lists.Map(measures, func(m string) string {
				x, ok := r.PerTopic[topic][m]
				if !ok { // The measure has no values by topic.
					return decimals(nil)
				}
				return decimals(&x)
			})
			lines = append(lines, append([]string{r.Name + " " + topic}, values...))
		}
		line := append([]string{r.Name}, lists.Map(measures, func(m string) string { return decimals(r.Measures[m]) })...)
		if r.FromFirst != nil {
			line = append(line, fmt.Sprintf("%+.4f", r.FromFirst.Difference), decimals(r.FromFirst.P))
		}
		lines = append(lines, line)
	}
	return lines
}
