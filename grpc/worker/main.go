// Command worker does the work of an Assay platform that needs a machine: it leases runs, executes their images and
// repositories, evaluates them with the evaluators of organizers, and sends back what comes of it. As many can run as there
// are machines, anywhere that reaches the server and the object store; none needs to be reached itself.
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
	getenv, err := environment()
	if err == nil {
		err = run(ctx, os.Args[1:], getenv, os.Stderr)
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
	box, container, err := s.sandbox(ctx, log)
	if err != nil {
		return err
	}
	tidy := func(folder string) {
		if err := box.Tidy(ctx, folder); err != nil {
			log.Warn("what a worker left behind cannot be removed", "folder", folder, "error", err)
		}
	}
	folder, err := scratch.Claim(s.work, s.name, tidy)
	if err != nil {
		return err
	}
	defer folder.Release()
	defer tidy(folder.Path)
	if container != nil {
		release, err := guard(ctx, container, folder, log)
		if err != nil {
			return err
		}
		defer release()
	}
	log.Info("the worker begins", "name", s.name, "server", s.server, "tls", s.tls, "pools", s.pools, "kinds", s.kinds, "concurrency", s.concurrency, "limits", s.limits)
	w := &work.Worker{
		Client: assayv1.NewWorkerServiceClient(connection), Files: transfer.NewClient(), Sandbox: box, Folder: folder, Log: log,
		Name: s.name, Pools: s.pools, Kinds: s.workKinds(), Limits: s.limits, Local: s.exec == execLocal, Concurrency: s.concurrency, Grace: s.grace,
		Persistence: work.DefaultPersistence,
	}
	err = w.Run(ctx)
	log.Info("the worker has stopped")
	return err
}

// guard removes the containers of workers that are dead, whatever their folder, and has those of this one end with it.
func guard(ctx context.Context, c *sandbox.Container, folder *scratch.Folder, log *slog.Logger) (release func(), err error) {
	owners, err := c.Owners(ctx)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		if owner == folder.Path || !scratch.Abandoned(owner) {
			continue
		}
		if err := c.Clear(ctx, owner); err != nil {
			log.Warn("the containers of a dead worker cannot be removed", "folder", owner, "error", err)
		}
	}
	return c.Guard(folder.Path)
}

// sandbox chooses how programs are run. The container is nil where they are not run in containers.
func (s *settings) sandbox(ctx context.Context, log *slog.Logger) (sandbox.Sandbox, *sandbox.Container, error) {
	if s.exec == execLocal {
		s.limits.CPUs, s.limits.Memory = 0, 0
		log.Warn("NO ISOLATION: -exec local runs whatever is submitted as this user, on this machine, with its files and its network, and without limits of CPUs and memory. Only for tests, and for labs that trust everyone who submits.")
		return &sandbox.Local{Log: log}, nil, nil
	}
	c, err := sandbox.NewContainer(ctx, &sandbox.Settings{
		Podman: s.runtime, Builder: s.builds, Folder: s.work, Images: sandbox.Bytes(s.images), Limits: s.limits, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	log.Info("programs run in containers", "runtime", c.Path(), "builder", s.builds)
	return c, c, nil
}
