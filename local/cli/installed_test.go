package main

import (
	"encoding/pem"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/language/buildinfo"
	"assay/shared/testing/programtest"
)

// installed returns a command of the built program in the environment of a user without settings.
func installed(t *testing.T, home string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), built(t, "local/cli"), args...)
	cmd.Dir = home
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// TestProgram_ReachesServersThroughProxiesAndAuthorities signs in, submits and downloads at a server that only a proxy can reach. An
// authority that only a file names has signed the certificate of the server. The test measures the time from an empty folder to a score.
func TestProgram_ReachesServersThroughProxiesAndAuthorities(t *testing.T) {
	s, _, large := prepared(t)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	defer secure.Close()
	s.kill()
	s.args = append(s.args, "-public-url", "https://example.com") // the name in the certificate
	s.start()
	var tunnels atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			http.Error(w, "only https://example.com is reached here", http.StatusForbidden)
			return
		}
		tunnels.Add(1)
		tunnel(t, w, secure.Listener.Addr().String())
	}))
	defer proxy.Close()
	home := t.TempDir()
	authority := filepath.Join(home, "authority.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	throughProxy := []string{"HTTPS_PROXY=" + proxy.URL}
	if out, err := installed(t, home, throughProxy, "login", "https://example.com", "--user", "nora").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "certificate") {
		t.Errorf("a server of an unknown authority is trusted: %v, %s", err, out)
	}
	env := []string{throughProxy[0], "SSL_CERT_FILE=" + authority}
	began := time.Now()
	for _, args := range [][]string{
		{"login", "https://example.com", "--user", "nora"}, {"submit", "Lake search", "Rivers=" + large, "--wait"},
	} {
		if out, err := installed(t, home, env, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	t.Logf("two commands lead from nothing to a score in %s, with a file of 2 MB", time.Since(began).Round(time.Millisecond))
	if out, err := installed(t, home, env, "download", "Lake search").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(home, "Lakes", "topics.tsv")); err != nil || string(got) != "1\tlakes\n" {
		t.Errorf("the input is %q, %v", got, err)
	}
	if tunnels.Load() < 3 {
		t.Errorf("%d connections went through the proxy", tunnels.Load())
	}
}

// tunnel connects a client with an address, like a proxy for CONNECT.
func tunnel(t *testing.T, w http.ResponseWriter, address string) {
	to, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = to.Close() }()
	w.WriteHeader(http.StatusOK)
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = from.Close() }()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// TestProgram_EndsWhenItIsInterrupted interrupts the program while it waits for a run, and while it waits for input. The run stays
// unchanged.
func TestProgram_EndsWhenItIsInterrupted(t *testing.T) {
	s, _, _ := prepared(t)
	nora := s.person("nora")
	nora.want(done, "submit", "Lake search", "--dataset", "Rivers", "--image", "example.org/x:1", "--command", "/run")
	id := nora.ids("runs")[0]
	env := []string{"XDG_CONFIG_HOME=" + nora.home}
	for _, args := range [][]string{
		{"runs", id, "--wait"}, {"logs", id, "-f"}, {"announce", "Lake search"}, {"login", s.url, "--with-token"},
	} {
		if state := interruptInstalled(t, nora.folder, env, args...); state.ExitCode() != interrupted {
			t.Errorf("%v ends with %v", args, state)
		}
	}
	nora.says(waiting, []string{"still queued"}, "runs", id)
}

// interruptInstalled interrupts the program half a second after its start, with a silent input, and returns its final state. On a busy
// machine the program may not handle signals yet; then it tries again after twice the time.
func interruptInstalled(t *testing.T, folder string, env []string, args ...string) *os.ProcessState {
	t.Helper()
	for after := 500 * time.Millisecond; ; after *= 2 {
		cmd := installed(t, folder, env, args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		interrupt := time.AfterFunc(after, func() { _ = cmd.Process.Signal(os.Interrupt) })
		_ = cmd.Wait() // The state has the result.
		interrupt.Stop()
		_ = in.Close()
		if early := cmd.ProcessState.ExitCode() == -1; !early || after > time.Minute {
			return cmd.ProcessState
		}
	}
}

// TestVersion_HasTheCommitOfARelease builds the program with the linker flag of `make release`.
func TestVersion_HasTheCommitOfARelease(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(programtest.Root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`-X assay/\S+=\$\(COMMIT\)`).Find(makefile)
	path := filepath.Join(t.TempDir(), "assay")
	flags := strings.ReplaceAll(string(flag), "$(COMMIT)", "0123abcd")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", flags, "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), path, "version", "--json").Output()
	want := map[string]string{"version": buildinfo.Version, "commit": "0123abcd"}
	if got := decode[map[string]string](t, string(out)); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestProgram_EndsWhatDoesNotObeyASignal interrupts the program while it opens a pipe without a writer. No context can end this call.
func TestProgram_EndsWhatDoesNotObeyASignal(t *testing.T) {
	home := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mkfifo", filepath.Join(home, "run.txt")).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if state := interruptInstalled(t, home, nil, "validate", "run.txt"); state.ExitCode() != interrupted {
		t.Errorf("it ended with %v", state)
	}
}
