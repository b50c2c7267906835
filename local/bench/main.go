// Command bench measures the figures in the README. It runs benchmarks of the packages, and prints a table of their figures. Each figure
// has its goal and the command that measures it; some figures are multiples of others. With the figures of an earlier run, it prints
// significant differences.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"assay/shared/language/plural"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// measured is a row of the table with its samples.
type measured struct {
	About   string    `json:"about"`
	Unit    string    `json:"unit"`
	Samples []float64 `json:"samples"`
	Most    float64   `json:"most,omitempty"` // bound; 0: none
	Suite   string    `json:"suite"`          // value of BENCH
}

// report holds the figures of one run.
type report struct {
	Machine string     `json:"machine"`
	Rows    []measured `json:"rows"`
}

// all is the name for all suites together.
const all = "all"

func main() {
	name := flag.String("bench", "", "the one suite to run, or all; empty: all that take seconds")
	count := flag.Int("count", 5, "how often each benchmark is run")
	to := flag.String("json", "", "file to write the figures to")
	against := flag.String("against", "", "file with the figures of an earlier run to compare with")
	readme := flag.String("readme", "", "file to write the table into, between its markers")
	flag.Parse()
	if err := run(*name, *count, *to, *against, *readme); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(name string, count int, to, against, readme string) error {
	var earlier report
	if against != "" {
		text, err := os.ReadFile(against)
		if err := errors.Join(err, json.Unmarshal(text, &earlier)); err != nil {
			return fmt.Errorf("read the earlier figures: %w", err)
		}
	}
	r := report{Machine: machine("")}
	found := false
	var failed error // A failed suite does not end the run, because other suites take an hour.
	for _, s := range suites {
		if name != s.name && name != all && (name != "" || s.slow) {
			continue
		}
		found = true
		fmt.Fprintln(os.Stderr, "measuring", s.name)
		samples, cpu, err := s.run(count)
		if cpu != "" {
			r.Machine = machine(cpu + ", ")
		}
		var rows []measured
		if err == nil {
			rows, err = s.rows(samples)
		}
		failed = errors.Join(failed, err)
		r.Rows = append(r.Rows, rows...)
	}
	if name == "" || name == all || name == "units" {
		found = true
		for _, u := range allUnits {
			m, err := u.read()
			if err != nil {
				return err
			}
			r.Rows = append(r.Rows, m)
		}
	}
	if !found {
		return fmt.Errorf("there is no suite %q: suites.go has them", name)
	}
	table := r.table()
	fmt.Print(table, earlier.compare(&r))
	if to != "" {
		text, err := json.MarshalIndent(r, "", "\t")
		if err := errors.Join(err, os.WriteFile(to, append(text, '\n'), 0o600)); err != nil {
			return errors.Join(failed, err)
		}
	}
	if readme != "" && failed == nil {
		return replace(readme, table)
	}
	return failed
}

// machine describes the machine of the figures.
func machine(processor string) string {
	return fmt.Sprintf("%s, %s%s/%s", plural.Count(runtime.NumCPU(), "processor"), processor, runtime.GOOS, runtime.GOARCH)
}

// samples holds the figures of benchmarks by name and unit.
type samples map[string][]float64

// run runs the benchmarks, and returns their samples and the name of the processor.
func (s suite) run(count int) (samples, string, error) {
	args := append([]string{"test", "-run", "^$", "-bench", s.bench, "-count", fmt.Sprint(count), s.pkg}, s.args...)
	var out, errs bytes.Buffer
	command := exec.CommandContext(context.Background(), "go", args...) //nolint:gosec // the suites are part of the program
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return nil, "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return read(&out)
}

// read reads the output of go test for benchmarks.
func read(out io.Reader) (found samples, cpu string, err error) {
	found = samples{}
	reader := benchfmt.NewReader(out, "go test")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		cpu = result.GetConfig("cpu")
		name, suffix := result.Name.String(), fmt.Sprintf("-%d", runtime.GOMAXPROCS(0))
		for _, v := range result.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" {
				unit, value = v.OrigUnit, v.OrigValue
			}
			key := strings.TrimSuffix(name, suffix) + " " + unit
			found[key] = append(found[key], value)
		}
	}
	return found, cpu, reader.Err()
}

// rows returns the rows of the suite. It returns none if the benchmark was skipped, for example without trec_eval. Multiples are computed
// from samples of the same round.
func (s suite) rows(found samples) (rows []measured, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	for _, f := range s.figures {
		m := measured{About: f.about, Unit: f.unit, Samples: found[f.bench+" "+f.unit], Most: f.most, Suite: s.name}
		if slices.Contains([]string{"clock/trec_eval", "processors/trec_eval", "clock/python", "memory/files"}, f.unit) {
			m.Unit = "×"
		}
		if f.per != "" {
			m.Unit = "×"
			base := found[f.per+" "+f.unit]
			multiples := make([]float64, min(len(base), len(m.Samples)))
			for i := range multiples {
				multiples[i] = m.Samples[i] / base[i]
			}
			m.Samples = multiples
		}
		if len(m.Samples) == 0 {
			return nil, fmt.Errorf("%s measured no %s of %s", s.bench, f.unit, f.bench)
		}
		rows = append(rows, m)
	}
	return rows, nil
}

// read returns the figure of the golden file.
func (u units) read() (measured, error) {
	m := measured{About: u.about, Unit: "units", Most: u.most, Suite: "units"}
	text, err := os.ReadFile(u.file)
	if err != nil {
		return m, err
	}
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[1:] {
		at := strings.Index(lines[0], u.column)
		var value float64
		if strings.HasPrefix(line, u.row) && at < len(line) {
			if _, err := fmt.Sscan(line[at:], &value); err == nil {
				m.Samples = []float64{value}
				return m, nil
			}
		}
	}
	return m, fmt.Errorf("%s has no row %q with %s", u.file, u.row, u.column)
}

// summary returns the median with its 95 % interval. The interval needs at least six samples.
func (m *measured) summary() benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(m.Samples, &benchmath.DefaultThresholds), 0.95)
}
