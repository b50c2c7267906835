// Package ops serves metrics for Prometheus, Go profiles, liveness and readiness to the operators of a server. It requires no login, so
// its address must belong to a private network.
package ops

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"assay/shared/language/metrics"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	namespace  = "assay"
	askTime    = 5 * time.Second // timeout for the store's answer
	maxScrapes = 4               // concurrent requests for metrics
)

// buckets are the histogram buckets for durations, in seconds. An operation takes at most 25 seconds.
var buckets = []float64{.001, .005, .025, .1, .5, 2.5, 10, 25}

// Exporter exports metrics to Prometheus.
type Exporter struct {
	registry   *prometheus.Registry
	counters   map[*metrics.Metric]*prometheus.CounterVec
	histograms map[*metrics.Metric]*prometheus.HistogramVec
}

// New returns an exporter of all metrics, including those of Go and of the process. Each scrape calls gauges.
func New(gauges func(context.Context, metrics.Recorder) error) *Exporter {
	e := &Exporter{prometheus.NewRegistry(), map[*metrics.Metric]*prometheus.CounterVec{}, map[*metrics.Metric]*prometheus.HistogramVec{}}
	asked := &gaugeCollector{gauges, map[*metrics.Metric]*prometheus.Desc{}}
	for _, m := range metrics.All {
		switch m.Kind {
		case metrics.Counter:
			e.counters[m] = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: m.Name, Help: m.Help}, m.Labels)
			e.registry.MustRegister(e.counters[m])
		case metrics.Histogram:
			e.histograms[m] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: m.Name, Help: m.Help,
				Buckets: buckets}, m.Labels)
			e.registry.MustRegister(e.histograms[m])
		case metrics.Gauge:
			asked.descriptions[m] = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", m.Name), m.Help, m.Labels, nil)
		}
	}
	e.registry.MustRegister(asked, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return e
}

// Record implements metrics.Recorder for counters and histograms.
func (e *Exporter) Record(m *metrics.Metric, value float64, labels ...string) {
	if m.Kind == metrics.Counter {
		e.counters[m].WithLabelValues(labels...).Add(value)
	} else {
		e.histograms[m].WithLabelValues(labels...).Observe(value)
	}
}

// gaugeCollector is a prometheus.Collector of gauges.
type gaugeCollector struct {
	gauges       func(context.Context, metrics.Recorder) error
	descriptions map[*metrics.Metric]*prometheus.Desc
}

// Describe implements prometheus.Collector.
func (g *gaugeCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range g.descriptions {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gaugeCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	err := g.gauges(ctx, func(m *metrics.Metric, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(g.descriptions[m], prometheus.GaugeValue, value, labels...)
	})
	if err != nil {
		out <- prometheus.NewInvalidMetric(g.descriptions[metrics.RunsWaiting], err)
	}
}

// Handler serves /metrics, /debug/pprof/, /live and /ready. /live succeeds while the process runs. /ready succeeds while ready returns
// nil.
func (e *Exporter) Handler(ready func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	// If the store does not answer, only the gauges are missing.
	mux.Handle("GET /metrics", promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes}))
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "live") })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askTime)
		defer cancel()
		if err := ready(ctx); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ready")
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// Serve serves the handler at addr until ctx ends, and returns the address on which it listens.
func Serve(ctx context.Context, addr string, h http.Handler) (net.Addr, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with -ops-addr", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }() // returns after Close
	return l.Addr(), nil
}
