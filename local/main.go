// Command local serves the whole of Assay on one machine: every family of operations, the files behind signed links, the
// evaluator, and, unless a sign-in issuer is named, a development issuer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	// The authorities whose certificates are trusted where the system brings none, as in an image FROM scratch.
	_ "golang.org/x/crypto/x509roots/fallback"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c, err := parse(os.Args[1:], os.Getenv, os.Stdout)
	if err == nil {
		err = run(ctx, c, os.Stdout, os.Stderr, func(*program) {})
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "assay:", err)
		os.Exit(1)
	}
}
