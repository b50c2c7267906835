package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"assay/functions/tools/conversion"
	"assay/functions/tools/fusion"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// settings returns how to read a run and possibly its truth. The flags decide; the content of the files decides what no flag names.
func (c *call) settings(run scoring.File, truth ...scoring.File) (scoring.Settings, error) {
	f := measure.Format{Kind: c.choice("format", measure.Formats()), Separator: c.text("separator")}
	if f.Kind == "" || measure.HasFields(f.Kind) {
		f.IDField, f.ValueField = c.text("id"), c.text("value")
	}
	kind := c.choice("kind", measure.Kinds())
	if c.err != nil {
		return scoring.Settings{}, c.err
	}
	r, err := offline.Read(measure.Kind(kind), f, run, truth...)
	if invalid, ok := errors.AsType[*problem.Error](err); ok {
		err = &refusal{failed, strings.Join(c.words.faults(invalid.Fields), "\n"), ""}
	}
	if err != nil {
		return r.Settings, err
	}
	if err := c.requireUse(r.Kind, r.Format.Kind, run.Name); err != nil {
		return r.Settings, err
	}
	if r.Kind.Ranks() {
		if err := c.requireTREC(truth, run); err != nil {
			return r.Settings, err
		}
	}
	if measure.HasFields(r.Format.Kind) {
		if err := c.requireFormat(r.Kind, r.Format, len(truth) == 0, run); err != nil {
			return r.Settings, err
		}
	}
	c.guess, c.instead = "", "the same command with --kind and --format"
	c.ranks = r.Kind.Ranks()
	if r.Guessed && (r.Kind.Ranks() || c.json) {
		c.guess = r.String()
	}
	if r.Because != "" && !r.Kind.Ranks() && !c.json {
		c.note("%s: %s (--format, --kind, --id and --value say otherwise)", r.Because, r)
	}
	return r.Settings, nil
}

// requireUse refuses flags that name fields or separators that a file does not have.
func (c *call) requireUse(kind measure.Kind, format, file string) error {
	for _, name := range []string{"id", "value", "separator"} {
		used := measure.HasFields(format)
		if name == "separator" {
			used = used && kind == measure.Multilabel
		}
		if !used && given(c.flags, name) {
			return &refusal{failed, fmt.Sprintf("--%s does nothing here, because %s is read as %s for %s.", name, file, format, kind),
				"the same command without --" + name + ", or with --kind and --format"}
		}
	}
	return nil
}

// requireTREC refuses rankings and judgments in the formats of other programs, with the commands that convert them.
func (c *call) requireTREC(truth []scoring.File, runs ...scoring.File) error {
	all := slices.Concat(truth, runs)
	names, commands, err := toConvert(all, func(i int) (string, error) {
		kind := conversion.Qrels
		if i >= len(truth) {
			kind = conversion.Runs
		}
		return offline.Foreign(kind, all[i])
	})
	if err != nil || names == "" {
		return err
	}
	text := fmt.Sprintf("Rankings are evaluated in the formats of TREC, and %s has another one. Convert it first.", names)
	return &refusal{fileRefused, text, commands}
}

// requireFormat refuses files of values in another format, or with other names of fields, with the commands that convert them. If anyNames,
// their fields may have any names.
func (c *call) requireFormat(kind measure.Kind, format measure.Format, anyNames bool, files ...scoring.File) error {
	expected := "expected is " + format.Kind
	if !anyNames {
		expected += fmt.Sprintf(" with the fields %q and %q", format.IDField, format.ValueField)
	}
	names, commands, err := toConvert(files, func(i int) (string, error) {
		command, err := offline.ForeignValues(c.ctx, kind, format, anyNames, files[i])
		if _, ok := errors.AsType[*offline.Refused](err); ok {
			if fault := offline.ForeignShape(format, files[i]); fault != nil {
				return "", fault
			}
			return "", &refusal{fileRefused, fmt.Sprintf("%s has another format or other fields; %s. Heal its values first:\n%s", files[i].Name,
				expected, err), ""}
		}
		return command, err
	})
	if err != nil || names == "" {
		return err
	}
	return &refusal{fileRefused, fmt.Sprintf("%s has another format or other fields; %s. Convert it first.", names, expected), commands}
}

// toConvert returns the names of the files that have a command to convert them, and these commands. command returns the command for the
// file at an index, or "".
func toConvert(files []scoring.File, command func(i int) (string, error)) (names, commands string, err error) {
	var of, all []string
	for i, file := range files {
		text, err := command(i)
		if err != nil {
			return "", "", err
		}
		if text != "" {
			of = append(of, file.Name)
			all = append(all, text)
		}
	}
	return strings.Join(of, ", "), strings.Join(all, " && "), nil
}

// refused adds to the refusal of a file how the file was read, if that was guessed and another reading may be right.
func (c *call) refused(err error) error {
	refused, ok := errors.AsType[*offline.Refused](err)
	mayBeOther := func(d measure.Diagnostic) bool { return d.Line > 0 && (!c.ranks || fields.IsOpen(d.Message)) }
	isPrinted := func(d measure.Diagnostic) bool { return d.Message == fields.PrintedTable }
	if !ok || c.guess == "" || !slices.ContainsFunc(refused.Diagnostics, mayBeOther) || slices.ContainsFunc(refused.Diagnostics, isPrinted) {
		return err
	}
	heal := fmt.Sprintf("%s, if the file, %s, is something else", c.instead, c.guess)
	return &refusal{fileRefused, err.Error(), heal}
}

// diagnosed returns an error if a diagnostic is an error or err is not nil. Otherwise it prints the warnings.
func (p *program) diagnosed(found []measure.Diagnostic, err error) error {
	if err = offline.Refuse(found, err); err == nil {
		for i, warning := range offline.Lines(found) {
			p.note("%s", warning)
			p.warned = append(p.warned, warned{found[i].Line, found[i].Message})
		}
	}
	return err
}

// warnOfRun prints the warnings of a run that diagnosed has not printed before the submission. of names the run, and is empty for the only
// one.
func (p *program) warnOfRun(of string, found []measure.Diagnostic) {
	for i, warning := range offline.Lines(found) {
		if !slices.Contains(p.warned, warned{found[i].Line, found[i].Message}) {
			p.note("%s%s", of, warning)
		}
	}
}

// warned identifies a warning about a file of which this machine and the server know different names.
type warned struct {
	line    int
	message string
}

func validate(c *call) {
	all, lines := []measure.Diagnostic{}, [][]string{}
	heal := ""
	for _, f := range c.files(c.args...) {
		s, err := c.settings(f)
		if c.fail(err) {
			return
		}
		found, err := scoring.ValidateRun(c.ctx, s, []scoring.File{f})
		c.fail(err)
		if r, ok := errors.AsType[*refusal](c.refused(offline.Refuse(found, nil))); ok {
			heal = r.heal
		}
		all = append(all, found...)
	}
	for _, line := range offline.Lines(all) {
		lines = append(lines, []string{line})
	}
	switch inAll := measure.InAll(all); {
	case len(all) == 0:
		lines = [][]string{{"Valid."}}
	case !measure.HasErrors(all):
		lines = append(lines, []string{"Valid, with " + plural.Count(measure.Faults(all), "warning") + "."})
	case inAll != "":
		lines = append(lines, []string{inAll})
	}
	c.print(all, lines...)
	if measure.HasErrors(all) {
		c.fail(&refusal{fileRefused, "The files have errors.", heal})
	}
}

func fuse(c *call) {
	method := c.choice("method", []string{"rrf", "combsum", "combmnz"})
	s := fusion.Options{Method: fusion.Method(method), K: c.number("k"), Depth: c.number("depth"), Tag: c.text("tag")}
	if s.Method != fusion.ReciprocalRank {
		s.K, s.Normalization = 0, fusion.Normalization(c.text("normalization"))
	}
	invalid := s.Check()
	invalid.AddIf(method == string(fusion.ReciprocalRank) && s.K == 0, "/k", "must be 1 or more")
	if len(invalid) > 0 {
		c.fail(&refusal{failed, strings.Join(c.words.faults(invalid), "\n"), ""})
		return
	}
	if c.fail(c.requireTREC(nil, c.files(c.args...)...)) {
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
