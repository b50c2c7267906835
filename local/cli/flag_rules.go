package main

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/language/lists"

	"github.com/spf13/pflag"
)

// flagRule says when flags of a command have an effect. Commands refuse flags without an effect.
type flagRule struct {
	command string // name of the command without the program's; empty for all commands with the flags
	flags   []string
	needs   []condition // one of these must hold
	not     []condition // none of these may hold
	never   string      // reason why the command, which inherits the flags, never uses them; empty if it does
}

// condition holds if a flag is given or has one of some values, or if an argument is given.
type condition struct {
	flag     string
	values   []string // values of the flag, given or by default; empty if the flag must be given, with any value
	argument string   // name of the argument; empty for a condition on a flag
	index    int      // index of the argument
}

// flagIs is the condition that a flag is given, or has one of the values.
func flagIs(name string, values ...string) condition { return condition{flag: name, values: values} }

// argumentIs is the condition that the argument at an index is given.
func argumentIs(name string, index int) condition { return condition{argument: name, index: index} }

// String returns the condition as the user would write it.
func (c condition) String() string {
	switch {
	case c.argument != "":
		return c.argument
	case len(c.values) > 0:
		return fmt.Sprintf("--%s %s", c.flag, strings.Join(c.values, "|"))
	}
	return "--" + c.flag
}

// holds reports whether the condition holds for the flags and arguments of a command.
func (c condition) holds(flags *pflag.FlagSet, args []string) bool {
	switch {
	case c.argument != "":
		return len(args) > c.index
	case len(c.values) > 0:
		f := flags.Lookup(c.flag)
		return f != nil && slices.Contains(c.values, f.Value.String())
	}
	return given(flags, c.flag)
}

// given reports whether a flag is given. A flag that is switched off is not.
func given(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f != nil && f.Changed && (f.Value.Type() != "bool" || f.Value.String() == "true")
}

// valueKinds are the kinds for which convert reads values instead of rankings.
var valueKinds = []string{"classification", "multilabel", "probabilities", "regression", "clustering", "text"}

// unnamed holds if the format is one whose fields have no names.
var unnamed = []condition{flagIs("format", measure.TRECRun, measure.CoNLL)}

const (
	noServer = "the command needs no server"
	noJSON   = "the command writes a file"
)

// flagRules lists the flags that have no effect in some uses of a command.
var flagRules = []flagRule{
	{flags: []string{"timeout"}, needs: []condition{flagIs("wait")}},
	{command: "runs", flags: []string{"timeout", "wait"}, needs: []condition{argumentIs("RUN", 0)}},
	{command: "runs", flags: []string{"task"}, not: []condition{argumentIs("RUN", 0)}},
	{command: "submit", flags: []string{"ref"}, needs: []condition{flagIs("repository")}},
	{command: "submit", flags: []string{"command"}, needs: []condition{flagIs("image"), flagIs("repository")}},
	{command: "submit", flags: []string{"image", "repository"}, not: []condition{argumentIs("FILE", 1)}},
	{command: "submit", flags: []string{"image"}, not: []condition{flagIs("repository")}},
	{command: "submit", flags: []string{"team", "affiliation", "contact", "anonymous", "accept-terms", "again"},
		not: []condition{flagIs("baseline")}},
	{command: "submit", flags: []string{"public"}, not: []condition{flagIs("baseline")}},
	{command: "invite", flags: []string{"team"}, not: []condition{flagIs("to-task")}},
	{command: "review", flags: []string{"publish"}, not: []condition{flagIs("unpublish")}},
	{command: "review", flags: []string{"blind"}, not: []condition{flagIs("unblind")}},
	{command: "review", flags: []string{"filter"}, not: []condition{argumentIs("RUN", 1)}},
	{command: "apply", flags: []string{"schema"}, not: []condition{flagIs("dry-run"), flagIs("new-organizer"), argumentIs("FILE", 0)}},
	{command: "eval", flags: []string{"complete", "level", "judged", "no-summary"}, needs: []condition{flagIs("trec")}},
	{command: "eval", flags: []string{"kind", "format", "id", "value", "separator", "json"}, not: []condition{flagIs("trec")}},
	{command: "eval", flags: []string{"id", "value"}, not: unnamed},
	{command: "validate", flags: []string{"id", "value"}, not: unnamed},
	{command: "convert", flags: []string{"id", "value", "to-id", "to-value"}, needs: []condition{flagIs("kind", valueKinds...)}},
	{command: "convert", flags: []string{"qrels"}, not: []condition{flagIs("kind", valueKinds...)}},
	{command: "fuse", flags: []string{"k"}, needs: []condition{flagIs("method", "rrf")}},
	{command: "fuse", flags: []string{"normalization"}, needs: []condition{flagIs("method", "combsum", "combmnz")}},
	{command: "login", flags: []string{"device"}, not: []condition{flagIs("with-token")}},
	{command: "login", flags: []string{"port"}, not: []condition{flagIs("with-token"), flagIs("device")}},
	{command: "login", flags: []string{"server"}, not: []condition{argumentIs("URL", 0)}},
	{command: "logout", flags: []string{"server"}, not: []condition{argumentIs("URL", 0)}},
	{command: "eval", flags: []string{"server"}, never: noServer},
	{command: "validate", flags: []string{"server"}, never: noServer},
	{command: "convert", flags: []string{"server"}, never: noServer},
	{command: "convert", flags: []string{"json"}, never: noJSON},
	{command: "fuse", flags: []string{"server"}, never: noServer},
	{command: "fuse", flags: []string{"json"}, never: noJSON},
	{command: "version", flags: []string{"server"}, never: noServer},
	{command: "man", flags: []string{"server"}, never: noServer},
	{command: "man", flags: []string{"json"}, never: "the command writes manual pages"},
}

// checkFlags refuses flags that would have no effect, and flags that contradict each other.
func checkFlags(command string, flags *pflag.FlagSet, args []string) error {
	for _, r := range flagRules {
		if r.command != "" && r.command != command {
			continue
		}
		for _, name := range r.flags {
			if !given(flags, name) {
				continue
			}
			if err := r.check(name, flags, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a given flag if it has no effect.
func (r flagRule) check(name string, flags *pflag.FlagSet, args []string) error {
	holds := func(c condition) bool { return c.holds(flags, args) }
	if r.never != "" {
		return &refusal{failed, fmt.Sprintf("--%s does nothing here: %s.", name, r.never), "the same command without --" + name}
	}
	if len(r.needs) > 0 && !slices.ContainsFunc(r.needs, holds) {
		text := fmt.Sprintf("--%s does nothing without %s.", name, strings.Join(lists.Map(r.needs, condition.String), " or "))
		return &refusal{failed, text, "the same command with both, or with neither"}
	}
	if i := slices.IndexFunc(r.not, holds); i >= 0 {
		return &refusal{failed, fmt.Sprintf("--%s does not go with %s.", name, r.not[i]), "the same command with only one of both"}
	}
	return nil
}
