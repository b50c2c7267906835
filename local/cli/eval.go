package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

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
		text := fmt.Sprintf("There is no file %s.", c.arg(1))
		if info, err := os.Stat(c.arg(1)); err == nil && info.IsDir() {
			text = c.arg(1) + " is a folder: name the files in it."
		}
		c.fail(&refusal{fileRefused, text, ""})
		return
	}
	names, _ := c.flags.GetStringArray("measure")
	names = append(names, c.args[n:]...)
	files := c.files(c.args[:n]...)
	if c.err != nil {
		return
	}
	truthFile, runs := files[0], files[1:]
	s, err := c.evalSettings(truthFile, runs, names)
	if c.fail(err) {
		return
	}
	truth, err := offline.ReadTruth(c.ctx, s, truthFile)
	if c.fail(c.refused(err)) {
		return
	}
	evaluated, err := truth.Evaluate(c.ctx, runs...)
	if c.fail(c.refused(err)) {
		return
	}
	report, err := truth.Report(c.ctx)
	if c.fail(err) {
		return
	}
	compared, err := offline.Compare(c.ctx, evaluated, s.Kind, s.Measures[0])
	if c.fail(err) {
		return
	}
	c.fail(c.diagnosed(truth.Warnings, nil))
	for _, warning := range report.Warnings {
		c.note("%s: warning: %s", truthFile.Name, warning)
	}
	c.printEvaluated(s.Measures, evaluated, compared, report)
}

// kindsOf returns the kinds of evaluators that can compute the named measures, and none if --kind is given. If only one can, kindsOf sets
// --kind. The error says what is wrong with the names.
func (c *call) kindsOf(names []string, truth, run scoring.File) ([]measure.Kind, error) {
	for _, name := range names {
		if isFile(name) {
			return nil, &refusal{failed, fmt.Sprintf("%s is a file, and files stand before measures.", name), ""}
		}
	}
	if err := offline.Unknown(names); err != nil {
		return nil, err
	}
	if c.flags.Changed("kind") {
		return nil, nil
	}
	kinds, err := offline.KindsOf(names)
	if err != nil || len(kinds) != 1 {
		return kinds, err
	}
	if !c.flags.Changed("value") {
		if err := offline.Namesake(kinds[0], names, run, truth); err != nil {
			return nil, err
		}
	}
	return kinds, c.flags.Set("kind", string(kinds[0]))
}

// evalSettings returns the settings for the truth and the runs, with the named measures or, without names, the defaults of the evaluator.
func (c *call) evalSettings(truth scoring.File, runs []scoring.File, names []string) (scoring.Settings, error) {
	guessed := !c.flags.Changed("kind")
	kinds, err := c.kindsOf(names, truth, runs[0])
	if err != nil {
		return scoring.Settings{}, err
	}
	s, err := c.settings(runs[0], truth)
	switch {
	case err == nil && s.Kind.Ranks():
		err = c.requireTREC(nil, runs[1:]...)
	case err == nil && measure.HasFields(s.Format.Kind):
		err = c.requireFormat(s.Kind, s.Format, false, runs[1:]...)
	}
	if err != nil {
		return s, err
	}
	if len(kinds) == 1 && guessed && s.Kind.Ranks() {
		c.guess = offline.Reading{Settings: s}.String()
		c.instead = "measures of another kind than " + names[0]
	}
	if e := measure.EvaluatorOf(s.Kind); e != nil && len(names) == 0 {
		names = e.Defaults
	}
	if guessed && len(kinds) != 1 {
		s.Measures, err = offline.ParseGuessed(s.Kind, kinds, names)
	} else {
		s.Measures, err = offline.Parse(s.Kind, names)
	}
	return s, err
}

// printEvaluated prints the runs, with notes about measures without a value and about runs that were not compared. JSON has the report on
// the truth too, like a dataset of the API.
func (c *call) printEvaluated(measures []string, evaluated []offline.Run, compared bool, truth record.TruthReport) {
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
	c.print(map[string]any{"measures": measures, "runs": evaluated, "truthReport": truth}, table(measures, evaluated, compared)...)
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
	files := c.files(c.args...)
	if err := cmp.Or(c.err, c.requireTREC(files[:1], files[1:]...)); err != nil {
		return err
	}
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
