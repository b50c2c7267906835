package work_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/work"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errUnavailable = status.Error(codes.Unavailable, "as the test wants it")

// TestHeartbeat_LostAnswersRepeatNoLine drops every second answer to a heartbeat, and every third call.
func TestHeartbeat_LostAnswersRepeatNoLine(t *testing.T) {
	t.Parallel()
	s := newServer(t, image(`for i in $(seq 0 2499); do echo "line $i"; done; sleep 0.3; echo last; echo run > "$ASSAY_OUTPUT/run"`))
	s.after = func(method string, call int) error {
		if method == "Heartbeat" && call%2 == 0 {
			return errUnavailable
		}
		return nil
	}
	s.before = func(method string, call int) error {
		if method == "Heartbeat" && call%3 == 0 {
			return errUnavailable
		}
		return nil
	}
	s.finish(nil)
	printed := s.printed(assayv1.Stream_STREAM_STDOUT)
	if len(printed) != 2501 || printed[2500] != "last" {
		t.Fatalf("%d lines", len(printed))
	}
	for i, text := range printed[:2500] {
		if text != fmt.Sprintf("line %d", i) {
			t.Fatalf("line %d is %q", i, text)
		}
	}
	if s.failed != nil || s.declared == nil {
		t.Errorf("failed %v", s.failed)
	}
}

// TestCallWithRetry_LostAnswerChangesNothing drops the answer to the call that ends a run. Afterwards the server refuses the lease.
func TestCallWithRetry_LostAnswerChangesNothing(t *testing.T) {
	for method, command := range map[string]string{
		"CompleteRun": `echo run > "$ASSAY_OUTPUT/run"`,
		"FailRun":     "exit 1",
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, image(command))
			s.setLease(time.Hour, time.Hour) // so that no heartbeat notices
			s.after = func(called string, _ int) error {
				if called == method && s.over {
					return errUnavailable
				}
				return nil
			}
			s.finish(nil)
			if done := s.declared != nil; done != (method == "CompleteRun") || done == (s.failed != nil) {
				t.Errorf("declared %v, failed %v", s.declared, s.failed)
			}
		})
	}
}

// longCommand returns a command that runs long, with a child process, and a function that waits until both have ended.
func longCommand(t *testing.T) (command string, waitForEnd func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	command = fmt.Sprintf(`sleep 600 & echo $$ $! > %[1]s.new; mv %[1]s.new %[1]s; echo begun; sleep 600`, file)
	return command, func() {
		t.Helper()
		content, err := os.ReadFile(file)
		must(t, err)
		for _, field := range strings.Fields(string(content)) {
			pid, err := strconv.Atoi(field)
			must(t, err)
			waittest.Until(t, fmt.Sprintf("process %d has ended", pid), func() bool { return !alive(pid) })
		}
	}
}

// alive reports whether a process runs. Zombies do not count.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// waitForOutput waits for the program's first line.
func (s *server) waitForOutput() {
	s.t.Helper()
	waittest.Until(s.t, "a line comes while the program runs", func() bool {
		return slices.Contains(s.printed(assayv1.Stream_STREAM_STDOUT), "begun")
	})
}

func (s *server) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// expire makes the second heartbeat from now extend the lease by the duration, and then makes the server unavailable. It does not use
// the next heartbeat, because the worker may have sent that one before the call of expire.
func (s *server) expire(after time.Duration) {
	s.after = func(method string, _ int) error {
		if method == "Heartbeat" && s.lease == after {
			s.before = func(string, int) error { return errUnavailable }
		}
		if method == "Heartbeat" {
			s.lease = after
		}
		return nil
	}
}

func TestLease_LossEndsTheProgram(t *testing.T) {
	const shortLease = 500 * time.Millisecond
	for name, loseLease := range map[string]func(s *server){
		"stop":    func(s *server) { s.stop = "The run was cancelled." },
		"stale":   func(s *server) { s.over = true },
		"expired": func(s *server) { s.expire(shortLease) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, waitForEnd := longCommand(t)
			s := newServer(t, image(command))
			r := s.start(nil)
			s.waitForOutput()
			began := time.Now()
			s.with(func() { loseLease(s) })
			waittest.Until(t, "the worker has given up the work", func() bool { return len(files(t, r.folder)) == 0 })
			if took := time.Since(began); name == "expired" && took < shortLease {
				t.Errorf("the lease was given up after %s, although it may still be good", took)
			}
			waitForEnd()
			s.with(func() {
				if s.failed != nil || s.declared != nil {
					t.Errorf("something was reported without a lease: %v %v", s.failed, s.declared)
				}
			})
		})
	}
}

func TestHeartbeat_SendsLinesBeforeTheInterval(t *testing.T) {
	t.Parallel()
	command, waitForEnd := longCommand(t)
	s := newServer(t, image("sleep 0.2; "+command))
	s.setLease(time.Hour, time.Hour)
	r := s.start(func(w *work.Worker) { w.Grace = 0 })
	s.waitForOutput()
	r.stop()
	waittest.Receive(t, "the worker has ended", r.done)
	waitForEnd()
}

func TestRun_StopFinishesOrReleasesWork(t *testing.T) {
	t.Run("let work go on for a time", func(t *testing.T) {
		t.Parallel()
		stopped := filepath.Join(t.TempDir(), "stopped")
		s := newServer(t, image(`echo begun; until test -e `+stopped+`; do sleep 0.05; done; echo run > "$ASSAY_OUTPUT/run"`))
		r := s.start(nil)
		s.waitForOutput()
		r.stop()
		must(t, os.WriteFile(stopped, nil, 0o600))
		waittest.Receive(t, "the worker has ended", r.done)
		if s.declared == nil || s.failed != nil || s.calls["Lease"] != 1 {
			t.Errorf("declared %v, failed %v, leased %d times", s.declared, s.failed, s.calls["Lease"])
		}
	})
	t.Run("give it back then", func(t *testing.T) {
		t.Parallel()
		command, waitForEnd := longCommand(t)
		s := newServer(t, image(command))
		r := s.start(func(w *work.Worker) { w.Grace = 200 * time.Millisecond })
		s.waitForOutput()
		r.stop()
		waittest.Receive(t, "the worker has ended", r.done)
		waitForEnd()
		if s.failed.GetFault() != assayv1.FailRunRequest_FAULT_NONE || len(s.failed.GetDiagnostics()) != 0 {
			t.Errorf("failed %v", s.failed)
		}
		if said := s.printed(assayv1.Stream_STREAM_WORKER); !slices.Contains(said, "The worker stops, and gives the run back.") {
			t.Errorf("said %q", said)
		}
	})
}

func TestRun_EndsWhenTheServerRefusesTheWorker(t *testing.T) {
	for name, c := range map[string]struct {
		code  codes.Code
		from  int // the call that is refused first
		until int
		ends  bool
	}{
		"role":          {codes.PermissionDenied, 2, 100, true},
		"request":       {codes.InvalidArgument, 1, 100, true},
		"token":         {codes.Unauthenticated, 1, 100, true},
		"expired":       {codes.Unauthenticated, 2, 100, true},
		"token renewed": {codes.Unauthenticated, 2, 3, false},
		"unavailable":   {codes.Unavailable, 1, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, image(`echo run > "$ASSAY_OUTPUT/run"`))
			asked := make(chan struct{})
			s.before = func(method string, call int) error {
				if method != "Lease" || call < c.from {
					return nil
				}
				if call < c.until {
					return status.Error(c.code, "as the test wants it")
				}
				close(asked)
				return nil
			}
			s.over = c.from == 1 // there is no work
			r := s.start(func(w *work.Worker) {
				if name == "expired" {
					w.RetryFor = time.Second
				}
			})
			if !c.ends {
				waittest.Receive(t, "the worker has asked again", asked)
				r.stop()
			}
			waittest.Receive(t, "the worker has ended", r.done)
			want := "role worker"
			if c.code == codes.InvalidArgument {
				want = "name, pools and kinds of work: as the test wants it"
			}
			if c.ends != (r.err != nil) || c.ends && !strings.Contains(r.err.Error(), want) {
				t.Errorf("the worker ended with %v", r.err)
			}
		})
	}
}

func TestExecute_CutsEndlessOutput(t *testing.T) {
	t.Parallel()
	s := newServer(t, image(`yes "$(printf %1000d 7)" | head -c 40000000; echo the cause >&2; exit 1`)).finish(nil)
	_, other := s.diagnostics(assayv1.FailRunRequest_FAULT_RUN)
	if !strings.Contains(other, "the cause") {
		t.Errorf("the end of the output is missing: %s", other)
	}
	said := strings.Join(s.printed(assayv1.Stream_STREAM_WORKER), "\n")
	if !strings.Contains(said, "More than 16 MiB were printed.") || !strings.Contains(said, "lines left out here") {
		t.Errorf("said %s", said)
	}
}

func TestExecute_RefusesInputsThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *assayv1.File)
		want   string
	}{
		"digest":  {func(f *assayv1.File) { f.Sha256 = strings.Repeat("0", 64) }, "its SHA-256 is"},
		"longer":  {func(f *assayv1.File) { f.Size-- }, "other bytes than the 2"},
		"shorter": {func(f *assayv1.File) { f.Size++ }, "other bytes than the 4"},
		"missing": {func(f *assayv1.File) { f.Url += "0" }, "404"},
		"escape":  {func(f *assayv1.File) { f.Name = "../../escaped" }, "is not the name of a file"},
		"folder":  {func(f *assayv1.File) { f.Name = ".." }, "is not the name of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := image(`echo run > "$ASSAY_OUTPUT/run"`)
			s := newServer(t, w)
			w.Inputs = []*assayv1.File{s.file("in", "abc")}
			c.change(w.GetInputs()[0])
			var log bytes.Buffer
			s.finish(func(w *work.Worker) { w.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			said, others := s.diagnostics(assayv1.FailRunRequest_FAULT_WORKER)
			if said != "The worker tester could not do this. Its operators find the reason in its log." || others != "" {
				t.Errorf("participants read %q %q", said, others)
			}
			if !strings.Contains(log.String(), c.want) || strings.Contains(log.String(), s.files.URL) {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}
