package health_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/language/metrics"
	"assay/shared/service/health"
	"assay/shared/storage/blob"
)

// objects is an object store whose Stat takes some time and returns an error.
type objects struct {
	blob.Store
	asked atomic.Int64
	takes time.Duration
	err   error
	deaf  bool // ignores the context
}

func (o *objects) Stat(ctx context.Context, _ string) (blob.Object, error) {
	o.asked.Add(1)
	if o.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(o.takes):
		return blob.Object{}, o.err
	case <-ctx.Done():
		return blob.Object{}, ctx.Err()
	}
}

// warnings returns the names of the checks that warn, separated by commas.
func warnings(m *health.Monitor) string {
	var names []string
	for _, c := range m.Checks(context.Background()) {
		if c.Warning != "" {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ",")
}

// Callers share a check of the object store for ten seconds, however many they are. Each gets an answer within two seconds.
func TestMonitor_SharesBoundedChecks(t *testing.T) {
	for name, c := range map[string]struct {
		store *objects
		takes time.Duration // of the callers
		want  string
	}{
		"answers":                 {&objects{takes: time.Second}, time.Second, ""},
		"has no claim":            {&objects{err: blob.ErrNotFound}, 0, ""},
		"refuses":                 {&objects{err: errors.New("no such bucket")}, 0, "files"},
		"is silent":               {&objects{takes: time.Hour}, 2 * time.Second, "files"},
		"hangs, whatever is said": {&objects{takes: time.Minute, deaf: true}, 2 * time.Second, "files"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &health.Monitor{Objects: c.store, Log: slog.New(slog.DiscardHandler)}
				began := time.Now()
				var callers sync.WaitGroup
				for range 100 {
					callers.Go(func() {
						if got := warnings(m); got != c.want {
							t.Errorf("%q warn, want %q", got, c.want)
						}
					})
				}
				callers.Wait()
				if took := time.Since(began); took != c.takes {
					t.Errorf("the callers waited for %s, want %s", took, c.takes)
				}
				if asked := c.store.asked.Load(); asked != 1 {
					t.Errorf("the store was asked %d times", asked)
				}
				time.Sleep(2 * time.Minute) // the check that hangs ends
				warnings(m)
				time.Sleep(9 * time.Second)
				warnings(m)
				if asked := c.store.asked.Load(); asked != 2 {
					t.Errorf("within ten seconds after the second check, the store was asked %d times", asked)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

// A silent object store says nothing about the disks, and a disk that hangs is named.
func TestMonitor_NamesTheSilentPart(t *testing.T) {
	for name, c := range map[string]struct {
		store, disk time.Duration // until the answer
		want        string
	}{
		"the object store": {store: time.Minute, want: "files"},
		"the disk":         {disk: time.Minute, want: "files,disk"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				space := func(string) (int64, int64, error) {
					time.Sleep(c.disk)
					return 1 << 30, 1 << 30, nil
				}
				m := &health.Monitor{Log: slog.New(slog.DiscardHandler), Objects: &objects{takes: c.store, deaf: true},
					Folders: []health.Folder{{Name: "the data", Path: "/data", Space: space}}}
				if got := warnings(m); got != c.want {
					t.Errorf("%q warn, want %q", got, c.want)
				}
				time.Sleep(2 * time.Minute) // the check ends
			})
		})
	}
}

// recorded returns the metrics by name and label.
func recorded(m *health.Monitor) map[string]float64 {
	got := map[string]float64{}
	m.Record(context.Background(), func(m *metrics.Metric, value float64, labels ...string) { got[m.Name+" "+labels[0]] = value })
	return got
}

// Metrics wait for no part of a server. They have the last results, and a failed check for each part that hangs.
func TestRecord_WaitsForNoPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := time.Second
		store := &objects{deaf: true, takes: takes}
		space := func(string) (int64, int64, error) {
			time.Sleep(takes)
			return 1 << 30, 1 << 30, nil
		}
		m := &health.Monitor{Log: slog.New(slog.DiscardHandler), Objects: store,
			Folders: []health.Folder{{Name: "the data", Path: "/data", Space: space}}}
		passes := map[string]float64{"check_passes files": 1, "check_passes disk": 1, "disk_free_bytes the data": 1 << 30,
			"disk_size_bytes the data": 1 << 30}
		hang := maps.Clone(passes)
		hang["check_passes files"] = 0
		hang["check_passes disk"] = 0
		began := time.Now()
		for _, c := range []struct {
			after time.Duration
			want  map[string]float64
		}{
			{0, map[string]float64{}},
			{3 * time.Second, passes},
			{13 * time.Second, passes}, // begins checks that hang
			{14 * time.Second, passes},
			{16 * time.Second, hang},
			{70 * time.Second, hang},
		} {
			time.Sleep(c.after - time.Since(began))
			if got := recorded(m); !maps.Equal(got, c.want) {
				t.Errorf("after %v, the metrics are %v, want %v", c.after, got, c.want)
			}
			if waited := time.Since(began) - c.after; waited != 0 {
				t.Errorf("after %v, the metrics wait for %v", c.after, waited)
			}
			if c.after == 3*time.Second { // between checks
				takes = time.Minute
				store.takes = takes
			}
		}
		asked := time.Now()
		if got := warnings(m); got != "files,disk" || time.Since(asked) != 0 {
			t.Errorf("while parts are known to hang, %q warn after %v", got, time.Since(asked))
		}
		time.Sleep(2 * time.Minute) // the checks end
	})
}

// A disk warns when it is almost full, and passes again. The log names no error, because a full disk is none.
func TestMonitor_WarnsOfAnAlmostFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var free, size int64
		var unknown error
		var log strings.Builder
		m := &health.Monitor{Log: slog.New(slog.NewTextHandler(&log, nil)), Folders: []health.Folder{{Name: "the data", Path: "/data",
			Space: func(string) (int64, int64, error) { return free, size, unknown }}}}
		for _, c := range []struct {
			free, size int64
			unknown    error
			want       string
		}{
			{free: 100 << 20, size: 1 << 30},
			{free: 50 << 20, size: 1 << 30, want: "disk"},
			{free: 11 << 30, size: 10 << 40},
			{free: 9 << 30, size: 10 << 40, want: "disk"},
			{want: "", unknown: errors.ErrUnsupported},
			{free: 0, size: 1 << 30, want: "disk"},
			{free: 1 << 30, size: 1 << 30},
		} {
			free = c.free
			size = c.size
			unknown = c.unknown
			time.Sleep(11 * time.Second)
			if got := warnings(m); got != c.want {
				t.Errorf("%d of %d bytes are free: %q warns, want %q", free, size, got, c.want)
			}
		}
		if said := log.String(); strings.Count(said, "check=disk warning=") != 3 || strings.Contains(said, "error=") {
			t.Errorf("the log has\n%s", said)
		}
		got := recorded(m)
		want := map[string]float64{"check_passes disk": 1, "disk_free_bytes the data": 1 << 30, "disk_size_bytes the data": 1 << 30}
		if !maps.Equal(got, want) {
			t.Errorf("the metrics are %v, want %v", got, want)
		}
	})
}
