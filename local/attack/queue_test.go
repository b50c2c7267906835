package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"sync"
	"time"
)

// Sizes of the runs with which one team fills the queue.
const (
	bigRunCount = 40
	bigRunLines = 300_000 // 54 MiB, once unpacked
	leastWait   = 4       // runs that must wait for the scenario to show anything
)

// bigRuns has one team upload what takes long to evaluate, and another team submit to another task. The run of the other team is
// evaluated before most of those that waited when it came.
func bigRuns(ctx context.Context, s *site, y *tally) {
	content := bigRun(bigRunLines)
	var uploads sync.WaitGroup
	for range 4 {
		uploads.Go(func() {
			for range bigRunCount / 4 {
				s.upload(ctx, y, s.participant, s.task, s.dataset, content)
			}
		})
	}
	uploads.Wait()
	before, err := s.waiting()
	if err == nil {
		err = s.evaluated(ctx)
	}
	after, lastErr := s.waiting()
	if err != nil || lastErr != nil {
		y.fault("the run of another team: %v, %v", err, lastErr)
	}
	if before < leastWait || after < before/2 {
		y.fault("%d runs waited before that of another team, and %d when it was evaluated", before, after)
	}
}

// waiting counts the runs of the task that have not ended.
func (s *site) waiting() (int, error) {
	var list struct{ Data []json.RawMessage }
	query := "?limit=200&fields=id&filter[state]=queued,evaluating&filter[taskId]=" + path.Base(s.task)
	status, _, body, err := s.call(s.organizer, http.MethodGet, "/v1/runs"+query, nil)
	if err != nil || status == http.StatusNoContent {
		return 0, err
	}
	err = json.Unmarshal(body, &list)
	return len(list.Data), err
}

// evaluated submits a small run to the attacker's own task, in which nothing waits, until it is evaluated.
func (s *site) evaluated(ctx context.Context) error {
	if _, _, _, err := s.call(s.bystander, http.MethodPost, s.ownTask+"/registrations", object{"team": "Other team"}); err != nil {
		return err
	}
	file := inline("run.txt", runFile("other", 10))
	file["datasetId"] = path.Base(s.ownDataset)
	status, _, body, err := s.call(s.bystander, http.MethodPost, s.ownTask+"/submissions", object{"type": "upload", "files": []object{file}})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("status %d, %w: %.200s", status, err, body)
	}
	var made struct{ RunIDs []string }
	if err := json.Unmarshal(body, &made); err != nil {
		return err
	}
	for ctx.Err() == nil {
		_, _, body, err := s.call(s.bystander, http.MethodGet, "/v1/runs/"+made.RunIDs[0], nil)
		if err != nil {
			return err
		}
		var r struct{ State string }
		if err := json.Unmarshal(body, &r); err != nil || r.State == "completed" {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}
