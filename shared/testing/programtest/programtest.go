// Package programtest finds and runs the programs that tests need, such as servers that speak the protocols of AWS.
package programtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/testing/waittest"
)

// Installed returns the path of a file of an npm package, whether or not it is installed. The elements are the package's name and the
// path within it.
func Installed(t testing.TB, elements ...string) string {
	t.Helper()
	return filepath.Join(append([]string{Root(t), "infra", "node_modules"}, elements...)...)
}

// Root returns the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	t.Fatal("the test does not run within the module")
	return ""
}

// FreeAddress returns an unused loopback address.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// Serve starts a server, and waits until it accepts connections at the address. The server ends with the test. If the test fails, it
// logs the server's output.
func Serve(t testing.TB, server *exec.Cmd, address string) {
	t.Helper()
	var output strings.Builder
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait() // always an error, because the server is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s wrote:\n%.4000s", server.Path, &output)
		}
	})
	waittest.Succeed(t, server.Path+" answers at "+address, func() error {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			t.Fatalf("%s ended as soon as it was started", server.Path)
		default:
		}
		return err
	})
}
