package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"assay/functions/testing/acceptancetest"
	"assay/shared/storage/store/dynamo/dynamotest"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// testServer is the program and a client. The program serves until the test ends.
type testServer struct {
	url     string
	grpc    string // address of gRPC
	program *program
	client  *http.Client
	users   string // suffix that token appends to the names of users
}

// start serves with the flags over a fresh folder.
func start(t testing.TB, flags ...string) *testServer {
	t.Helper()
	return startIn(t, t.TempDir(), flags...)
}

// startIn serves with the flags over the folder.
func startIn(t testing.TB, data string, flags ...string) *testServer {
	t.Helper()
	return serve(t, settingsOf(t, data, flags...), io.Discard)
}

// settingsOf returns the settings of the flags over the folder, on free ports.
func settingsOf(t testing.TB, data string, flags ...string) settings {
	t.Helper()
	c, err := parse(append([]string{"-addr", "127.0.0.1:0", "-grpc-addr", "127.0.0.1:0", "-data", data}, flags...), noEnv, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serveWithoutWarnings is like serve, and requires that the server logs no warning and no error.
func serveWithoutWarnings(t testing.TB, c settings) *testServer {
	t.Helper()
	var log bytes.Buffer
	t.Cleanup(func() {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") {
				t.Errorf("the log has: %s", line)
			}
		}
	})
	return serve(t, c, &log)
}

// serve serves with the settings until the test ends.
func serve(t testing.TB, c settings, logs io.Writer) *testServer {
	t.Helper()
	s, end, err := begin(c, logs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// begin serves with the settings until end is called. end returns the error of the server.
func begin(c settings, logs io.Writer) (s *testServer, end func() error, err error) {
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan *program, 1), make(chan error, 1)
	go func() { ended <- run(ctx, c, io.Discard, logs, func(p *program) { ready <- p }) }()
	var p *program
	select {
	case p = <-ready:
	case err := <-ended:
		stop()
		return nil, nil, err
	}
	s = &testServer{url: p.url, program: p, client: &http.Client{Transport: &http.Transport{
		// Requests to the URL of the server go to its listener.
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if p.poller == nil || "http://"+strings.TrimSuffix(addr, ":80") == p.url {
				addr = p.listener.Addr().String() // Links to S3 keep their address.
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}}}
	if p.grpcListener != nil {
		s.grpc = p.grpcListener.Addr().String()
	}
	return s, func() error {
		s.client.CloseIdleConnections()
		stop()
		return <-ended
	}, nil
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request to a path or a URL, with the token unless it is empty. A body of bytes is sent unchanged, and others as JSON.
func (s *testServer) send(t testing.TB, token, method, path string, body any) answer {
	t.Helper()
	if strings.HasPrefix(path, "/") {
		path = s.url + path
	}
	r := request(t, method, path, body)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, content}
}

// request returns a request. A body of bytes is sent unchanged, and others as JSON.
func request(t testing.TB, method, url string, body any) *http.Request {
	t.Helper()
	content, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case raw:
		r.Header.Set("Content-Type", "text/plain")
	case method == http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	case body != nil:
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// call sends a request that must succeed, and decodes the answer into v unless v is nil.
func (s *testServer) call(t testing.TB, token, method, path string, body, v any) http.Header {
	t.Helper()
	a := s.send(t, token, method, path, body)
	if a.status >= http.StatusBadRequest {
		t.Fatalf("%s %s: status %d\n%s", method, path, a.status, a.body)
	}
	if v != nil && len(a.body) > 0 {
		if err := json.Unmarshal(a.body, v); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, a.body)
		}
	}
	return a.header
}

func (s *testServer) get(t testing.TB, token, path string, v any) {
	t.Helper()
	s.call(t, token, http.MethodGet, path, nil, v)
}

// post creates a resource and returns its path.
func (s *testServer) post(t testing.TB, token, path string, body any) string {
	t.Helper()
	return s.call(t, token, http.MethodPost, path, body, nil).Get("Location")
}

// token returns a token of the development issuer.
func (s *testServer) token(t testing.TB, user string, groups ...string) string {
	t.Helper()
	var answer struct {
		Token string `json:"access_token"`
	}
	s.call(t, "", http.MethodPost, "/dev/token", map[string]any{"user": user + s.users, "groups": groups}, &answer)
	return answer.Token
}

// task makes an organizer with an open task.
func (s *testServer) task(t testing.TB, owner, name string) (path string) {
	t.Helper()
	organizer := s.post(t, owner, "/v1/organizers", map[string]any{"name": name})
	return s.post(t, owner, "/v1/tasks", map[string]any{"organizerId": id(organizer), "name": name})
}

// dataset makes a retrieval dataset of the task with the measure AP, and returns its id. The members of more replace its members.
func (s *testServer) dataset(t testing.TB, owner, task, qrels string, more map[string]any) string {
	t.Helper()
	draft := map[string]any{
		"taskId": id(task), "name": "Dataset", "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
		"truths": []any{inline("qrels", qrels)}, "evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	}
	for name, value := range more {
		draft[name] = value
	}
	return id(s.post(t, owner, "/v1/datasets", draft))
}

// allOf returns the resources of all pages of a list.
func allOf[R any](t testing.TB, s *testServer, token, path string) (all []R) {
	t.Helper()
	for path != "" {
		var page struct {
			Data  []R
			Links struct{ Next string }
		}
		s.get(t, token, path, &page)
		all, path = append(all, page.Data...), page.Links.Next
	}
	return all
}

// noRates turns off rate limits, because acceptance tests send hundreds of requests from one caller at once.
const noRates = `{"write":{"perSecond":0},"tool":{"perSecond":0},"upload":{"perSecond":0}}`

// setup serves over a new folder, and returns the setup for the acceptance tests.
func setup(t *testing.T, flags ...string) acceptancetest.Setup {
	t.Helper()
	return serveWithoutWarnings(t, settingsOf(t, t.TempDir(), append(flags, "-demo=false", "-rates", noRates)...)).setup(t)
}

func (s *testServer) setup(t *testing.T) acceptancetest.Setup {
	return acceptancetest.Setup{
		URL: s.url, Client: s.client,
		Token: func(user string, groups ...string) string { return s.token(t, user, groups...) },
	}
}

// startDynamoDB starts a server for tables, and sets the environment of the test for it.
func startDynamoDB(t *testing.T) aws.Config {
	t.Helper()
	cfg := dynamotest.Start(t)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", *cfg.BaseEndpoint)
	t.Setenv("AWS_REGION", cfg.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	return cfg
}

func dynamoDBFlags(table string) []string {
	return []string{"-store", storeDynamoDB, "-create-table", "-table", table}
}
