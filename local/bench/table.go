package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// scaled maps units of go test to base units that take prefixes, with the factor between them.
var scaled = map[string]struct {
	unit string
	is   float64
}{
	"ns/op": {"s", 1e-9}, "cpu-µs/op": {"s", 1e-6}, "ms-p99-from-end": {"s", 1e-3}, "B/watcher": {"B", 1}, "peak-MiB": {"B", 1 << 20},
	"median-ms": {"s", 1e-3}, "restart-ms": {"s", 1e-3}, "rest-MiB": {"B", 1 << 20}, "load-MiB": {"B", 1 << 20},
	"load-file-MiB": {"B", 1 << 20},
}

// show returns a value with its unit for people.
func show(value float64, unit string) string {
	s, ok := scaled[unit]
	if !ok && value >= 1000 {
		return fmt.Sprintf("%.0f %s", value, unit)
	}
	if !ok {
		return strings.TrimSpace(fmt.Sprintf("%.4g %s", value, unit))
	}
	value *= s.is
	class := benchunit.Decimal
	if s.unit == "B" {
		class = benchunit.Binary
	}
	scaler := benchunit.CommonScale([]float64{value}, class)
	return strings.TrimSuffix(scaler.Format(value), scaler.Prefix) + " " + scaler.Prefix + s.unit
}

// table returns the figures as a table in Markdown, which marks goals that are not met.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| on %s | figure | goal | made again by |\n|---|---:|---:|---|\n", r.Machine)
	for _, m := range r.Rows {
		goal := ""
		if m.Most > 0 {
			goal = "≤ " + show(m.Most, m.Unit)
		}
		center := m.summary().Center
		if m.Most > 0 && center > m.Most {
			goal += " (not met)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `make bench BENCH=%s` |\n", m.About, show(center, m.Unit), goal, m.Suite)
	}
	return b.String()
}

// compare lists the figures of the later report that differ significantly from those of r by the Mann-Whitney U test. It gives the interval
// of the difference from a bootstrap.
func (r *report) compare(later *report) string {
	var b strings.Builder
	for _, m := range later.Rows {
		i := slices.IndexFunc(r.Rows, func(other measured) bool { return other.About == m.About && other.Unit == m.Unit })
		if i < 0 {
			continue
		}
		earlier := r.Rows[i]
		before, after := earlier.summary(), m.summary()
		thresholds := &benchmath.DefaultThresholds
		p := benchmath.AssumeNothing.Compare(benchmath.NewSample(earlier.Samples, thresholds), benchmath.NewSample(m.Samples, thresholds))
		if len(m.Samples) > 1 && p.P < p.Alpha || len(m.Samples) == 1 && before.Center != after.Center {
			low, high := interval(earlier.Samples, m.Samples)
			fmt.Fprintf(&b, "%s: %s, and was %s (%+.1f%%, 95%% interval %+.1f%% to %+.1f%%)\n", m.About, show(after.Center, m.Unit),
				show(before.Center, m.Unit), percent(after.Center/before.Center), percent(low), percent(high))
		}
	}
	if b.Len() == 0 && len(r.Rows) > 0 {
		return "\nNothing moved beyond noise.\n"
	}
	if b.Len() > 0 {
		return "\nWhat moved beyond noise:\n" + b.String()
	}
	return ""
}

func percent(ratio float64) float64 { return (ratio - 1) * 100 }

// resamples is the number of times that interval draws samples.
const resamples = 2000

// interval returns the 95 % interval of the ratio of the median of after to the median of before, by a bootstrap.
func interval(before, after []float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // equal in each run
	draw := func(from []float64) float64 {
		drawn := measured{Samples: make([]float64, len(from))}
		for i := range from {
			drawn.Samples[i] = from[random.IntN(len(from))]
		}
		return drawn.summary().Center
	}
	ratios := make([]float64, resamples)
	for i := range ratios {
		ratios[i] = draw(after) / draw(before)
	}
	slices.Sort(ratios)
	return ratios[resamples/40], ratios[resamples-1-resamples/40]
}

// The table of the README is between these markers.
const (
	begin = "<!-- measured by make bench -->\n"
	end   = "<!-- end of what was measured -->"
)

// replace puts the table into the file.
func replace(name, table string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no lines %q and %q", name, begin, end)
	}
	return os.WriteFile(name, []byte(before+begin+table+end+after), 0o600) //nolint:gosec // the caller names the file
}
