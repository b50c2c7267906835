package arrival_test

import (
	"errors"
	"sync"
	"testing"

	"assay/shared/arrival"
	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
)

func TestATruthIsAdoptedOnceHoweverOftenItIsDue(t *testing.T) {
	s := newScene(t)
	d := s.dataset(nil, []record.File{pending("qrels", qrels)})
	s.put(record.HolderTruths, d.ID, qrels)
	s.arrives(record.HolderTruths, d.ID, qrels)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := arrival.Adopt(t.Context(), s.store, s.files, s.now, d.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if now, truth := s.adopt(d); now.TruthVersion != 1 || truth.Number != 1 || truth.Version != 1 {
		t.Errorf("%+v with the truth %+v", now, truth)
	}
}

func TestTheTruthInUseStaysUntilTheNextOneCanBeUsed(t *testing.T) {
	s := newScene(t)
	const bad, good = "q1 0 d1 much\n", "q1 0 d2 1\n"
	d := s.dataset(nil, []record.File{pending("qrels", qrels)})
	for version, content := range []string{qrels, bad, good} {
		d = get(s, d)
		d.Truths = []record.File{pending("qrels", content)}
		s.commit(new(records.Tx).Replace(d))
		if version > 0 {
			s.arrives(record.HolderTruths, d.ID, qrels) // the one in use is sent again, though the dataset no longer names it
		}
		s.put(record.HolderTruths, d.ID, content)
		s.arrives(record.HolderTruths, d.ID, content)
		now, truth := s.adopt(d)
		want, number := content, int64(1)
		switch content {
		case bad:
			want = qrels
		case good:
			number = 2
		}
		if now.TruthVersion != number || truth.Number != number || truth.Files[0].SHA256 != pending("", want).SHA256 || (len(now.Diagnostics) > 0) != (content == bad) {
			t.Errorf("after %q: %+v with the truth %+v", content, now, truth)
		}
	}
	for _, content := range []string{qrels, bad} {
		if err := s.arrive(record.HolderTruths, d.ID, content); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%q, which nothing names any more: %v", content, err)
		}
	}
}
