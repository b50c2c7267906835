package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/grpc"

	"assay/grpc/assayv1"
)

// A program that the worker runs as its own user may read what /proc shows of the worker.
func TestHideToken_RemovesItFromTheEnvironment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assay-worker")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &told{asked: make(chan struct{})}
	g := grpc.NewServer()
	assayv1.RegisterWorkerServiceServer(g, s)
	go func() { _ = g.Serve(listener) }()
	defer g.Stop()
	cmd := exec.Command(program, "-server", listener.Addr().String(), "-exec", "local", "-work", t.TempDir())
	cmd.Env = append(os.Environ(), tokenVariable+"=a-secret-token")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	<-s.asked
	s.mu.Lock()
	if s.tokens[0] != "Bearer a-secret-token" {
		t.Errorf("tokens %q", s.tokens)
	}
	s.mu.Unlock()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		fmt.Fprintln(os.Stderr, "NOT CHECKED: what the folder of processes shows of a worker, which Linux has and not", runtime.GOOS)
	}
	for _, file := range []string{"environ", "cmdline"} {
		// Root may read it; another user may not.
		if shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file)); err == nil && bytes.Contains(shown, []byte("secret")) {
			t.Errorf("%s: %q", file, shown)
		}
	}
}
