package sandbox_test

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/grpc/worker/sandbox"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serveRepository serves a repository over HTTPS, and returns its URL. The repository has one commit, tagged v1, with the executable
// files.
func serveRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "probe.git")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org", "-C", folder}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	must(t, os.Mkdir(folder, 0o755))
	run("init", "--quiet", "--initial-branch=main")
	for name, content := range files {
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			must(t, os.Symlink(target, filepath.Join(folder, name)))
			continue
		}
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o755))
	}
	run("add", ".")
	run("commit", "--quiet", "--message=First")
	run("tag", "v1")
	run("commit", "--quiet", "--message=Second", "--allow-empty")
	git, err := exec.LookPath("git")
	must(t, err)
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"},
		Stderr: t.Output(),
	})
	t.Cleanup(server.Close)
	authorities := filepath.Join(root, "ca.pem")
	must(t, os.WriteFile(authorities, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("GIT_SSL_CAINFO", authorities)
	return server.URL + "/probe.git"
}

// isRunError reports whether an error belongs to the run.
func isRunError(err error) bool {
	_, ok := errors.AsType[*failure.RunError](err)
	return ok
}

func TestRepository_IsCloned(t *testing.T) {
	address := serveRepository(t, map[string]string{"run.sh": "echo from the repository"})
	first := ""
	for _, c := range []struct{ ref, want string }{
		{"v1", ""}, {"", ""}, {"main", ""}, {"commit", ""}, {"short", ""},
		{"none", `no commit, tag or branch "none"`}, {"--upload-pack=touch x", "must be the name of a commit"},
	} {
		t.Run("ref "+c.ref, func(t *testing.T) {
			ref := c.ref
			switch ref {
			case "commit":
				ref = first
			case "short":
				ref = first[:10]
			}
			folder := filepath.Join(t.TempDir(), "repository")
			must(t, os.Mkdir(folder, 0o700))
			p, err := (&sandbox.Local{Log: slog.New(slog.DiscardHandler)}).Repository(t.Context(), address, ref, folder, "test", output.New())
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			must(t, err)
			if first == "" {
				first = p.Version
			}
			if of1 := c.ref != "" && c.ref != "main"; len(p.Version) != 40 || (p.Version == first) != of1 {
				t.Errorf("%q is %s", ref, p.Version)
			}
			if content, err := os.ReadFile(filepath.Join(folder, "run.sh")); err != nil || string(content) != "echo from the repository" {
				t.Errorf("%q %v", content, err)
			}
		})
	}
}

func TestRepository_CloneFailureFailsTheRun(t *testing.T) {
	address := serveRepository(t, map[string]string{"run.sh": "exit"})
	const cloned = "The repository cannot be cloned. Is its address right, does its server answer, may everybody read it, and is it small " +
		"enough to be cloned within 15m0s?"
	const url = "The repository must have an https URL without a user name."
	local := &sandbox.Local{Log: slog.New(slog.DiscardHandler)}
	for address, want := range map[string]string{
		strings.Replace(address, "probe", "other", 1): cloned,
		"https://127.0.0.1:1/a.git":                   cloned,
		"file:///etc":                                 url,
		"http://example.org/a.git":                    url,
		"ext::sh -c touch% x":                         url,
		"https://user:password@example.org/a.git":     url,
	} {
		folder := filepath.Join(t.TempDir(), "repository")
		must(t, os.Mkdir(folder, 0o700))
		log := output.New()
		_, err := local.Repository(t.Context(), address, "", folder, "test", log)
		if !isRunError(err) || err.Error() != want {
			t.Errorf("%s: %v", address, err)
		}
		if _, lines := log.Next(); len(lines) > 0 {
			t.Errorf("%s: participants read %v", address, lines)
		}
	}
}

func TestRepository_ManyCloneFailuresBlameTheWorker(t *testing.T) {
	local := &sandbox.Local{Log: slog.New(slog.DiscardHandler)}
	for i := range 12 {
		folder := filepath.Join(t.TempDir(), "repository")
		must(t, os.Mkdir(folder, 0o700))
		_, err := local.Repository(t.Context(), "https://127.0.0.1:1/a.git", "", folder, "test", output.New())
		if isRunError(err) != (i < 10) {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
}
