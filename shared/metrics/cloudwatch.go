package metrics

import (
	"log/slog"
	"time"
)

// Namespace is that of the metrics in CloudWatch.
const Namespace = "Assay"

// tableDimension distinguishes the stages of a deployment: each has a table.
const tableDimension = "table"

// CloudWatch records a line of the log for each value, in the embedded metric format, of which CloudWatch Logs makes metrics. The log is
// in JSON.
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
