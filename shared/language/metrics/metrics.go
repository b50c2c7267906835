// Package metrics declares the metrics of a running system, for Prometheus and for CloudWatch. It imports the libraries of neither: the
// Recorder of a program decides where values go.
package metrics

// Kind says how the values of a metric are combined.
type Kind int

// The kinds of metrics in Prometheus.
const (
	Counter   Kind = iota // a value is added
	Gauge                 // a value is the present one
	Histogram             // a value is one observation
)

// Metric is one metric. Each of its labels has few values, so that it has few series.
type Metric struct {
	Name       string // name in Prometheus, without the prefix assay_
	CloudWatch string // name in CloudWatch, where each label is a dimension; empty if CloudWatch does not get the metric
	Unit       string // unit in CloudWatch
	Help       string
	Kind       Kind
	Labels     []string
}

// The metrics. The label queue is builtin for work of the server's evaluators, otherwise workers.
var (
	RunsWaiting = &Metric{
		Name:       "runs_waiting",
		CloudWatch: "RunsWaiting",
		Unit:       "Count",
		Help: "Runs that wait in the queue, by pool ((builtin) for evaluators of the server) and kind of work; at most 1000 are counted for " +
			"each.",
		Kind:   Gauge,
		Labels: []string{"pool", "work"},
	}
	OldestWaiting = &Metric{
		Name:       "oldest_run_waiting_seconds",
		CloudWatch: "OldestRunWaiting",
		Unit:       "Seconds",
		Help:       "Time that the oldest of the counted runs has waited.",
		Kind:       Gauge,
		Labels:     []string{"pool", "work"},
	}
	WorkersAlive = &Metric{
		Name:       "workers_alive",
		CloudWatch: "WorkersAlive",
		Unit:       "Count",
		Help:       "Workers that contacted the server within the last minute, by pool and kind of work.",
		Kind:       Gauge,
		Labels:     []string{"pool", "work"},
	}
	RunsEnded = &Metric{
		Name:       "runs_ended_total",
		CloudWatch: "RunsEnded",
		Unit:       "Count",
		Help:       "Runs that were evaluated (completed) or failed, by queue.",
		Kind:       Counter,
		Labels:     []string{"queue", "outcome"},
	}
	LeasesExpired = &Metric{
		Name:       "leases_expired_total",
		CloudWatch: "LeasesExpired",
		Unit:       "Count",
		Help:       "Leases that expired without a result, because their holder did not extend them.",
		Kind:       Counter,
		Labels:     []string{"queue"},
	}
	QuotaRefusals = &Metric{
		Name:       "quota_refusals_total",
		CloudWatch: "QuotaRefusals",
		Unit:       "Count",
		Help:       "Requests that were refused by a quota or a rate limit, by the kind of the problem.",
		Kind:       Counter,
		Labels:     []string{"kind"},
	}
	FilesFailures = &Metric{
		Name:       "files_failures_total",
		CloudWatch: "FilesFailures",
		Unit:       "Count",
		Help:       "Calls of the object store that failed, by operation; a missing file is no failure.",
		Kind:       Counter,
		Labels:     []string{"operation"},
	}
	CheckPasses = &Metric{
		Name:   "check_passes",
		Help:   "1 if the check of GET /health passes, 0 if it warns.",
		Kind:   Gauge,
		Labels: []string{"check"},
	}
	DiskFree = &Metric{
		Name:   "disk_free_bytes",
		Help:   "Free space of the disk of a folder: of the data, or for temporary files.",
		Kind:   Gauge,
		Labels: []string{"folder"},
	}
	DiskSize = &Metric{
		Name:   "disk_size_bytes",
		Help:   "Size of the disk of a folder.",
		Kind:   Gauge,
		Labels: []string{"folder"},
	}
	RequestSeconds = &Metric{
		Name:   "http_request_duration_seconds",
		Unit:   "Seconds",
		Help:   "HTTP requests, by operation (other: without an operation, such as transfers of files) and class of status.",
		Kind:   Histogram,
		Labels: []string{"operation", "status"},
	}
)

// All lists the metrics.
var All = []*Metric{
	RunsWaiting, OldestWaiting, WorkersAlive, RunsEnded, LeasesExpired, QuotaRefusals, FilesFailures, CheckPasses, DiskFree, DiskSize,
	RequestSeconds,
}

// MaxPools is the maximum number of pairs of pool and kind of work with their own series. The other pairs share the series of the pool
// OtherPools.
const (
	MaxPools   = 200
	OtherPools = "(other)"
)

// Recorder records a value of a metric, with a value for each label. A nil Recorder records nothing.
type Recorder func(m *Metric, value float64, labels ...string)

// Record records a value, unless r is nil.
func (r Recorder) Record(m *Metric, value float64, labels ...string) {
	if r != nil {
		r(m, value, labels...)
	}
}
