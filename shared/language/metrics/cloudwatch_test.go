package metrics_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"assay/shared/language/metrics"
)

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html defines the format.
func TestCloudWatch_WritesTheEmbeddedMetricFormat(t *testing.T) {
	var log bytes.Buffer
	now := time.UnixMilli(1_777_777_777_777)
	r := metrics.CloudWatch(slog.New(slog.NewJSONHandler(&log, nil)), "assay-dev", func() time.Time { return now })
	r.Record(metrics.RequestSeconds, 1, "listTasks", "2xx") // not for CloudWatch: the gateway measures it
	r.Record(metrics.RunsWaiting, 3, "default", "image")
	var got map[string]any
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, log.Bytes())
	}
	delete(got, "time")
	want := map[string]any{
		"level": "INFO", "msg": "metric", "table": "assay-dev", "pool": "default", "work": "image", "RunsWaiting": 3.0,
		"_aws": map[string]any{"Timestamp": 1_777_777_777_777.0, "CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Assay", "Dimensions": []any{[]any{"table", "pool", "work"}},
			"Metrics": []any{map[string]any{"Name": "RunsWaiting", "Unit": "Count"}}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	metrics.Recorder(nil).Record(metrics.RunsWaiting, 1, "", "")
}
