package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/testing/acceptancetest"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"
)

func noEnv(string) string { return "" }

func TestParse_KeepsTheDevelopmentIssuerOnTheMachine(t *testing.T) {
	for _, args := range [][]string{{"-addr", ":80"}, {"-addr", "0.0.0.0:8080"}, {"-grpc-addr", ":50052"}, {"-addr", "192.0.2.1:8080"}} {
		if _, err := parse(args, noEnv, io.Discard); err == nil || !strings.Contains(err.Error(), "-issuer") {
			t.Errorf("%v: %v, want the advice to give -issuer", args, err)
		}
	}
	for _, args := range [][]string{
		{"-addr", "localhost:0"}, {"-addr", "[::1]:0"}, {"-grpc-addr", ""}, {"-addr", ":80", "-allow-dev-issuer"},
		{"-addr", ":80", "-issuer", "https://login.example.org", "-audience", "assay"},
	} {
		if _, err := parse(args, noEnv, io.Discard); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if c, err := parse([]string{"-issuer", "https://login.example.org", "-client-id", "page"}, noEnv, io.Discard); err != nil ||
		c.audience != "page" {
		t.Errorf("tokens of the client must be meant for %q: %v", c.audience, err)
	}
	if _, err := parse([]string{"-client-id", "page"}, noEnv, io.Discard); err == nil || !strings.Contains(err.Error(), "-issuer") {
		t.Errorf("a client without an issuer: %v", err)
	}
	if _, err := parse([]string{"-issuer", "https://login.example.org"}, noEnv, io.Discard); err == nil {
		t.Error("an issuer without an audience was accepted")
	}
}

func TestParse_ReadsTheEnvironment(t *testing.T) {
	env := map[string]string{"ASSAY_DATA": "elsewhere", "ASSAY_DEMO": "false", "ASSAY_ALLOW_DEV_ISSUER": "true"}
	c, err := parse([]string{"-data", "here"}, func(name string) string { return env[name] }, io.Discard)
	if err != nil || c.data != "here" || c.demo || !c.allowDevIssuer {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestScenario runs the whole scenario with real tokens. The server must log no warning.
func TestScenario(t *testing.T) { acceptancetest.Scenario(t, setup(t)) }

// The values equal the output of trec_eval 10.0 for the runs.
func TestDemo_IsALeaderboardOfRealRuns(t *testing.T) {
	var log bytes.Buffer
	t.Cleanup(func() { // It runs after the server has ended.
		if strings.Contains(log.String(), "method=POST") || !strings.Contains(log.String(), "method=GET") {
			t.Errorf("the log has not the requests of this test alone:\n%s", &log)
		}
	})
	s := serve(t, settingsOf(t, t.TempDir()), &log)
	var tasks struct{ Data []record.Task }
	s.get(t, "", "/v1/tasks", &tasks)
	if len(tasks.Data) != 1 {
		t.Fatalf("%d tasks, want the demo's", len(tasks.Data))
	}
	var board struct{ Data []record.Evaluation }
	s.get(t, "", "/v1/tasks/"+tasks.Data[0].ID+"/evaluations?sort=rank", &board)
	if len(board.Data) != 3 {
		t.Fatalf("%d evaluations, want three", len(board.Data))
	}
	for i, want := range []struct {
		team string
		rr   float64
	}{{"Manual ANCE", 0.8271}, {"ConvDR", 0.7196}, {"Manual BM25", 0.7085}} {
		got := board.Data[i]
		if got.Rank != i+1 || got.Team != want.team || math.Abs(*got.Measures["RR"]-want.rr) > 5e-5 {
			t.Errorf("rank %d: %s with RR %v, want %v", got.Rank, got.Team, *got.Measures["RR"], want)
		}
	}
}

func TestDemo_IsForAnEmptyStore(t *testing.T) {
	folder := t.TempDir()
	t.Run("first", func(t *testing.T) {
		s := startIn(t, folder, "-demo=false")
		s.post(t, s.token(t, "olivia"), "/v1/organizers", map[string]any{"name": "Lake Lab"})
	})
	s := startIn(t, folder)
	var list struct{ Data []record.Organizer }
	s.get(t, "", "/v1/organizers", &list)
	if len(list.Data) != 1 || list.Data[0].Name != "Lake Lab" {
		t.Errorf("%+v, want what was there before and nothing else", list.Data)
	}
}

func TestLog_IsShortOrJSON(t *testing.T) {
	for form, want := range map[string]string{
		"short": "time=08:00:00 msg=request method=GET took=1.23ms\n",
		"json":  `{"time":"2026-05-04T08:00:00Z","level":"INFO","msg":"request","method":"GET","requestId":"x","took":1234567}` + "\n",
	} {
		var out strings.Builder
		r := slog.NewRecord(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC), slog.LevelInfo, "request", 0)
		r.Add("method", "GET", "requestId", "x", "took", 1234567*time.Nanosecond)
		if err := newLog(form, &out).Handler().Handle(t.Context(), r); err != nil || out.String() != want {
			t.Errorf("%s: %v %q, want %q", form, err, out.String(), want)
		}
	}
	if _, err := parse([]string{"-log", "xml"}, noEnv, io.Discard); err == nil {
		t.Error("a form that there is not is taken")
	}
}

func TestRun_RefusesDataInUse(t *testing.T) {
	folder := t.TempDir()
	startIn(t, folder, "-demo=false")
	err := run(t.Context(), settingsOf(t, folder), io.Discard, io.Discard, func(*program) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("%v, want the name of the file that is in use", err)
	}
}

// The server deletes files that no record names after some days. So it must refuse the files of another table.
func TestRun_RefusesFilesOfAnotherTable(t *testing.T) {
	data := t.TempDir()
	serve := func() error { // serves until the server is ready
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		return run(ctx, settingsOf(t, data, "-grpc-addr", ""), io.Discard, io.Discard, func(*program) { stop() })
	}
	if err := errors.Join(serve(), serve()); err != nil {
		t.Fatal(err)
	}
	table, aside := filepath.Join(data, "table.db"), filepath.Join(data, "aside.db")
	if err := os.Rename(table, aside); err != nil {
		t.Fatal(err)
	}
	if err := serve(); err == nil || !strings.Contains(err.Error(), "another table") {
		t.Errorf("another table: %v", err)
	}
	if err := errors.Join(os.Rename(aside, table), serve()); err != nil {
		t.Errorf("the table of the files again: %v", err)
	}
}

// With an extra slash in the issuer every token would be refused. The program must report this instead of serving.
func TestRun_NamesTheIssuerOfTheDiscoveryDocument(t *testing.T) {
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"issuer":"http://%s","jwks_uri":"http://%s/keys"}`, r.Host, r.Host)
	}))
	defer issuer.Close()
	c := settingsOf(t, t.TempDir(), "-grpc-addr", "", "-issuer", issuer.URL+"/", "-audience", "assay")
	err := run(t.Context(), c, io.Discard, io.Discard, func(*program) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), strconv.Quote(issuer.URL)) {
		t.Errorf("%v, want the advice to give %s", err, issuer.URL)
	}
}

// An unreachable issuer is contacted again when a token arrives.
func TestRun_ServesWhileTheIssuerIsDown(t *testing.T) {
	start(t, "-demo=false", "-issuer", "http://127.0.0.1:1", "-audience", "assay")
}

// At its start the server prints which addresses it accepts. -issuer-verifies-email needs -issuer.
func TestServer_SaysWhichAddressesCount(t *testing.T) {
	issuer := []string{"-issuer", "http://127.0.0.1:1", "-audience", "assay"}
	smtp := []string{"-smtp", "smtp://127.0.0.1:1", "-mail-from", "assay@lab.example"}
	for _, test := range []struct {
		flags []string
		says  string
	}{
		{nil, "No e-mails are sent, because -smtp is not set. Organizers are shown addresses that tokens say are confirmed " +
			"(email_verified is true)."},
		{smtp, "E-mails go to addresses that tokens say are confirmed (email_verified is true), and organizers are shown only these."},
		{append(append(smtp, issuer...), "-issuer-verifies-email"), "E-mails go to addresses of which no token says that they are not confirmed"},
	} {
		c := settingsOf(t, t.TempDir(), append(test.flags, "-demo=false")...)
		var out strings.Builder
		ctx, stop := context.WithCancel(t.Context())
		err := run(ctx, c, &out, io.Discard, func(p *program) {
			if p.id.VerifiesEmail != c.verifiesEmail {
				t.Errorf("%v: the tokens are read with VerifiesEmail %v", test.flags, p.id.VerifiesEmail)
			}
			stop()
		})
		if err != nil || !strings.Contains(out.String(), test.says) {
			t.Errorf("%v: %v, %s", test.flags, err, out.String())
		}
	}
	if _, err := parse([]string{"-issuer-verifies-email"}, noEnv, io.Discard); err == nil {
		t.Error("the development issuer needs no word of the operator")
	}
}

func TestDevIssuer_GivesNoTokensToOtherOrigins(t *testing.T) {
	s := start(t, "-demo=false")
	for target, want := range map[string]string{"/dev/token": "", "/v1/tasks": "*", "/files/x": "*"} {
		r := request(t, http.MethodOptions, s.url+target, nil)
		r.Header.Set("Origin", "https://elsewhere.example")
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: Access-Control-Allow-Origin %q, want %q", target, got, want)
		}
	}
}

func TestServer_ReclaimsOnlyItsOwnLeases(t *testing.T) {
	reclaimOwnLeases(t, func() (blob.Store, []string) {
		data := t.TempDir()
		files, err := directory.Open(filepath.Join(data, "files"), "http://127.0.0.1/files")
		if err != nil {
			t.Fatal(err)
		}
		return files, []string{"-data", data}
	})
}

// reclaimOwnLeases starts servers over one table of DynamoDB and over the files of openFiles. At its start each server must continue the
// leases of an earlier process at its address, and no others.
func reclaimOwnLeases(t *testing.T, openFiles func() (blob.Store, []string)) {
	t.Helper()
	name := dynamotest.TableName()
	table := dynamo.New(startDynamoDB(t), name)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := recordtest.New(t, table)
	b.Put(record.NewTableIdentity(time.Now()))
	files, flags := openFiles()
	b.Files = files
	flags = append(append(flags, dynamoDBFlags(name)...), "-demo=false")
	own, err := net.ResolveTCPAddr("tcp", programtest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	dataset := b.Task().Dataset(recordtest.Measures("AP"), b.Truths("qrels", "1 0 a 1\n"))
	content := recordtest.Content("run", "1 Q0 a 1 2.5 x\n")
	leased := dataset.Run("ann", recordtest.InState(record.Evaluating), content, func(r *recordtest.Run) {
		r.Lease = &record.Lease{ID: record.NewID(time.Now()), Holder: holder(own), Until: record.At(time.Now().Add(time.Hour))}
	})
	waiting := dataset.Run("bob", recordtest.Queued, content)
	run := func(id string) *record.RunItem { return recordtest.Get[record.RunItem](t, b.Store, record.RunKey(id)) }
	await := func(id string) {
		t.Helper()
		waittest.Value(t, "the run has ended", func() (record.RunState, bool) {
			state := run(id).State
			return state, state.Ended()
		})
	}
	start(t, flags...)
	await(waiting.ID) // A server reclaims leases only at its start.
	if run(leased.ID).Lease == nil {
		t.Fatal("another server took the run")
	}
	start(t, append(flags, "-addr", own.String())...)
	await(leased.ID)
}

// No parent of an existing URL answers 404. This holds for operations on the demo, signed links and the development issuer.
func TestParents_AreNeverMissing(t *testing.T) {
	s := start(t)
	admin := s.token(t, "root", "admins")
	status := func(token, target string) int { return s.send(t, token, http.MethodGet, target, nil).status }
	first := func(target string) (resource map[string]any) {
		t.Helper()
		var p struct{ Data []map[string]any }
		s.get(t, admin, target, &p)
		return p.Data[0]
	}
	ids := map[string]string{"{$}": "", "{tool}": "evaluator"}
	for _, list := range []string{"organizers", "tasks", "datasets", "runs", "evaluations", "users"} {
		ids["{"+strings.TrimSuffix(list, "s")+"Id}"] = first("/v1/" + list)["id"].(string)
	}
	for _, list := range []string{"registrations", "submissions"} {
		ids["{"+strings.TrimSuffix(list, "s")+"Id}"] = first("/v1/tasks/" + ids["{taskId}"] + "/" + list)["id"].(string)
	}
	ids["{componentId}"] = first("/v1/platform/components")["id"].(string)
	ids["{userId}"] = first("/v1/organizers/" + ids["{organizerId}"] + "/members")["id"].(string)

	var run struct{ Files []struct{ URL string } }
	s.get(t, admin, "/v1/runs/"+ids["{runId}"], &run)
	file, err := url.Parse(run.Files[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{file.Path: true, "/dev/token": true, "/dev/jwks.json": true, "/dev/.well-known/openid-configuration": true}
	for _, op := range functions.Operations() {
		filled := op.Path
		for name, id := range ids {
			filled = strings.ReplaceAll(filled, name, id)
		}
		if op.Method == http.MethodGet {
			paths[filled] = true
		}
	}
	parents := map[string]bool{}
	for p := range paths {
		for p = path.Dir(p); p != "/"; p = path.Dir(p) {
			parents[p] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(parents)) {
		switch {
		case strings.HasSuffix(p, "/unsubscriptions"): // Only recipients of a link know this path.
		case strings.Contains(p, "{"): // The demo has no such resource.
			if !paths[p] {
				t.Errorf("GET %s is no operation, and there is something under it", p)
			}
		case status(admin, p) == http.StatusNotFound:
			t.Errorf("GET %s: 404, and there is something under it", p)
		case status("", p) == http.StatusNotFound && !strings.Contains(p, "/registrations/"): // Paths of a hidden team are hidden, too.
			t.Errorf("GET %s: 404 without a login, and there is something under it", p)
		}
	}
	for _, missing := range []string{"/dev/none", "/v1/none", "/fil"} {
		if status := status("", missing); status != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", missing, status)
		}
	}
}

func TestExecute_NamesTheCommands(t *testing.T) {
	err := execute(t.Context(), []string{"sreve"}, noEnv, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"sreve"; the commands are `) || !strings.Contains(err.Error(), "serve") {
		t.Errorf("an unknown command: %v", err)
	}
	for _, args := range [][]string{{"-log", "xml"}, {"serve", "-log", "xml"}} {
		if err := execute(t.Context(), args, noEnv, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-log") {
			t.Errorf("%q parses no flags of the server: %v", args, err)
		}
	}
}

// TestCreate_ManyAtOnceInOneParent creates tasks as all members of one organizer at the same time. No answer may ask to try again.
func TestCreate_ManyAtOnceInOneParent(t *testing.T) {
	s := start(t, "-demo=false", "-rates", noRates)
	tokens, organizers := makers(t, s, 64, true)
	var all sync.WaitGroup
	for i, token := range tokens {
		all.Go(func() {
			for n := range 6 {
				draft := map[string]any{"organizerId": organizers[i], "name": fmt.Sprintf("Task %d of %d", n, i)}
				if a := s.send(t, token, http.MethodPost, "/v1/tasks", draft); a.status != http.StatusCreated {
					t.Errorf("status %d: %s", a.status, a.body)
				}
			}
		})
	}
	all.Wait()
	if a := s.send(t, tokens[0], http.MethodDelete, "/v1/organizers/"+organizers[0], nil); a.status != http.StatusConflict {
		t.Errorf("an organizer with tasks is deleted: status %d", a.status)
	}
}
