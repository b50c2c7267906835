// Command worker leases runs from an Assay server, executes their images and repositories or the evaluators of organizers, and
// uploads the results. Workers need to reach the server and the object store, and accept no connections themselves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"assay/grpc/assayv1"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/scratch"
	"assay/grpc/worker/transfer"
	"assay/grpc/worker/work"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := hideToken()
	if err == nil {
		err = run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// run works until the context ends.
func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	s, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	connection, err := s.connect(getenv)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	box, err := s.sandbox(ctx, log)
	if err != nil {
		return err
	}
	cleanUp := func(folder string) {
		if err := box.CleanUp(ctx, folder); err != nil {
			log.Warn("the folder of a worker cannot be cleaned up", "folder", folder, "error", err)
		}
	}
	folder, err := scratch.Claim(s.work, s.name, cleanUp)
	if err != nil {
		return err
	}
	defer folder.Release()
	defer cleanUp(folder.Path)
	stop, err := box.StartWatchdog(folder.Path)
	if err != nil {
		return err
	}
	defer stop()
	log.Info("the worker starts", "name", s.name, "server", s.server, "tls", s.tls, "pools", s.pools, "kinds", s.kinds, "concurrency",
		s.concurrency, "limits", s.limits)
	w := &work.Worker{
		Client: assayv1.NewWorkerServiceClient(connection), Files: transfer.NewClient(), Sandbox: box, Folder: folder, Log: log,
		Name: s.name, Pools: s.pools, Kinds: s.workKinds(), Limits: s.limits, Local: s.exec == execLocal, Concurrency: s.concurrency,
		Grace:    s.grace,
		RetryFor: work.DefaultRetryFor,
	}
	err = w.Run(ctx)
	log.Info("the worker has stopped")
	return err
}

// sandbox makes the sandbox that programs run in.
func (s *settings) sandbox(ctx context.Context, log *slog.Logger) (sandbox.Sandbox, error) {
	if s.exec == execLocal {
		s.limits.CPUs, s.limits.Memory = 0, 0
		log.Warn("NO ISOLATION: -exec local runs whatever is submitted as this user, on this machine, with its files and its network, and " +
			"without limits of CPUs and memory. Only for tests, and for labs that trust everyone who submits.")
		return &sandbox.Local{Log: log}, nil
	}
	c, err := sandbox.NewContainer(ctx, &sandbox.Settings{
		Podman: s.runtime, Builder: s.builds, Folder: s.work, Images: s.images, Limits: s.limits, Log: log,
	})
	if err != nil {
		return nil, err
	}
	log.Info("programs run in containers", "runtime", c.Podman, "builder", s.builds)
	return c, nil
}
