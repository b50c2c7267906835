package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// effective lists the flags that have an effect in every mode of their commands, or that the server refuses where they have none.
var effective = map[string]string{
	"download": "dataset output", "invite": "email uses to-task", "join": "team affiliation contact anonymous accept-terms",
	"submit": "wait dataset title description notes paper repository baseline", "logs": "follow evaluation", "final": "undo",
	"leaderboard": "dataset measure best final public limit", "compare": "measure", "apply": "dry-run new-organizer",
	"registrations": "state", "review": "unpublish unblind comment dataset", "announce": "title", "export": "output files",
	"eval": "trec per-topic measure", "validate": "kind format",
	"convert": "from to kind output", "fuse": "method depth tag output", "login": "with-token user admin",
	"tokens create": "scopes pools days",
}

// walk calls visit with a command and all commands below it, and with their names without the name of the program.
func walk(of *cobra.Command, visit func(name string, of *cobra.Command)) {
	_, name, _ := strings.Cut(of.CommandPath(), " ")
	visit(name, of)
	for _, below := range of.Commands() {
		walk(below, visit)
	}
}

// TestFlagRules_CoverAllFlags checks that each flag of each command has a rule or an effect in every mode, and that rules and effects are
// about flags that exist.
func TestFlagRules_CoverAllFlags(t *testing.T) {
	known := map[string][]string{} // flags by command
	walk(new(program).root(), func(name string, of *cobra.Command) {
		if !of.Runnable() {
			return
		}
		of.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			known[name] = append(known[name], f.Name)
			ruled := slices.ContainsFunc(flagRules, func(r flagRule) bool {
				return (r.command == "" || r.command == name) && slices.Contains(r.flags, f.Name)
			})
			checked := f.Name == "separator" // requireUse refuses it by the content of the files.
			if always := slices.Contains(strings.Fields(effective[name]), f.Name); !ruled && !checked && !always && f.Name != "help" {
				t.Errorf("assay %s --%s: say in flagRules when it has an effect, or here that it always has", name, f.Name)
			}
		})
		known[name] = append(known[name], "json", "server")
	})
	for name, flags := range effective {
		for flag := range strings.FieldsSeq(flags) {
			if !slices.Contains(known[name], flag) {
				t.Errorf("assay %s has no --%s", name, flag)
			}
		}
	}
	for _, r := range flagRules {
		if r.command == "" {
			continue
		}
		flags := slices.Clone(r.flags)
		for _, c := range slices.Concat(r.needs, r.not) {
			if c.flag != "" {
				flags = append(flags, c.flag)
			}
		}
		for _, flag := range flags {
			if !slices.Contains(known[r.command], flag) {
				t.Errorf("a rule names --%s, which assay %s does not have", flag, r.command)
			}
		}
	}
}

// values are arguments of flags that are no texts.
var values = map[string]string{"timeout": "1m", "k": "5", "port": "80", "level": "1", "filter": "label=x"}

// TestFlagRules_RefuseFlagsWithoutEffect breaks each rule in each way. Every command refuses the flag, and says when it has an effect.
func TestFlagRules_RefuseFlagsWithoutEffect(t *testing.T) {
	commands := map[string]*cobra.Command{}
	walk(new(program).root(), func(name string, of *cobra.Command) { commands[name] = of })
	p := local(t)
	arguments := func(name string) (args []string) {
		for _, argument := range strings.Fields(commands[name].Use)[1:] {
			if argument[0] != '[' {
				args = append(args, strings.TrimSuffix(argument, "..."))
			}
		}
		return args
	}
	for _, r := range flagRules {
		name := r.command
		if name == "" {
			name = "submit"
		}
		for _, flag := range r.flags {
			given := "--" + flag
			if f := commands[name].Flag(flag); f.Value.Type() != "bool" {
				given += "=" + values[flag]
			}
			args := slices.Concat(strings.Fields(name), arguments(name), []string{given})
			switch {
			case r.never != "":
				p.says(failed, []string{"--" + flag + " does nothing here: " + r.never}, args...)
			case len(r.needs) > 0:
				for _, c := range r.needs { // Flags may have defaults that fulfill a condition.
					if c.flag != "" && len(c.values) > 0 {
						args = append(args, "--"+c.flag+"=other")
						break
					}
				}
				if flag == "timeout" && name == "runs" {
					args = append(args, "--wait")
				}
				p.says(failed, []string{"--" + flag + " does nothing without " + r.needs[0].String()}, args...)
			}
			for _, c := range r.not {
				both := slices.Concat(args, fulfilling(commands[name], c, len(arguments(name))))
				p.says(failed, []string{"--" + flag + " does not go with " + c.String() + "."}, both...)
			}
		}
	}
}

// fulfilling returns the arguments that make a condition hold, besides the number of arguments that the command requires.
func fulfilling(of *cobra.Command, c condition, required int) []string {
	switch {
	case c.argument != "" && c.index < required:
		return nil
	case c.argument != "":
		return []string{c.argument}
	case len(c.values) > 0:
		return []string{"--" + c.flag + "=" + c.values[0]}
	case of.Flag(c.flag).Value.Type() == "bool":
		return []string{"--" + c.flag}
	}
	return []string{"--" + c.flag + "=x"}
}

// TestFlags_ThatFilesDoNotHave names fields and separators for files that have none.
func TestFlags_ThatFilesDoNotHave(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", "1 0 a 1\n")
	run := p.write("run.txt", "1 Q0 a 1 4 t\n")
	for _, flag := range []string{"--id", "--value", "--separator"} {
		want := []string{flag + " does nothing here, because ", "run.txt is read as trec-run for retrieval"}
		p.says(failed, want, "eval", qrels, run, "AP", flag, "x")
		p.says(failed, want, "validate", run, flag, "x")
	}
	tags := p.write("tags.txt", "Lake B-LOC\nis O\n")
	p.says(failed, []string{"--id does nothing here", "read as conll for spans"}, "validate", tags, "--kind", "spans", "--id", "x")
	p.says(failed, []string{"--k: must be 1 or more"}, "fuse", run, run, "--k", "0")
	p.says(failed, []string{"--depth: must be 1 or more, or 0 for all documents"}, "fuse", run, run, "--depth", "-1")
	p.says(done, []string{"1 Q0 a 1 "}, "fuse", run, run, "--depth", "0")
}
