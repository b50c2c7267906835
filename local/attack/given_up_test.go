//go:build attack

package attack

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Times of requests that callers give up.
const (
	patience   = 500 * time.Millisecond // time until a caller gives up
	endingTime = time.Second            // time in which the process must stop computing; only the full profile checks it
	idleShare  = 0.25                   // processors that the process may then use in addition to the bystander's share
)

// givenUp makes a user request computations of many seconds and give them up, again and again. Afterwards the compute slots of the user
// must be free. Otherwise the user's next computations would wait for them and be refused. The full profile also checks that the process
// stops computing.
func givenUp(ctx context.Context, s *server, res *results) {
	idle := s.processorShare()
	large := encode(object{"run": object{"files": []object{inline("run.txt", bigRun(100_000))}}}) // It takes a slot for large computations.
	small := encode(object{"run": object{"files": []object{inline("run.txt", []byte("1 Q0 d1 1 2.5 a\n"))}}})
	heavy := []request{longText(s), post(nil, "/v1/tools/evaluator", heavyTool())}
	for end := time.Now().Add(s.profile.flood); ; {
		for _, q := range heavy {
			s.giveUp(ctx, res, q)
			for _, body := range [][]byte{large, small} {
				sc := scenario{allow: []int{http.StatusOK}, maxAnswer: pageBytes}
				res.exchange(ctx, s, &sc, post(s.attacker, "/v1/tools/validator", body))
			}
		}
		if time.Now().After(end) {
			return
		}
		for _, q := range heavy {
			s.giveUp(ctx, res, q)
			time.Sleep(endingTime)
			if share := s.processorShare(); share > idle+idleShare {
				res.fault("%v after its requests were given up the process uses %.2f processors, and %.2f before", endingTime, share, idle)
			}
		}
	}
}

// giveUp sends a request of the attacker several times at once, and gives all of them up.
func (s *server) giveUp(ctx context.Context, res *results, q request) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q.from = s.attacker
	var all sync.WaitGroup
	for range computersEach {
		all.Go(func() {
			sc := scenario{allow: accepted, maxAnswer: pageBytes}
			res.exchange(ctx, s, &sc, q)
		})
	}
	all.Wait()
}

// processorShare returns the number of processors that the process uses during endingTime.
func (s *server) processorShare() float64 {
	if !s.profile.full {
		return 0
	}
	before, began := s.program.processorTime(), time.Now()
	time.Sleep(endingTime)
	return (s.program.processorTime() - before).Seconds() / time.Since(began).Seconds()
}
