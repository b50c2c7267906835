package main

// serverModel is what a month of the gRPC server costs: N servers, and W workers that have work all the time.
var serverModel = struct {
	hours, idle, beats, beat quantity
}{
	hours: quantity{"h", 730, "hours of a month"},
	idle: quantity{"ri", looks*measured(callsTable, "RCU", "look for work") + looks*measured(callsTable, "RCU", "look for lapsed") +
		pings*0.5, "read units an hour of a server for whose workers there is nothing to do, however many they are: measured, with a look for " +
		"each kind of work and one for lapsed leases every other second"},
	beats: quantity{"b", 240, "heartbeats an hour of a worker at work, one every 15 seconds"},
	beat: quantity{"cb", measured(callsTable, "WCU", "heartbeat  "),
		"write units of a heartbeat, which writes the run and its entries in indexes: measured"},
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

// serverCosts writes what infra/README.md says that the gRPC server costs.
func serverCosts() string {
	m := serverModel
	return costTable("| N | | servers |\n| W | | workers that are never idle |\n", []quantity{m.hours, m.idle, m.beats, m.beat}, serverVolumes,
		serverCostRows)
}
