package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/functions/tools/conversion"
	"assay/functions/tools/fusion"
	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
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
