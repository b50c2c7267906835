package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quantity is a number of the cost model. infra/cost.md uses its symbol.
type quantity struct {
	symbol string
	value  float64
	about  string
}

// model is the cost model of a month with R requests. Some requests write, and fewer submit; each kind has averages. The units come from
// measurements by tests. The other numbers are assumptions about an average request. After changing them, update cost.md.
var model = struct {
	write, submit                                  quantity
	read, written, evaluationRead, evaluationWrite quantity
	time, memory, evaluationTime, evaluationMemory quantity
	invoked, log, answer, put, get                 quantity
	table, files, count, cleaned                   quantity
}{
	write:  quantity{"w", 0.05, "share of requests that write, submissions among them"},
	submit: quantity{"u", 0.01, "share of requests that submit"},
	read: quantity{
		"r", measured(operationsTable, "RCU", "GET ", "20 "), "read units of a request: measured, the mean of the operations that read"},
	written: quantity{"c", measured(operationsTable, "WCU", "POST ", "PATCH "),
		"write units of a request that writes: measured, the mean of the operations that write"},
	evaluationRead: quantity{"re", measured(operationsTable, "RCU", "evaluate ") + measured(operationsTable, "RCU", "deliver "),
		"read units of an evaluation, and of the delivery of its event: measured"},
	evaluationWrite: quantity{"ce", measured(operationsTable, "WCU", "evaluate ") + measured(operationsTable, "WCU", "deliver "),
		"write units of an evaluation, and of the delivery of its event: measured"},
	time:             quantity{"t", 0.02, "seconds that a request's function runs"},
	memory:           quantity{"m", 0.5, "GB of its memory"},
	evaluationTime:   quantity{"te", 1, "seconds that an evaluation runs"},
	evaluationMemory: quantity{"me", 3008.0 / 1024, "GB of its memory"},
	invoked:          quantity{"ie", 4, "invocations of background, of uploads and of the notifier for a submission"},
	log:              quantity{"l", 2000, "bytes logged of a request: the gateway's line, Lambda's and the function's"},
	answer:           quantity{"a", 8000, "bytes of an answer"},
	put:              quantity{"fp", 1, "files stored for a submission"},
	get:              quantity{"fg", 2, "files read for a submission"},
	table:            quantity{"D", 1, "GB in the table, copies in indexes among them"},
	count:            quantity{"n", 10_000, "files in the bucket, to whose records each daily cleaning looks"},
	cleaned:          quantity{"rc", measured(operationsTable, "RCU", "clean a file"), "read units of a file that is cleaned: measured"},
	files:            quantity{"F", 10, "GB in the bucket, deleted versions among them"},
}

// Files with the measured units of operations and of gRPC calls.
const (
	operationsTable = "../functions/testdata/capacity.golden"
	callsTable      = "../grpc/server/testdata/capacity.golden"
)

// measured returns the mean of a column over the rows of a table that begin with one of the prefixes.
func measured(table, column string, prefixes ...string) float64 {
	content, err := os.ReadFile(table)
	if err != nil {
		panic(err)
	}
	header, rows, _ := strings.Cut(string(content), "\n")
	names := strings.Fields(header)
	fromEnd := len(names) - slices.Index(names, column)
	sum, n := 0.0, 0.0
	for row := range strings.Lines(rows) {
		// Ordinary users take part in one task or two. Measurements with 50 tasks test a bound, and are no averages.
		if strings.Contains(row, " in 50 tasks ") || !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(row, p) }) {
			continue
		}
		cells := strings.Fields(row)
		v, err := strconv.ParseFloat(cells[len(cells)-fromEnd], 64)
		if err != nil {
			panic(err)
		}
		sum, n = sum+v, n+1
	}
	return math.Round(10*sum/n) / 10
}

// Prices in US dollars in the region us-east-1 in 2026. Check them at https://aws.amazon.com/pricing.
const (
	million         = 1e6
	gigabyte        = 1e9
	gatewayRequest  = 1.00 / million
	lambdaRequest   = 0.20 / million
	lambdaGBSecond  = 0.0000133334 // arm64
	readUnit        = 0.125 / million
	writeUnit       = 0.625 / million
	tableGBMonth    = 0.25
	recoveryGBMonth = 0.20
	filesGBMonth    = 0.023
	filePut         = 0.005 / 1000
	fileGet         = 0.0004 / 1000
	listed          = 1000  // files in an answer to a list request, which costs as much as storing a file
	cleaningTime    = 0.001 // seconds for a file, in batches of 50
	logByte         = 0.50 / gigabyte
	transferredByte = 0.09 / gigabyte
)

// costRow is a row of a table with the monthly cost of one service.
type costRow[V any] struct {
	service, formula string
	month            func(V) float64
}

// volume is a column of a table.
type volume[V any] struct {
	name string
	of   V
}

var costRows = []costRow[float64]{
	{"API Gateway", "R · $1.00/M", func(n float64) float64 { return n * gatewayRequest }},
	{"Lambda, requests", "R · ($0.20/M + t · m · $0.0000133334)", func(n float64) float64 {
		return n * (lambdaRequest + model.time.value*model.memory.value*lambdaGBSecond)
	}},
	{"Lambda, evaluation", "R · u · (ie · $0.20/M + te · me · $0.0000133334)", func(n float64) float64 {
		return n * model.submit.value * (model.invoked.value*lambdaRequest +
			model.evaluationTime.value*model.evaluationMemory.value*lambdaGBSecond)
	}},
	{"DynamoDB, reads", "R · (r + u · re) · $0.125/M", func(n float64) float64 {
		return n * (model.read.value + model.submit.value*model.evaluationRead.value) * readUnit
	}},
	{"DynamoDB, writes", "R · (w · c + u · ce) · $0.625/M", func(n float64) float64 {
		return n * (model.write.value*model.written.value + model.submit.value*model.evaluationWrite.value) * writeUnit
	}},
	{"S3, requests", "R · u · (fp · $0.005/K + fg · $0.0004/K)", func(n float64) float64 {
		return n * model.submit.value * (model.put.value*filePut + model.get.value*fileGet)
	}},
	{"Cleaning", "min(30, R · u) · n · (rc · $0.125/M + $0.005/M + 0.001 · me · $0.0000133334)", func(n float64) float64 {
		return min(30, n*model.submit.value) * model.count.value *
			(model.cleaned.value*readUnit + filePut/listed + cleaningTime*model.evaluationMemory.value*lambdaGBSecond)
	}},
	{"CloudWatch logs", "R · l · $0.50/GB", func(n float64) float64 { return n * model.log.value * logByte }},
	{"Data out", "R · a · $0.09/GB", func(n float64) float64 { return n * model.answer.value * transferredByte }},
	{"Storage of the table", "D · ($0.25 + $0.20 for recovery)", func(float64) float64 {
		return model.table.value * (tableGBMonth + recoveryGBMonth)
	}},
	{"Storage of files", "F · $0.023", func(float64) float64 { return model.files.value * filesGBMonth }},
}

// volumes are requests a month.
var volumes = []volume[float64]{{"at rest", 0}, {"1,000", 1e3}, {"100,000", 1e5}, {"10 million", 1e7}}

// costs returns the tables of costs in infra/cost.md.
func costs() string {
	m := model
	return costTable("| R | | requests a month |\n", []quantity{
		m.write, m.submit, m.read, m.written, m.evaluationRead, m.evaluationWrite, m.time, m.memory, m.evaluationTime, m.evaluationMemory,
		m.invoked, m.log, m.answer, m.put, m.get, m.count, m.cleaned, m.table, m.files,
	}, volumes, costRows)
}

// costTable returns the tables of the quantities of a model and of its costs for the volumes.
func costTable[V any](symbols string, quantities []quantity, volumes []volume[V], rows []costRow[V]) string {
	var b strings.Builder
	b.WriteString("| symbol | value | meaning |\n|---|---:|---|\n" + symbols)
	for _, q := range quantities {
		value := fmt.Sprintf("%.4g", q.value)
		if q.value >= 10_000 {
			value = fmt.Sprintf("%.0f", q.value)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", q.symbol, value, q.about)
	}
	b.WriteString("\n| a month, in US dollars | formula |")
	for _, v := range volumes {
		fmt.Fprintf(&b, " %s |", v.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", len(volumes)) + "\n")
	totals := make([]float64, len(volumes))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |", row.service, row.formula)
		for i, v := range volumes {
			cost := row.month(v.of)
			totals[i] += cost
			fmt.Fprintf(&b, " %s |", dollars(cost))
		}
		b.WriteString("\n")
	}
	b.WriteString("| **all** | |")
	for _, total := range totals {
		fmt.Fprintf(&b, " **%s** |", dollars(total))
	}
	return b.String() + "\n"
}

// dollars formats an amount to the cent. Smaller positive amounts become "< 0.01".
func dollars(amount float64) string {
	switch {
	case amount == 0:
		return "0"
	case amount < 0.005:
		return "< 0.01"
	default:
		return fmt.Sprintf("%.2f", amount)
	}
}

func TestCosts_AreThoseOfTheDocument(t *testing.T) {
	document, err := os.ReadFile("cost.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"costs": costs(), "serverCosts": serverCosts()} {
		begin, end := "<!-- "+name+" of cost_test.go -->\n", "<!-- end -->"
		_, rest, found := strings.Cut(string(document), begin)
		got, _, closed := strings.Cut(rest, end)
		if !found || !closed || got != want {
			t.Errorf("cost.md is not what the model gives; between %q and %q write:\n%s", strings.TrimSpace(begin), end, want)
		}
	}
}

func TestCosts_AtRestAreOfStorage(t *testing.T) {
	for _, row := range costRows {
		if cost := row.month(0); cost != 0 && !strings.HasPrefix(row.service, "Storage") {
			t.Errorf("%s costs %v at rest", row.service, cost)
		}
	}
}

// serverModel is the cost model of a month of the gRPC server with N servers and W workers that are never idle.
var serverModel = struct {
	hours, idle, beats, beat quantity
}{
	hours: quantity{"h", 730, "hours of a month"},
	idle: quantity{"ri", looks*measured(callsTable, "RCU", "look for work") + looks*measured(callsTable, "RCU", "look for lapsed") +
		pings*0.5, "read units an hour of a server for whose workers there is nothing to do, however many they are: measured, with a look for " +
		"each kind of work and one for lapsed leases every other second"},
	beats: quantity{"b", 240, "heartbeats an hour of a worker at work, one every 15 seconds"},
	beat: quantity{"cb", measured(callsTable, "WCU", "heartbeat  ") + measured(callsTable, "WCU", "set the end ")/4,
		"write units of a heartbeat, and of a fourth of what sets the end of its lease again: measured"},
}

// Polls for work and pings of the table by a server in an hour.
const (
	looks = 1800
	pings = 720
)

// Prices in US dollars in the region us-east-1 in 2026.
const (
	processorHour = 0.03238 // of a virtual processor of Fargate, arm64
	memoryHour    = 0.00356 // of a GB of its memory
	balancerHour  = 0.0225
	addressHour   = 0.005
	alarmMonth    = 0.10
)

// serverLoad is a volume of the gRPC server.
type serverLoad struct{ servers, workers float64 }

var serverCostRows = []costRow[serverLoad]{
	{"Fargate", "N · h · (0.25 · $0.03238 + 0.5 · $0.00356)", func(l serverLoad) float64 {
		return l.servers * serverModel.hours.value * (processor/1024.0*processorHour + 0.5*memoryHour)
	}},
	{"Load balancer", "h · $0.0225", func(serverLoad) float64 { return serverModel.hours.value * balancerHour }},
	{"Addresses", "(2 + N) · h · $0.005", func(l serverLoad) float64 { return (2 + l.servers) * serverModel.hours.value * addressHour }},
	{"Alarms", "2 · $0.10", func(serverLoad) float64 { return 2 * alarmMonth }},
	{"DynamoDB, looking for work", "N · h · ri · $0.125/M", func(l serverLoad) float64 {
		return l.servers * serverModel.hours.value * serverModel.idle.value * readUnit
	}},
	{"DynamoDB, heartbeats", "W · h · b · cb · $0.625/M", func(l serverLoad) float64 {
		return l.workers * serverModel.hours.value * serverModel.beats.value * serverModel.beat.value * writeUnit
	}},
}

var serverVolumes = []volume[serverLoad]{
	{"at rest", serverLoad{1, 0}}, {"1 worker", serverLoad{1, 1}}, {"10 workers", serverLoad{1, 10}},
	{"100 workers, 2 servers", serverLoad{2, 100}},
}

// serverCosts returns the tables of the gRPC server's costs in infra/cost.md.
func serverCosts() string {
	m := serverModel
	return costTable("| N | | servers |\n| W | | workers that are never idle |\n", []quantity{m.hours, m.idle, m.beats, m.beat}, serverVolumes,
		serverCostRows)
}
