package lambdatest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// EmulateWith makes AWS's runtime interface emulator, the program at the path, run the function from now on.
func (f *Function) EmulateWith(program string) *Function {
	f.emulator = program
	return f
}

// emulator is an execution environment of AWS's emulator. The emulator starts the function with the first event.
type emulator struct {
	url    string
	exited <-chan struct{}
}

func (f *Function) startEmulator() (environment, error) {
	events, err := freeAddress()
	if err != nil {
		return nil, err
	}
	runtimeAPI, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), f.emulator, //nolint:gosec // the emulator that the Makefile installed
		"--runtime-interface-emulator-address", events, "--runtime-api-address", runtimeAPI, "--log-level", "fatal", f.binary)
	cmd.Env = append(f.variables(), fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", int(f.timeout.Seconds())),
		"AWS_LAMBDA_LOG_STREAM_NAME="+f.Name+events)
	exited, err := f.run(cmd)
	return &emulator{"http://" + events + "/2015-03-31/functions/function/invocations", exited}, err
}

// freeAddress returns an unused address of this machine.
func freeAddress() (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// connectInterval is the pause between connection attempts while an emulator starts.
const connectInterval = 5 * time.Millisecond

func (e *emulator) invoke(ctx context.Context, payload []byte) (answer []byte, reusable bool, err error) {
	var res *http.Response
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(payload)) //nolint:gosec // on this machine
		if err != nil {
			return nil, false, err
		}
		if res, err = http.DefaultClient.Do(r); err == nil { //nolint:gosec // on this machine
			break
		}
		var refused *net.OpError
		if !errors.As(err, &refused) || refused.Op != "dial" {
			return nil, false, err
		}
		select {
		case <-time.After(connectInterval):
		case <-e.exited:
			return nil, false, errors.New("the emulator ended")
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	defer func() { _ = res.Body.Close() }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return nil, false, err
	}
	var failure struct{ ErrorType, ErrorMessage string }
	if res.StatusCode != http.StatusOK || strings.HasPrefix(string(answer), "Task timed out") ||
		json.Unmarshal(answer, &failure) == nil && failure.ErrorType != "" {
		return nil, true, fmt.Errorf("the function failed: %d %s", res.StatusCode, answer)
	}
	return answer, true, nil
}
