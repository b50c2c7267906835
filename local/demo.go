package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"time"

	"assay/functions"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/storage/store"
)

//go:embed demo/*.gz
var demoFiles embed.FS

// demoRuns are the runs of the demo task. Each has its own team.
var demoRuns = []struct{ user, team, title, file string }{
	{"demo-manual-bm25", "Manual BM25", "BM25 on the manually rewritten utterances", "org_manual_bm25.run.gz"},
	{"demo-convdr", "ConvDR", "ConvDR with a BERT reranker", "org_convdr_bert.run.gz"},
	{"demo-manual-ance", "Manual ANCE", "ANCE on the manually rewritten utterances with a BERT reranker", "org_manual_ance_bert.run.gz"},
}

// demo holds the paths of the resources that it created.
type demo struct{ task, leaderboard string }

// demoTime bounds the time of the evaluation of the demo's runs.
const demoTime = 20 * time.Second

// fillDemo makes a public task with evaluated and published runs. It returns nil if the store has an organizer or a user already. It calls
// the operations of the API as users whose names no token of the issuer can have.
func (p *program) fillDemo(ctx context.Context) (*demo, error) {
	for _, k := range []record.Kind{record.KindOrganizer, record.KindUser} {
		found, err := p.table.Query(ctx, store.Query{Index: record.ByKind, Partition: record.KindPartitions(k, access.Everyone)[0], Limit: 1})
		if err != nil || len(found) > 0 {
			return nil, err
		}
	}
	env := *p.env
	env.Metrics = nil
	env.Log = slog.New(slog.DiscardHandler) // The requests come from no client. fillDemo returns failures.
	env.Verify = func(_ context.Context, user string) (access.Caller, error) {
		who := auth.Identity{Issuer: p.id.Issuer, Subject: user, Name: user, Groups: nil}
		caller := who.Caller()
		caller.Admin = user == demoOrganizer // Only administrators feature a task.
		return caller, nil
	}
	client := &demoClient{ctx: ctx, handler: api.New(&env, functions.Operations())}
	d := client.fill()
	return d, client.err
}

// demoClient calls operations within the process. After an error it does nothing.
type demoClient struct {
	ctx     context.Context
	handler http.Handler
	err     error
}

const demoOrganizer = "demo-organizer"

func (c *demoClient) fill() *demo {
	organizer := c.post(demoOrganizer, "/v1/organizers", map[string]any{
		"name": "Assay demo", "description": "Runs the task that a new server starts with.",
	})
	task := c.post(demoOrganizer, "/v1/tasks", map[string]any{
		"organizerId": id(organizer), "name": "TREC CAsT 2021", "featured": true, "website": "https://www.treccast.ai",
		"description": "Conversational document retrieval: for each turn of a conversation, rank the documents that answer it. " +
			"Judgements and baseline runs of the TREC Conversational Assistance Track 2021 (github.com/daltonj/treccastweb, MIT).",
	})
	dataset := c.post(demoOrganizer, "/v1/datasets", map[string]any{
		"taskId": id(task), "name": "CAsT 2021 documents", "split": "test",
		"description": "158 judged turns.",
		"truths":      []any{c.file("qrels.gz")}, "runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"nDCG@3", "nDCG@500", "AP@500", "RR", "P@3", "R@500"}},
	})
	var runs []string
	for _, r := range demoRuns {
		c.post(r.user, task+"/registrations", map[string]any{"team": r.team})
		file := c.file(r.file)
		file["datasetId"] = id(dataset)
		var s record.Submission
		c.send(r.user, http.MethodPost, task+"/submissions", map[string]any{
			"type": "upload", "title": r.title, "visibility": "public", "files": []any{file},
		}, &s)
		for _, run := range s.RunIDs {
			runs = append(runs, "/v1/runs/"+run)
		}
	}
	for _, run := range runs {
		c.await(run)
		c.send(demoOrganizer, http.MethodPatch, run+"/review", map[string]any{"published": true, "blinded": false, "noErrors": true}, nil)
	}
	return &demo{task: task, leaderboard: task + "/evaluations?filter[datasetId]=" + id(dataset) + "&sort=rank"}
}

// await waits until the run has been evaluated.
func (c *demoClient) await(run string) {
	for deadline := time.Now().Add(demoTime); c.err == nil; time.Sleep(10 * time.Millisecond) {
		var r record.Run
		c.send(demoOrganizer, http.MethodGet, run, nil, &r)
		switch {
		case r.State == record.Completed:
			return
		case r.State.Ended():
			c.err = fmt.Errorf("%s is %s: %v", run, r.State, r.Diagnostics)
		case time.Now().After(deadline):
			c.err = fmt.Errorf("%s is still %s", run, r.State)
		}
	}
}

// file returns an inline file of the demo's data.
func (c *demoClient) file(name string) map[string]any {
	content, err := demoFiles.ReadFile("demo/" + name)
	if err != nil {
		c.err = err
	}
	return map[string]any{"name": name, "mediaType": "application/gzip", "content": base64.StdEncoding.EncodeToString(content)}
}

func (c *demoClient) post(user, target string, body any) (location string) {
	return c.send(user, http.MethodPost, target, body, nil)
}

func (c *demoClient) send(user, method, target string, body, v any) (location string) {
	if c.err != nil {
		return ""
	}
	var encoded []byte
	if encoded, c.err = json.Marshal(body); c.err != nil {
		return ""
	}
	var r *http.Request
	if r, c.err = http.NewRequestWithContext(c.ctx, method, target, bytes.NewReader(encoded)); c.err != nil {
		return ""
	}
	r.Header.Set("Authorization", "Bearer "+user)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if w.Code >= http.StatusBadRequest {
		c.err = fmt.Errorf("%s %s: status %d: %s", method, target, w.Code, w.Body)
		return ""
	}
	if v != nil {
		c.err = json.Unmarshal(w.Body.Bytes(), v)
	}
	return w.Header().Get("Location")
}

// id returns the last segment of a path.
func id(resource string) string { return path.Base(resource) }
