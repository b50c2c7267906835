package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/sandbox"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func of(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestParse_FlagsWinOverVariables(t *testing.T) {
	s, err := parse([]string{"-memory", "512M", "-kinds", "image, evaluation", "-name", "flag"}, of(map[string]string{
		"ASSAY_WORKER_SERVER": "assay.example.org:50052", "ASSAY_WORKER_NAME": "variable", "ASSAY_WORKER_TOKEN_FILE": "/token",
		"ASSAY_WORKER_POOLS": "gpu,default", "ASSAY_WORKER_DISK": "1.5g", "ASSAY_WORKER_TIME": "90s",
	}), &bytes.Buffer{})
	must(t, err)
	if s.server != "assay.example.org:50052" || !s.tls || s.name != "flag" || s.tokenFile != "/token" || s.pools.String() != "gpu,default" {
		t.Errorf("settings %+v", s)
	}
	if want := (sandbox.Limits{CPUs: 1, Memory: 512 << 20, Disk: 3 << 29, Time: 90 * time.Second}); s.limits != want {
		t.Errorf("limits %v, want %v", s.limits, want)
	}
	if k := s.workKinds(); len(k) != 2 || k[1] != assayv1.WorkKind_WORK_KIND_EVALUATION {
		t.Errorf("kinds %v", k)
	}
}

func TestParse_HelpSaysWhenTLSIsSpoken(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, of(nil), &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	_, tls, _ := strings.Cut(help.String(), "\n  -tls\n")
	tls, _, _ = strings.Cut(tls, "\n")
	if !strings.Contains(tls, "by default unless it is on this machine") || strings.Contains(tls, "default true") {
		t.Errorf("-tls: %s", tls)
	}
}

func TestWorkKinds_RepositoriesNeedABuilder(t *testing.T) {
	for args, want := range map[string]bool{"": false, "-builds registry.example.org/buildah:1": true, "-exec local": true} {
		s, err := parse(strings.Fields(args), of(nil), &bytes.Buffer{})
		must(t, err)
		if k := s.workKinds(); slices.Contains(k, assayv1.WorkKind_WORK_KIND_REPOSITORY) != want || len(k) < 2 {
			t.Errorf("%q: kinds %v", args, k)
		}
	}
}

func TestParse_RefusesInvalidSettings(t *testing.T) {
	for args, want := range map[string]string{
		"-exec vm":                     "-exec must be container or local",
		"-runtime docker":              "-runtime must be Podman",
		"-kinds image,repository":      "-kinds repository needs -builds",
		"-images 0":                    "must be more than nothing",
		"-memory much":                 "must be a size such as 512M",
		"-memory 0":                    "must be more than nothing",
		"-concurrency 0":               "must be more than nothing",
		"-kinds all":                   "-kinds takes image, repository and evaluation",
		"-pools a,b,c,d,e,f,g,h,i,j,k": "at most 10",
		"-work /a:b":                   "without colons",
		"serve":                        "there is no argument",
	} {
		if _, err := parse(strings.Fields(args), of(nil), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if _, err := parse(nil, of(map[string]string{"ASSAY_WORKER_CPUS": "many"}), &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "ASSAY_WORKER_CPUS") {
		t.Errorf("a variable: %v", err)
	}
}

func TestConnect_SendsNoTokenInPlainText(t *testing.T) {
	for _, c := range []struct {
		args    string
		refused string
		tls     bool
	}{
		{"-server assay.example.org:1", "", true},
		{"-server assay.example.org:1 -tls=false", "in plain text", false},
		{"-server 10.0.0.1:1 -tls=false", "in plain text", false},
		{"-server localhost.example.org:1 -tls=false", "in plain text", false},
		{"-server localhost:1", "", false},
		{"-server 127.0.0.2:1", "", false},
		{"-server [::1]:1", "", false},
		{"-server localhost:1 -tls", "", true},
		{"-server localhost:1 -token-file /none", "no such file", false},
		{"-server localhost:1 -tls -ca /dev/null", "no certificates", true},
	} {
		s, err := parse(strings.Fields(c.args), of(nil), &bytes.Buffer{})
		must(t, err)
		connection, err := s.connect(of(map[string]string{tokenVariable: "t"}))
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", c.args, err, c.refused)
		}
		if s.tls != c.tls {
			t.Errorf("%s: TLS %v", c.args, s.tls)
		}
		if err == nil {
			connection.Close()
		}
	}
	s, err := parse(nil, of(nil), &bytes.Buffer{})
	must(t, err)
	if _, err := s.connect(of(nil)); err == nil || !strings.Contains(err.Error(), tokenVariable) {
		t.Errorf("without a token: %v", err)
	}
}

// leaseServer records the tokens of workers that call Lease, and the encoding of their requests.
type leaseServer struct {
	assayv1.UnimplementedWorkerServiceServer
	stats.Handler
	address  string
	tokens   chan string
	encoding atomic.Value
}

func startLeaseServer(t *testing.T) *leaseServer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	s := &leaseServer{address: listener.Addr().String(), tokens: make(chan string)}
	g := grpc.NewServer(grpc.StatsHandler(s))
	assayv1.RegisterWorkerServiceServer(g, s)
	go func() { _ = g.Serve(listener) }()
	t.Cleanup(g.Stop)
	return s
}

func (*leaseServer) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*leaseServer) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*leaseServer) HandleConn(context.Context, stats.ConnStats)                       {}

func (s *leaseServer) HandleRPC(_ context.Context, r stats.RPCStats) {
	if header, ok := r.(*stats.InHeader); ok {
		s.encoding.Store(header.Compression)
	}
}

func (s *leaseServer) Lease(ctx context.Context, _ *assayv1.LeaseRequest) (*assayv1.LeaseResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	select {
	case s.tokens <- strings.Join(md.Get("authorization"), ","):
	case <-ctx.Done():
	}
	return &assayv1.LeaseResponse{}, nil
}

func TestConnect_ReadsTheTokenFileForEachCall(t *testing.T) {
	s := startLeaseServer(t)
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		t.Helper()
		must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	}
	write("first")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	var log bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"-server", s.address, "-exec", "local", "-token-file", file, "-work", t.TempDir()}, of(nil), &log)
	}()
	first := <-s.tokens
	write("second")
	second := <-s.tokens
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if first != "Bearer first" || second != "Bearer second" {
		t.Errorf("tokens %q, %q", first, second)
	}
	if encoding := s.encoding.Load(); encoding != "gzip" {
		t.Errorf("the worker sends in the encoding %q", encoding)
	}
	if !strings.Contains(log.String(), "NO ISOLATION") || strings.Contains(log.String(), "first") {
		t.Errorf("the log is %s", log.String())
	}
}

// TestContract_NamesDefaults compares the comments of the protocol with the default limits.
func TestContract_NamesDefaults(t *testing.T) {
	s, err := parse(nil, of(nil), &bytes.Buffer{})
	must(t, err)
	contract, err := os.ReadFile("../proto/assay/v1/worker.proto")
	must(t, err)
	l := s.limits
	want := fmt.Sprintf("defaults are %g CPU, %s, %s and %g hour.", l.CPUs, l.Memory, l.Disk, l.Time.Hours())
	if !bytes.Contains(contract, []byte(want)) {
		t.Errorf("the protocol does not say %q", want)
	}
}

func TestHideToken_RemovesItFromTheEnvironment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assay-worker")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := startLeaseServer(t)
	cmd := exec.Command(program, "-server", s.address, "-exec", "local", "-work", t.TempDir())
	cmd.Env = append(os.Environ(), tokenVariable+"=a-secret-token")
	cmd.Stderr = t.Output()
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if token := <-s.tokens; token != "Bearer a-secret-token" {
		t.Errorf("token %q", token)
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		fmt.Fprintln(os.Stderr, "NOT CHECKED: what /proc shows of a worker, on", runtime.GOOS)
	}
	for _, file := range []string{"environ", "cmdline"} {
		// Root may read the file; other users may not.
		if shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file)); err == nil && bytes.Contains(shown, []byte("secret")) {
			t.Errorf("%s: %q", file, shown)
		}
	}
}
