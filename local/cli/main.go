// Command cli is `assay`: what participants and organizers do with a server of Assay, and the evaluation of files without one.
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
		debug.SetGCPercent(25) // what is read stays, and is most of the heap: so this takes about twice the files, and no longer
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // what does not obey it, such as opening a pipe that nobody writes, ends with the program
		time.Sleep(5 * time.Second)
		os.Exit(interrupted)
	})
	folder, _ := os.UserConfigDir() // empty, which is the working folder, of a user without a home
	p := &program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv, folder: folder,
		terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	os.Exit(p.run(ctx, os.Args[1:]))
}
