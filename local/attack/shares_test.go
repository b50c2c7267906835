//go:build attack

package attack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What a little user gets while others compute: one who submits two lines and calls a small tool, one after the other.
const (
	littleTime   = time.Second // p99 of these requests; checked by the full profile alone
	littleRounds = 10          // of the short profile
)

// besideLittleUser has the users send the heavy requests, several each at a time, until the little user has had enough answers.
// None of these may be refused.
func (s *server) besideLittleUser(ctx context.Context, res *results, users []*user, heavy []request) {
	const atOnce = 4 // of each user
	sc := scenario{allow: accepted, maxAnswer: pageBytes}
	var ended atomic.Bool
	var senders sync.WaitGroup
	for _, u := range users {
		for n := range atOnce {
			senders.Go(func() {
				for i := n; !ended.Load(); i++ {
					q := heavy[i%len(heavy)]
					q.from = u
					res.exchange(ctx, s, &sc, q)
				}
			})
		}
	}
	run := inline("run.txt", []byte("1 Q0 d1 1 2.5 a\n1 Q0 d2 2 1.5 a\n"))
	tool := post(s.bystander, "/v1/tools/validator", encode(object{"run": object{"files": []object{run}}}))
	submitted := object{"name": run["name"], "content": run["content"], "datasetId": path.Base(s.dataset)}
	submission := post(s.bystander, s.task+"/submissions", encode(object{"type": "upload", "files": []object{submitted}}))
	var took []time.Duration
	end := time.Now().Add(s.profile.flood)
	for round := 0; round < littleRounds || time.Now().Before(end); round++ {
		for _, q := range []request{submission, tool} {
			began := time.Now()
			status, _, _, err := s.send(ctx, q, io.Discard)
			took = append(took, time.Since(began))
			if err != nil || status >= http.StatusBadRequest {
				res.fault("%s of a little user: status %d, %v after %v", q.path, status, err, took[len(took)-1])
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	ended.Store(true)
	senders.Wait()
	slices.Sort(took)
	if p99 := took[(len(took)*99+99)/100-1]; s.profile.full && p99 > littleTime {
		res.fault("the p99 of %d requests of a little user is %v, more than %v", len(took), p99, littleTime)
	}
}

// previewFlood previews submissions of little size that unpack to as much as a file may.
func previewFlood(ctx context.Context, s *server, res *results) {
	var heavy []request
	for _, size := range []int{63 << 20, 256 << 20} {
		file := inline("run.txt", bomb("1 Q0 d1 1 2.5 a\n", size))
		file["datasetId"] = path.Base(s.ownDataset)
		heavy = append(heavy, post(nil, s.ownTask+"/submissions?preview=true",
			encode(object{"type": "upload", "baseline": true, "files": []object{file}})))
	}
	s.besideLittleUser(ctx, res, []*user{s.attacker}, heavy)
}

// storedRunFlood calls tools with a short body that names six stored runs of 18 MB.
func storedRunFlood(ctx context.Context, s *server, res *results) {
	var refs []object
	for n := range 6 {
		file := inline(fmt.Sprint("run-", n), bigRun(100_000))
		file["datasetId"] = path.Base(s.ownDataset)
		status, header, _, err := s.call(s.attacker, http.MethodPost, s.ownTask+"/submissions",
			object{"type": "upload", "baseline": true, "files": []object{file}})
		if err != nil || status != http.StatusCreated {
			res.fault("a large run of the attacker: status %d, %v", status, err)
			return
		}
		_, _, answer, _ := s.call(s.attacker, http.MethodGet, header.Get("Location")+"?fields=runIds", nil)
		_, ids, _ := strings.Cut(string(answer), `"runIds":["`)
		id, _, _ := strings.Cut(ids, `"`)
		refs = append(refs, object{"runId": id})
	}
	s.besideLittleUser(ctx, res, []*user{s.attacker}, []request{post(nil, "/v1/tools/fusion", encode(object{"runs": refs}))})
}

// longTexts has two users compute ROUGE-L of texts whose lines are all subsequences of each other.
func longTexts(ctx context.Context, s *server, res *results) {
	e := hostileTruths(s)[0]
	format := object{"kind": e.format, "idField": "id", "valueField": e.value}
	heavy := post(nil, "/v1/tools/evaluator", encode(object{
		"runs":     runs(packed("run", []byte(e.run))),
		"truth":    object{"files": []object{packed("truth", []byte(e.truth))}, "kind": e.kind, "format": format},
		"measures": e.measures,
	}))
	s.besideLittleUser(ctx, res, []*user{s.attacker, s.participant}, []request{heavy})
}
