package waittest

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fakeTest records how a wait fails.
type fakeTest struct {
	testing.TB
	timeout time.Duration // of its binary; 0 for none
	failure string
}

func (*fakeTest) Helper() {}

func (f *fakeTest) Deadline() (time.Time, bool) { return time.Now().Add(f.timeout), f.timeout > 0 }

func (f *fakeTest) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// waited runs the wait of a fake test in virtual time, and returns how long it lasts and its failure.
func waited(t *testing.T, timeout time.Duration, wait func(testing.TB)) (lasted time.Duration, failure string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		f := &fakeTest{timeout: timeout}
		began := time.Now()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			wait(f)
		}()
		<-ended
		lasted = time.Since(began)
		failure = f.failure
	})
	return lasted, failure
}

func TestValue_LastsAsLongAsTheValueChanges(t *testing.T) {
	got := 0
	lasted, failure := waited(t, 0, func(tb testing.TB) {
		began := time.Now()
		got = Value(tb, "an hour has passed", func() (int, bool) {
			minutes := int(time.Since(began) / time.Minute)
			return minutes, minutes == 60
		})
	})
	if failure != "" || got != 60 || lasted < time.Hour {
		t.Errorf("%d after %s, %s", got, lasted, failure)
	}
}

func TestValue_FailsWithoutAChange(t *testing.T) {
	type state struct{ Runs *[]string } // a pointer to equal contents is no change
	lasted, failure := waited(t, 0, func(tb testing.TB) {
		Value(tb, "all runs have ended", func() (state, bool) { return state{&[]string{"waits"}}, false })
	})
	if lasted < patience || lasted > patience+time.Second || !strings.Contains(failure, "true that all runs have ended; for 3m0s") {
		t.Errorf("after %s: %s", lasted, failure)
	}
}

func TestSucceed_FailsWithTheLastError(t *testing.T) {
	tries := 0
	_, failure := waited(t, 0, func(tb testing.TB) {
		Succeed(tb, "it succeeds", func() error {
			tries++
			return []error{io.ErrUnexpectedEOF, io.EOF, nil}[min(tries-1, 2)]
		})
	})
	if failure != "" || tries != 3 {
		t.Errorf("after %d tries: %s", tries, failure)
	}
	_, failure = waited(t, 0, func(tb testing.TB) {
		Succeed(tb, "it succeeds", func() error { // with another error each time
			tries++
			return fmt.Errorf("request %d: %w", tries, io.EOF)
		})
	})
	if !strings.Contains(failure, "true that it succeeds") || !strings.HasSuffix(failure, "EOF") {
		t.Error(failure)
	}
}

func TestUntil_FailsBeforeTheTestBinaryIsEnded(t *testing.T) {
	lasted, failure := waited(t, time.Minute, func(tb testing.TB) { Until(tb, "it ends", func() bool { return false }) })
	if lasted < time.Minute-margin || lasted > time.Minute-margin/2 || !strings.Contains(failure, "true that it ends") {
		t.Errorf("after %s: %s", lasted, failure)
	}
}

func TestUntil_LooksOnceMoreAfterASuspension(t *testing.T) {
	_, failure := waited(t, 0, func(tb testing.TB) {
		suspended := false
		Until(tb, "it goes on", func() bool {
			if !suspended {
				suspended = true
				time.Sleep(time.Hour) // as if the machine had been suspended
				return false
			}
			return true
		})
	})
	if failure != "" {
		t.Error(failure)
	}
}

func TestReceive_ReturnsTheValueOrFails(t *testing.T) {
	got := 0
	lasted, failure := waited(t, 0, func(tb testing.TB) {
		values := make(chan int, 1)
		time.AfterFunc(time.Second, func() { values <- 7 })
		got = Receive(tb, "a value comes", values)
	})
	if got != 7 || failure != "" || lasted != time.Second {
		t.Errorf("%d after %s, %s", got, lasted, failure)
	}
	_, failure = waited(t, 0, func(tb testing.TB) { Receive(tb, "a value comes", make(chan int)) })
	if failure == "" {
		t.Error("a wait for nothing does not fail")
	}
}
