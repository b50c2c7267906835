package submissions_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// TestWaiting_BoundsUnfinishedRunsOfATeam races submissions of one team past the bound, ends one of its runs, and has
// another team submit meanwhile.
func TestWaiting_BoundsUnfinishedRunsOfATeam(t *testing.T) {
	s := newScene(t)
	s.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 3}, "")
	body := object{"type": "image", "image": "x", "datasetIds": []string{s.dataset().ID}}
	var all sync.WaitGroup
	answers := make(chan servertest.Answer, 10)
	for range cap(answers) {
		all.Go(func() { answers <- s.Do("ada", http.MethodPost, s.path, body) })
	}
	all.Wait()
	close(answers)
	statuses := map[int]int{}
	for a := range answers {
		if statuses[a.Status]++; a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "30" {
			t.Errorf("%v", a.Header)
		}
	}
	if statuses[http.StatusCreated] != 3 || statuses[http.StatusTooManyRequests] != 7 {
		t.Fatalf("statuses %v", statuses)
	}
	s.register("otto", record.Accepted)
	s.Want(http.StatusCreated, nil, "otto", http.MethodPost, s.path, body)
	waiting := get[record.Allowance](s, record.AllowanceKey(s.task.ID, servertest.UserID("ada"))).Waiting
	run := get[record.RunItem](s, record.RunKey(waiting[1]))
	run.State, run.FinishedAt = record.Completed, run.QueuedAt
	if err := new(records.Tx).Replace(run).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	s.submit(body)
	var d problem.Document
	if s.Want(http.StatusTooManyRequests, &d, "ada", http.MethodPost, s.path, body); d.Type != problem.TooManyRequests.Type() {
		t.Errorf("%+v", d)
	}
	tx := new(records.Tx)
	_, err := queue.Queue{Store: s.Store, Now: time.Now}.Cancel(t.Context(), get[record.RunItem](s, record.RunKey(waiting[0])), tx)
	if err == nil {
		err = tx.Commit(t.Context(), s.Store)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.submit(body)
}

// TestWaiting_CostsNothingUntilTheBoundIsMet counts the calls of the table.
func TestWaiting_CostsNothingUntilTheBoundIsMet(t *testing.T) {
	s := newScene(t)
	s.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 3}, "")
	reads := &countingStore{Store: s.Store}
	s.Store = reads
	body := object{"type": "image", "image": "x", "datasetIds": []string{s.dataset().ID}}
	var before int
	for i := range 3 {
		reads.gets = 0
		s.submit(body)
		if i > 0 && reads.gets != before {
			t.Errorf("submission %d reads %d times, the one before %d times", i+1, reads.gets, before)
		}
		before = reads.gets
	}
	reads.gets = 0
	if s.Want(http.StatusTooManyRequests, nil, "ada", http.MethodPost, s.path, body); reads.gets != before+1 {
		t.Errorf("a submission past the bound reads %d times, one below it %d times", reads.gets, before)
	}
}

// countingStore counts the calls of Get.
type countingStore struct {
	store.Store
	gets int
}

func (c *countingStore) Get(ctx context.Context, consistency store.Consistency, keys ...store.Key) ([]store.Item, error) {
	c.gets++
	return c.Store.Get(ctx, consistency, keys...)
}
