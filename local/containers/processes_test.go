//go:build s3

package containers

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/language/wait"
	"assay/shared/testing/programtest"
)

// packages maps the programs of the images to their packages.
var packages = map[string]string{"assay-server": "./local", "assay-grpc": "./grpc", "assay-worker": "./grpc/worker"}

// build builds the programs into a folder.
func build(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, source := range packages {
		c := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, name), source)
		c.Dir = programtest.Root(t)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return folder
}

// process is a program that is started again whenever it ends, like a container.
type process struct {
	name    string
	addr    string // address at which it serves
	command func() *exec.Cmd

	mu      sync.Mutex
	started *exec.Cmd
	starts  int
	output  lockedBuffer
}

// restartDelay is the time of a container manager to restart a container.
const restartDelay = 200 * time.Millisecond

// supervise runs the process until the test ends.
func (p *process) supervise(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			p.mu.Lock()
			p.started = p.command()
			p.started.Stdout, p.started.Stderr = &p.output, &p.output
			err := p.started.Start()
			started := p.started
			p.starts++
			p.mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			_ = started.Wait() // The error says that it was killed.
			if !wait.Sleep(ctx, restartDelay) {
				return
			}
		}
	})
	t.Cleanup(func() {
		stop()
		p.kill()
		ended.Wait()
		if t.Failed() {
			t.Logf("%s, started %d times, wrote:\n%s", p.name, p.starts, p.output.tail())
		}
	})
}

// kill ends the process as SIGKILL does.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started != nil {
		_ = p.started.Process.Kill()
	}
}

// lockedBuffer stores the output of several processes.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()[max(0, b.buffer.Len()-4000):]
}

// startService starts the copies of a service in a file behind a balancer, and returns them. It replaces addresses by addresses of this
// test, and the folder of the image by a path at which no folder can be made.
func startService(t *testing.T, folder string, s service, front *balancer, addresses *strings.Replacer) (copies []*process) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range s.copies {
		addr := programtest.FreeAddress(t)
		work := t.TempDir()
		temporary := t.TempDir()
		env := maps.Clone(s.env)
		for name, value := range env {
			env[name] = addresses.Replace(value)
		}
		if served := env["ASSAY_ADDR"]; served != "" && served != ":80" {
			t.Fatalf("the service %s serves on %s", s.image, served)
		}
		env["ASSAY_ADDR"], env["TMPDIR"] = addr, temporary
		if env["ASSAY_DATA"] != "" {
			env["ASSAY_DATA"] = filepath.Join(file, "data")
		}
		p := &process{name: s.image, addr: addr, command: func() *exec.Cmd {
			c := exec.Command(filepath.Join(folder, s.image), s.args...)
			c.Dir = work
			for _, name := range slices.Sorted(maps.Keys(env)) {
				c.Env = append(c.Env, name+"="+env[name])
			}
			return c
		}}
		front.to = append(front.to, addr)
		p.supervise(t)
		t.Cleanup(func() {
			for _, f := range []string{work, temporary} {
				if left, err := os.ReadDir(f); err != nil || len(left) > 0 {
					t.Errorf("copy %d of %s left %v in a folder, %v", i, s.image, left, err)
				}
			}
		})
		copies = append(copies, p)
	}
	return copies
}

// balancer forwards each connection of a client to the next copy of a service that accepts it.
type balancer struct {
	addr string
	to   []string // set before the first connection
	next atomic.Int64
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{addr: l.Addr().String()}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go b.forward(in)
		}
	}()
	return b
}

func (b *balancer) forward(in net.Conn) {
	defer func() { _ = in.Close() }()
	first := int(b.next.Add(1))
	for i := range b.to {
		out, err := net.Dial("tcp", b.to[(first+i)%len(b.to)])
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(out, in)
			_ = out.Close()
		}()
		_, _ = io.Copy(in, out)
		_ = out.Close()
		return
	}
}
