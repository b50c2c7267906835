package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/testing/waittest"
)

// large returns a run that is too large to be inline in a submission.
func large() string {
	var b strings.Builder
	for topic := range 100 {
		for rank := range 1000 {
			b.WriteString(strings.Join([]string{string(rune('a' + topic%26)), "Q0", "document-" + string(rune('a'+rank%26)) +
				strings.Repeat("x", rank/26) + string(rune('a'+topic/26)), "1", "1.0", "large\n"}, " "))
		}
	}
	return b.String()
}

// prepared starts a server with a task, and returns a person with a large run.
func prepared(t *testing.T) (*server, *person, string) {
	t.Helper()
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile+"a 0 document-a 1\n")
	olga.write("topics.tsv", "1\tlakes\n")
	olga.want(done, "apply", olga.write("task.yaml", taskFile))
	tom := s.person("tom")
	run := tom.write("large.txt", large())
	return s, tom, run
}

// TestSubmit_GoesOnAfterTheServerWasKilled kills the server when the upload of a run has begun, and starts it when the command has tried
// again. The command continues by itself, and makes only one submission.
func TestSubmit_GoesOnAfterTheServerWasKilled(t *testing.T) {
	s, tom, run := prepared(t)
	var uploads, requests atomic.Int32
	passes := func(r *http.Request) bool {
		requests.Add(1)
		return r.Method != http.MethodPut || uploads.Add(1) > 1
	}
	begun, killed := make(chan struct{}), make(chan struct{})
	front := proxyOf(t, s.url, passes, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1000)
		close(begun)
		<-killed
		panic(http.ErrAbortHandler)
	})
	s.kill()
	s.args = append(s.args, "-public-url", front) // Links of uploads have this URL.
	s.start()
	tom.want(done, "login", front, "--user", "tom")
	ended := make(chan result, 1)
	go func() { ended <- tom.run(t.Context(), "submit", "Lake search", "Rivers="+run, "--wait") }()
	waittest.Receive(t, "the upload has begun", begun)
	s.kill()
	before := requests.Load()
	close(killed)
	waittest.Until(t, "the command has tried again", func() bool { return requests.Load() > before })
	s.start()
	if r := <-ended; r.code != done || !strings.Contains(r.out, "completed") {
		t.Errorf("the submission ends with %d\n%s%s", r.code, r.out, r.errs)
	}
	if runs := tom.ids("runs"); len(runs) != 1 {
		t.Errorf("there are the runs %v", runs)
	}
}

// TestSubmit_GoesOnWithAnInterruptedUpload interrupts the command during an upload, like Ctrl-C. The same command then continues with the
// submission that it made, so that only one submission counts.
func TestSubmit_GoesOnWithAnInterruptedUpload(t *testing.T) {
	s, tom, run := prepared(t)
	ctx, interrupt := context.WithCancel(t.Context())
	passes := func(r *http.Request) bool { return r.Method != http.MethodPut || ctx.Err() != nil }
	slow := proxyOf(t, s.url, passes, func(http.ResponseWriter, *http.Request) {
		interrupt()
		panic(http.ErrAbortHandler)
	})
	s.kill()
	s.args = append(s.args, "-public-url", slow) // Links of uploads have this URL.
	s.start()
	tom.want(done, "login", slow, "--user", "tom")
	if r := tom.run(ctx, "submit", "Lake search", "Rivers="+run, "--wait"); r.code != interrupted {
		t.Errorf("the interrupted command exits with %d\n%s%s", r.code, r.out, r.errs)
	}
	tom.says(done, []string{"Going on with the submission", "completed"}, "submit", "Lake search", "Rivers="+run, "--wait")
	if runs := tom.ids("runs"); len(runs) != 1 {
		t.Errorf("there are the runs %v", runs)
	}
}

// TestSubmit_SaysWhatAnInterruptionMade interrupts the command while the only request of a small submission is being answered.
func TestSubmit_SaysWhatAnInterruptionMade(t *testing.T) {
	s, tom, _ := prepared(t)
	run := tom.write("small.txt", goodRun)
	ctx, interrupt := context.WithCancel(t.Context())
	slow := proxyOf(t, s.url, func(r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/submissions") {
			interrupt()
			time.Sleep(100 * time.Millisecond)
		}
		return true
	}, nil)
	s.kill()
	s.args = append(s.args, "-public-url", slow) // The development issuer has this URL.
	s.start()
	tom.want(done, "login", slow, "--user", "tom")
	r := tom.run(ctx, "submit", "Lake search", "Rivers="+run)
	if r.code != done || !strings.Contains(r.out, "Submitted") {
		t.Errorf("the interrupted command exits with %d\n%s%s", r.code, r.out, r.errs)
	}
	if runs := tom.ids("runs"); len(runs) != 1 || !strings.Contains(r.out, runs[0]) {
		t.Errorf("there are the runs %v", runs)
	}
}

// proxyOf starts a proxy that forwards the requests for which passes is true, and calls refuse for the others.
func proxyOf(t *testing.T, to string, passes func(*http.Request) bool, refuse http.HandlerFunc) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !passes(r) {
			refuse(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestRequests_PassBusyServersAndBrokenConnections answers the first attempt of each request with a temporary failure.
func TestRequests_PassBusyServersAndBrokenConnections(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	var asked atomic.Int64
	bad := proxyOf(t, s.url, func(*http.Request) bool { return asked.Add(1)%2 == 0 }, func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Load() % 3 {
		case 0:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "busy", http.StatusTooManyRequests)
		case 1:
			http.Error(w, "away", http.StatusServiceUnavailable)
		default:
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = connection.(*net.TCPConn).SetLinger(0)
				_ = connection.Close()
			}
		}
	})
	olga.says(done, []string{"trying again"}, "tasks", "--server", bad)
	olga.write("qrels.txt", qrelsFile)
	olga.want(done, "apply", olga.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes}\n"), "--server", s.url)
	if tasks := olga.ids("tasks"); len(tasks) != 1 {
		t.Errorf("there are the tasks %v", tasks)
	}
}

// TestRefusals_SayWhatHeals checks each exit code, and the command that each error names.
func TestRefusals_SayWhatHeals(t *testing.T) {
	s, tom, _ := prepared(t)
	run := tom.write("run.txt", goodRun)
	newcomer := &person{t: t, folder: t.TempDir(), home: t.TempDir(), env: map[string]string{}}
	newcomer.says(notSignedIn, []string{"signed in to no server", "Try: assay login"}, "tasks")
	newcomer.says(failed, []string{"no URL of a server"}, "tasks", "--server", "lake")
	newcomer.says(failed, []string{"assay submit needs TASK\nTry: assay submit --help"}, "submit")
	newcomer.says(failed, []string{`takes TASK, and "search" is too much: put a name with spaces into quotes`},
		"leaderboard", "Lake", "search")
	newcomer.says(failed, []string{`unknown flag: --tem. Did you mean "--team"?`}, "join", "Lake search", "--tem", "Otters")
	newcomer.says(failed, []string{"--timeout does nothing without --wait"}, "runs", someTask, "--timeout", "1s")
	newcomer.says(failed, []string{`takes no arguments, and "x" is one`}, "version", "x")
	newcomer.says(failed, []string{`Did you mean "create"?`}, "tokens", "creat", "one")
	newcomer.says(failed, []string{"unknown command", "Try: assay --help"}, "lake")
	newcomer.says(fileRefused, []string{"is no file"}, "submit", s.url+"/tasks/"+tom.ids("tasks")[0], tom.folder, "--dataset", "Rivers")
	newcomer.env["ASSAY_URL"] = s.url
	newcomer.says(done, []string{"Lake search"}, "tasks")
	newcomer.says(notSignedIn, []string{"Try: assay login " + s.url}, "submit", "Lake search", "Rivers="+run)
	newcomer.env["ASSAY_TOKEN"] = strings.TrimSpace(tom.want(done, "tokens", "create", "reader", "--scopes", "read"))
	newcomer.says(notFound, []string{"It takes a login, or an access token with the scope submit or organize.\n" +
		"Try: unset ASSAY_TOKEN, and assay login " + s.url + "\n"}, "submit", "Lake search", "Rivers="+run)
	newcomer.says(notFound, []string{"It takes a login, and no access token.\nTry: unset ASSAY_TOKEN, and assay login " + s.url + "\n"},
		"tokens")
	tom.says(done, []string{"reader", "read"}, "tokens")
	tom.says(done, []string{"The server refuses it within 10 seconds."}, "tokens", "delete", tom.ids("tokens")[0])
	tom.says(done, []string{"You have no access token"}, "tokens")
	newcomer.env["ASSAY_TOKEN"] = "assay_nothing"
	newcomer.says(notSignedIn, []string{"Try: unset ASSAY_TOKEN, or set it to a valid access token"}, "submit", "Lake search", "Rivers="+run)
	tom.says(failed, []string{"assay: The secret of the invitation is not complete"}, "join", "assay-invitation_nothing")
	tom.says(notFound, []string{`no task "Ponds" here, or you may not see it.` + "\nTry: assay tasks"}, "submit", "Ponds", run)
	tom.says(notFound, []string{`Did you mean "Lake search"?`}, "submit", "Lkae search", run)
	tom.says(fileRefused, []string{"no such file"}, "submit", "Lake search", "Rivers=missing.txt")
	for range 5 {
		tom.want(done, "submit", "Lake search", "Rivers="+run, "--again")
	}
	tom.says(outside, []string{"0 of the 5"}, "submit", "Lake search", "Rivers="+run, "--again")
	image := []string{"submit", "Lake search", "--dataset", "Lakes", "--image", "example.org/x:1", "--command", "/run"}
	s.person("cara").says(done, []string{"No worker for it has been seen for a minute", "Submitted "}, image...)
	other := s.person("ann")
	other.says(waiting, []string{"still queued", "Try: assay runs "}, append(image, "--wait", "--timeout", "1s")...)
	waitingRun := other.ids("runs")[0]
	other.says(waiting, []string{"still queued"}, "runs", waitingRun)
	r := other.run(t.Context(), "runs", waitingRun, "--wait", "--timeout", "1ms", "--json")
	if got := decode[[]outcome](t, r.out); r.code != waiting || len(got) != 1 || got[0].Run.text("state") != "queued" {
		t.Errorf("a run that is not waited for longer is %v, %d, %s", got, r.code, r.errs)
	}
	tom.in = "There is news."
	if got := tom.want(notFound, "announce", "Lake search", "--title", "News"); strings.Contains(got, "Try: ") {
		t.Errorf("no command makes tom an organizer:\n%s", got)
	}
	other.says(notFound, []string{"assay: You named something that does not exist, or that you may not see.\n",
		"  " + someTask + ": there is no such run"}, "compare", waitingRun, someTask)
	other.says(notFound, []string{waitingRun + "  cancelled", "There is nothing with this id, or nothing that you may see.\n"},
		"cancel", waitingRun, someTask)
	other.says(runFailed, []string{"is cancelled"}, "runs", waitingRun)
	other.says(done, []string{"Signed out"}, "logout")
	other.says(notSignedIn, []string{"signed in to no server"}, "runs")
}

// TestLogin_KeepsTokensFromOthers checks the file of credentials, and the replacement of an expired token in it.
func TestLogin_KeepsTokensFromOthers(t *testing.T) {
	s := serve(t, "embedded")
	ada := s.person("ada")
	path := filepath.Join(ada.home, "assay", "credentials.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file has the mode %v, %v", info.Mode(), err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Current string
		Servers map[string]map[string]any
	}
	if err := json.Unmarshal(content, &kept); err != nil {
		t.Fatal(err)
	}
	kept.Servers[s.url]["expiresAt"] = time.Now().Add(-time.Hour)
	kept.Servers[s.url]["token"] = "expired"
	changed, err := json.Marshal(map[string]any{"current": kept.Current, "servers": kept.Servers})
	if err != nil || os.WriteFile(path, changed, 0o600) != nil {
		t.Fatal(err)
	}
	ada.says(done, []string{"None of your teams has a run"}, "runs")
	ada.in = strings.TrimSpace(ada.want(done, "tokens", "create", "ci"))
	ada.says(done, []string{"Signed in"}, "login", s.url, "--with-token")
	ada.in = "assay_nothing"
	ada.want(notSignedIn, "login", s.url, "--with-token")
	ada.says(done, []string{"None of your teams has a run"}, "runs") // The former sign-in still works.
}
