// Command local serves all of Assay on one machine: all operations, the files behind signed links, the evaluator, and, unless a flag names
// a sign-in issuer, a development issuer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	// The authorities whose certificates are trusted where the system brings none, as in an image FROM scratch.
	_ "golang.org/x/crypto/x509roots/fallback"
)

// command is a command of the program.
type command struct {
	name    string
	purpose string
	run     func(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error // ends when ctx ends
}

// commands returns the commands. Their name is the first argument. Without arguments, or if the first is a flag, the program serves.
func commands() []command {
	return []command{
		{"serve", "serve the API, the console and the files; without a command, too", parseAndServe},
		{"backup", "copy the data of a running server into a folder", parseAndBackup},
		{"check", "check that this build can use a table or a folder", parseAndCheck},
		{"export", "write all of a store into a folder", parseAndExport},
		{"import", "fill an empty store from such a folder", parseAndImport},
		{"version", "print the version, the commit and the form of the records", parseAndPrintVersion},
		{"help", "list the commands, or with the name of one its flags", help},
	}
}

// commandOf returns the command with a name, and the names of all commands. ok is false if there is no such command.
func commandOf(name string) (found command, names []string, ok bool) {
	for _, c := range commands() {
		names = append(names, c.name)
		if c.name == name {
			found = c
		}
	}
	return found, names, found.run != nil
}

// printCommands prints what the commands do.
func printCommands(out io.Writer) {
	_, _ = fmt.Fprint(out, "assay-server serves Assay on one machine.\n\nUsage: assay-server [COMMAND] [FLAG]...\n\nCommands:\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(out, "  %-8s %s\n", c.name, c.purpose)
	}
	_, _ = fmt.Fprintln(out, "\nassay-server help COMMAND lists the flags of a command.")
}

// help prints what the commands do, or the flags of the command that the arguments name.
func help(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error {
	if len(args) > 0 && args[0] != "help" {
		return execute(ctx, []string{args[0], "-h"}, getenv, out, logs)
	}
	printCommands(out)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := execute(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "assay-server:", err)
		os.Exit(1)
	}
}

// execute runs the command that the arguments name.
func execute(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	c, names, ok := commandOf(name)
	if !ok {
		return fmt.Errorf("there is no command %q; the commands are %s, and assay-server help explains them", name, strings.Join(names, ", "))
	}
	return c.run(ctx, args, getenv, out, logs)
}

// parseAndServe parses the flags, and serves until ctx ends.
func parseAndServe(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error {
	c, err := parse(args, getenv, out)
	if err != nil {
		return err
	}
	return run(ctx, c, out, logs, func(*program) {})
}
