package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestHideToken_RemovesItFromTheEnvironment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assay-worker")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := startLeaseServer(t)
	cmd := exec.Command(program, "-server", s.address, "-exec", "local", "-work", t.TempDir())
	cmd.Env = append(os.Environ(), tokenVariable+"=a-secret-token")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
		// Root may read it; other users may not.
		if shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file)); err == nil && bytes.Contains(shown, []byte("secret")) {
			t.Errorf("%s: %q", file, shown)
		}
	}
}
