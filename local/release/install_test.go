//go:build release

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/language/buildinfo"
	"assay/shared/testing/programtest"
)

// TestInstall_IntoAnEmptyHomeFolder follows the README to install from a clone, and starts the programs.
func TestInstall_IntoAnEmptyHomeFolder(t *testing.T) {
	home, clone := t.TempDir(), t.TempDir()
	call(t, nil, "", "git", "clone", "--quiet", root, clone)
	env := []string{"HOME=" + home}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} { // The caches of Go are in the other home folder.
		env = append(env, name+"="+strings.TrimSpace(call(t, nil, root, "go", "env", name)))
	}
	programs := filepath.Join(home, ".local", "bin")
	line := `export PATH="` + programs + `:$PATH"`
	if said := call(t, env, clone, "make", "install"); !strings.HasSuffix(said, "\n"+line+"\n") {
		t.Errorf("make install says\n%swant the line %s", said, line)
	}
	env = append(env, "PATH="+programs+":"+os.Getenv("PATH"))
	if said := call(t, env, clone, "make", "install"); !strings.HasSuffix(said, " are in "+programs+".\n") {
		t.Errorf("make install says\n%s", said)
	}
	assay := filepath.Join(programs, "assay")
	if said := call(t, env, home, assay, "version"); !strings.HasPrefix(said, "assay "+buildinfo.Version) {
		t.Error(said)
	}
	address := programtest.FreeAddress(t)
	server := exec.CommandContext(t.Context(), filepath.Join(programs, "assay-server"), "-addr", address, "-grpc-addr", "")
	server.Dir, server.Env = home, append(os.Environ(), env...)
	programtest.Serve(t, server, address)
	if said := call(t, env, home, assay, "login", "http://"+address, "--user", "nora"); !strings.Contains(said, "as nora") {
		t.Error(said)
	}
	collected := filepath.Join(home, "package")
	call(t, env, clone, "make", "install", "DESTDIR="+collected, "PREFIX=/usr")
	if info, err := os.Stat(filepath.Join(collected, "usr", "bin", "assay-worker")); err != nil || info.Mode()&0o111 != 0o111 {
		t.Errorf("%v, %v", info, err)
	}
}

// call runs a program without the variables of make, and returns its output.
func call(t *testing.T, env []string, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL="), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
