package record_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
)

func TestServing_WorkersAreForgotten(t *testing.T) {
	var s record.Serving
	now := time.Now()
	a := record.BuilderSubqueue("a")
	b := record.BuilderSubqueue("b")
	c := record.WorkerSubqueue("", record.ExecuteImage)
	if s.Note(now, nil) || !s.Note(now, []record.Subqueue{b, a}) || s.Note(now.Add(19*time.Second), []record.Subqueue{a}) ||
		!s.Note(now.Add(11*time.Minute), []record.Subqueue{a}) {
		t.Error("a subqueue is noted when a worker of it is seen, and again after 20 seconds")
	}
	if got := s.Builders(now.Add(30 * time.Minute)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("pools %q", got)
	}
	if got := s.Builders(now.Add(65 * time.Minute)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("pools after an hour without a worker of b: %q", got)
	}
	s.Note(now.Add(5*time.Hour), []record.Subqueue{c})
	if len(s.Seen) != 1 || len(s.Builders(now.Add(5*time.Hour))) != 0 {
		t.Errorf("kept %v", s.Seen)
	}
	for after, want := range map[time.Duration]bool{59 * time.Second: true, time.Minute: false} {
		if s.Serves(c, now.Add(5*time.Hour+after)) != want {
			t.Errorf("%v after the worker was seen, it serves: %v", after, !want)
		}
	}
	if s.Serves(record.WorkerSubqueue("", record.Evaluate), now.Add(5*time.Hour)) || (*record.Serving)(nil).Serves(c, now) {
		t.Error("what no worker does is served")
	}
}

// Any user can create organizers, and workers with pools of them.
func TestServing_OneOrganizerPushesOutNoOther(t *testing.T) {
	var s record.Serving
	now := time.Now()
	crowd, lab := record.NewID(now), record.NewID(now)
	own := record.WorkerSubqueue(lab+"/gpu", record.ExecuteImage)
	platform := record.WorkerSubqueue(record.DefaultPool, record.ExecuteImage)
	s.Note(now, []record.Subqueue{own, platform})
	var many []record.Subqueue
	for i := range 3000 {
		many = append(many, record.WorkerSubqueue(crowd+"/"+strconv.Itoa(i), record.ExecuteImage))
	}
	for chunk := range slices.Chunk(many, 40) {
		s.Note(now.Add(time.Second), chunk)
	}
	if !s.Serves(own, now) || !s.Serves(platform, now) || len(s.Seen) > 2000 {
		t.Errorf("of %d subqueues: the other organizer's %v, the platform's %v", len(s.Seen), s.Serves(own, now), s.Serves(platform, now))
	}
}

func TestServing_IsBounded(t *testing.T) {
	var s record.Serving
	now := time.Now()
	for i := range 2100 {
		s.Note(now.Add(time.Duration(i)*time.Second), []record.Subqueue{record.BuilderSubqueue(strconv.Itoa(i))})
	}
	pools := s.Builders(now.Add(2100 * time.Second))
	if len(pools) != 2000 || slices.Contains(pools, "99") || !slices.Contains(pools, "100") {
		t.Errorf("%d pools are kept", len(pools))
	}
}

// TestUnserved_SaysWhoCanStartAWorker has a pool of the platform, which no organizer can serve, and a pool of an organizer.
func TestUnserved_SaysWhoCanStartAWorker(t *testing.T) {
	organizer := record.NewID(time.Now())
	for pool, want := range map[string]string{
		"":                 "The operator of this installation starts workers of this pool.",
		"gpu":              "The operator of this installation starts workers of this pool.",
		organizer + "/gpu": "Its organizers start one",
	} {
		if d := record.Unserved(pool, record.ExecuteImage); !strings.Contains(d.Message, want) {
			t.Errorf("the advice for %q is %q", pool, d.Message)
		}
	}
}
