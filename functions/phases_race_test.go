package functions_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"

	"github.com/anishathalye/porcupine"
)

const (
	racedRuns  = 4 // runs of the team before the race
	finalRuns  = 2
	raceTotal  = 6 // the dataset's quota
	racers     = 5
	raceCalls  = 5
	raceRounds = 8
)

// raced is a request about the quota or the final runs of a team. Some requests concern one of its first runs.
type raced struct {
	kind string // submit, grant, refund, cancel, mark, unmark or see
	run  int
}

// used is the state of the team on the dataset.
type used struct {
	limit, used                int
	refunded, cancelled, final [racedRuns]bool
}

// raceAnswer is the result of a request: whether it succeeded and, for "see", how many runs are left.
type raceAnswer struct {
	done bool
	left int
}

func (u used) step(r raced) (raceAnswer, used) {
	done, marked := raceAnswer{done: true}, 0
	for _, final := range u.final {
		if final {
			marked++
		}
	}
	switch r.kind {
	case "submit":
		if u.used >= u.limit {
			return raceAnswer{}, u
		}
		u.used++
	case "grant":
		u.limit++
	case "refund":
		if u.refunded[r.run] || u.cancelled[r.run] {
			return raceAnswer{}, u
		}
		u.refunded[r.run] = true
		u.used--
	case "cancel":
		if u.cancelled[r.run] {
			return done, u // without change
		}
		u.cancelled[r.run] = true
		u.final[r.run] = false
		if !u.refunded[r.run] {
			u.used--
		}
	case "mark":
		if !u.final[r.run] && (u.cancelled[r.run] || marked == finalRuns) {
			return raceAnswer{}, u
		}
		u.final[r.run] = true
	case "unmark":
		u.final[r.run] = false
	case "see":
		return raceAnswer{true, max(0, u.limit-u.used)}, u
	}
	return done, u
}

var quotaModel = porcupine.Model{
	Init: func() any { return used{limit: raceTotal, used: racedRuns} },
	Step: func(state, input, output any) (bool, any) {
		want, next := state.(used).step(input.(raced))
		return want == output.(raceAnswer), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// eachSlowStore runs a test with each of the stores, with slow writes.
func eachSlowStore(t *testing.T, test func(t *testing.T, slow store.Store)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) store.Store{
		"embedded": func(t *testing.T) store.Store { return recordtest.OpenStore(t, embedded.Options{}) },
		"DynamoDB": func(t *testing.T) store.Store { return dynamotest.Open(t, dynamotest.Start(t)) },
	} {
		t.Run(name, func(t *testing.T) { test(t, storetest.SlowWrites(open(t))) })
	}
}

// TestPhases_AreLinearizable lets a team submit up to the quota of a dataset, cancel runs and mark final runs, while organizers
// grant and refund runs. The answers must equal those to the same requests in some sequence, and the runs must have the marks of
// that sequence.
func TestPhases_AreLinearizable(t *testing.T) {
	eachSlowStore(t, func(t *testing.T, slow store.Store) {
		for round := range raceRounds {
			newPhasesIn(t, slow, func(d *record.DatasetItem) {
				d.FinalRuns, d.Submissions.Total = finalRuns, raceTotal
			}).race(uint64(round))
		}
	})
}

func (f *phases) race(seed uint64) {
	f.t.Helper()
	var runs [racedRuns]string
	for i := range runs {
		var made record.Submission
		f.Want(http.StatusCreated, &made, "ada", http.MethodPost, f.task.Path()+"/submissions", servertest.Image(f.dataset.ID))
		runs[i] = "/v1/runs/" + made.RunIDs[0]
	}
	history := storetest.NewHistory()
	var all sync.WaitGroup
	for client := range racers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			kinds := []string{"submit", "grant", "refund", "cancel", "mark", "mark", "mark", "unmark", "see"}
			for range raceCalls {
				r := raced{kinds[random.IntN(len(kinds))], random.IntN(racedRuns)}
				history.Call(client, r, func() (any, bool) {
					answer, status := f.ask(r, runs[r.run])
					switch status {
					case http.StatusServiceUnavailable: // changed nothing
						return answer, false
					case http.StatusOK, http.StatusCreated, http.StatusForbidden, http.StatusUnprocessableEntity:
					default:
						f.t.Errorf("%+v: status %d", r, status)
					}
					return answer, true
				})
			}
		})
	}
	all.Wait()
	history.CheckLinearizable(f.t, quotaModel)
	a := recordtest.Get[record.Allowance](f.t, f.Store, record.AllowanceKey(f.task.ID, f.ada.ID))
	marked := 0
	for _, path := range runs {
		if servertest.Get[record.Run](f.Server, "ada", path).Final {
			marked++
		}
	}
	if len(a.Final[f.dataset.ID]) != marked || marked > finalRuns {
		f.t.Errorf("%v are marked, and %d runs say so", a.Final, marked)
	}
}

// ask sends the request, which may concern the run.
func (f *phases) ask(r raced, run string) (raceAnswer, int) {
	var a servertest.Answer
	change := func(member string, value any) { a = f.Do("ada", http.MethodPatch, run, map[string]any{member: value}) }
	grant := func(member string, value any) {
		draft := map[string]any{"datasetId": f.dataset.ID, "reason": "A reason.", member: value}
		a = f.Do(olga, http.MethodPost, f.exceptions(f.ada), draft)
	}
	switch r.kind {
	case "submit":
		a = f.Do("ada", http.MethodPost, f.task.Path()+"/submissions", servertest.Image(f.dataset.ID))
	case "grant":
		grant("total", 1)
	case "refund":
		grant("runId", run[len("/v1/runs/"):])
	case "cancel":
		change("state", record.Cancelled)
	case "mark", "unmark":
		change("final", r.kind == "mark")
	case "see":
		team := servertest.Get[record.Registration](f.Server, "ada", f.task.Path()+"/registrations/"+f.ada.ID)
		return raceAnswer{true, *team.Quota.Datasets[0].Remaining}, http.StatusOK
	}
	return raceAnswer{done: a.Status < http.StatusBadRequest}, a.Status
}
