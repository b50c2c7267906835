package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/language/lists"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkArgs checks the number of arguments, and says which are missing or too many.
func (c command) checkArgs(cmd *cobra.Command, args []string) error {
	if c.args == nil || c.args(cmd, args) == nil {
		return nil
	}
	var names, required []string
	for _, name := range strings.Fields(c.use)[1:] {
		if strings.HasPrefix(name, "--") {
			break
		}
		names = append(names, strings.TrimSuffix(name, "..."))
		if name[0] != '[' {
			required = append(required, strings.TrimSuffix(name, "..."))
		}
	}
	switch {
	case len(args) < len(required):
		return fmt.Errorf("%s needs %s", cmd.CommandPath(), strings.Join(missing(required, len(args)), " and "))
	case len(names) == 0:
		return fmt.Errorf("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("%s takes %s, and %q is too much: put a name with spaces into quotes", cmd.CommandPath(), strings.Join(names, " and "),
		args[len(names)])
}

// missing returns the names of required arguments after the given ones. It counts a name that an earlier argument has too.
func missing(required []string, given int) (names []string) {
	for i := given; i < len(required); i++ {
		name := required[i]
		if slices.Contains(required[:i], name) {
			name = "a second " + name
		}
		names = append(names, name)
	}
	return names
}

// oneFile requires one argument, unless the flag --schema asks for the form of the file.
func oneFile(cmd *cobra.Command, args []string) error {
	if asked, _ := cmd.Flags().GetBool("schema"); asked {
		return cobra.MaximumNArgs(1)(cmd, args)
	}
	return cobra.ExactArgs(1)(cmd, args)
}

// unknownTopic returns an error if help or completion is asked for something that does not exist.
func unknownTopic(root *cobra.Command, args []string) error {
	if len(args) < 2 || strings.HasPrefix(args[1], "-") {
		return nil
	}
	known := lists.Map(root.Commands(), (*cobra.Command).Name)
	switch args[0] {
	case "help":
		known = append(known, "help", "completion")
	case "completion":
		known = []string{"bash", "fish", "powershell", "zsh"}
	default:
		return nil
	}
	if slices.Contains(known, args[1]) {
		return nil
	}
	return fmt.Errorf("%s knows no %q, but %s.%s", args[0], args[1], strings.Join(known, ", "), closest(args[1], known))
}

// suggestion returns a sentence that names the flag or the command that the user may have meant. It is empty if none is like it.
func suggestion(err error, of *cobra.Command) string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var flags []string
		of.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		return punctuated(closest("--"+unknown.GetSpecifiedName(), flags))
	}
	if given := of.Flags().Arg(0); of.HasParent() && given != "" {
		return punctuated(closest(given, lists.Map(of.Commands(), (*cobra.Command).Name)))
	}
	return ""
}

// punctuated returns a sentence with the end of the sentence before it.
func punctuated(sentence string) string {
	if sentence == "" {
		return ""
	}
	return "." + sentence
}
