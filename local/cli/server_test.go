package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"
)

// programs holds the built programs by the path of their package. Each is built once.
var (
	programs      sync.Map
	programFolder = sync.OnceValues(func() (string, error) {
		folder, err := os.MkdirTemp("", "assay-programs")
		programtest.AtEnd(func() error { return os.RemoveAll(folder) })
		return folder, err
	})
)

// built builds a program of the module, and returns its path.
func built(t testing.TB, path string) string {
	t.Helper()
	build, _ := programs.LoadOrStore(path, sync.OnceValues(func() (string, error) {
		folder, err := programFolder()
		name := filepath.Join(folder, filepath.Base(path))
		if err == nil {
			var out []byte
			if out, err = exec.Command("go", "build", "-ldflags", "-s -w", "-o", name, "assay/"+path).CombinedOutput(); err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
		}
		return name, err
	}))
	name, err := build.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMain(m *testing.M) { os.Exit(programtest.Run(m)) }

// server is the server of a test. A test can kill it and start it again over the same data.
type server struct {
	t       *testing.T
	url     string
	args    []string
	process *exec.Cmd
}

// serve starts a server over a store: embedded or dynamodb.
func serve(t *testing.T, store string, args ...string) *server {
	t.Helper()
	address := programtest.FreeAddress(t)
	s := &server{t: t, url: "http://" + address, args: append([]string{"-addr", address, "-grpc-addr", "", "-data", t.TempDir(), "-demo=false",
		"-rates", `{"write":{"perSecond":0},"tool":{"perSecond":0},"upload":{"perSecond":0}}`}, args...)}
	if store == "dynamodb" {
		cfg := dynamotest.Start(t)
		t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", *cfg.BaseEndpoint)
		t.Setenv("AWS_REGION", cfg.Region)
		t.Setenv("AWS_ACCESS_KEY_ID", "test")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
		s.args = append(s.args, "-store", "dynamodb", "-create-table", "-table", dynamotest.TableName())
	}
	s.start()
	return s
}

// start starts the server, also after it was killed.
func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command(built(s.t, "local"), s.args...)
	programtest.Serve(s.t, s.process, s.args[1])
}

// kill kills the process of the server.
func (s *server) kill() {
	s.t.Helper()
	if err := s.process.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	waittest.Until(s.t, "the server's address is free", func() bool {
		connection, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.args[1])
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	})
}

// person is a user with a terminal.
type person struct {
	t      *testing.T
	folder string // folder with the files of the person
	home   string // folder with the settings
	env    map[string]string
	in     string
}

// person returns a person who has signed in to the server by name.
func (s *server) person(name string) *person {
	s.t.Helper()
	p := &person{t: s.t, folder: s.t.TempDir(), home: s.t.TempDir()}
	p.want(done, "login", s.url, "--user", name)
	return p
}

// write writes a file to the person's folder and returns its path.
func (p *person) write(name, content string) string {
	p.t.Helper()
	path := filepath.Join(p.folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// result is the exit code and the output of a command.
type result struct {
	code      int
	out, errs string
}

func (p *person) run(ctx context.Context, args ...string) result {
	var out, errs bytes.Buffer
	getenv := func(name string) string { return p.env[name] }
	of := &program{in: strings.NewReader(p.in), out: &out, errs: &errs, getenv: getenv, folder: p.home}
	return result{of.run(ctx, args), out.String(), errs.String()}
}

// want runs a command, requires the exit code, and returns the output.
func (p *person) want(code int, args ...string) string {
	p.t.Helper()
	r := p.run(p.t.Context(), args...)
	if r.code != code {
		p.t.Fatalf("assay %s exits with %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.errs)
	}
	return r.out + r.errs
}

// says runs a command like want, and requires that the output contains all of the texts.
func (p *person) says(code int, texts []string, args ...string) string {
	p.t.Helper()
	got := p.want(code, args...)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			p.t.Errorf("assay %s does not say %q:\n%s", strings.Join(args, " "), text, got)
		}
	}
	return got
}

// watched is the output of a running command. Tests read it meanwhile.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}
