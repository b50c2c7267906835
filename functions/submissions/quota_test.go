package submissions_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
	"assay/shared/service/records"
)

func TestQuota_SlidesAndEnds(t *testing.T) {
	s := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay, t.Submissions.Total = 2, 3 })
	one, two := s.dataset(), s.dataset()
	body := upload(inline(one, "run.txt", ranked))
	s.submit(body)
	s.ahead.Add(int64(time.Hour))
	both := upload(inline(one, "run.txt", ranked), inline(two, "run.txt", ranked))
	s.Want(http.StatusTooManyRequests, nil, "ada", http.MethodPost, s.path, both)
	s.submit(body)
	before := s.allowance()
	a := s.Want(http.StatusTooManyRequests, nil, "ada", http.MethodPost, s.path, body)
	if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 22*3600 || wait > 23*3600+1 {
		t.Errorf("Retry-After is %q, want about 23 hours", a.Header.Get("Retry-After"))
	}
	if after := s.allowance(); after.Version != before.Version || s.FileCount() != 2 {
		t.Errorf("a refused submission left %+v and %d files", after, s.FileCount())
	}
	s.ahead.Add(int64(23*time.Hour + time.Second))
	if q := s.submit(body).Quota; *q.Remaining != 0 || *q.RemainingToday != 0 {
		t.Errorf("%+v", q)
	}
	s.ahead.Add(int64(2 * record.Day))
	var p problem.Document
	s.Want(http.StatusForbidden, &p, "ada", http.MethodPost, s.path, body)
	if p.Type != problem.QuotaExhausted.Type() {
		t.Errorf("%+v", p)
	}
}

func TestQuota_IsNotOvershotByConcurrentRequests(t *testing.T) {
	for name, rules := range map[string]record.SubmissionRules{"of the day": {PerDay: 7}, "in all": {Total: 7}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(t *record.TaskItem) { t.Submissions = rules })
			body := upload(inline(s.dataset(), "run.txt", ranked))
			submit := func(int) servertest.Answer { return s.Do("ada", http.MethodPost, s.path, body) }
			statuses := servertest.Concurrently(50, submit)
			made := statuses[http.StatusCreated]
			for range 20 { // Conflicts may have left a rest of the quota.
				if submit(0).Status == http.StatusCreated {
					made++
				}
			}
			if made != 7 || statuses[http.StatusInternalServerError] > 0 {
				t.Errorf("%d submissions, answers by status: %v", made, statuses)
			}
			if a := s.allowance(); a.Total != 7 || len(a.Recent) != 7 || a.Submissions != 7 || s.FileCount() != 7 {
				t.Errorf("%+v and %d files", a, s.FileCount())
			}
		})
	}
}

// TestWaiting_BoundsUnfinishedRunsOfATeam races submissions of one team past the bound, ends one of its runs, and submits for another team
// meanwhile.
func TestWaiting_BoundsUnfinishedRunsOfATeam(t *testing.T) {
	s := serve(t)
	s.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 3}, "")
	body := servertest.Image(s.dataset().ID)
	statuses := servertest.Concurrently(10, func(int) servertest.Answer {
		return s.Do("ada", http.MethodPost, s.path, body)
	})
	if statuses[http.StatusCreated] != 3 || statuses[http.StatusForbidden] != 7 {
		t.Fatalf("statuses %v", statuses)
	}
	s.task.Register("otto")
	s.Want(http.StatusCreated, nil, "otto", http.MethodPost, s.path, body)
	waiting := s.allowance().Waiting
	run := recordtest.Get[record.RunItem](t, s.Store, record.RunKey(waiting[1]))
	run.State, run.FinishedAt = record.Completed, run.QueuedAt
	s.Records().Replace(run)
	s.submit(body)
	var d problem.Document
	s.Want(http.StatusForbidden, &d, "ada", http.MethodPost, s.path, body)
	if d.Type != problem.QuotaExhausted.Type() || !strings.HasPrefix(d.Detail, "Your team has 3 runs in this task that have not ended, ") {
		t.Errorf("%+v", d)
	}
	tx := new(records.Tx)
	_, err := queue.Queue{Store: s.Store, Now: time.Now}.Cancel(t.Context(),
		recordtest.Get[record.RunItem](t, s.Store, record.RunKey(waiting[0])), tx)
	if err == nil {
		err = tx.Commit(t.Context(), s.Store)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.submit(body)
}

// TestWaiting_CostsNothingUntilTheBoundIsMet counts the calls of the store. The first submission of a team also looks for an allowance that
// its owner used before.
func TestWaiting_CostsNothingUntilTheBoundIsMet(t *testing.T) {
	s := serve(t)
	s.Rates = ratelimit.New(ratelimit.Rates{WaitingRuns: 3}, "")
	reads := &counting{Store: s.Store}
	s.Store = reads
	body := servertest.Image(s.dataset().ID)
	var before int64
	for i := range 3 {
		reads.gets.Store(0)
		s.submit(body)
		if i > 1 && reads.gets.Load() != before {
			t.Errorf("submission %d reads %d times, the one before %d times", i+1, reads.gets.Load(), before)
		}
		before = reads.gets.Load()
	}
	reads.gets.Store(0)
	s.Want(http.StatusForbidden, nil, "ada", http.MethodPost, s.path, body)
	if reads.gets.Load() != before+1 {
		t.Errorf("a submission past the bound reads %d times, one below it %d times", reads.gets.Load(), before)
	}
}
