// Command cli is `assay`, the command line for participants and organizers. It also evaluates files without a server.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25) // Files stay in memory and are most of the heap. This halves the memory, and takes no more time.
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // Some calls ignore ctx, for example opening a pipe without a writer. They end with the program.
		time.Sleep(5 * time.Second)
		os.Exit(interrupted)
	})
	folder, _ := os.UserConfigDir() // A user without a home uses the working folder.
	p := &program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv, folder: folder,
		terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	os.Exit(p.run(ctx, os.Args[1:]))
}
