//go:build attack

package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// heavyLists fills a list with records of the largest size, and requests the list from many callers.
func heavyLists(ctx context.Context, s *server, res *results) {
	made := pick(s.profile, 40, 210)
	body := encode(object{"name": "Heavy", "description": repeat(`"`, 60<<10)})
	write := scenario{allow: append([]int{http.StatusForbidden}, accepted...), maxAnswer: problemBytes}
	for n := range made {
		q := post(s.attacker, "/v1/organizers", body)
		q.header = map[string]string{"Idempotency-Key": fmt.Sprint("heavy-", n)}
		q.acknowledged = func(h http.Header) { s.journal.acknowledged(s.attacker, h.Get("Location"), `"Heavy"`) }
		res.exchange(ctx, s, &write, q)
	}
	s.readLists(ctx, res)
}

// readLists requests the list of organizers, which heavyLists fills, from many callers.
func (s *server) readLists(ctx context.Context, res *results) {
	readers := pick(s.profile, 4, 30)
	read := scenario{allow: []int{200, 429, 503}, maxAnswer: pageBytes, senders: readers}
	var requests []request
	for n := range readers {
		requests = append(requests, request{from: s.newUser(), method: []string{http.MethodGet, http.MethodHead}[n/4%2],
			path: "/v1/organizers?limit=200"})
	}
	s.flood(ctx, &read, requests, res)
}

// writeFlood creates and changes resources that every user may create.
func writeFlood(ctx context.Context, s *server, res *results) {
	sc := scenario{allow: accepted, maxAnswer: pageBytes, senders: 8}
	var all []request
	for n := range 400 {
		q := post(s.attacker, "/v1/organizers", encode(object{"name": fmt.Sprint("Flood ", n)}))
		q.acknowledged = func(h http.Header) { s.journal.acknowledged(s.attacker, h.Get("Location"), `"Flood `) }
		all = append(all, q)
		q = post(s.attacker, "/v1/tasks", encode(object{"organizerId": path.Base(s.ownOrganizer), "name": fmt.Sprint("Flood ", n)}))
		q.acknowledged = func(h http.Header) { s.journal.acknowledged(s.attacker, h.Get("Location"), `"Flood `) }
		all = append(all, q, request{
			from: s.attacker, method: http.MethodPatch, path: s.ownTask, media: mergePatch, body: encode(object{"description": repeat("x", 60<<10)}),
		})
	}
	if !s.profile.full {
		all = all[:90]
	}
	s.flood(ctx, &sc, all, res)
}

// uploadFlood declares and uploads files as long as it gets links.
func uploadFlood(ctx context.Context, s *server, res *results) {
	size := pick(s.profile, 1<<20, 8<<20)
	var uploaders sync.WaitGroup
	end := time.Now().Add(s.profile.flood)
	for _, u := range s.extraUsers[:4] {
		uploaders.Go(func() {
			for n := 0; n < 4 || time.Now().Before(end); n++ {
				s.uploadNew(ctx, res, u, size)
			}
		})
	}
	uploaders.Wait()
}

// uploadNew submits a new file of the size to the task for uploads.
func (s *server) uploadNew(ctx context.Context, res *results, from *user, size int) {
	content := bytes.Repeat([]byte(fmt.Sprintf("1 Q0 d%d 1 2.5 upload\n", s.serial.Add(1))), size/32)
	s.upload(ctx, res, from, s.uploadTask, s.uploadDataset, content)
}

// upload submits a declared file, and sends its bytes with the signed link of the answer.
func (s *server) upload(ctx context.Context, res *results, from *user, task, dataset string, content []byte) {
	sum := sha256.Sum256(content)
	file := object{"datasetId": path.Base(dataset), "name": "run.txt", "size": len(content), "sha256": hex.EncodeToString(sum[:])}
	draft := object{"type": "upload", "files": []object{file}, "again": true}
	status, header, body, err := s.call(from, http.MethodPost, task+"/submissions", draft)
	res.mu.Lock()
	res.requests++
	res.statuses[status]++
	res.mu.Unlock()
	var made struct {
		RunIDs []string
		Files  []struct {
			Upload struct {
				URL     string
				Headers map[string]string
			}
		}
	}
	switch {
	case err != nil || status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable &&
		status != http.StatusInsufficientStorage:
		res.fault("a submission: status %d, %v: %.200s", status, err, body)
	case status != http.StatusCreated:
		time.Sleep(20 * time.Millisecond)
	case json.Unmarshal(body, &made) != nil || len(made.Files) != 1:
		res.fault("a submission has no upload: %.200s", body)
	default:
		s.journal.acknowledged(from, header.Get("Location"), `"type":"upload"`)
		link := made.Files[0].Upload
		sc := scenario{allow: accepted, maxAnswer: problemBytes}
		q := request{from: s.linkUser, method: http.MethodPut, path: strings.TrimPrefix(link.URL, s.program.url), body: content,
			header: link.Headers}
		q.acknowledged = func(http.Header) { s.journal.acknowledged(from, "/v1/runs/"+made.RunIDs[0], `"state":"stored"`) }
		res.exchange(ctx, s, &sc, q)
	}
}

// toolFiles calls a tool whose results are too large for an answer, so that the server stores them for a while.
func toolFiles(s *server) (out []request) {
	for n := range 12 {
		a, b := inline("a.txt", bigRun(30_000+n)), inline("b.txt", bigRun(30_000))
		out = append(out, post(s.extraUsers[4], "/v1/tools/fusion", encode(object{"runs": runs(a, b), "depth": 1000})))
	}
	return out
}

// fullDisk makes the server write to a full disk. Writes of every kind must answer 507, and reads must succeed. The same writes must
// succeed after the disk has room again.
func fullDisk(ctx context.Context, s *server, res *results) {
	remove, err := s.program.disk.fill()
	if err != nil {
		res.fault("%v", err)
		return
	}
	sc := scenario{allow: []int{200, 201, 303, 403, 429, 503, http.StatusInsufficientStorage}, maxAnswer: problemBytes}
	keep := func(q request) request {
		q.acknowledged = func(h http.Header) { s.journal.acknowledged(q.from, h.Get("Location"), `"Full"`) }
		return q
	}
	writes := map[string]request{
		"a dataset with a file": keep(post(s.organizer, "/v1/datasets", encode(object{
			"taskId": path.Base(s.task), "name": "Full", "split": "training", "runFormat": object{"kind": "trec-run"},
			"description": repeat("x", 60<<10), "truths": []object{inline("qrels", qrels(2000, 10))},
			"evaluator": object{"kind": "retrieval", "measures": []string{"AP"}},
		}))),
		"an organizer":       keep(post(s.participant, "/v1/organizers", encode(object{"name": "Full", "description": repeat("x", 60<<10)}))),
		"a result of a tool": toolFiles(s)[0],
	}
	for name, write := range writes {
		before := res.statuses[http.StatusInsufficientStorage]
		for range 200 { // Small writes may fit into free pages of the table.
			res.exchange(ctx, s, &sc, write)
			if res.statuses[http.StatusInsufficientStorage] > before {
				break
			}
		}
		if res.statuses[http.StatusInsufficientStorage] == before {
			res.fault("%s did not find the disk full: %s", name, res.byStatus())
		}
	}
	for range 4 {
		s.uploadNew(ctx, res, s.extraUsers[5], 1<<20)
	}
	reads := []string{s.task, "/v1/tasks", "/v1/runs", s.oldRun, "/v1/datasets", "/v1/organizers", "/", "/health", "/info", "/v1/user"}
	for _, p := range reads {
		if status, _, _, err := s.call(s.bystander, http.MethodGet, p, nil); err != nil || status != http.StatusOK {
			res.fault("with a full disk GET %s has status %d, %v", p, status, err)
		}
	}
	remove()
	s.recover(ctx, res)
	for name, write := range writes {
		if status, _, _, err := s.send(ctx, write, io.Discard); err != nil || status >= http.StatusBadRequest {
			res.fault("%s when there is room again has status %d, %v", name, status, err)
		}
	}
}

// recoverTimeout bounds the time for which writes may still be refused after the disk has room again.
const recoverTimeout = 10 * time.Second

func (s *server) recover(ctx context.Context, res *results) {
	var last string
	for end := time.Now().Add(recoverTimeout); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		status, _, body, err := s.call(s.bystander, http.MethodPatch, "/v1/runs/"+path.Base(s.oldRun), object{"label": "after a full disk"})
		if err == nil && slices.Contains([]int{http.StatusOK, http.StatusNoContent}, status) {
			s.journal.acknowledged(s.bystander, s.oldRun, `"after a full disk"`)
			return
		}
		last = fmt.Sprintf("status %d, %v: %.200s", status, err, body)
	}
	res.fault("a write is refused although the disk has room again: %s, %v", last, ctx.Err())
}

// Sizes of the runs with which one team fills the queue.
const (
	bigRunCount = 40
	bigRunLines = 300_000 // 54 MiB unpacked
	minWaiting  = 4       // with fewer waiting runs, the scenario would show nothing
)

// bigRuns uploads runs of one team that take long to evaluate, and then submits as another team to another task. The run of the other team
// must be evaluated before most of the runs that were queued before. While these runs are evaluated, many callers read heavy lists, so that
// the processor is busy while the little user waits for scores.
func bigRuns(ctx context.Context, s *server, res *results) {
	if _, err := s.make(s.attacker, s.task+"/registrations", object{"team": s.attacker.name}, nil); err != nil {
		res.fault("the team of the big runs: %v", err)
		return
	}
	content := bigRun(bigRunLines)
	var uploads sync.WaitGroup
	for range 4 {
		uploads.Go(func() {
			for range bigRunCount / 4 {
				s.upload(ctx, res, s.attacker, s.task, s.dataset, content)
			}
		})
	}
	uploads.Wait()
	before, err := s.waiting(s.organizer, s.task)
	if err == nil {
		err = s.evaluated(ctx)
	}
	after, lastErr := s.waiting(s.organizer, s.task)
	if err != nil || lastErr != nil {
		res.fault("the run of another team: %v, %v", err, lastErr)
	}
	if before < minWaiting || after < before/2 {
		res.fault("%d runs waited before that of another team, and %d when it was evaluated", before, after)
	}
	for range 3 {
		s.readLists(ctx, res)
	}
}

// waiting counts the runs of the organizer's tasks that have not ended.
func (s *server) waiting(organizer *user, tasks ...string) (int, error) {
	var list struct{ Data []json.RawMessage }
	query := "?limit=200&fields=id&filter[state]=queued,evaluating&filter[taskId]=" + strings.Join(lists.Map(tasks, path.Base), ",")
	status, _, body, err := s.call(organizer, http.MethodGet, "/v1/runs"+query, nil)
	if err != nil || status == http.StatusNoContent {
		return 0, err
	}
	err = json.Unmarshal(body, &list)
	return len(list.Data), err
}

// evaluated submits a small run to the attacker's own task, whose queue is empty, and waits until the run is evaluated.
func (s *server) evaluated(ctx context.Context) error {
	if _, _, _, err := s.call(s.bystander, http.MethodPost, s.ownTask+"/registrations", object{"team": "Other team"}); err != nil {
		return err
	}
	file := inline("run.txt", runFile("other", 10))
	file["datasetId"] = path.Base(s.ownDataset)
	status, _, body, err := s.call(s.bystander, http.MethodPost, s.ownTask+"/submissions", object{"type": "upload", "files": []object{file},
		"again": true})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("status %d, %w: %.200s", status, err, body)
	}
	var made struct{ RunIDs []string }
	if err := json.Unmarshal(body, &made); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if state, err := s.stateOf(s.bystander, made.RunIDs[0]); err != nil || state == string(record.Completed) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}
