package metrics

import (
	"log/slog"
	"time"
)

// Namespace is the namespace of the metrics in CloudWatch.
const Namespace = "Assay"

// tableDimension distinguishes the stages of a deployment, each of which has its own table.
const tableDimension = "table"

// CloudWatch returns a Recorder that logs a line for each value, in the embedded metric format. CloudWatch Logs turns the lines into
// metrics. The log must write JSON.
func CloudWatch(log *slog.Logger, table string, now func() time.Time) Recorder {
	return func(m *Metric, value float64, labels ...string) {
		if m.CloudWatch == "" {
			return
		}
		type metric struct{ Name, Unit string }
		type directive struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []metric
		}
		attrs := []any{slog.Any("_aws", struct {
			Timestamp         int64
			CloudWatchMetrics []directive
		}{now().UnixMilli(), []directive{{Namespace, [][]string{append([]string{tableDimension}, m.Labels...)},
			[]metric{{m.CloudWatch, m.Unit}}}}}), slog.String(tableDimension, table), slog.Float64(m.CloudWatch, value)}
		for i, name := range m.Labels {
			attrs = append(attrs, slog.String(name, labels[i]))
		}
		log.Info("metric", attrs...)
	}
}
