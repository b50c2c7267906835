package main

import (
	"fmt"
	"strings"
)

// serverModel is what a month of the gRPC server costs: N servers, and W workers that have work all the time.
var serverModel = struct {
	hours, idle, beats, beat quantity
}{
	hours: quantity{"h", 730, "hours of a month"},
	idle:  quantity{"ri", looks*measured(callsTable, "RCU", "look for work") + looks*measured(callsTable, "RCU", "look for lapsed") + pings*0.5, "read units an hour of a server for whose workers there is nothing to do, however many they are: measured, with a look for each kind of work and one for lapsed leases every other second"},
	beats: quantity{"b", 240, "heartbeats an hour of a worker at work, one every 15 seconds"},
	beat:  quantity{"cb", measured(callsTable, "WCU", "heartbeat  "), "write units of a heartbeat, which writes the run and its entries in indexes: measured"},
}

// How often an hour a server looks into the table for work, and how often it asks whether the table answers.
const (
	looks = 1800
	pings = 720
)

// Prices in US dollars in the region us-east-1, as they were known in 2026.
const (
	processorHour = 0.03238 // of a virtual processor of Fargate, arm64
	memoryHour    = 0.00356 // of a GB of its memory
	balancerHour  = 0.0225
	addressHour   = 0.005
	alarmMonth    = 0.10
)

var serverCostRows = []struct {
	service, formula string
	month            func(servers, workers float64) float64
}{
	{"Fargate", "N · h · (0.25 · $0.03238 + 0.5 · $0.00356)", func(n, _ float64) float64 {
		return n * serverModel.hours.value * (processor/1024.0*processorHour + 0.5*memoryHour)
	}},
	{"Load balancer", "h · $0.0225", func(_, _ float64) float64 { return serverModel.hours.value * balancerHour }},
	{"Addresses", "(2 + N) · h · $0.005", func(n, _ float64) float64 { return (2 + n) * serverModel.hours.value * addressHour }},
	{"Alarms", "2 · $0.10", func(_, _ float64) float64 { return 2 * alarmMonth }},
	{"DynamoDB, looking for work", "N · h · ri · $0.125/M", func(n, _ float64) float64 {
		return n * serverModel.hours.value * serverModel.idle.value * readUnit
	}},
	{"DynamoDB, heartbeats", "W · h · b · cb · $0.625/M", func(_, w float64) float64 {
		return w * serverModel.hours.value * serverModel.beats.value * serverModel.beat.value * writeUnit
	}},
}

var serverVolumes = []struct {
	name             string
	servers, workers float64
}{{"at rest", 1, 0}, {"1 worker", 1, 1}, {"10 workers", 1, 10}, {"100 workers, 2 servers", 2, 100}}

// serverCosts writes what infra/README.md says that the gRPC server costs.
func serverCosts() string {
	var b strings.Builder
	b.WriteString("| symbol | value | meaning |\n|---|---:|---|\n| N | | servers |\n| W | | workers that are never idle |\n")
	for _, q := range []quantity{serverModel.hours, serverModel.idle, serverModel.beats, serverModel.beat} {
		fmt.Fprintf(&b, "| %s | %.4g | %s |\n", q.symbol, q.value, q.about)
	}
	b.WriteString("\n| a month, in US dollars | formula |")
	for _, v := range serverVolumes {
		fmt.Fprintf(&b, " %s |", v.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", len(serverVolumes)) + "\n")
	totals := make([]float64, len(serverVolumes))
	for _, row := range serverCostRows {
		fmt.Fprintf(&b, "| %s | %s |", row.service, row.formula)
		for i, v := range serverVolumes {
			cost := row.month(v.servers, v.workers)
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
