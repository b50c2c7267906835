// Command local serves all of Assay on one machine: all operations, the files behind signed links, the evaluator, and, unless a flag names
// a sign-in issuer, a development issuer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	// The authorities whose certificates are trusted where the system brings none, as in an image FROM scratch.
	_ "golang.org/x/crypto/x509roots/fallback"
)

// command is a command of the program. It ends when ctx ends.
type command func(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error

// commands maps the first argument to a command. Without arguments, or if the first is a flag, the program serves.
var commands = map[string]command{
	"backup":  parseAndBackup,
	"check":   parseAndCheck,
	"export":  parseAndExport,
	"import":  parseAndImport,
	"serve":   parseAndServe,
	"version": parseAndPrintVersion,
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
	run := commands[name]
	if run == nil {
		return fmt.Errorf("there is no command %q; the commands are %s, and -h after one lists its flags", name,
			strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	return run(ctx, args, getenv, out, logs)
}

// parseAndServe parses the flags, and serves until ctx ends.
func parseAndServe(ctx context.Context, args []string, getenv func(string) string, out, logs io.Writer) error {
	c, err := parse(args, getenv, out)
	if err != nil {
		return err
	}
	return run(ctx, c, out, logs, func(*program) {})
}
