package programtest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// atEnd holds the functions that AtEnd received.
var atEnd struct {
	sync.Mutex
	running bool
	calls   []func() error
}

// Run runs the tests of a package, and then the functions that AtEnd received, last first. It returns the exit status for TestMain.
func Run(m *testing.M) int {
	atEnd.running = true
	code := m.Run()
	atEnd.Lock()
	defer atEnd.Unlock()
	for i := len(atEnd.calls) - 1; i >= 0; i-- {
		if err := atEnd.calls[i](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// AtEnd makes Run call end after all tests of the package. Tests use it for a browser or a server that they share, and that starts with the
// first test that needs it. An error of end fails the package.
func AtEnd(end func() error) {
	atEnd.Lock()
	defer atEnd.Unlock()
	if !atEnd.running {
		panic("The tests share something that must end with them: call programtest.Run in TestMain.")
	}
	atEnd.calls = append(atEnd.calls, end)
}
