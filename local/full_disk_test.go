//go:build linux || darwin

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// limitVariable limits the size of each file that a child process writes. It has the effect of a full disk.
const limitVariable = "ASSAY_TEST_FILE_LIMIT"

func init() {
	limit, err := strconv.ParseUint(os.Getenv(limitVariable), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
}

// An interrupted backup is neither served nor backed up.
func TestBackup_InterruptedIsRefused(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	t.Run("first", func(t *testing.T) { startIn(t, data) })
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"=backup -data "+data+" -to "+to, limitVariable+"=65536")
	if out, err := child.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("file too large")) {
		t.Fatalf("without room: %v, %s", err, out)
	}
	err := run(t.Context(), settingsOf(t, to), io.Discard, io.Discard, func(*program) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("serving: %v", err)
	}
	if _, err := backUp(t, to, filepath.Join(t.TempDir(), "copy")); err == nil {
		t.Error("it was backed up")
	}
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if _, err := backUp(t, data, to); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
