//go:build linux || darwin

package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"assay/shared/testing/waittest"
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

// backupProcess returns a process that makes a backup.
func backupProcess(data, to string, env ...string) *exec.Cmd {
	child := exec.Command(os.Args[0])
	child.Env = append(append(os.Environ(), childEnv+"=backup -data "+data+" -to "+to), env...)
	return child
}

// killBackup kills a process during a backup. The process waits for a key that nobody writes.
func killBackup(t *testing.T, data, to string) {
	t.Helper()
	key := filepath.Join(data, devIssuerKey)
	if err := errors.Join(os.Rename(key, key+".kept"), syscall.Mkfifo(key, 0o600)); err != nil {
		t.Fatal(err)
	}
	child := backupProcess(data, to)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the table was copied", func() bool {
		_, err := os.Stat(filepath.Join(to+incompleteSuffix, tableFile))
		return err == nil
	})
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if err := os.Rename(key+".kept", key); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interrupted backup has the name of a complete one: %v", err)
	}
}

// An interrupted backup is neither served nor backed up, and the next backup of the same name replaces it. A backup without room leaves
// nothing behind.
func TestBackup_InterruptedIsRefused(t *testing.T) {
	data, backups := t.TempDir(), t.TempDir()
	to := filepath.Join(backups, "backup")
	t.Run("first", func(t *testing.T) { startIn(t, data) })
	out, err := backupProcess(data, to, limitVariable+"=65536").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("file too large")) {
		t.Fatalf("without room: %v, %s", err, out)
	}
	if left := namesIn(t, backups); len(left) > 0 {
		t.Errorf("a backup without room leaves %q", left)
	}
	killBackup(t, data, to)
	interrupted := to + incompleteSuffix
	err = run(t.Context(), settingsOf(t, interrupted), io.Discard, io.Discard, func(*program) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("serving: %v", err)
	}
	if _, err := backUp(t, interrupted, filepath.Join(t.TempDir(), "copy")); err == nil {
		t.Error("it was backed up")
	}
	if _, err := backUp(t, data, to); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if there := namesIn(t, backups); len(there) != 1 {
		t.Errorf("beside the backup there are %q", there)
	}
}

// The lab's unit makes a backup whenever it starts, also after the earlier one on the same day and after an interrupted one.
func TestBackup_LabUnit(t *testing.T) {
	unit := strings.Fields(only(t, "assay-backup.service", `^ExecStart=/usr/local/bin/assay-server backup (.*)$`))
	data, backups := t.TempDir(), t.TempDir()
	t.Run("first", func(t *testing.T) { startIn(t, data, "-demo=false") })
	i := slices.Index(unit, "-in")
	unit[i+1] = backups
	killBackup(t, data, filepath.Join(backups, "killed"))
	for range 2 {
		if _, err := runBackup(t, append(unit, "-data", data)...); err != nil {
			t.Fatal(err)
		}
	}
	there := namesIn(t, backups)
	if len(there) != 2 {
		t.Errorf("after an interrupted backup and two others, there are %q", there)
	}
	for _, name := range there {
		if err := checkComplete(filepath.Join(backups, name)); err != nil {
			t.Error(err)
		}
	}
}
