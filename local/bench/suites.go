package main

import (
	"fmt"

	"assay/shared/language/plural"
)

// suite is a set of benchmarks of one package. One command runs them.
type suite struct {
	name    string // value of BENCH
	pkg     string
	bench   string   // value of -bench of go test
	args    []string // further arguments of go test
	slow    bool     // runs only if it is named, or all suites are
	figures []figure
}

// figure is a row of the table.
type figure struct {
	about string
	bench string // name of the benchmark, without the suffix for processors
	unit  string
	per   string  // benchmark whose value divides the figure; empty: none
	most  float64 // bound of the multiple, or of the figure without per; 0: none
}

// suites lists all suites. Bounds are goals. No test fails for them, because machines differ.
var suites = []suite{
	{name: "requests", pkg: "./local", bench: "^BenchmarkRequest$", args: []string{"-benchtime=300ms"}, figures: requests()},
	{name: "memory", pkg: "./local", bench: "^BenchmarkMemory$", args: []string{"-benchtime=3000x"}, figures: []figure{
		{"memory of the server at rest, with 1,000 tasks and leaderboards of 11,000 runs", "Memory", "rest-MiB", "", 0},
		{"memory after 3,000 pages of all of them, 16 clients", "Memory", "load-MiB", "", 150},
		{"of that, pages of the file of the store", "Memory", "load-file-MiB", "", 0},
	}},
	{name: "rest", pkg: "./local", bench: "^BenchmarkREST$", args: []string{"-benchtime=500x", "-timeout=60m"}, slow: true, figures: rest()},
	{name: "submission", pkg: "./local", bench: "^BenchmarkSubmission$", args: []string{"-benchtime=3x"}, figures: []figure{
		{"a run of 1,000 lines, from POST until its score is there", "Submission/lines=1000", "ns/op", "", 0},
		{"one of 100,000 lines", "Submission/lines=100000", "ns/op", "Submission/lines=1000", 100},
		{"one of 1,000,000 lines", "Submission/lines=1000000", "ns/op", "Submission/lines=100000", 10},
	}},
	{name: "register", pkg: "./local", bench: "^BenchmarkRegister$", args: []string{"-benchtime=3000x"}, figures: []figure{
		{"registrations, 64 clients, each durable", "Register", "requests/s", "", 0},
	}},
	{name: "create", pkg: "./local", bench: "^BenchmarkCreateTask$", args: []string{"-benchtime=3000x"}, figures: []figure{
		{"tasks created in 64 organizers, 64 clients", "CreateTask/organizers=64", "ns/op", "", 0},
		{"tasks created in one organizer, 64 clients", "CreateTask/organizers=1", "ns/op", "CreateTask/organizers=64", 1.2},
	}},
	{name: "evaluation", pkg: "./shared/computation/measure/retrieval", bench: "^BenchmarkEvaluate100k$", figures: []figure{
		{"evaluation of a run of 100,000 lines", "Evaluate100k", "ns/op", "", 0},
		{"memory of that, besides the files", "Evaluate100k", "peak-MiB", "", 0},
	}},
	{name: "trec_eval", pkg: "./local/cli", bench: "^BenchmarkTrecEval$", args: []string{"-benchtime=7x"}, slow: true, figures: []figure{
		{"evaluation of 5 MB, of the time that trec_eval takes", "TrecEval/5MB", "clock/trec_eval", "", 0.28},
		{"evaluation of 50 MB, of the time that trec_eval takes", "TrecEval/50MB", "clock/trec_eval", "", 0.15},
		{"evaluation of 263 MB, of the time that trec_eval takes", "TrecEval/263MB", "clock/trec_eval", "", 0.12},
		{"evaluation of 5 MB, of the processor time of trec_eval", "TrecEval/5MB", "processors/trec_eval", "", 0},
		{"evaluation of 50 MB, of the processor time of trec_eval", "TrecEval/50MB", "processors/trec_eval", "", 0},
		{"evaluation of 263 MB, of the processor time of trec_eval", "TrecEval/263MB", "processors/trec_eval", "", 0},
	}},
	{name: "million", pkg: "./shared/computation/measure/scoring", bench: "^BenchmarkMillion$", args: []string{"-benchtime=1x"}, slow: true,
		figures: million()},
	{name: "text", pkg: "./shared/computation/measure/text", bench: "^BenchmarkPython$", args: []string{"-benchtime=1x"}, slow: true,
		figures: []figure{
			{"TokenF1 of 500 texts, of the time that Python takes", "Python/TokenF1", "clock/python", "", 0.2},
			{"ROUGE1, of the time of rouge-score", "Python/ROUGE1", "clock/python", "", 0.2},
			{"ROUGE2 with stems", "Python/ROUGE2(stem=True)", "clock/python", "", 0.2},
			{"ROUGEL", "Python/ROUGEL", "clock/python", "", 0.2},
			{"ROUGELsum", "Python/ROUGELsum", "clock/python", "", 0.2},
			{"BLEU, of the time of sacrebleu", "Python/BLEU", "clock/python", "", 0.2},
			{"chrF", "Python/chrF", "clock/python", "", 0.2},
			{"chrF++", "Python/chrF(word_order=2)", "clock/python", "", 0.2},
		}},
	{name: "tools", pkg: "./functions/tools/fusion", bench: "^BenchmarkReciprocalRank2x1MB$", figures: []figure{
		{"fusion of two runs of 1 MB", "ReciprocalRank2x1MB", "ns/op", "", 0},
	}},
	{name: "significance", pkg: "./functions/tools/significance", bench: "^Benchmark(Randomization7000|Bootstrap7000)$", figures: []figure{
		{"randomization test over 7,000 topics", "Randomization7000", "ns/op", "", 0},
		{"bootstrap interval over 7,000 topics", "Bootstrap7000", "ns/op", "", 0},
	}},
	{name: "store", pkg: "./shared/storage/store/embedded", bench: "^Benchmark(Create|Get|Query)$", args: []string{"-benchtime=300ms"},
		figures: []figure{
			{"items created in the embedded store, 64 writers", "Create/clients=64", "writes/s", "", 0},
			{"item read", "Get", "ns/op", "", 0},
			{"page of an index of 1,000 entries", "Query/items=1000", "ns/op", "", 0},
			{"page of an index of 100,000 entries", "Query/items=100000", "ns/op", "Query/items=1000", 1.5},
		}},
	{name: "dynamo", pkg: "./shared/storage/store/dynamo", bench: "^BenchmarkCreate$", args: []string{"-benchtime=1000x"}, figures: []figure{
		{"items created in the server of tests for DynamoDB, 64 writers", "Create", "writes/s", "", 0},
	}},
	{name: "start", pkg: "./local/cli", bench: "^BenchmarkStart$", args: []string{"-benchtime=50x"}, figures: []figure{
		{"`assay eval` of a run of 1 KB, from start to exit", "Start/eval", "ns/op", "", 10e6},
	}},
	{name: "watch", pkg: "./grpc/server", bench: "^BenchmarkWatchRun$/^embedded$", args: []string{"-benchtime=1x"}, slow: true,
		figures: []figure{
			{"memory of a stream of a run", "WatchRun/embedded", "B/watcher", "", 0},
			{"change of a run until its watchers have it", "WatchRun/embedded", "ms-p99-from-end", "", 0},
		}},
	{name: "cold-start", pkg: "./functions", bench: "^BenchmarkColdStart$", args: []string{"-benchtime=10x"}, slow: true, figures: []figure{
		{"function that does nothing, from start to first answer", "ColdStart/empty", "median-ms", "", 0},
		{"function tasks", "ColdStart/tasks", "median-ms", "ColdStart/empty", 0},
		{"function evaluations", "ColdStart/evaluations", "median-ms", "ColdStart/empty", 0},
		{"function tools", "ColdStart/tools", "median-ms", "ColdStart/empty", 0},
		{"function background", "ColdStart/background", "median-ms", "ColdStart/empty", 0},
	}},
}

// requests returns the figures of single requests in three states. Figures of warm requests and of requests after a change are multiples of
// GET of a task in the same state.
func requests() (figures []figure) {
	const get = "Request/task"
	figures = append(figures, figure{about: "processor time of GET of a task", bench: get, unit: "cpu-µs/op"})
	for _, row := range []struct {
		about, bench string
		most         float64 // bound of the multiple when nothing changes; 0: none
	}{
		{"list of 50 tasks", "Request/list=50", 4},
		{"leaderboard of 50", "Request/board=50", 3},
		{"leaderboard of 200", "Request/board=200", 8},
		{"last page of 600 by another measure", "Request/board=600/last-by-AP", 4},
		{"best of each team of 600", "Request/board=600/best", 4},
		{"600 entries in one answer, as CSV", "Request/board=600/whole", 0},
		{"first page of 10,000", "Request/board=10000/first", 4},
		{"last page of 10,000 by another measure", "Request/board=10000/last-by-AP", 4},
		{"best of each team of 10,000", "Request/board=10000/best", 4},
	} {
		changed := row.most
		if changed > 0 {
			changed += 2
		}
		figures = append(figures,
			figure{about: row.about, bench: row.bench, unit: "cpu-µs/op", per: get, most: row.most},
			figure{about: row.about + ", after one change", bench: row.bench, unit: "changed-cpu-µs/op", per: get, most: changed})
	}
	for _, row := range []struct {
		about, bench string
		most         float64
	}{
		{"first request for a leaderboard of 200 after a restart, in processor time", "Request/board=200", 0},
		{"first page of 10,000 after a restart", "Request/board=10000/first", 50},
		{"last page of 10,000 by another measure after a restart", "Request/board=10000/last-by-AP", 50},
	} {
		figures = append(figures, figure{about: row.about, bench: row.bench, unit: "restart-ms", most: row.most})
	}
	return figures
}

// rest returns the figures of the REST API. A figure for a million tasks is a multiple of the figure for a thousand tasks. A figure for a
// later page is a multiple of the figure for the first page.
func rest() (figures []figure) {
	for _, connections := range []int{1, 16, 128} {
		of := func(tasks int, what string) string {
			return fmt.Sprintf("REST/tasks=%d/%s/connections=%d", tasks, what, connections)
		}
		row := func(about string, bench, unit, per string, most float64) {
			figures = append(figures, figure{
				about: about + ", " + plural.Count(connections, "connection"),
				bench: bench,
				unit:  unit,
				per:   per,
				most:  most,
			})
		}
		row("GET of a task of 1,000", of(1000, "task"), "requests/s", "", 0)
		row("one of 100,000", of(100_000, "task"), "ns/op", of(1000, "task"), 1.5)
		row("one of 1,000,000", of(1_000_000, "task"), "ns/op", of(1000, "task"), 1.5)
		row("first page of 1,000 tasks", of(1000, "first"), "requests/s", "", 0)
		row("first page of 1,000,000", of(1_000_000, "first"), "ns/op", of(1000, "first"), 1.5)
		row("page from anywhere in 1,000", of(1000, "anywhere"), "ns/op", of(1000, "first"), 1.5)
		row("page from anywhere in 100,000", of(100_000, "anywhere"), "ns/op", of(100_000, "first"), 1.5)
		row("page from anywhere in 1,000,000", of(1_000_000, "anywhere"), "ns/op", of(1_000_000, "first"), 1.3)
	}
	return figures
}

// million returns the figures of truths and runs of a million examples.
func million() (figures []figure) {
	for _, kind := range []string{"classification", "multilabel", "probabilities", "regression", "clustering"} {
		for _, format := range []string{"jsonl", "csv"} {
			bench := "Million/" + kind + "/" + format
			about := fmt.Sprintf("%s of 1,000,000 examples in %s", kind, format)
			figures = append(figures,
				figure{about: about, bench: bench, unit: "ns/op", most: 2e9},
				figure{about: "memory of that, of the size of both files", bench: bench, unit: "memory/files", most: 2})
		}
	}
	return figures
}

// units is a figure of DynamoDB's capacity units. Tests measure them and golden files store them.
type units struct {
	about, file, row, column string
	most                     float64
}

const (
	operations = "functions/testdata/capacity.golden"
	calls      = "grpc/server/testdata/capacity.golden"
)

var allUnits = []units{
	{"write units of POST of a run file", operations, "POST a run file", "WCU", 0},
	{"write units of its evaluation", operations, "evaluate a run", "WCU", 0},
	{"write units of its review", operations, "PATCH a review", "WCU", 0},
	{"read units of 20 entries of a leaderboard", operations, "20 of a leaderboard ", "RCU", 0},
	{"write units of a heartbeat", calls, "heartbeat  ", "WCU", 2},
}
