//go:build attack

package attack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"assay/shared/computation/measure"
)

// computersEach is the number of computations that a user of a flood requests at the same time.
const computersEach = 4

// besideLittleUser sends the heavy requests as the users, several at a time for each, until the little user has completed enough rounds.
func (s *server) besideLittleUser(ctx context.Context, res *results, users []*user, heavy []request) {
	sc := scenario{allow: accepted, maxAnswer: pageBytes}
	var ended atomic.Bool
	var senders sync.WaitGroup
	for _, u := range users {
		for n := range computersEach {
			senders.Go(func() {
				for i := n; !ended.Load(); i++ {
					q := heavy[i%len(heavy)]
					q.from = u
					res.exchange(ctx, s, &sc, q)
				}
			})
		}
	}
	s.floodTime(ctx, littleRounds)
	ended.Store(true)
	senders.Wait()
}

// floodTime waits until the little user has completed a number of rounds, and the time of the profile is over.
func (s *server) floodTime(ctx context.Context, rounds int) {
	end := time.After(s.profile.flood)
	s.little.waitForRounds(ctx, s.little.made()+1+rounds) // One round has begun already.
	<-end
}

// previewFlood previews small submissions that unpack to the largest size of a file.
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

// storedRunFlood calls a tool with a short body that names six large stored runs, of 18 MB in the full profile. The tool stores no result,
// because results would use up the user's quota, and later calls would compute nothing.
func storedRunFlood(ctx context.Context, s *server, res *results) {
	var refs []object
	for n := range 6 {
		file := inline(fmt.Sprint("run-", n), bigRun(pick(s.profile, 30_000, 100_000)))
		made, err := s.submitBaseline(s.ownTask, s.ownDataset, file)
		if err != nil {
			res.fault("a large run of the attacker: %v", err)
			return
		}
		refs = append(refs, object{"runId": made})
	}
	measures := products("P(rel=%d)@%d0", pick(s.profile, 1, 5), 9)
	body := encode(object{"runs": refs, "truth": object{"datasetId": path.Base(s.ownDataset)}, "measures": measures})
	s.besideLittleUser(ctx, res, []*user{s.attacker}, []request{post(nil, "/v1/tools/evaluator", body)})
	if res.statuses[http.StatusOK] == 0 {
		res.fault("no call of the tool computed: %s", res.byStatus())
	}
}

// submitBaseline submits a file to a task of the attacker, and returns the id of its run.
func (s *server) submitBaseline(task, dataset string, file object) (run string, err error) {
	file["datasetId"] = path.Base(dataset)
	var made struct{ RunIDs []string }
	_, err = s.make(s.attacker, task+"/submissions", object{"type": "upload", "baseline": true, "files": []object{file}}, &made)
	if err != nil {
		return "", err
	}
	return made.RunIDs[0], nil
}

// longTexts makes two users compute ROUGE-L of texts whose lines are all subsequences of each other.
func longTexts(ctx context.Context, s *server, res *results) {
	s.besideLittleUser(ctx, res, []*user{s.attacker, s.participant}, []request{longText(s)})
}

// longText returns a request for ROUGE-L of such texts.
func longText(s *server) request {
	e := hostileTruths(s)[0]
	format := object{"kind": e.format, "idField": "id", "valueField": e.value}
	return post(nil, "/v1/tools/evaluator", encode(object{
		"runs":     runs(packed("run", []byte(e.run))),
		"truth":    object{"files": []object{packed("truth", []byte(e.truth))}, "kind": e.kind, "format": format},
		"measures": e.measures,
	}))
}

// Tasks with which one user keeps evaluators busy.
const (
	heavyTasks   = 6
	runsEach     = 2
	scoresBeside = 2 // scores of the little user in the short profile
)

// evaluationFlood submits runs to tasks of one user. Their evaluation takes several budgets. In the short profile at most one of these
// runs, whose last budget was due, may complete before the little user has two scores. Without the budget, each score would wait for one.
func evaluationFlood(ctx context.Context, s *server, res *results) {
	var tasks []string
	defer func() {
		for _, task := range tasks {
			s.remove(res, s.attacker, task+"?with=submissions&name="+url.QueryEscape(heavyTask))
		}
	}()
	e := pick(s.profile, manyLines, manyLabels)()
	for range heavyTasks {
		task, dataset, err := s.makeHeavyTask(e)
		if err == nil {
			tasks = append(tasks, task)
		}
		for range runsEach {
			if err == nil {
				_, err = s.submitBaseline(task, dataset, packed("run", []byte(e.run)))
			}
		}
		if err != nil {
			res.fault("a task with heavy runs: %v", err)
			return
		}
	}
	before, err := s.waiting(s.attacker, tasks...)
	s.floodTime(ctx, scoresBeside)
	after, lastErr := s.waiting(s.attacker, tasks...)
	if err != nil || lastErr != nil {
		res.fault("the heavy runs that wait: %v, %v", err, lastErr)
	}
	if before < heavyTasks || !s.profile.full && after < before-1 {
		res.fault("%d heavy runs waited, and %d when the little user had %d more scores", before, after, scoresBeside)
	}
}

const heavyTask = "Heavy evaluations"

// manyLabels returns 49 MB of examples. Each has as many labels as a confusion matrix can have.
func manyLabels() evaluated {
	labels := numbered("%d,", measure.MaxClasses)
	text := numbered(`{"id":%d,"x":[`+labels[:len(labels)-1]+"]}\n", 300_000)
	measures := products("F(average=samples,beta=%d.%d)", 5, 9)
	return evaluated{kind: "multilabel", format: "jsonl", value: "x", truth: text, run: text, measures: measures}
}

// manyLines returns two short texts whose comparison takes about sixteen budgets. Their lines differ, because equal lines are compared
// once.
func manyLines() evaluated {
	text := `{"id":1,"x":"` + numbered(`a %d\n`, 4<<10) + `"}` + "\n"
	measures := []string{"ROUGELsum", "ROUGELsum(stem=True)"}
	return evaluated{kind: "text", format: "jsonl", value: "x", truth: text, run: text, measures: measures}
}

// makeHeavyTask makes a task of the attacker with a dataset.
func (s *server) makeHeavyTask(e evaluated) (task, dataset string, err error) {
	task, err = s.make(s.attacker, "/v1/tasks", object{"organizerId": path.Base(s.ownOrganizer), "name": heavyTask}, nil)
	if err != nil {
		return "", "", err
	}
	dataset, err = s.make(s.attacker, "/v1/datasets", object{
		"taskId": path.Base(task), "name": heavyTask, "split": "training", "truths": []object{packed("truth", []byte(e.truth))},
		"runFormat": object{"kind": e.format, "idField": "id", "valueField": e.value},
		"evaluator": object{"kind": e.kind, "measures": e.measures},
	}, nil)
	return task, dataset, err
}
