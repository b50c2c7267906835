package runlog_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/blob/directory"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/store/embedded"

	"pgregory.net/rapid"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type scene struct {
	t     fatal
	ctx   context.Context
	store store.Store
	files *directory.Store
	run   *record.RunItem
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	files, err := directory.Open(t.TempDir(), "http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, ctx: t.Context(), store: s, files: files}
}

// begin makes another run that is worked on.
func (s *scene) begin() {
	s.run = &record.RunItem{Queue: record.QueueWorkers, Type: record.ImageType}
	s.run.Meta = record.NewMeta(now)
	s.run.State, s.run.TaskID, s.run.DatasetID = record.Running, record.NewID(now), record.NewID(now)
	s.commit(new(records.Tx).Create(s.run))
}

func (s *scene) commit(tx *records.Tx) {
	s.t.Helper()
	if err := tx.Commit(s.ctx, s.store); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) append(k record.LogKind, texts ...string) {
	s.t.Helper()
	var lines []record.LogLine
	for _, text := range texts {
		lines = append(lines, record.LogLine{Stream: record.StreamStderr, Text: text})
	}
	tx := new(records.Tx)
	runlog.Append(tx, s.run, k, lines, now)
	s.commit(tx.Replace(s.run))
}

// end ends the run, or begins it again.
func (s *scene) end(state record.RunState) {
	s.t.Helper()
	at := record.At(now)
	s.run.State, s.run.QueuedAt, s.run.FinishedAt = state, &at, &at
	s.commit(new(records.Tx).Replace(s.run))
}

func (s *scene) seal() {
	s.t.Helper()
	if err := (runlog.Logs{Store: s.store, Files: s.files}).Seal(s.ctx, now, s.run.ID); err != nil {
		s.t.Fatal(err)
	}
	r, err := records.Get[record.RunItem](s.ctx, s.store, store.Strong, record.RunKey(s.run.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	s.run = r
}

func (s *scene) read(run *record.RunItem, k record.LogKind, from int64) []string {
	s.t.Helper()
	texts := []string{}
	for l, err := range (runlog.Logs{Store: s.store, Files: s.files}).Lines(s.ctx, run, k, from) {
		if err != nil || l.Stream != record.StreamStderr || !l.At.Equal(now) {
			s.t.Fatalf("%+v, %v", l, err)
		}
		texts = append(texts, l.Text)
	}
	return texts
}

func (s *scene) chunks() int {
	s.t.Helper()
	all, err := s.store.Query(s.ctx, store.Query{Partition: s.run.Key().Partition, From: "LOG#", To: "LOG$", Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

func same(got, want []string) bool { return fmt.Sprintf("%q", got) == fmt.Sprintf("%q", want) }

// TestLogs_ReadTheSameAfterAnySequence appends to both logs, ends and begins the run, seals it at any time, and reads from
// anywhere, also by a run as it was before it was sealed.
func TestLogs_ReadTheSameAfterAnySequence(t *testing.T) {
	s := newScene(t)
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`(日本|é|\x00|\x1b\[1m|"|\\| ){0,20}`), rapid.Just(strings.Repeat("long ", 1700)))
	rapid.Check(t, func(rt *rapid.T) {
		s.t = rt
		s.begin()
		want := map[record.LogKind][]string{}
		before := *s.run
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				if s.run.State.Ended() {
					return
				}
				k, texts := rapid.SampledFrom(record.LogKinds).Draw(rt, "log"), rapid.SliceOfN(text, 1, 6).Draw(rt, "lines")
				s.append(k, texts...)
				for _, l := range texts {
					want[k] = append(want[k], l[:min(len(l), record.MaxLineBytes)])
				}
			},
			"end":      func(*rapid.T) { s.end(record.Failed) },
			"again":    func(*rapid.T) { s.end(record.Queued) },
			"remember": func(*rapid.T) { before = *s.run },
			"seal":     func(*rapid.T) { s.seal() },
			"": func(rt *rapid.T) {
				for _, k := range record.LogKinds {
					all := want[k]
					from := rapid.IntRange(0, len(all)).Draw(rt, "from")
					if got := s.read(s.run, k, int64(from)); !same(got, all[from:]) {
						rt.Fatalf("%s log from %d: %q, want %q", k, from, got, all[from:])
					}
					known, _, _ := before.Log(k)
					old := min(int64(from), known.Lines)
					if got := s.read(&before, k, old); int64(len(got)) < known.Lines-old || !same(got, all[old:old+int64(len(got))]) {
						rt.Fatalf("%s log from %d by an older run: %q", k, old, got)
					}
				}
			},
		})
	})
}

func TestSeal_ReplacesChunksByAFile(t *testing.T) {
	s := newScene(t)
	s.begin()
	s.append(record.ExecutionLog, "one", "two")
	s.seal()
	if s.run.ExecutionLog != nil || s.chunks() != 1 {
		t.Fatal("the log of a run that goes on was sealed")
	}
	s.end(record.Failed)
	if s.run.Indexes()[record.ByWork-1].Partition != record.DuePartition {
		t.Error("nothing seals the log")
	}
	s.seal()
	first := *s.run.ExecutionLog
	s.end(record.Queued)
	s.append(record.ExecutionLog, "three")
	s.end(record.Failed)
	s.seal()
	s.seal()
	if s.chunks() != 0 || !s.run.Indexes()[record.ByWork-1].IsZero() || s.run.EvaluationLog != nil {
		t.Errorf("%d chunks stay behind a sealed log: %+v", s.chunks(), s.run)
	}
	f, err := s.files.Open(t.Context(), record.ObjectKey(record.HolderLogs, s.run.ID, s.run.ExecutionLog.SHA256))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const at = "2026-05-04T12:00:00.000Z stderr "
	if b, err := io.ReadAll(f); err != nil || string(b) != at+"one\n"+at+"two\n"+at+"three\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := s.files.Stat(t.Context(), record.ObjectKey(record.HolderLogs, s.run.ID, first.SHA256)); err == nil {
		t.Error("the file that became part of another stays behind")
	}
}

func TestSeal_KeepsLogsWithEqualBytes(t *testing.T) {
	s := newScene(t)
	s.begin()
	s.append(record.ExecutionLog, "same")
	s.append(record.EvaluationLog, "same")
	s.end(record.Failed)
	s.seal()
	s.end(record.Queued)
	s.append(record.EvaluationLog, "more")
	s.end(record.Failed)
	s.seal()
	if got := s.read(s.run, record.ExecutionLog, 0); !same(got, []string{"same"}) {
		t.Errorf("the execution log reads %q", got)
	}
}

func TestAppend_LimitsTheLogAndKeepsTheTail(t *testing.T) {
	s := newScene(t)
	s.begin()
	long := strings.Repeat("x", record.MaxLineBytes)
	for range record.MaxLogBytes / record.MaxLineBytes / 256 {
		s.append(record.ExecutionLog, strings.Split(strings.TrimSuffix(strings.Repeat(long+"\n", 256), "\n"), "\n")...)
	}
	s.append(record.ExecutionLog, "beyond", "the limit")
	s.append(record.ExecutionLog, "", "the end")
	state := s.run.Logs.Execution
	if n := int64(record.MaxLogBytes / record.MaxLineBytes); state.Lines != n+1 || state.Dropped != 4 || state.Bytes != record.MaxLogBytes {
		t.Errorf("%+v", state)
	}
	if !strings.HasSuffix(s.run.LogTail, "beyond\nthe limit\n\nthe end") || len(s.run.LogTail) > record.MaxTailBytes {
		t.Errorf("tail %.100q", s.run.LogTail)
	}
	last := s.lines(s.run, state.Lines-1)
	if len(last) != 1 || !strings.Contains(last[0].Text, "16 MiB") || last[0].Stream != record.StreamWorker {
		t.Errorf("%+v", last)
	}
}

// lines reads the execution log as it is.
func (s *scene) lines(run *record.RunItem, from int64) (all []record.LogLine) {
	s.t.Helper()
	for l, err := range (runlog.Logs{Store: s.store, Files: s.files}).Lines(s.ctx, run, record.ExecutionLog, from) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

func TestReadsLog_ByRoleAndState(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		standing              record.AccessAttributes
		execution, evaluation access.Role
	}{
		{"unpublished", record.AccessAttributes{}, access.Owner | access.Organizer | access.Admin, access.Organizer | access.Admin},
		{"blinded", record.AccessAttributes{Blinded: true}, access.Organizer | access.Admin, access.Organizer | access.Admin},
		{"published and blinded", record.AccessAttributes{Published: true, Blinded: true}, access.Organizer | access.Admin, access.Organizer | access.Admin},
		{"shown", record.AccessAttributes{Published: true}, access.Anyone | access.User | access.Registrant | access.Owner | access.Organizer | access.Worker | access.Admin, access.Organizer | access.Admin},
	} {
		r := &record.RunItem{Access: tt.standing}
		for role := access.Anyone; role <= access.Admin; role <<= 1 {
			if got := r.ReadsLog(record.ExecutionLog, role); got != (tt.execution&role != 0) {
				t.Errorf("%s: %s reads the execution log: %v", tt.name, role, got)
			}
			if got := r.ReadsLog(record.EvaluationLog, role); got != (tt.evaluation&role != 0) {
				t.Errorf("%s: %s reads the evaluation log: %v", tt.name, role, got)
			}
		}
	}
}
