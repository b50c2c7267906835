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
	"testing"
	"time"
)

// Function is a compiled bootstrap under an emulated Lambda: an implementation of the Lambda Runtime API that starts
// processes as they are needed, gives each one event at a time, and keeps them for the next.
type Function struct {
	Name string

	t       testing.TB
	binary  string
	env     []string
	timeout time.Duration

	mu   sync.Mutex
	idle []*process
	stop []func()
	log  bytes.Buffer
}

// process is one execution environment.
type process struct {
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

// NewFunction returns the function of a bootstrap. Its processes have the variables, and end with the test.
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

// Invoke has the function handle an event, and returns its answer. A function that reports an error, or dies, is an error.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	p := f.acquire()
	call := &invocation{
		id: fmt.Sprintf("%016x", time.Now().UnixNano()), payload: payload,
		deadline: time.Now().Add(f.timeout), answered: make(chan outcome, 1),
	}
	select {
	case p.events <- call:
	case <-p.exited:
		return nil, errors.New("the function died before it took the event")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case got := <-call.answered:
		f.release(p)
		if got.failed {
			return nil, fmt.Errorf("the function failed: %s", got.payload)
		}
		return got.payload, nil
	case <-p.exited:
		return nil, errors.New("the function died")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Log returns what the function's processes wrote.
func (f *Function) Log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

func (f *Function) acquire() *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		p := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return p
	}
	return f.start()
}

func (f *Function) release(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, p)
}

// start starts a process, and serves the Runtime API to it.
func (f *Function) start() *process {
	p := &process{events: make(chan *invocation), exited: make(chan struct{})}
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
	cmd.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(server.URL, "http://"), "AWS_LAMBDA_FUNCTION_NAME=" + f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=1769", "_HANDLER=bootstrap",
		"AWS_LAMBDA_LOG_STREAM_NAME=" + f.Name + server.URL, "PATH=" + os.Getenv("PATH"),
	}, f.env...)
	cmd.Stdout, cmd.Stderr = &logWriter{f}, &logWriter{f}
	if err := cmd.Start(); err != nil {
		f.t.Errorf("%s: %v", f.Name, err)
		close(p.exited)
		return p
	}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	f.stop = append(f.stop, func() {
		_ = cmd.Process.Kill()
		<-p.exited
		server.CloseClientConnections()
		server.Close()
	})
	return p
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
