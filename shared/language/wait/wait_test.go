package wait_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/language/wait"
)

// jobs records when a job runs, counted from the start of the test, and returns its result by count.
type jobs struct {
	began   time.Time
	at      []time.Duration
	results map[int]func(context.Context) error
}

func (j *jobs) do(ctx context.Context) error {
	j.at = append(j.at, time.Since(j.began))
	if result := j.results[len(j.at)]; result != nil {
		return result(ctx)
	}
	return nil
}

// repeat runs Repeat in virtual time with an interval of an hour until end, and returns the log.
func (j *jobs) repeat(t *testing.T, end time.Duration) string {
	t.Helper()
	var log bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), end)
	defer cancel()
	j.began = time.Now()
	wait.Repeat(ctx, time.Hour, slog.New(slog.NewTextHandler(&log, nil)), "the job failed", j.do)
	if lasted := time.Since(j.began); lasted != end {
		t.Errorf("it went on for %s, although the context ended after %s", lasted, end)
	}
	return log.String()
}

func (j *jobs) want(t *testing.T, at ...time.Duration) {
	t.Helper()
	if !slices.Equal(j.at, at) {
		t.Errorf("the job was done after %v, want %v", j.at, at)
	}
}

func TestRepeat_DoesTheJobInTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		j.repeat(t, 150*time.Minute)
		j.want(t, 0, time.Hour, 2*time.Hour)
	})
}

func TestRepeat_GoesOnAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jobs{results: map[int]func(context.Context) error{
			1: func(context.Context) error { return errors.New("the store is down") },
			2: func(context.Context) error { panic("on purpose") },
		}}
		log := j.repeat(t, 150*time.Minute)
		j.want(t, 0, time.Hour, 2*time.Hour)
		if strings.Count(log, "the job failed") != 2 || !strings.Contains(log, "the store is down") || !strings.Contains(log, "on purpose") {
			t.Errorf("it logs %s", log)
		}
	})
}

// A job that ends because its context ended has not failed.
func TestRepeat_LogsNothingAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jobs{results: map[int]func(context.Context) error{1: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}}
		if log := j.repeat(t, time.Minute); log != "" {
			t.Errorf("it logs %s", log)
		}
		j.want(t, 0)
	})
}

func TestSleep_EndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		first := wait.Sleep(ctx, 40*time.Second)
		second := wait.Sleep(ctx, 40*time.Second)
		if took := time.Since(began); !first || second || took != time.Minute {
			t.Errorf("%v and %v after %s", first, second, took)
		}
	})
}

func TestSignal_WakesOneGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which ends at once if nothing wakes it
		var s wait.Signal
		s.Send()
		s.Send() // counts as the first
		<-s.C()
		select {
		case <-s.C():
			t.Error("two sends before a receive wake twice")
		default:
		}
		s.Send()
		<-s.C()
	})
}
