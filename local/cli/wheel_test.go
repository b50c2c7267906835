//go:build release

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"assay/shared/language/buildinfo"
	"assay/shared/testing/programtest"
)

// TestWheel_IsInstalledAndUsed builds the wheel of this platform like `make release`, installs it in a new virtual environment, and
// evaluates and submits with its module.
func TestWheel_IsInstalledAndUsed(t *testing.T) {
	s, tom, _ := prepared(t)
	t.Setenv("ASSAY_URL", s.url)
	t.Setenv("ASSAY_TOKEN", strings.TrimSpace(tom.want(done, "tokens", "create", "notebook")))
	root, folder := programtest.Root(t), t.TempDir()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	platform := regexp.MustCompile("wheel_tags_" + runtime.GOOS + "/" + runtime.GOARCH + ` *:= (\S+)`).FindSubmatch(makefile)
	if platform == nil {
		t.Fatal("there are no wheels for this platform")
	}
	tags, program := "py3-none-"+string(platform[1]), filepath.Join(folder, "assay")
	call := func(folder, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = folder
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
		}
		return out.String()
	}
	call(root, "go", "build", "-o", program, "./local/cli")
	wheel := filepath.Join(folder, "assay_tasks-"+buildinfo.Version+"-"+tags+".whl")
	content := call(root, "go", "run", "./local/release", "wheel", tags, program, "local/cli/python/assay_tasks.py")
	if err := os.WriteFile(wheel, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	call(folder, "python3", "-m", "venv", "venv")
	pip := filepath.Join("venv", "bin", "pip")
	call(folder, pip, "install", "--quiet", "--no-index", "--no-deps", wheel)
	call(folder, pip, "install", "--quiet", "--only-binary", ":all:", "pandas==2.3.3")
	call(folder, pip, "check")
	story, err := filepath.Abs(filepath.Join("testdata", "story.py"))
	if err != nil {
		t.Fatal(err)
	}
	if said := call(folder, filepath.Join("venv", "bin", "python"), story); said != "All of it holds.\n" {
		t.Error(said)
	}
	if said := call(folder, filepath.Join("venv", "bin", "assay"), "version"); !strings.HasPrefix(said, "assay "+buildinfo.Version) {
		t.Error(said)
	}
	call(folder, pip, "uninstall", "--quiet", "--yes", "assay-tasks")
	for _, left := range []string{"bin/assay", "lib/python*/site-packages/assay*"} {
		if found, err := filepath.Glob(filepath.Join(folder, "venv", left)); err != nil || len(found) > 0 {
			t.Errorf("after it is uninstalled, there is %v, %v", found, err)
		}
	}
}
