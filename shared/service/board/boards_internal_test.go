package board

import (
	"fmt"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// everyones returns how many entries everyone sees on the dataset's board.
func everyones(t *testing.T, b *Boards, s store.Store, d *record.DatasetItem) (n int) {
	t.Helper()
	r := Reader{Class: access.Everyone, Rule: d.ValueRules(nil, nil).EntryRule(time.Now())}
	v, ok, err := b.view(t.Context(), s, boardID{d.ID, d.TruthVersion}, r, selector{measure: "AP"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for range v.from(0) {
		n++
	}
	return n
}

// TestBoards_KeepTheirBounds checks that boards of too many entries are dropped, the least recently viewed one first, and so are boards
// with too many changes, and that dropped boards are read again.
func TestBoards_KeepTheirBounds(t *testing.T) {
	b := NewBoards()
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: b.Committed}))
	var datasets []*recordtest.Dataset
	r.Batch(func() {
		for range 3 {
			d := r.Task().Dataset(recordtest.Measures("AP"))
			for i := range 4 {
				d.Run(fmt.Sprint("user", i), recordtest.Published)
			}
			datasets = append(datasets, d)
		}
	})
	b.maxKept = 12
	b.maxPending = 5
	view := func(i int) {
		t.Helper()
		if n := everyones(t, b, r.Store, datasets[i].DatasetItem); n != 4+i {
			t.Errorf("board %d has %d entries", i, n)
		}
	}
	keeps := func(i int) bool { return b.kept.Contains(boardID{datasets[i].ID, datasets[i].TruthVersion}) }
	for i := 1; i < 3; i++ {
		for range i {
			datasets[i].Run("later", recordtest.Published)
		}
	}
	view(0)
	view(1)
	view(0)
	view(2)
	if keeps(1) || b.size > 12 || len(b.routes) != 4*b.kept.Len() {
		t.Errorf("%d entries, %d routes", b.size, len(b.routes))
	}
	b.maxKept = 20
	view(1)
	for range 6 {
		datasets[1].Run("much later", recordtest.Published)
	}
	if keeps(1) {
		t.Error("a board with many changes is kept")
	}
	if n := everyones(t, b, r.Store, datasets[1].DatasetItem); n != 11 {
		t.Errorf("%d entries after many changes", n)
	}
	b.maxKept = 3
	b.Committed(nil)
	_, ok, err := b.view(t.Context(), r.Store, boardID{datasets[1].ID, datasets[1].TruthVersion}, Reader{}, selector{})
	if ok || err != nil {
		t.Errorf("a board of more than all may have: %v, %v", ok, err)
	}
	b.maxKept = 20
	b.Committed(nil)
	view(0)
	if b.size != 1+4 {
		t.Errorf("the size is %d after a commit with an unknown result", b.size)
	}
}

// TestBoards_BoundsBoardsWithoutEvaluations views boards of empty datasets, which also take memory.
func TestBoards_BoundsBoardsWithoutEvaluations(t *testing.T) {
	b := NewBoards()
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: b.Committed}))
	d := r.Task().Dataset(recordtest.Measures("AP"))
	b.maxKept = 10
	for version := range int64(30) {
		d.TruthVersion = version
		if n := everyones(t, b, r.Store, d.DatasetItem); n != 0 {
			t.Fatal(n)
		}
	}
	if b.kept.Len() != 10 || b.size != 10 {
		t.Errorf("%d boards are kept, of the size %d", b.kept.Len(), b.size)
	}
}

// TestBoards_DropsABoardThatGrowsTooLarge adds runs to a kept board.
func TestBoards_DropsABoardThatGrowsTooLarge(t *testing.T) {
	b := NewBoards()
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: b.Committed}))
	d := r.Task().Dataset(recordtest.Measures("AP"))
	b.maxKept = 3
	for range 3 {
		d.Run("ada", recordtest.Published)
	}
	everyones(t, b, r.Store, d.DatasetItem)
	d.Run("ada", recordtest.Published)
	if n := everyones(t, b, r.Store, d.DatasetItem); n != 4 || b.kept.Len() > 0 || b.size != 0 {
		t.Errorf("%d entries; then %d boards are kept, of the size %d", n, b.kept.Len(), b.size)
	}
	_, ok, err := b.view(t.Context(), r.Store, boardID{d.ID, d.TruthVersion}, Reader{}, selector{})
	if ok || err != nil {
		t.Errorf("a board of more than all may have: %v, %v", ok, err)
	}
}

// TestBoards_CountsWaitingChanges changes the runs of boards that nobody views any more.
func TestBoards_CountsWaitingChanges(t *testing.T) {
	b := NewBoards()
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: b.Committed}))
	var datasets []*recordtest.Dataset
	for range 3 {
		d := r.Task().Dataset(recordtest.Measures("AP"))
		d.Run("ada", recordtest.Published)
		everyones(t, b, r.Store, d.DatasetItem)
		datasets = append(datasets, d)
	}
	b.maxKept = 10
	for range 2 {
		datasets[1].Run("later", recordtest.Published)
	}
	if b.kept.Len() != 3 || b.size != 3*2+2 {
		t.Errorf("%d boards are kept, of the size %d", b.kept.Len(), b.size)
	}
	for range 3 {
		datasets[1].Run("later", recordtest.Published)
	}
	if b.kept.Len() != 2 || b.size != 2*2+5 {
		t.Errorf("after more changes %d boards are kept, of the size %d", b.kept.Len(), b.size)
	}
	if n := everyones(t, b, r.Store, datasets[1].DatasetItem); n != 6 || b.size != 2+7 {
		t.Errorf("%d entries, of the size %d", n, b.size)
	}
}

// TestBoards_DeletionsConcernOneBoard deletes more evaluations of a board than may wait. Other boards stay, and nothing waits for them.
func TestBoards_DeletionsConcernOneBoard(t *testing.T) {
	b := NewBoards()
	r := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{OnCommit: b.Committed}))
	b.maxPending = 5
	one := r.Task().Dataset(recordtest.Measures("AP"))
	other := r.Task().Dataset(recordtest.Measures("AP"))
	other.Run("ada", recordtest.Published)
	var keys []store.Key
	for range 7 {
		keys = append(keys, one.Run("ada", recordtest.Published).Evaluation.Key())
	}
	everyones(t, b, r.Store, one.DatasetItem)
	everyones(t, b, r.Store, other.DatasetItem)
	for i, key := range keys {
		if err := r.Store.Write(t.Context(), store.Delete(key)); err != nil {
			t.Fatal(err)
		}
		if n := everyones(t, b, r.Store, one.DatasetItem); n != len(keys)-i-1 {
			t.Errorf("%d entries after %d deletions", n, i+1)
		}
	}
	k, kept := b.kept.Peek(boardID{other.ID, other.TruthVersion})
	if !kept || len(k.pending) > 0 {
		t.Errorf("the other board is kept: %v, and changes wait for it: %v", kept, kept && len(k.pending) > 0)
	}
}
