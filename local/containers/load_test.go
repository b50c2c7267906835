//go:build s3

package containers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/testing/waittest"
)

// client sends requests until they are answered, although copies of the server are killed meanwhile.
type client struct {
	t    *testing.T
	url  string
	http *http.Client
	// login returns a token of the issuer, whose key may have changed.
	login func(user string, groups ...string) string
}

// send sends a request, and repeats it until the server answers with a final status. This may take a minute, because a POST whose server
// was killed counts as in progress for so long.
func (c *client) send(method, url string, headers map[string]string, body []byte) (status int, header http.Header, answer []byte) {
	waittest.Succeed(c.t, method+" "+url+" is answered", func() error {
		r, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		resp, err := c.http.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		status, header = resp.StatusCode, resp.Header
		if answer, err = io.ReadAll(resp.Body); err != nil {
			return err
		}
		if status == http.StatusTooManyRequests || status == http.StatusConflict || status >= 500 {
			return fmt.Errorf("%s: %s", resp.Status, answer)
		}
		return nil
	})
	return status, header, answer
}

// call sends a JSON request that must succeed, and decodes the answer into v unless v is nil. The key makes it safe to repeat a POST. The
// token and the key may be empty.
func (c *client) call(method, path, token, key string, body, v any) (location string) {
	var content []byte
	if body != nil {
		content, _ = json.Marshal(body)
	}
	headers := map[string]string{"Content-Type": "application/json"}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	if key != "" {
		headers["Idempotency-Key"] = key
	}
	status, header, answer := c.send(method, c.url+path, headers, content)
	if status/100 != 2 {
		c.t.Errorf("%s %s: %d %s", method, path, status, answer)
		return ""
	}
	if v != nil && len(answer) > 0 {
		if err := json.Unmarshal(answer, v); err != nil {
			c.t.Errorf("%s %s: %v in %s", method, path, err, answer)
		}
	}
	return header.Get("Location")
}

// accessToken makes an access token of the user.
func (c *client) accessToken(login string, scopes ...string) string {
	var made struct{ Secret string }
	c.call(http.MethodPost, "/v1/user/tokens", login, "", map[string]any{"name": "load", "scopes": scopes}, &made)
	return made.Secret
}

// load is the submissions of teams, and the accepted runs.
type load struct {
	*client
	task, uploads, images string // path of the task, ids of its datasets
	teams                 []string

	mu       sync.Mutex
	accepted []string // ids of runs
}

const (
	teams = 4
	// submissions bounds the submissions of each team, so that daily quotas are not exceeded.
	submissions = 60
)

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// prepare makes a task with a dataset for files and one for images, and registers teams.
func prepare(c *client) *load {
	w := &load{client: c}
	owner := c.login("owner")
	organizer := c.call(http.MethodPost, "/v1/organizers", owner, "organizer", map[string]any{"name": "Lake Lab"}, nil)
	w.task = c.call(http.MethodPost, "/v1/tasks", owner, "task", map[string]any{"organizerId": id(organizer), "name": "Load"}, nil)
	dataset := func(name string) string {
		return id(c.call(http.MethodPost, "/v1/datasets", owner, name, map[string]any{
			"taskId": id(w.task), "name": name, "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
			"inputs": []any{inline("input.txt", "1 Q0 a 1 2.5 load\n")}, "truths": []any{inline("qrels", "1 0 a 1\n1 0 b 0\n")},
			"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
		}, nil))
	}
	w.uploads, w.images = dataset("Uploads"), dataset("Images")
	for i := range teams {
		login := c.login(fmt.Sprintf("user%d", i))
		c.call(http.MethodPost, w.task+"/registrations", login, "registration", map[string]any{"team": fmt.Sprintf("Team %d", i)}, nil)
		w.teams = append(w.teams, c.accessToken(login, "submit"))
	}
	return w
}

func id(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// submit submits uploaded files and images as a team until stop is closed.
func (w *load) submit(team int, pause func() time.Duration, stop <-chan struct{}) {
	for n := range submissions {
		select {
		case <-stop:
			return
		case <-time.After(pause()):
		}
		content := fmt.Sprintf("1 Q0 a 1 2.5 team%d\n1 Q0 b%d 2 1.5 team%d\n", team, n, team)
		sum := sha256.Sum256([]byte(content))
		body := map[string]any{"type": "upload", "files": []any{map[string]any{"datasetId": w.uploads, "name": "run.txt", "size": len(content),
			"sha256": hex.EncodeToString(sum[:])}}}
		if n%4 == 0 {
			body = map[string]any{"type": "image", "image": "ranker", "datasetIds": []string{w.images}, "again": true,
				"command": `cp "$ASSAY_INPUT/input.txt" "$ASSAY_OUTPUT/run.txt"`}
		}
		var made record.Submission
		w.call(http.MethodPost, w.task+"/submissions", w.teams[team], fmt.Sprintf("%d-%d", team, n), body, &made)
		for _, f := range made.Files {
			status, _, answer := w.send(f.Upload.Method, f.Upload.URL, f.Upload.Headers, []byte(content))
			if status != http.StatusOK && status != http.StatusPreconditionFailed { // An earlier attempt whose answer was lost has stored it.
				w.t.Errorf("the upload is answered %d %s", status, answer)
			}
		}
		w.mu.Lock()
		w.accepted = append(w.accepted, made.RunIDs...)
		w.mu.Unlock()
	}
}

// acceptedRuns returns the number of accepted runs.
func (w *load) acceptedRuns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.accepted)
}

// verify waits until every accepted run has ended. It checks that each was evaluated once, and that no other runs exist.
func (w *load) verify() {
	owner := w.login("owner")
	waittest.Value(w.t, "every run has ended", func() (states map[string]record.RunState, expected bool) {
		states = map[string]record.RunState{}
		for _, r := range list[record.Run](w.client, owner, "&filter[state]=queued,evaluating,running,awaiting-upload", w.task) {
			states[r.ID] = r.State
		}
		return states, len(states) == 0
	})
	runs := list[record.Run](w.client, owner, "", w.task)
	evaluated, found := map[string]int{}, map[string]bool{}
	for _, e := range list[record.Evaluation](w.client, owner, "", w.task) {
		evaluated[e.RunID]++
	}
	for _, r := range runs {
		found[r.ID] = true
		if r.State != record.Completed || evaluated[r.ID] != 1 {
			w.t.Errorf("run %s is %s after %d attempts and has %d evaluations: %v", r.ID, r.State, r.Attempts, evaluated[r.ID], r.Diagnostics)
		}
	}
	for _, run := range w.accepted {
		if !found[run] {
			w.t.Errorf("run %s was accepted and is lost", run)
		}
	}
	if len(runs) != len(w.accepted) {
		w.t.Errorf("%d runs, and %d were accepted", len(runs), len(w.accepted))
	}
}

// list returns the runs or evaluations of the task, from all pages.
func list[R record.Run | record.Evaluation](c *client, token, filter, task string) (all []R) {
	kind := "runs"
	if _, ok := any(*new(R)).(record.Evaluation); ok {
		kind = "evaluations"
	}
	for path := "/v1/" + kind + "?limit=200&filter[taskId]=" + id(task) + filter; path != ""; {
		var page struct {
			Data  []R
			Links struct{ Next string }
		}
		c.call(http.MethodGet, path, token, "", nil, &page)
		all, path = append(all, page.Data...), page.Links.Next
	}
	return all
}
