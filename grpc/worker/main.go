// Command worker leases runs from an Assay server, executes their images and repositories or the evaluators of organizers, and uploads
// the results. Workers connect to the server and the object store, and accept no connections.
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
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/scratch"
	"assay/grpc/worker/transfer"
	"assay/grpc/worker/work"
	"assay/shared/language/lists"
	"assay/shared/service/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills the program
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

// sandbox creates the sandbox for programs.
func (s *settings) sandbox(ctx context.Context, log *slog.Logger) (sandbox.Sandbox, error) {
	if s.exec == execLocal {
		s.limits.CPUs, s.limits.Memory = 0, 0
		log.Warn("NO ISOLATION: -exec local runs whatever is submitted as this user, on this machine, with its files and its network, and " +
			"without limits of CPUs and memory. Only for tests, and for labs that trust everyone who submits.")
		return &sandbox.Local{Log: log}, nil
	}
	c, err := sandbox.NewContainer(ctx, &sandbox.Config{
		Podman: s.runtime, Builder: s.builds, Folder: s.work, Images: s.images, Limits: s.limits, Log: log,
	})
	if err != nil {
		return nil, err
	}
	log.Info("programs run in containers", "runtime", c.Podman, "builder", s.builds)
	return c, nil
}

// settings are the parsed flags and environment variables.
type settings struct {
	server, ca, tokenFile string
	tls                   bool
	name                  string
	pools, kinds          commaList
	exec, runtime, work   string
	builds                string // image of the builder
	images                sandbox.Bytes
	limits                sandbox.Limits
	concurrency           int
	grace                 time.Duration
}

// Values of -exec.
const (
	execContainer = "container"
	execLocal     = "local"
)

// prefix is the prefix of the environment variables for the flags.
const prefix = config.Prefix + "WORKER_"

const tokenVariable = prefix + "TOKEN"

var kinds = map[string]assayv1.WorkKind{
	"image":      assayv1.WorkKind_WORK_KIND_IMAGE,
	"repository": assayv1.WorkKind_WORK_KIND_REPOSITORY,
	"evaluation": assayv1.WorkKind_WORK_KIND_EVALUATION,
}

const usage = `assay-worker leases runs from an Assay server, executes them in containers, and sends back the results.

  assay-worker -server assay.example.org:50052 -token-file /run/secrets/token

It needs a bearer token of somebody with the role worker, in the variable ` + tokenVariable + ` or in the file of -token-file,
which is read again for every call, so that a token can be renewed there. Programs see their input in the folder of
ASSAY_INPUT and write into that of ASSAY_OUTPUT; evaluators also see ASSAY_RUN and ASSAY_TRUTH, and write evaluation.json.
There is no network for them while they run. Programs run with Podman; the worker tries its limits when it starts, and ends with the
reason if the machine cannot keep one. Repositories are built only with -builds, which needs root and an image of Buildah 1.38.1
or newer, such as quay.io/buildah/stable:latest. Each build has a container with the limits of a run; its network is an HTTP
proxy to public addresses. As root, the output of a run lies on a file system of the size of -disk. Without root its files are
counted, save for those that a program deletes while they are open. Do not log the machine in to private registries when it works
for participants: Podman pulls images with the logins it has. After SIGTERM work goes on for the time of -grace, and is then
given back.

Every flag can be set by a variable: -token-file by ` + prefix + `TOKEN_FILE, and so on. Flags win.

`

func parse(args []string, getenv func(string) string, stderr io.Writer) (*settings, error) {
	s := &settings{images: 50 << 30, limits: sandbox.Limits{CPUs: 1, Memory: 4 << 30, Disk: 8 << 30, Time: time.Hour}}
	host, _ := os.Hostname()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.server, "server", "localhost:50052", "`address` of the Assay server, host:port")
	f.BoolVar(&s.tls, "tls", false,
		"speak TLS with the server, as is done by default unless it is on this machine; -tls=false is refused for any other")
	f.StringVar(&s.ca, "ca", "", "`file` of certificates, in PEM, to trust instead of the system's")
	f.StringVar(&s.tokenFile, "token-file", "", "`file` of the bearer token; without it "+tokenVariable+" is used")
	f.StringVar(&s.name, "name", fmt.Sprintf("%s-%d", host, os.Getpid()), "what the worker is called in leases and diagnostics")
	f.Var(&s.pools, "pools", "pools to serve, separated by commas (default the pool default)")
	f.Var(&s.kinds, "kinds", "kinds of work to do, of image, repository and evaluation, separated by commas (default all; repository needs "+
		"-builds)")
	f.StringVar(&s.exec, "exec", execContainer,
		"container, or local: run commands as this user, WITHOUT ANY ISOLATION, for tests and trusted labs")
	f.StringVar(&s.runtime, "runtime", "podman", "name or path of Podman's program")
	f.StringVar(&s.builds, "builds", "", "`image` of Buildah to build repositories with; without it they are not built")
	f.Var(&s.images, "images", "how much the images may take that workers have pulled, before those unused for longest are removed")
	f.Float64Var(&s.limits.CPUs, "cpus", s.limits.CPUs, "CPUs for one run; containers only")
	f.Var(&s.limits.Memory, "memory", "memory for one run, such as 512M or 4G; containers only")
	f.DurationVar(&s.limits.Time, "time", s.limits.Time, "time for one run")
	f.Var(&s.limits.Disk, "disk", "how much one run may write into its folders, such as 8G")
	f.IntVar(&s.concurrency, "concurrency", 1, "how many runs to work on at once")
	f.StringVar(&s.work, "work", filepath.Join(cache, "assay-worker"), "`folder` for the files of runs while they are at work")
	f.DurationVar(&s.grace, "grace", 20*time.Second, "how long work may go on after SIGTERM before it is given back")
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	if err := config.ParseFlags(f, prefix, args, getenv); err != nil {
		return nil, err
	}
	tlsGiven := false
	f.Visit(func(f *flag.Flag) { tlsGiven = tlsGiven || f.Name == "tls" })
	if !tlsGiven {
		s.tls = !loopback(s.server)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.work, err = filepath.Abs(s.work)
	return s, err
}

func (s *settings) check() error {
	switch {
	case s.exec != execContainer && s.exec != execLocal:
		return fmt.Errorf("-exec must be container or local, and not %q", s.exec)
	case filepath.Base(s.runtime) == "docker":
		return errors.New("-runtime must be Podman: Docker gives a container neither users nor an end of its own")
	case s.builds == "" && s.exec == execContainer && slices.Contains(s.kinds, "repository"):
		return errors.New("-kinds repository needs -builds, the image of a builder")
	case s.name == "" || len([]rune(s.name)) > 100 || strings.ContainsAny(s.name, "\r\n"):
		return errors.New("-name must have 1 to 100 characters on one line")
	case s.limits.CPUs <= 0, s.limits.Memory <= 0, s.limits.Disk <= 0, s.limits.Time <= 0, s.images <= 0, s.concurrency < 1:
		return errors.New("-cpus, -memory, -disk, -time, -images and -concurrency must be more than nothing")
	case len(s.pools) > 10:
		return errors.New("-pools may name at most 10")
	case strings.ContainsAny(strings.TrimPrefix(s.work, filepath.VolumeName(s.work)), ":,"):
		return errors.New("-work must be a folder without colons and commas in its path: it is mounted into containers")
	}
	for _, k := range s.kinds {
		if _, ok := kinds[k]; !ok {
			return fmt.Errorf("-kinds takes image, repository and evaluation, and not %q", k)
		}
	}
	return nil
}

func (s *settings) workKinds() []assayv1.WorkKind {
	named := s.kinds
	if len(named) == 0 {
		named = commaList{"image", "evaluation"}
		if s.builds != "" || s.exec == execLocal {
			named = append(named, "repository")
		}
	}
	return lists.Map(named, func(k string) assayv1.WorkKind { return kinds[k] })
}

// commaList is a flag.Value with several values.
type commaList []string

func (l *commaList) String() string { return strings.Join(*l, ",") }

func (l *commaList) Set(s string) error {
	*l = strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	return nil
}
