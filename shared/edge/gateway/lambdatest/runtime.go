package lambdatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Function is a compiled bootstrap under an emulated Lambda. Lambda starts execution environments as needed, gives each one event at a
// time, and reuses them. An environment is a process to which this package serves the Lambda Runtime API. After EmulateWith it is a
// process of AWS's emulator.
type Function struct {
	Name        string
	Invocations atomic.Int64

	t        testing.TB
	binary   string
	emulator string
	env      []string
	timeout  time.Duration

	mu   sync.Mutex
	idle []environment
	stop []func()
	log  bytes.Buffer
}

// environment is one execution environment.
type environment interface {
	// invoke makes the function handle an event, and returns its answer. reusable reports whether the environment can take another event.
	invoke(ctx context.Context, payload []byte) (answer []byte, reusable bool, err error)
}

// process is an execution environment with the Runtime API of this package.
type process struct {
	timeout time.Duration
	events  chan *invocation
	mu      sync.Mutex
	current *invocation
	exited  chan struct{}
}

// invocation is one event and its outcome.
type invocation struct {
	id       string
	payload  []byte
	deadline time.Time
	answered chan outcome
}

type outcome struct {
	payload []byte
	failed  bool
}

// NewFunction returns the function of a bootstrap. Its processes have the environment variables env, and end with the test.
func NewFunction(t testing.TB, name, binary string, timeout time.Duration, env ...string) *Function {
	f := &Function{Name: name, t: t, binary: binary, timeout: timeout, env: env}
	t.Cleanup(f.Stop)
	return f
}

// Stop ends the function's processes.
func (f *Function) Stop() {
	f.mu.Lock()
	stop := f.stop
	f.stop, f.idle = nil, nil
	f.mu.Unlock()
	for _, end := range stop {
		end()
	}
}

// Invoke makes the function handle an event, and returns its answer. It returns an error if the function reports an error or dies.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	f.Invocations.Add(1)
	e, err := f.acquire()
	if err != nil {
		return nil, err
	}
	answer, reusable, err := e.invoke(ctx, payload)
	if reusable {
		f.mu.Lock()
		f.idle = append(f.idle, e)
		f.mu.Unlock()
	}
	return answer, err
}

func (p *process) invoke(ctx context.Context, payload []byte) (answer []byte, reusable bool, err error) {
	call := &invocation{
		id: fmt.Sprintf("%016x", time.Now().UnixNano()), payload: payload,
		deadline: time.Now().Add(p.timeout), answered: make(chan outcome, 1),
	}
	select {
	case p.events <- call:
	case <-p.exited:
		return nil, false, errors.New("the function died before it took the event")
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	select {
	case got := <-call.answered:
		if got.failed {
			return nil, true, fmt.Errorf("the function failed: %s", got.payload)
		}
		return got.payload, true, nil
	case <-p.exited:
		return nil, false, errors.New("the function died")
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// Log returns the output of the function's processes.
func (f *Function) Log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

func (f *Function) acquire() (environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		e := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return e, nil
	}
	if f.emulator != "" {
		return f.startEmulator()
	}
	return f.start()
}

// start starts a process, and serves the Runtime API to it.
func (f *Function) start() (environment, error) {
	p := &process{timeout: f.timeout, events: make(chan *invocation), exited: make(chan struct{})}
	mux := http.NewServeMux()
	const api = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+api+"/invocation/next", p.next)
	mux.HandleFunc("POST "+api+"/invocation/{id}/response", p.respond(false))
	mux.HandleFunc("POST "+api+"/invocation/{id}/error", p.respond(true))
	mux.HandleFunc("POST "+api+"/init/error", func(w http.ResponseWriter, r *http.Request) {
		reason, _ := io.ReadAll(r.Body)
		f.t.Errorf("%s could not start: %s", f.Name, reason)
		w.WriteHeader(http.StatusAccepted)
	})
	server := httptest.NewServer(mux)
	cmd := exec.CommandContext(context.Background(), f.binary) //nolint:gosec // the bootstrap that the test built
	cmd.Env = append(f.variables(), "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(server.URL, "http://"),
		"AWS_LAMBDA_LOG_STREAM_NAME="+f.Name+server.URL)
	exited, err := f.run(cmd)
	if err != nil {
		server.Close()
		return nil, err
	}
	go func() {
		<-exited
		close(p.exited)
	}()
	f.stop = append(f.stop, func() {
		<-p.exited
		server.CloseClientConnections()
		server.Close()
	})
	return p, nil
}

// variables returns the environment variables of the function's processes.
func (f *Function) variables() []string {
	return append([]string{"AWS_LAMBDA_FUNCTION_NAME=" + f.Name, "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=1769", "_HANDLER=bootstrap", "PATH=" + os.Getenv("PATH")}, f.env...)
}

// run starts a process that writes to the function's log and ends with the function. The channel is closed when the process has ended.
func (f *Function) run(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	cmd.Stdout, cmd.Stderr = &logWriter{f}, &logWriter{f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an emulator runs the function as its child process
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	f.stop = append(f.stop, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	})
	return ended, nil
}

// logWriter writes to the function's log.
type logWriter struct{ f *Function }

func (l *logWriter) Write(b []byte) (int, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.f.log.Write(b)
}

func (p *process) next(w http.ResponseWriter, r *http.Request) {
	select {
	case call := <-p.events:
		p.mu.Lock()
		p.current = call
		p.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", call.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(call.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:test")
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(call.payload)
	case <-p.exited:
	case <-r.Context().Done():
	}
}

func (p *process) respond(failed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		payload, err := io.ReadAll(r.Body)
		p.mu.Lock()
		call := p.current
		p.current = nil
		p.mu.Unlock()
		if err != nil || call == nil || call.id != r.PathValue("id") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		call.answered <- outcome{payload, failed}
		w.WriteHeader(http.StatusAccepted)
	}
}
