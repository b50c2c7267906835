package main

// suite is some benchmarks of one package, which one command runs.
type suite struct {
	name    string // of the suite, for BENCH
	pkg     string
	bench   string   // what go test's -bench takes
	args    []string // of go test, besides
	slow    bool     // it is run only when it is named
	figures []figure
}

// figure is a row of the table.
type figure struct {
	about string
	bench string // its benchmark, without the suffix for processors
	unit  string
	per   string  // the benchmark that it is a multiple of; empty: none
	most  float64 // of the multiple or, without one, of the figure; 0: there is no bound
}

// suites are all that is measured. Bounds are what was set as a goal, and not what a test fails for: machines differ.
var suites = []suite{
	{name: "requests", pkg: "./local", bench: "^BenchmarkRequest$", args: []string{"-benchtime=300ms"}, figures: []figure{
		{"processor time of GET of a task", "Request/task", "cpu-µs/op", "", 0},
		{"list of 50 tasks", "Request/list=50", "cpu-µs/op", "Request/task", 3},
		{"leaderboard of 50", "Request/board=50", "cpu-µs/op", "Request/task", 4},
		{"leaderboard of 200", "Request/board=200", "cpu-µs/op", "Request/task", 12},
		{"last page of 600 by another measure", "Request/board=600/last-by-AP", "cpu-µs/op", "Request/task", 5},
		{"best of each team of 600", "Request/board=600/best", "cpu-µs/op", "Request/task", 5},
		{"last page of 10,000 by another measure", "Request/board=10000/last-by-AP", "cpu-µs/op", "Request/task", 5},
		{"best of each team of 10,000", "Request/board=10000/best", "cpu-µs/op", "Request/task", 5},
	}},
	{name: "load", pkg: "./local", bench: "^Benchmark(GetTask|Register)$", args: []string{"-benchtime=3000x"}, figures: []figure{
		{"GET of a task, 16 connections", "GetTask", "requests/s", "", 0},
		{"registrations, 64 clients, each durable", "Register", "requests/s", "", 0},
	}},
	{name: "create", pkg: "./local", bench: "^BenchmarkCreateTask$", args: []string{"-benchtime=3000x"}, figures: []figure{
		{"tasks created in 64 organizers, 64 clients", "CreateTask/organizers=64", "ns/op", "", 0},
		{"tasks created in one organizer, 64 clients", "CreateTask/organizers=1", "ns/op", "CreateTask/organizers=64", 1.2},
	}},
	{name: "pages", pkg: "./local", bench: "^BenchmarkPage$", args: []string{"-benchtime=500x"}, slow: true, figures: []figure{
		{"page from anywhere in 1,000 tasks", "Page/of=1000", "ns/op", "", 0},
		{"page from anywhere in 100,000 tasks", "Page/of=100000", "ns/op", "Page/of=1000", 1.5},
	}},
	{name: "evaluation", pkg: "./shared/measure/retrieval", bench: "^BenchmarkEvaluate100k$", figures: []figure{
		{"evaluation of a run of 100,000 lines", "Evaluate100k", "ns/op", "", 0},
		{"memory of that, besides the files", "Evaluate100k", "peak-MiB", "", 0},
	}},
	{name: "trec_eval", pkg: "./local/cli", bench: "^BenchmarkTrecEval$", args: []string{"-benchtime=7x"}, slow: true, figures: []figure{
		{"evaluation of 5 MB, of the time that trec_eval takes", "TrecEval/5MB", "clock/trec_eval", "", 0.25},
		{"evaluation of 50 MB", "TrecEval/50MB", "clock/trec_eval", "", 0.1},
		{"evaluation of 263 MB", "TrecEval/263MB", "clock/trec_eval", "", 0.08},
		{"evaluation of 5 MB, of the processor time of trec_eval", "TrecEval/5MB", "processors/trec_eval", "", 0},
		{"evaluation of 50 MB, processor time", "TrecEval/50MB", "processors/trec_eval", "", 0},
		{"evaluation of 263 MB, processor time", "TrecEval/263MB", "processors/trec_eval", "", 0},
	}},
	{name: "tools", pkg: "./functions/tools/fusion", bench: "^BenchmarkReciprocalRank2x1MB$", figures: []figure{
		{"fusion of two runs of 1 MB", "ReciprocalRank2x1MB", "ns/op", "", 0},
	}},
	{name: "significance", pkg: "./functions/tools/significance", bench: "^Benchmark(Randomization7000|Bootstrap7000)$", figures: []figure{
		{"randomization test over 7,000 topics", "Randomization7000", "ns/op", "", 0},
		{"bootstrap interval over 7,000 topics", "Bootstrap7000", "ns/op", "", 0},
	}},
	{name: "store", pkg: "./shared/store/embedded", bench: "^Benchmark(Create|Get|Query)$", args: []string{"-benchtime=300ms"},
		figures: []figure{
			{"items created in the embedded store, 64 writers", "Create/clients=64", "writes/s", "", 0},
			{"item read", "Get", "ns/op", "", 0},
			{"page of an index of 1,000 entries", "Query/items=1000", "ns/op", "", 0},
			{"page of an index of 100,000 entries", "Query/items=100000", "ns/op", "Query/items=1000", 1.5},
		}},
	{name: "start", pkg: "./local/cli", bench: "^BenchmarkStart$", args: []string{"-benchtime=50x"}, figures: []figure{
		{"`assay eval` of a run of 1 KB, from start to exit", "Start/eval", "ns/op", "", 10e6},
	}},
	{name: "watch", pkg: "./grpc/server", bench: "^BenchmarkWatchRun$", args: []string{"-benchtime=1x"}, slow: true, figures: []figure{
		{"memory of a stream of a run", "WatchRun/embedded", "B/watcher", "", 0},
		{"change of a run until its watchers have it", "WatchRun/embedded", "ms-p99-from-end", "", 0},
	}},
	{name: "cold-start", pkg: "./functions", bench: "^BenchmarkColdStart$", args: []string{"-benchtime=10x"}, slow: true, figures: []figure{
		{"function, from start to first answer", "ColdStart", "ns/op", "", 0},
	}},
}

// units are those of DynamoDB, which tests measure and golden files have.
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
