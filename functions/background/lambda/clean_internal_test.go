package main

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/functions/background"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/service/config"
	"assay/shared/storage/blob"
	"assay/shared/storage/store/embedded"
)

// endlessFiles lists a key, and takes the rest of the time of the call.
type endlessFiles struct {
	blob.Store
	key   string
	after []string
}

func (e *endlessFiles) List(ctx context.Context, _, after string, _ time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		e.after = append(e.after, after)
		for range 50 {
			if !yield(e.key, nil) {
				return
			}
		}
		<-ctx.Done()
		yield("", ctx.Err())
	}
}

// TestClean_SchedulesWhatIsLeft checks that a cleaning whose time ends schedules a call that continues there soon, and not on the next day
// from the beginning.
func TestClean_SchedulesWhatIsLeft(t *testing.T) {
	var made []string
	var inputs []schedule.Event
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Target struct{ Input string } }
		var e schedule.Event
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal([]byte(in.Target.Input), &e); err != nil {
			t.Error(err)
		}
		made, inputs = append(made, r.URL.Path), append(inputs, e)
		_, _ = w.Write([]byte(`{"ScheduleArn":"arn"}`))
	}))
	defer server.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_SCHEDULER": server.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		config.ScheduleGroupVariable: "due", config.ScheduleRoleVariable: "role", config.ScheduleTargetVariable: "function",
		config.DeadLettersVariable: "letters",
	} {
		t.Setenv(name, value)
	}
	var env config.Environment
	key := record.ObjectKey(record.HolderRuns, record.NewID(time.Now()), strings.Repeat("0a", 32))
	files := &endlessFiles{Store: recordtest.OpenFiles(t), key: key}
	b := background.New(recordtest.OpenStore(t, embedded.Options{}), files, time.Now, slog.New(slog.DiscardHandler))
	f := newFunction(nil, b, schedule.New(&env))
	if err := env.Err(); err != nil {
		t.Fatal(err)
	}
	for i, event := range []string{`{"Wake":"clean"}`, `{"Wake":"clean","After":"` + key + `"}`} {
		var in schedule.Invocation
		if err := json.Unmarshal([]byte(event), &in); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), schedule.ShutdownMargin+time.Second)
		if _, err := f.Handle(ctx, in); err != nil {
			t.Fatal(err)
		}
		cancel()
		if want := []string{"", key}[i]; len(files.after) != i+1 || files.after[i] != want {
			t.Errorf("%s began after %q, want %q", event, files.after, want)
		}
	}
	for i, path := range made {
		at, err := time.Parse("/schedules/continue-clean-20060102T1504", path)
		if err != nil || time.Until(at) > 3*time.Minute || inputs[i].After != key || inputs[i].Wake != schedule.WakeClean {
			t.Errorf("schedule %s, %v: %+v", path, err, inputs[i])
		}
	}
	if len(made) == 0 {
		t.Error("nothing will go on with the cleaning")
	}
}
