package ops

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/shared/language/metrics"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// one records a value for each metric of the kinds.
func one(r metrics.Recorder, kinds ...metrics.Kind) {
	for _, m := range metrics.All {
		for _, k := range kinds {
			if m.Kind == k {
				r.Record(m, 2, make([]string, len(m.Labels))...)
			}
		}
	}
}

// TestMetrics_KeepTheConventions runs the linter of promtool.
func TestMetrics_KeepTheConventions(t *testing.T) {
	e := New(func(_ context.Context, r metrics.Recorder) error {
		one(r, metrics.Gauge)
		return nil
	})
	one(e.Record, metrics.Counter, metrics.Histogram)
	faults, err := testutil.GatherAndLint(e.registry)
	if err != nil || len(faults) > 0 {
		t.Errorf("%v, %v", faults, err)
	}
	for _, m := range metrics.All {
		if n, err := testutil.GatherAndCount(e.registry, namespace+"_"+m.Name); err != nil || n != 1 {
			t.Errorf("%s has %d series: %v", m.Name, n, err)
		}
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(content)
}

// While the store does not answer, the process is live but not ready, and exports all metrics except those from the store.
func TestHandler_WithoutAStore(t *testing.T) {
	var down error
	e := New(func(context.Context, metrics.Recorder) error { return down })
	e.Record(metrics.RunsEnded, 1, "builtin", "completed")
	s := httptest.NewServer(e.Handler(func(context.Context) error { return down }))
	defer s.Close()
	for _, c := range []struct {
		down  error
		ready int
	}{{nil, 200}, {errors.New("no answer"), 503}} {
		down = c.down
		for path, want := range map[string]int{"/live": 200, "/ready": c.ready, "/metrics": 200, "/debug/pprof/heap": 200,
			"/debug/pprof/cmdline": 404} {
			if status, body := get(t, s.URL+path); status != want {
				t.Errorf("%v: GET %s: %d %.200s, want %d", c.down, path, status, body, want)
			}
		}
		for _, line := range []string{`assay_runs_ended_total{outcome="completed",queue="builtin"} 1`, "go_goroutines ",
			"process_resident_memory_bytes "} {
			if _, body := get(t, s.URL+"/metrics"); !strings.Contains(body, "\n"+line) {
				t.Errorf("%v: no line %s", c.down, line)
			}
		}
	}
}

func TestServe_EndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	addr, err := Serve(ctx, "127.0.0.1:0", http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(ctx, addr.String(), nil); err == nil || !strings.Contains(err.Error(), "-ops-addr") {
		t.Errorf("an address that is taken: %v", err)
	}
	if status, _ := get(t, "http://"+addr.String()); status != http.StatusNotFound {
		t.Errorf("it answers %d", status)
	}
	stop()
	for {
		resp, err := http.Get("http://" + addr.String())
		if err != nil {
			return
		}
		_ = resp.Body.Close()
	}
}
