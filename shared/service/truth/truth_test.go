package truth_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

const (
	qrels   = "q1 0 d1 1\n"
	invalid = "q1 0 d1 1\nq1\nq1 0 d1 2\n" // in its lines 2 and 3
)

// fixture is an Acceptor and a dataset.
type fixture struct {
	*recordtest.Builder
	truth.Acceptor
	t       *testing.T
	dataset *record.DatasetItem
}

// newFixture returns a dataset that has accepted the content as its first ground truth.
func newFixture(t *testing.T, content string) *fixture {
	t.Helper()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{}))
	b.Files = recordtest.OpenFiles(t)
	f := &fixture{
		Builder:  b,
		Acceptor: truth.Acceptor{Store: b.Store, Objects: b.Files, Now: time.Now},
		t:        t,
		dataset:  b.Task().Dataset(recordtest.WithoutTruth).DatasetItem,
	}
	f.upload(content)
	return f
}

func digest(content string) string {
	return recordtest.File("qrels", content, record.FileStored).SHA256
}

// upload stores the content as the dataset's only ground truth file, and makes its acceptance pending.
func (f *fixture) upload(content string) {
	f.t.Helper()
	f.dataset.Truths = []record.File{f.File(record.HolderTruths, f.dataset.ID, "qrels", content)}
	f.dataset.PendingWork = record.NewPendingWork(record.AcceptTruth, time.Now())
	f.Replace(f.dataset)
}

// accept does the pending work, reads f.dataset again, and returns the ground truth.
func (f *fixture) accept() *record.TruthVersion {
	f.t.Helper()
	if err := f.Accept(f.t.Context(), f.dataset.ID); err != nil {
		f.t.Fatal(err)
	}
	var inUse *record.TruthVersion
	err := records.Read(f.t.Context(), f.Acceptor.Store, store.Strong, records.Into(&f.dataset, f.dataset.Key()),
		records.Into(&inUse, record.TruthKey(f.dataset.ID)))
	if err != nil {
		f.t.Fatal(err)
	}
	return inUse
}

func TestAccept_RefusesTruthWithErrors(t *testing.T) {
	f := newFixture(t, invalid)
	inUse, d := f.accept(), f.dataset
	if inUse != nil || d.TruthVersion != 0 || d.PendingWork != nil || len(d.Diagnostics) != 2 || d.Diagnostics[0].Line != 2 ||
		d.Diagnostics[0].File != "qrels" {
		t.Errorf("%+v and %+v", d, inUse)
	}
}

func TestAccept_ActivatesTruth(t *testing.T) {
	f := newFixture(t, qrels)
	inUse, d := f.accept(), f.dataset
	if inUse == nil || inUse.Number != 1 || d.TruthVersion != 1 || !d.PendingWork.Is(record.Reevaluate) ||
		!slices.Equal(inUse.Evaluator.Measures, []string{"AP", "RR"}) {
		t.Errorf("%+v and %+v", d, inUse)
	}
	f.accept()
	if f.dataset.Version != d.Version {
		t.Errorf("accepted again: %+v", f.dataset)
	}
}

// TestAccept_TellsWhatRunsTake accepts judgments of one topic. Ideal rankings visit each judgment for their first thousand ranks.
func TestAccept_TellsWhatRunsTake(t *testing.T) {
	measures := []string{"StRecall@20"}
	for i := 1; i < 50; i++ {
		measures = append(measures, fmt.Sprintf("alpha_nDCG(alpha=0.%02d)@1000", i))
	}
	for n, want := range map[int]string{
		1_000:   "",
		40_000:  "evaluating one run takes about 19",
		450_000: "expected at most 20000 million steps: leave out measures such as alpha_nDCG(alpha=0.01)@1000, alpha_nDCG(alpha=0.02)@1000,",
	} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "t %d d%d 1\n", i%10, i)
		}
		f := newFixture(t, b.String())
		f.dataset.Evaluator = record.Evaluator{Kind: string(measure.Diversity), Measures: measures}
		f.Replace(f.dataset)
		inUse, d := f.accept(), f.dataset
		refused := strings.HasPrefix(want, "expected")
		if (inUse == nil) != refused || measure.HasErrors(d.Diagnostics) != refused || len(d.Diagnostics) != min(1, len(want)) ||
			want != "" && !strings.Contains(d.Diagnostics[0].Message, want) {
			t.Errorf("%d judgments: %+v with %v", n, d.Diagnostics, inUse)
		}
	}
}

func TestAccept_StaysPendingWithoutTheBytes(t *testing.T) {
	f := newFixture(t, qrels)
	if err := f.Objects.Delete(t.Context(), record.ObjectKey(record.HolderTruths, f.dataset.ID, digest(qrels))); err != nil {
		t.Fatal(err)
	}
	if err := f.Accept(t.Context(), f.dataset.ID); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if now := recordtest.Get[record.DatasetItem](t, f.Acceptor.Store, f.dataset.Key()); now.Stored() != f.dataset.Stored() {
		t.Errorf("%+v", now)
	}
}

func TestAccept_ActivatesOnceWhenCalledAtOnce(t *testing.T) {
	f := newFixture(t, qrels)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := f.Accept(t.Context(), f.dataset.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if inUse := f.accept(); f.dataset.TruthVersion != 1 || inUse.Number != 1 || inUse.Version != 1 {
		t.Errorf("%+v with the truth %+v", f.dataset, inUse)
	}
}

func TestAccept_KeepsTruthInUseUntilAnotherIsAccepted(t *testing.T) {
	f := newFixture(t, qrels)
	f.accept()
	const changed = "q1 0 d2 1\n"
	for _, tt := range []struct {
		content, inUse string
		version        int64
	}{{invalid, qrels, 1}, {changed, changed, 2}} {
		f.upload(tt.content)
		inUse := f.accept()
		if f.dataset.TruthVersion != tt.version || inUse.Number != tt.version || inUse.Files[0].SHA256 != digest(tt.inUse) ||
			(len(f.dataset.Diagnostics) > 0) != (tt.content == invalid) {
			t.Errorf("after %q: %+v with the truth %+v", tt.content, f.dataset, inUse)
		}
	}
}

// large returns judgments that take more than littleMemory.
func large() string {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "q%d 0 d%d 1\n", i/100, i)
	}
	return b.String()
}

// TestAccept_EndsWhenTheProcessDiedInIt begins attempts and does not end them, like a process that dies.
func TestAccept_EndsWhenTheProcessDiedInIt(t *testing.T) {
	for begun, accepted := range map[int]bool{0: true, 2: true, 3: false} {
		f := newFixture(t, large())
		f.dataset.PendingWork.Begun = begun
		f.Replace(f.dataset)
		inUse, d := f.accept(), f.dataset
		if (inUse != nil) != accepted || d.PendingWork.Is(record.AcceptTruth) || measure.HasErrors(d.Diagnostics) == accepted {
			t.Errorf("after %d attempts: %v, with %+v", begun, inUse, d.Diagnostics)
		}
	}
}

// TestMemory_CountsTheTextOfInputs counts the text of packed inputs. It compares no inputs that would take too much memory.
func TestMemory_CountsTheTextOfInputs(t *testing.T) {
	qrelsOnly := record.File{Name: "qrels", SHA256: digest(qrels), Size: int64(len(qrels)), State: record.FileStored}
	for lines, compared := range map[int]bool{1: true, 100_000: true, 2_000_000: false} {
		topics := packed(t, strings.Repeat(`{"id":"q1","text":"`+strings.Repeat("lake ", 10)+"\"}\n", lines))
		d := &record.DatasetDraft{
			RunFormat: record.RunFormat{Kind: "trec-run"}, Evaluator: record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}},
			Truths: []record.File{qrelsOnly}, Inputs: []record.File{{Name: "topics.jsonl", Size: int64(len(topics)), State: record.FileStored}},
		}
		open := func(h record.Holder, _ record.File) (io.ReadCloser, error) {
			content := topics
			if h == record.HolderTruths {
				content = []byte(qrels)
			}
			return io.NopCloser(bytes.NewReader(content)), nil
		}
		memory, err := truth.Memory(t.Context(), d, open, 1<<30)
		if err != nil || compared != (memory > int64(70*lines)) || memory > 200<<20 {
			t.Errorf("%d lines: %d bytes, %v", lines, memory, err)
		}
		checked, err := truth.Check(t.Context(), d, open)
		if err != nil || compared != strings.Contains(checked.Report.Contents, "of the inputs") {
			t.Errorf("%d lines: %+v, %v", lines, checked.Report, err)
		}
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAccept_DoesNotCountWhatEnds checks that attempts that end with an error, such as a file that cannot be opened, are not counted.
func TestAccept_DoesNotCountWhatEnds(t *testing.T) {
	f := newFixture(t, large())
	lost := recordtest.File("more", qrels, record.FileStored)
	f.dataset.Truths = append(f.dataset.Truths, lost)
	f.Replace(f.dataset)
	for range 5 {
		if err := f.Accept(t.Context(), f.dataset.ID); !errors.Is(err, blob.ErrNotFound) {
			t.Fatal(err)
		}
	}
	f.File(record.HolderTruths, f.dataset.ID, "more", qrels)
	if f.accept() == nil {
		t.Errorf("%+v", f.dataset)
	}
}
