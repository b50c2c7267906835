// Package metrics declares what is measured of a running system, once for Prometheus and for CloudWatch, and knows the libraries of
// neither: a program chooses where values go by its Recorder, a function of a deployment as well as a server.
package metrics

// Kind says how values of a metric add up.
type Kind int

// The kinds, as Prometheus has them.
const (
	Counter   Kind = iota // a value is added
	Gauge                 // a value is the present one
	Histogram             // a value is one observation
)

// Metric is one metric. Each of its labels has few values, so that it has few series.
type Metric struct {
	Name       string // in Prometheus, after assay_
	CloudWatch string // in CloudWatch, where each label is a dimension; empty: it is not there
	Unit       string // in CloudWatch
	Help       string
	Kind       Kind
	Labels     []string
}

// The metrics of the domain are in both worlds. A queue is builtin, for what evaluators of the server do, or workers.
var (
	RunsWaiting = &Metric{
		Name:       "runs_waiting",
		CloudWatch: "RunsWaiting",
		Unit:       "Count",
		Help: "Runs that wait in the queue, by pool ((builtin) for evaluators of the server) and kind of work; at most 1000 of each are " +
			"counted.",
		Kind:   Gauge,
		Labels: []string{"pool", "work"},
	}
	OldestWaiting = &Metric{
		Name:       "oldest_run_waiting_seconds",
		CloudWatch: "OldestRunWaiting",
		Unit:       "Seconds",
		Help:       "For how long the run has waited that waits longest, of those that are counted.",
		Kind:       Gauge,
		Labels:     []string{"pool", "work"},
	}
	WorkersAlive = &Metric{
		Name:       "workers_alive",
		CloudWatch: "WorkersAlive",
		Unit:       "Count",
		Help:       "Workers that were seen within a minute, by pool and kind of work.",
		Kind:       Gauge,
		Labels:     []string{"pool", "work"},
	}
	RunsEnded = &Metric{
		Name:       "runs_ended_total",
		CloudWatch: "RunsEnded",
		Unit:       "Count",
		Help:       "Runs that were evaluated (completed) or failed, by the queue that they were in.",
		Kind:       Counter,
		Labels:     []string{"queue", "outcome"},
	}
	LeasesExpired = &Metric{
		Name:       "leases_expired_total",
		CloudWatch: "LeasesExpired",
		Unit:       "Count",
		Help:       "Leases that ended without a result, because their holder extended them no more.",
		Kind:       Counter,
		Labels:     []string{"queue"},
	}
	QuotaRefusals = &Metric{
		Name:       "quota_refusals_total",
		CloudWatch: "QuotaRefusals",
		Unit:       "Count",
		Help:       "Requests that were refused for a quota or a rate, by the kind of the problem.",
		Kind:       Counter,
		Labels:     []string{"kind"},
	}
	RequestSeconds = &Metric{
		Name:   "http_request_duration_seconds",
		Unit:   "Seconds",
		Help:   "Requests over HTTP, by operation (other: none, such as transfers of files) and class of status.",
		Kind:   Histogram,
		Labels: []string{"operation", "status"},
	}
)

// All are the metrics.
var All = []*Metric{RunsWaiting, OldestWaiting, WorkersAlive, RunsEnded, LeasesExpired, QuotaRefusals, RequestSeconds}

// MaxPools is how many pools and kinds of work have series of their own; the others share those of the pool OtherPools.
const (
	MaxPools   = 200
	OtherPools = "(other)"
)

// Recorder takes a value of a metric, with a value for each label. A nil Recorder takes none.
type Recorder func(m *Metric, value float64, labels ...string)

// Record takes a value.
func (r Recorder) Record(m *Metric, value float64, labels ...string) {
	if r != nil {
		r(m, value, labels...)
	}
}
