package runlog_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// fixture is a run in execution.
type fixture struct {
	*recordtest.Builder
	t    rapid.TB
	ctx  context.Context
	logs runlog.Logs
	run  *record.RunItem
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return fixtureIn(t, recordtest.OpenStore(t, embedded.Options{Now: func() time.Time { return now }}), recordtest.OpenFiles(t))
}

func fixtureIn(t rapid.TB, s store.Store, files blob.Store) *fixture {
	f := &fixture{Builder: recordtest.New(t, s), t: t, ctx: context.Background(), logs: runlog.Logs{Store: s, Files: files}}
	f.Now = func() time.Time { return now }
	f.run = f.Task().Dataset().Run("ann", recordtest.OfImage, recordtest.InState(record.Running)).RunItem
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) append(k record.LogKind, texts ...string) {
	f.t.Helper()
	var lines []record.LogLine
	for _, text := range texts {
		lines = append(lines, record.LogLine{Stream: record.StreamStderr, Text: text})
	}
	tx := new(records.Tx)
	runlog.Append(tx, f.run, k, lines, now)
	f.Commit(tx.Replace(f.run))
}

func (f *fixture) setState(state record.RunState) {
	f.t.Helper()
	at := record.At(now)
	f.run.State = state
	f.run.QueuedAt = &at
	f.run.FinishedAt = &at
	f.Replace(f.run)
}

func (f *fixture) seal() {
	f.t.Helper()
	f.must(f.logs.Seal(f.ctx, now, f.run.ID))
	f.run = recordtest.Get[record.RunItem](f.t, f.Store, f.run.Key())
}

func (f *fixture) read(run *record.RunItem, k record.LogKind, from int64) []string {
	f.t.Helper()
	var texts []string
	for l, err := range f.logs.Lines(f.ctx, run, k, from) {
		if err != nil || l.Stream != record.StreamStderr || !l.At.Equal(now) {
			f.t.Fatalf("%+v, %v", l, err)
		}
		texts = append(texts, l.Text)
	}
	return texts
}

func (f *fixture) chunks() int {
	f.t.Helper()
	all, err := f.Store.Query(f.ctx, store.Query{Partition: f.run.Key().Partition, From: "LOG#", To: "LOG$", Limit: 1000})
	f.must(err)
	return len(all)
}

// TestLogs_ReadTheSameAfterAnySequence appends to both logs, and ends, restarts and seals the run at random times. It reads from random
// lines, also with an earlier version of the run.
func TestLogs_ReadTheSameAfterAnySequence(t *testing.T) {
	st := recordtest.OpenStore(t, embedded.Options{Now: func() time.Time { return now }})
	files := recordtest.OpenFiles(t)
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`(日本|é|\x00|\x1b\[1m|"|\\| ){0,20}`),
		rapid.Just(strings.Repeat("long ", 1700)))
	nightlytest.Check(t, func(rt *rapid.T) {
		f := fixtureIn(rt, st, files)
		want := map[record.LogKind][]string{}
		before := *f.run
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				if f.run.State.Ended() {
					return
				}
				k := rapid.SampledFrom(record.LogKinds).Draw(rt, "log")
				texts := rapid.SliceOfN(text, 1, 6).Draw(rt, "lines")
				f.append(k, texts...)
				for _, l := range texts {
					want[k] = append(want[k], l[:min(len(l), record.MaxLineBytes)])
				}
			},
			"end":      func(*rapid.T) { f.setState(record.Failed) },
			"restart":  func(*rapid.T) { f.setState(record.Queued) },
			"remember": func(*rapid.T) { before = *f.run },
			"seal":     func(*rapid.T) { f.seal() },
			"": func(rt *rapid.T) {
				for _, k := range record.LogKinds {
					all := want[k]
					from := rapid.IntRange(0, len(all)).Draw(rt, "from")
					if got := f.read(f.run, k, int64(from)); !slices.Equal(got, all[from:]) {
						rt.Fatalf("%s log from %d: %q, want %q", k, from, got, all[from:])
					}
					known, _, _ := before.Log(k)
					old := min(int64(from), known.Lines)
					if got := f.read(&before, k, old); int64(len(got)) < known.Lines-old || !slices.Equal(got, all[old:old+int64(len(got))]) {
						rt.Fatalf("%s log from %d by an older run: %q", k, old, got)
					}
				}
			},
		})
	})
}

// laggingStore hides the chunks of logs from a number of queries, as DynamoDB may while it applies a transaction.
type laggingStore struct {
	store.Store
	hides int
}

func (l *laggingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	l.hides--
	if l.hides >= 0 {
		return nil, nil
	}
	return l.Store.Query(ctx, q)
}

func TestLines_AwaitsLinesThatTheRunCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.append(record.ExecutionLog, "one", "two")
		lagging := &laggingStore{Store: f.Store, hides: 4}
		f.logs.Store = lagging
		if got := f.read(f.run, record.ExecutionLog, 0); !slices.Equal(got, []string{"one", "two"}) || lagging.hides >= 0 {
			t.Errorf("%q, and %d queries would still miss the chunk", got, lagging.hides)
		}
		f.Commit(new(records.Tx).DeleteKeys(record.LogKey(f.run.ID, record.ExecutionLog, 0)))
		var failed error
		for _, failed = range f.logs.Lines(t.Context(), f.run, record.ExecutionLog, 1) {
		}
		if failed == nil || !strings.Contains(failed.Error(), "misses line 1") {
			t.Errorf("a log without its chunk ends with %v", failed)
		}
		f.Commit(new(records.Tx).Delete(f.run))
		if got := f.read(f.run, record.ExecutionLog, 0); len(got) > 0 {
			t.Errorf("a deleted run has the lines %q", got)
		}
	})
}

func TestSeal_ReplacesChunksByAFile(t *testing.T) {
	f := newFixture(t)
	f.append(record.ExecutionLog, "one", "two")
	f.seal()
	if f.run.ExecutionLog != nil || f.chunks() != 1 {
		t.Fatal("the log of a running run was sealed")
	}
	f.setState(record.Failed)
	if f.run.Indexes()[record.ByWork-1].Partition != record.DueRuns {
		t.Error("nothing seals the log")
	}
	f.seal()
	first := *f.run.ExecutionLog
	f.setState(record.Queued)
	f.append(record.ExecutionLog, "three")
	f.setState(record.Failed)
	f.seal()
	f.seal()
	if f.chunks() != 0 || f.run.Indexes()[record.ByWork-1].Partition == record.DueRuns || f.run.EvaluationLog != nil {
		t.Errorf("%d chunks of a sealed log are left: %+v", f.chunks(), f.run)
	}
	file, err := f.logs.Files.Open(t.Context(), record.ObjectKey(record.HolderLogs, f.run.ID, f.run.ExecutionLog.SHA256))
	f.must(err)
	defer file.Close()
	const at = "2026-05-04T12:00:00.000Z stderr "
	if b, err := io.ReadAll(file); err != nil || string(b) != at+"one\n"+at+"two\n"+at+"three\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := f.logs.Files.Stat(t.Context(), record.ObjectKey(record.HolderLogs, f.run.ID, first.SHA256)); err == nil {
		t.Error("the replaced file was not deleted")
	}
}

func TestSeal_KeepsLogsWithEqualBytes(t *testing.T) {
	f := newFixture(t)
	f.append(record.ExecutionLog, "same")
	f.append(record.EvaluationLog, "same")
	f.setState(record.Failed)
	f.seal()
	f.setState(record.Queued)
	f.append(record.EvaluationLog, "more")
	f.setState(record.Failed)
	f.seal()
	if got := f.read(f.run, record.ExecutionLog, 0); !slices.Equal(got, []string{"same"}) {
		t.Errorf("the execution log reads %q", got)
	}
}

func TestAppend_LimitsTheLogAndKeepsTheTail(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("x", record.MaxLineBytes)
	for range record.MaxLogBytes / record.MaxLineBytes / 256 {
		f.append(record.ExecutionLog, strings.Split(strings.TrimSuffix(strings.Repeat(long+"\n", 256), "\n"), "\n")...)
	}
	f.append(record.ExecutionLog, "beyond", "the limit")
	f.append(record.ExecutionLog, "", "the end")
	state := f.run.Logs.Execution
	if n := int64(record.MaxLogBytes / record.MaxLineBytes); state.Lines != n+1 || state.Dropped != 4 || state.Bytes != record.MaxLogBytes {
		t.Errorf("%+v", state)
	}
	if !strings.HasSuffix(f.run.LogTail, "beyond\nthe limit\n\nthe end") || len(f.run.LogTail) > record.MaxTailBytes {
		t.Errorf("tail %.100q", f.run.LogTail)
	}
	var last []record.LogLine
	for l, err := range f.logs.Lines(t.Context(), f.run, record.ExecutionLog, state.Lines-1) {
		f.must(err)
		last = append(last, l)
	}
	if len(last) != 1 || !strings.Contains(last[0].Text, "16 MiB") || last[0].Stream != record.StreamWorker {
		t.Errorf("%+v", last)
	}
}
