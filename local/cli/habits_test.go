package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/buildinfo"
	"assay/shared/programtest"

	"github.com/spf13/cobra"
)

// installed is the program as it is installed, with the environment of a user without settings.
func installed(t *testing.T, home string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), built(t, "local/cli"), args...)
	cmd.Dir, cmd.Env = home, append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// TestProgram_ReachesServersThroughProxiesAndAuthorities signs in, submits and downloads by a name that only a proxy can reach, at a server
// whose certificate is from an authority that only a file has, and measures it from an empty folder to a score.
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
	s.args = append(s.args, "-public-url", "https://example.com") // of the certificate
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
	env, began := []string{throughProxy[0], "SSL_CERT_FILE=" + authority}, time.Now()
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

// tunnel joins a client with an address, as proxies do on CONNECT.
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

// TestProgram_EndsWhenItIsInterrupted interrupts it while it waits for a run, which stays as it is, and while it waits for input.
func TestProgram_EndsWhenItIsInterrupted(t *testing.T) {
	s, _, _ := prepared(t)
	nora := s.person("nora")
	nora.want(done, "submit", "Lake search", "--dataset", "Rivers", "--image", "example.org/x:1", "--command", "/run")
	id := nora.ids("runs")[0]
	env := []string{"XDG_CONFIG_HOME=" + nora.home}
	for _, args := range [][]string{
		{"runs", id, "--wait"}, {"logs", id, "-f"}, {"announce", "Lake search"}, {"login", s.url, "--with-token"},
	} {
		cmd := installed(t, nora.folder, env, args...)
		in, err := cmd.StdinPipe() // which says nothing
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(500*time.Millisecond, func() { _ = cmd.Process.Signal(os.Interrupt) })
		began := time.Now()
		failure, ok := errors.AsType[*exec.ExitError](cmd.Wait())
		if !ok || failure.ExitCode() != interrupted || time.Since(began) > 5*time.Second {
			t.Errorf("%v ends with %v after %s", args, failure, time.Since(began))
		}
		_ = in.Close()
	}
	nora.says(waiting, []string{"is queued"}, "runs", id)
}

// TestDownload_GoesOnAndChecksDigests breaks the connection in the middle of a file, damages what is there, and interrupts it.
func TestDownload_GoesOnAndChecksDigests(t *testing.T) {
	s, content := serve(t, "embedded"), strings.Repeat("1\tlakes and rivers\n", 20_000)
	var mu sync.Mutex
	var ranges []string
	var broken func()
	path := ""
	file := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/files/inputs")
	}
	passes := func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if file(r) {
			ranges = append(ranges, r.Header.Get("Range"))
		}
		return !file(r) || broken == nil
	}
	links := proxyOf(t, s.url, passes, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "380000")
		_, _ = io.WriteString(w, content[:100_000])
		_ = http.NewResponseController(w).Flush()
		for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
			if info, err := os.Stat(path + ".part"); err == nil && info.Size() == 100_000 {
				break
			}
		}
		mu.Lock()
		broken()
		broken = nil
		mu.Unlock()
		panic(http.ErrAbortHandler)
	})
	s.kill()
	s.url, s.args = links, append(s.args, "-public-url", links)
	s.start()
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", content)
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	path = filepath.Join(olga.folder, "saved", "Lakes", "topics.tsv")
	download := func(ctx context.Context, code int, wantRanges ...string) {
		t.Helper()
		ranges = nil
		if r := olga.run(ctx, "download", "Lake search", "-o", filepath.Join(olga.folder, "saved")); r.code != code {
			t.Fatalf("it exits with %d: %s%s", r.code, r.out, r.errs)
		}
		if !slices.Equal(ranges, wantRanges) {
			t.Errorf("the requests had the ranges %q, want %q", ranges, wantRanges)
		}
		got, err := os.ReadFile(path)
		if code == done && (err != nil || string(got) != content) {
			t.Errorf("the file has %d bytes, %v", len(got), err)
		}
		if _, err := os.Stat(path + ".part"); (err == nil) != (code != done) {
			t.Errorf("the part: %v", err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	broken = interrupt
	download(ctx, interrupted, "")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that was interrupted is there")
	}
	download(t.Context(), done, "bytes=100000-")
	download(t.Context(), done) // it is there
	broken = func() {}
	olga.write("saved/Lakes/topics.tsv", "damaged")
	download(t.Context(), done, "", "bytes=100000-") // by itself
	for _, damaged := range []string{strings.Repeat("x", 1000), strings.Repeat("x", len(content)), content + "more"} {
		if err := errors.Join(os.Remove(path), os.WriteFile(path+".part", []byte(damaged), 0o600)); err != nil {
			t.Fatal(err)
		}
		want := []string{"bytes=1000-", ""}
		if len(damaged) >= len(content) {
			want = []string{""}
		}
		download(t.Context(), done, want...)
	}
}

// TestLogs_FollowARun has a worker execute a run while its log is followed.
func TestLogs_FollowARun(t *testing.T) {
	workers := programtest.FreeAddress(t)
	s := serve(t, "embedded", "-grpc-addr", workers)
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", goodRun)
	olga.want(done, "apply", olga.write("task.yaml", strings.ReplaceAll(taskFile, "split: test", "split: training")))
	tom.want(done, "submit", "Lake search", "--dataset", "Lakes", "--image", "ranker", "--command",
		`for i in 1 2 3 4; do echo "line $i"; sleep 1; done; cp "$ASSAY_INPUT/topics.tsv" "$ASSAY_OUTPUT/run.txt"`)
	id := tom.ids("runs")[0]
	robot := &person{t: t, folder: t.TempDir(), home: t.TempDir()}
	robot.want(done, "login", s.url, "--user", "robot", "--admin")
	worker := exec.CommandContext(t.Context(), built(t, "grpc/worker"), "-server", workers, "-exec", "local", "-work", t.TempDir())
	token := strings.TrimSpace(robot.want(done, "tokens", "create", "worker", "--scopes", "work"))
	worker.Env = append(os.Environ(), "ASSAY_WORKER_TOKEN="+token)
	worker.Cancel, worker.WaitDelay = func() error { return worker.Process.Signal(os.Interrupt) }, 10*time.Second
	var said watched
	worker.Stderr = &said
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _ = worker.Wait(); t.Failed() {
			t.Log(said.text.String())
		}
	})
	got := tom.want(done, "logs", id, "-f")
	for _, line := range []string{"line 1", "line 2", "line 3", "line 4"} {
		if strings.Count(got, line+"\n") != 1 {
			t.Errorf("%q is printed %d times:\n%s", line, strings.Count(got, line), got)
		}
	}
	tom.says(done, []string{"completed"}, "runs", id, "--wait")
	for _, args := range [][]string{{"logs", id}, {"logs", id, "-f"}} {
		tom.says(done, []string{"line 1", "line 4"}, args...)
		if of := decode[map[string]string](t, tom.want(done, append(args, "--json")...)); of["id"] != id || of["state"] != "completed" ||
			!strings.Contains(of["log"], "line 4\n") {
			t.Errorf("as JSON, the log is %v", of)
		}
	}
}

// TestLogs_AreWhole follows a run whose execution is over, and whose log is stored, while it is still evaluated.
func TestLogs_AreWhole(t *testing.T) {
	looks := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/log" {
			_, _ = io.WriteString(w, "one\ntwo\n")
			return
		}
		state := []string{"evaluating", "evaluating", "completed"}[looks]
		looks++
		_, _ = io.WriteString(w, `{"id":"1","state":"`+state+`","logTail":"two\n","log":{"url":"http://`+r.Host+`/log"}}`)
	}))
	defer s.Close()
	if got := local(t).want(done, "logs", "1", "-f", "--server", s.URL); got != "one\ntwo\n" {
		t.Errorf("it prints %q", got)
	}
}

// TestOutput_IsPlainOrJSON runs each command with --json, whose output is one value of JSON and no more, and without it on a terminal,
// where nothing steers it: there is no colour that NO_COLOR could take away.
func TestOutput_IsPlainOrJSON(t *testing.T) {
	for _, store := range []string{"embedded", "dynamodb"} {
		t.Run(store, func(t *testing.T) { printAll(t, serve(t, store)) })
	}
}

func printAll(t *testing.T, s *server) {
	p := s.person("olga")
	p.in = "Text.\n"
	p.write("qrels.txt", qrelsFile)
	p.write("topics.tsv", "1\tlakes\n")
	run, task := p.write("run.txt", goodRun), "Lake search"
	file := p.write("task.yaml", strings.NewReplacer("[AP]}", "[AP]}\n    finalRuns: 1", "perDay: 5", "perDay: 50").Replace(taskFile))
	tested := map[string]bool{}
	both := func(args ...string) (text string) {
		t.Helper()
		for _, asJSON := range []string{"--json", "--json=false"} {
			var out, errs strings.Builder
			of := &program{in: strings.NewReader(p.in), out: &out, errs: &errs, getenv: os.Getenv, folder: p.home, terminal: true}
			if code := of.run(t.Context(), append(args, asJSON)); code != done {
				t.Fatalf("%v exits with %d: %s%s", args, code, &out, &errs)
			}
			if strings.Contains(out.String()+errs.String(), "\x1b") {
				t.Errorf("%v steers the terminal: %q", args, out.String()+errs.String())
			}
			if asJSON == "--json" {
				text = out.String()
				d := json.NewDecoder(strings.NewReader(text))
				var value any
				if err := d.Decode(&value); err != nil || d.More() {
					t.Errorf("%v prints no JSON: %v\n%s", args, err, text)
				}
			}
		}
		found, _, err := p.program().root().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		tested[found.CommandPath()] = true
		return text
	}
	for _, args := range [][]string{
		{"version"}, {"login", s.url, "--user", "olga"}, {"apply", file, "--dry-run"}, {"apply", file}, {"tasks"}, {"datasets", task},
		{"join", task, "--team", "Otters"}, {"download", task, "-o", p.folder}, {"registrations", task}, {"invite", task},
		{"announce", task, "--title", "News"}, {"eval", filepath.Join(p.folder, "qrels.txt"), run, "AP", "-q"}, {"validate", run},
		{"submit", task, "Rivers=" + run}, {"submit", task, "Rivers=" + run, "--wait"}, {"runs"}, {"tokens", "create", "one"}, {"tokens"},
		{"leaderboard", task, "--dataset", "Rivers"}, {"export", task, "-o", filepath.Join(p.folder, "export")},
	} {
		both(args...)
	}
	runs := p.ids("runs")
	both("runs", runs[0], "--wait")
	both("logs", runs[0])
	both("compare", runs[0], runs[1])
	both("review", task, "--dataset", "Rivers", "--publish", runs[0])
	both("final", runs[0])
	registration := p.ids("registrations", task)[0]
	both("registrations", "reject", task, registration)
	both("registrations", "accept", task, registration)
	for _, id := range p.ids("tokens") {
		p.want(done, "tokens", "delete", id)
	}
	queued := []string{"submit", task, "--dataset", "Lakes", "--image", "example.org/x:1", "--command", "/run"}
	image := decode[object](t, both(queued...)).text("runIds")
	both("cancel", image)
	both("logout", s.url)
	var walk func(*cobra.Command)
	walk = func(of *cobra.Command) {
		for _, below := range of.Commands() {
			walk(below)
		}
		// These print files: what they would be as JSON is in the files.
		others := []string{"assay", "assay convert", "assay fuse", "assay man", "assay tokens delete"}
		if path := of.CommandPath(); of.Runnable() && !tested[path] && !slices.Contains(others, path) {
			t.Errorf("%s is not tested", path)
		}
	}
	walk(p.program().root())
}

// TestVersion_HasTheCommitOfARelease builds with the flag that `make release` gives to the linker.
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

func (p *person) program() *program {
	return &program{in: strings.NewReader(p.in), out: io.Discard, errs: io.Discard, getenv: os.Getenv, folder: p.home}
}

// TestSubmit_AfterTheWindowIsOver has the exit code and what the task says.
func TestSubmit_AfterTheWindowIsOver(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	file := olga.write("task.yaml", taskFile)
	olga.want(done, "apply", file)
	tom.want(done, "join", "Lake search", "--team", "Otters")
	olga.write("task.yaml", strings.ReplaceAll(taskFile, "2099-01-01", "2001-01-01"))
	olga.want(done, "apply", file)
	tom.says(outside, []string{"closed at 2000-12-31"}, "submit", "Lake search", "Rivers="+tom.write("run.txt", goodRun))
}
