package api

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// TestCountRuns_ReadsABoundedNumber counts runs until the preview has read as many records as it may.
func TestCountRuns_ReadsABoundedNumber(t *testing.T) {
	s := &queries{Store: recordtest.OpenStore(t, embedded.Options{})}
	d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy"))
	for range 5 {
		d.Run("ann")
	}
	c := previewing(s, &Server{memory: newMemory()})
	want := func(read int, noun, want string) {
		t.Helper()
		c.preview.read = read
		got, err := c.CountRuns(t.Context(), d.ID, noun, func(*record.RunItem) bool { return noun == "run" })
		if got != want || err != nil {
			t.Errorf("after %d records, the number is %q, %v, want %q", read, got, err, want)
		}
	}
	want(0, "run", "5 runs")
	want(0, "other run", "")
	want(maxRead-3, "run", "3 runs or more")
	want(maxRead-3, "other run", "other runs")
	s.read.Store(0)
	want(maxRead, "run", "runs")
	if n := s.read.Load(); n > 0 {
		t.Errorf("after %d records, it reads %d pages", maxRead, n)
	}
}

// TestEffectOfColumns_ReadsEachRunOnce counts published and unpublished runs in one reading.
func TestEffectOfColumns_ReadsEachRunOnce(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy"))
	d.Run("ann", recordtest.Published)
	d.Run("ann")
	d.Run("ben", recordtest.Blinded)
	c := previewing(s, &Server{memory: newMemory()})
	is := *d.DatasetItem
	recordtest.AfterClose(&is)
	err := c.EffectOfColumns(t.Context(), d.DatasetItem, d.ValueRules(nil, nil), is.ValueRules(nil, nil))
	if err != nil || len(c.effects) != 3 || c.preview.read != 3 {
		t.Errorf("%+v after reading %d runs (%v), want 3 effects after 3", c.effects, c.preview.read, err)
	}
}

// TestEffectOfColumns_TellsEachChange changes columns whose values nobody sees meanwhile, or only of unpublished runs.
func TestEffectOfColumns_TellsEachChange(t *testing.T) {
	type columns = []record.Column
	const later = "2126-01-01T00:00:00.000Z"
	for name, c := range map[string]struct {
		was, is columns
		want    string
	}{
		"wider once shown": {columns{{Key: "Accuracy", Audience: record.ForTeam, From: later}}, columns{{Key: "Accuracy", From: later}},
			"Accuracy on set is shown to others from " + later + " on."},
		"narrower once shown": {columns{{Key: "Accuracy", From: later}}, columns{{Key: "Accuracy", Audience: record.ForTeam, From: later}},
			"Accuracy on set is shown to the team of each run from " + later + " on."},
		"one of two after publication": {columns{{Key: "Accuracy"}, {Key: "MCC"}}, columns{{Key: "Accuracy"},
			{Key: "MCC", From: record.FromPublication}},
			"Who sees MCC of unpublished runs on set now: the team and the organizers → the organizers."},
		"the same": {columns{{Key: "Accuracy"}, {Key: "MCC", From: later}}, columns{{Key: "Accuracy"}, {Key: "MCC", From: later}}, ""},
	} {
		s := recordtest.OpenStore(t, embedded.Options{})
		d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy", "MCC")).DatasetItem
		d.Name = "set"
		is := *d
		d.Columns, is.Columns = c.was, c.is
		call := previewing(s, &Server{memory: newMemory()})
		err := call.EffectOfColumns(t.Context(), d, d.ValueRules(nil, nil), is.ValueRules(nil, nil))
		var got []string
		for _, e := range call.effects {
			got = append(got, strings.Replace(e.Text.Detail, " ("+d.ID+")", "", 1))
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// TestEachCounted_TakesSlotsOfLists counts records in many previews of one user at the same time. They leave slots for another user.
func TestEachCounted_TakesSlotsOfLists(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy"))
	d.Run("ann")
	server := &Server{memory: newMemory()}
	synctest.Test(t, func(t *testing.T) {
		var counting atomic.Int32
		count := func(c *Call, takes time.Duration) error {
			_, err := c.CountRuns(t.Context(), d.ID, "run", func(*record.RunItem) bool {
				if n := counting.Add(1); n > userListings+1 {
					t.Errorf("%d previews count records at the same time", n)
				}
				time.Sleep(takes)
				counting.Add(-1)
				return true
			})
			return err
		}
		var all sync.WaitGroup
		for range 3 * userListings {
			all.Go(func() {
				if err := count(previewing(s, server), time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		other := previewing(s, server)
		other.Caller.ID = "ben"
		began := time.Now()
		if err := count(other, 0); err != nil || time.Since(began) > 0 {
			t.Errorf("another user waits %v, %v", time.Since(began), err)
		}
		if n := counting.Load(); n != userListings {
			t.Errorf("%d previews of one user count records at the same time, want %d", n, userListings)
		}
		all.Wait()
	})
}

// previewing returns a call of ann that is a preview.
func previewing(s store.Store, server *Server) *Call {
	c := &Call{Env: &Env{Store: s, Now: time.Now}, preview: &preview{}, server: server}
	c.Caller.ID = "ann"
	c.Store = s
	return c
}

// queries is a store that counts queries.
type queries struct {
	store.Store
	read atomic.Int32
}

func (q *queries) Query(ctx context.Context, of store.Query) ([]store.Item, error) {
	q.read.Add(1)
	return q.Store.Query(ctx, of)
}
