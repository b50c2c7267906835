package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const output = `goos: linux
goarch: amd64
pkg: assay/local
cpu: A processor
BenchmarkRequest/task         	   100	    200000 ns/op	       100 cpu-µs/op
BenchmarkRequest/list=50      	   100	    400000 ns/op	       250 cpu-µs/op
BenchmarkRequest/task         	   100	    200000 ns/op	       200 cpu-µs/op
BenchmarkRequest/list=50      	   100	    400000 ns/op	       600 cpu-µs/op
BenchmarkRequest/task         	   100	    200000 ns/op	       100 cpu-µs/op
BenchmarkRequest/list=50      	   100	    400000 ns/op	       300 cpu-µs/op
PASS
`

func TestTable_HasMediansAndMultiplesOfOneRound(t *testing.T) {
	found, cpu, err := read(strings.NewReader(output))
	if err != nil || cpu != "A processor" {
		t.Fatal(cpu, err)
	}
	s := suite{name: "requests", figures: []figure{
		{"a task", "Request/task", "cpu-µs/op", "", 0}, {"a list", "Request/list=50", "cpu-µs/op", "Request/task", 4},
		{"a fast list", "Request/list=50", "cpu-µs/op", "Request/task", 2}}}
	rows, err := s.rows(found)
	if err != nil {
		t.Fatal(err)
	}
	r := report{Machine: "a machine", Rows: rows}
	want := "| on a machine | figure | goal | made again by |\n|---|---:|---:|---|\n" +
		"| a task | 100.0 µs |  | `make bench BENCH=requests` |\n| a list | 3 × | ≤ 4 × | `make bench BENCH=requests` |\n" +
		"| a fast list | 3 × | ≤ 2 × (not met) | `make bench BENCH=requests` |\n"
	if got := r.table(); got != want {
		t.Errorf("%s", got)
	}
	s.figures = append(s.figures, figure{
		about: "what is not measured",
		bench: "Request/board=50",
		unit:  "cpu-µs/op",
	})
	if rows, err := s.rows(found); err == nil {
		t.Errorf("what is not measured is left out: %v", rows)
	}
	if rows, err := s.rows(samples{}); rows != nil || err != nil {
		t.Errorf("of what was skipped there are %v, %v", rows, err)
	}
}

func TestCompare_SaysWhatMovedBeyondNoise(t *testing.T) {
	row := func(about string, samples ...float64) measured {
		return measured{About: about, Unit: "ns/op", Samples: samples}
	}
	before := report{Rows: []measured{row("same", 10, 11, 12, 13, 14), row("faster", 20, 21, 22, 23, 24)}}
	after := report{Rows: []measured{row("same", 14, 10, 12, 11, 13), row("faster", 10, 11, 12, 13, 14), row("new", 1)}}
	got := before.compare(&after)
	if !strings.Contains(got, "faster: 12.00 ns, and was 22.00 ns (-45.5%, 95% interval -") || strings.Contains(got, "same") ||
		strings.Contains(got, "new") {
		t.Errorf("%s", got)
	}
	low, high := interval([]float64{20, 21, 22, 23, 24}, []float64{10, 11, 12, 13, 14})
	if ratio := 12. / 22; low < 10./24 || low > ratio || high < ratio || high > 14./20 {
		t.Errorf("the interval of 12 by 22 is %v to %v", low, high)
	}
	if got := before.compare(&before); !strings.Contains(got, "Nothing moved") {
		t.Errorf("%s", got)
	}
	if got := new(report).compare(&after); got != "" {
		t.Errorf("compared with nothing: %s", got)
	}
}

// Every benchmark and every row of a golden file that a suite names exists.
func TestSuites_NameExistingBenchmarks(t *testing.T) {
	t.Chdir("../..")
	for _, s := range suites {
		files, err := filepath.Glob(filepath.Join(s.pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(s.pkg, err)
		}
		var source strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		for _, f := range s.figures {
			for _, name := range []string{f.bench, f.per} {
				first, _, _ := strings.Cut(name, "/")
				if name != "" && !strings.Contains(source.String(), "func Benchmark"+first+"(b") {
					t.Errorf("%s has no Benchmark%s", s.pkg, first)
				}
			}
		}
	}
	for _, u := range allUnits {
		if m, err := u.read(); err != nil || len(m.Samples) != 1 {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

func TestRun_MeasuresASuite(t *testing.T) {
	t.Chdir("../..")
	s := suite{pkg: "./shared/storage/store/embedded", bench: "^BenchmarkGet$", args: []string{"-benchtime=1x"}}
	found, _, err := s.run(2)
	if err != nil || len(found["Get ns/op"]) != 2 {
		t.Fatal(found, err)
	}
	folder := t.TempDir()
	figures := filepath.Join(folder, "figures.json")
	readme := filepath.Join(folder, "README.md")
	if err := os.WriteFile(readme, []byte("before\n"+begin+"old\n"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, against := range []string{"", figures} {
		if err := run("units", 1, figures, against, readme); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(readme)
	if err != nil || strings.Contains(string(text), "old") || !strings.Contains(string(text), "| write units of a heartbeat | ") ||
		!strings.HasPrefix(string(text), "before\n") || !strings.HasSuffix(string(text), "after\n") {
		t.Errorf("%s, %v", text, err)
	}
	if err := run("nothing", 1, "", "", ""); err == nil {
		t.Error("a suite that there is not is run")
	}
}

// TestREADME_HasUnitsOfGoldenFiles requires that the rows of units equal the golden files.
func TestREADME_HasUnitsOfGoldenFiles(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("local/bench/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var r report
	for _, u := range allUnits {
		m, err := u.read()
		if err != nil {
			t.Fatal(err)
		}
		r.Rows = append(r.Rows, m)
	}
	for row := range strings.Lines(r.table()) {
		if strings.Contains(row, "BENCH=") && !strings.Contains(string(text), "\n"+row) {
			t.Errorf("the table lacks the row %s", row)
		}
	}
}

// TestREADME_HasFiguresOfTheTable requires that the five rows of the README equal the latest measurements.
func TestREADME_HasFiguresOfTheTable(t *testing.T) {
	all, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(readme), "| figure | on 2 processors | goal |\n|---|---:|---:|\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	if strings.Count(rows, "\n") != 4 {
		t.Fatalf("the README has other figures than five rows:\n%s", rows)
	}
	for row := range strings.Lines(rows) {
		row = strings.TrimSpace(row)
		if !strings.Contains(string(all), "\n"+row+" `make bench ") {
			t.Errorf("the table of this folder has no row that begins with %q", row)
		}
	}
}
