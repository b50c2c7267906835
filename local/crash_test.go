package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"
)

// crashes is the number of times that the server is killed.
const crashes = 50

// childEnv is a variable with arguments of the server. It makes the test binary run the server, which the tests kill.
const childEnv = "ASSAY_TEST_SERVE"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := serveChild(strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(programtest.Run(m))
}

// Variables of the child: the duration of its leases, and a file with the skew of its clock.
const (
	leaseVariable = "ASSAY_TEST_LEASE"
	skewVariable  = "ASSAY_TEST_SKEW_FILE"
)

// skewInterval is the interval at which the child reads the skew of its clock, which may change.
const skewInterval = 20 * time.Millisecond

// serveChild calls run with the settings of the variables, or runs another command.
func serveChild(args []string) error {
	if args[0] == "backup" {
		return execute(context.Background(), args, noEnv, io.Discard, os.Stderr)
	}
	c, err := parse(args, noEnv, io.Discard)
	if err != nil {
		return err
	}
	var ahead atomic.Int64
	ahead.Store(int64(readSkew(0)))
	go func() {
		for range time.Tick(skewInterval) {
			ahead.Store(int64(readSkew(time.Duration(ahead.Load()))))
		}
	}()
	c.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	if lease, err := time.ParseDuration(os.Getenv(leaseVariable)); err == nil {
		c.lease, c.firstLease = lease, lease/2
	}
	return run(context.Background(), c, io.Discard, os.Stderr, func(*program) { fmt.Println("ready") })
}

// readSkew returns the skew in the file of skewVariable, or the present skew while the file is being written.
func readSkew(present time.Duration) time.Duration {
	text, _ := os.ReadFile(os.Getenv(skewVariable))
	if skew, err := time.ParseDuration(string(text)); err == nil {
		return skew
	}
	return present
}

// TestServer_LosesNothingWhenItIsKilled kills the server at random instants while clients submit. Afterwards every acknowledged submission
// must exist, and every run must be evaluated exactly once.
func TestServer_LosesNothingWhenItIsKilled(t *testing.T) {
	v := newServerProcess(t)
	v.start(t)
	load := v.prepare(t)
	random := storetest.Random(t)
	killed := 0
	for ; killed < crashes || load.count() < crashes; killed++ {
		stop := make(chan struct{})
		var clients sync.WaitGroup
		for n := range 3 {
			clients.Go(func() { load.submit(v, n, stop) })
		}
		before := load.count()
		if killed%2 == 0 { // On a busy machine, the sleep below may be too short for a submission.
			waittest.Until(t, "another submission is acknowledged", func() bool { return load.count() > before })
		}
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond)
		v.kill(t)
		close(stop)
		clients.Wait()
		v.start(t)
	}
	load.verify(t, v)
	v.kill(t)
}

// serverProcess is the process of a server at a fixed address over one folder.
type serverProcess struct {
	url, args string
	data      string
	env       []string
	clock     string // file with the skew of its clock
	log       logTail
	process   *exec.Cmd

	attributes *syscall.SysProcAttr // of the process; nil: the usual ones
}

// logTail stores the end of a process's log, and counts errors and reports of the race detector.
type logTail struct {
	mu            sync.Mutex
	last          []byte
	errors, races int
}

// maxLogTail is the number of bytes of a log that are stored.
const maxLogTail = 64 << 10

// Write implements io.Writer.
func (l *logTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors += bytes.Count(b, []byte("level=ERROR"))
	l.races += bytes.Count(b, []byte("WARNING: DATA RACE"))
	l.last = append(l.last, b...)
	l.last = l.last[max(0, len(l.last)-maxLogTail):]
	return len(b), nil
}

func (l *logTail) counts() (errors, races int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors, l.races
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}

func newServerProcess(t *testing.T) *serverProcess {
	t.Helper()
	addr := programtest.FreeAddress(t)
	data := t.TempDir()
	return &serverProcess{url: "http://" + addr, data: data, args: "-demo=false -grpc-addr= -addr " + addr + " -data " + data,
		clock: filepath.Join(t.TempDir(), "clock")}
}

// setClock sets the skew of the server's clock, also while the server runs.
func (v *serverProcess) setClock(t testing.TB, ahead time.Duration) {
	t.Helper()
	if err := os.WriteFile(v.clock, []byte(ahead.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (v *serverProcess) start(t testing.TB) {
	t.Helper()
	v.process = exec.Command(os.Args[0])
	v.process.SysProcAttr = v.attributes
	v.process.Env = append(append(os.Environ(), v.env...), childEnv+"="+v.args, skewVariable+"="+v.clock)
	out, err := v.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.process.Stderr = &v.log
	if err := v.process.Start(); err != nil {
		t.Fatal(err)
	}
	process := v.process
	t.Cleanup(func() { _ = process.Process.Kill() })
	if _, err := out.Read(make([]byte, 16)); err != nil {
		_ = v.process.Wait()
		t.Fatalf("the server did not start: %v\n%s", err, &v.log)
	}
}

func (v *serverProcess) kill(t testing.TB) {
	t.Helper()
	if err := v.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = v.process.Wait() // The error says that it was killed.
}

// crashLoad is a load of submissions to a server that is killed, with the acknowledged submissions.
type crashLoad struct {
	task         string
	tokens       []string
	file         map[string]any
	mu           sync.Mutex
	acknowledged []string // paths of submissions
}

func (v *serverProcess) server() *testServer {
	return &testServer{url: v.url, client: http.DefaultClient}
}

// prepare makes a task with a dataset and three registered users.
func (v *serverProcess) prepare(t *testing.T) *crashLoad {
	t.Helper()
	s := v.server()
	owner := s.token(t, "owner")
	c := &crashLoad{task: s.task(t, owner, "Crash")}
	for n := range 3 {
		token := s.token(t, fmt.Sprintf("user%d", n))
		s.post(t, token, c.task+"/registrations", map[string]any{"team": fmt.Sprintf("Team %d", n)})
		c.tokens = append(c.tokens, token)
	}
	c.file = inline("run", "1 Q0 a 1 2.5 crash\n1 Q0 b 2 1.5 crash\n")
	c.file["datasetId"] = s.dataset(t, owner, c.task, "1 0 a 1\n1 0 b 0\n", nil)
	return c
}

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// submit submits until stop is closed, and records acknowledged submissions.
func (c *crashLoad) submit(v *serverProcess, n int, stop <-chan struct{}) {
	body, err := json.Marshal(map[string]any{"type": "upload", "files": []any{c.file}, "again": true})
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-stop:
			return
		default:
		}
		r, err := http.NewRequest(http.MethodPost, v.url+c.task+"/submissions", bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.tokens[n])
		r.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(r)
		if err != nil {
			time.Sleep(time.Millisecond) // The server was killed.
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusCreated {
			c.mu.Lock()
			c.acknowledged = append(c.acknowledged, resp.Header.Get("Location"))
			c.mu.Unlock()
		}
	}
}

// count returns the number of acknowledged submissions.
func (c *crashLoad) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acknowledged)
}

// verify waits until every run has ended, and checks all submissions and runs.
func (c *crashLoad) verify(t *testing.T, v *serverProcess) {
	t.Helper()
	s := v.server()
	owner := s.token(t, "owner")
	s.awaitRuns(t, owner, c.task)
	submissions := map[string]bool{}
	for _, sub := range allOf[record.Submission](t, s, owner, c.task+"/submissions?limit=200") {
		submissions[c.task+"/submissions/"+sub.ID] = true
	}
	for _, path := range c.acknowledged {
		if !submissions[path] {
			t.Errorf("%s was acknowledged and is lost", path)
		}
	}
	evaluated := map[string]int{}
	for _, e := range allOf[record.Evaluation](t, s, owner, c.task+"/evaluations?limit=200") {
		evaluated[e.RunID]++
	}
	runs := allOf[record.Run](t, s, owner, "/v1/runs?limit=200&filter[taskId]="+id(c.task))
	if len(runs) != len(submissions) {
		t.Errorf("%d runs of %d submissions", len(runs), len(submissions))
	}
	for _, r := range runs {
		if r.State != record.Completed || evaluated[r.ID] != 1 {
			t.Errorf("run %s is %s, has %d evaluations: %v", r.ID, r.State, evaluated[r.ID], r.Diagnostics)
		}
	}
	t.Logf("%d submissions acknowledged, %d runs evaluated once", len(c.acknowledged), len(runs))
}

// awaitRuns waits until every run of the task has ended.
func (s *testServer) awaitRuns(t *testing.T, owner, task string) {
	t.Helper()
	waittest.Value(t, "every run has ended", func() (unfinished int, expected bool) {
		unfinished = s.unfinishedRuns(t, owner, task)
		return unfinished, unfinished == 0
	})
}

// unfinishedRuns counts the unfinished runs of the task on one page. It cannot use cursors, because a change of a run's state invalidates
// them.
func (s *testServer) unfinishedRuns(t *testing.T, owner, task string) int {
	t.Helper()
	var open struct{ Data []json.RawMessage }
	s.get(t, owner, "/v1/runs?limit=200&fields=id&filter[taskId]="+id(task)+"&filter[state]=queued,evaluating,running,awaiting-upload", &open)
	return len(open.Data)
}
