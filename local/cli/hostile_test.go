package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/signin"
	"assay/shared/domain/record"
)

// answering starts a server that answers each path with a text, and other paths with 404. authorizations returns the received headers.
func answering(t *testing.T, answers map[string]string) (url string, authorizations func() string) {
	t.Helper()
	var got strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.WriteString(r.Header.Get("Authorization"))
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(answer, "HOST", r.Host))
	}))
	t.Cleanup(s.Close)
	return s.URL, got.String
}

const someTask = "01K0000000000000000000000A"

// TestToken_OfTheEnvironmentIsSentOnlyToItsServer names a task by a link to another server.
func TestToken_OfTheEnvironmentIsSentOnlyToItsServer(t *testing.T) {
	answers := map[string]string{"/v1/tasks/" + someTask: `{"id":"` + someTask + `"}`, "/v1/datasets": `{"data":[]}`}
	own, ownGot := answering(t, answers)
	other, otherGot := answering(t, answers)
	for name, of := range map[string]map[string]string{
		"ASSAY_URL": {"ASSAY_URL": own + "/", "ASSAY_TOKEN": "secret"}, "no server": {"ASSAY_TOKEN": "secret"},
		"a server whose name begins the same": {"ASSAY_URL": other + "0", "ASSAY_TOKEN": "secret"},
	} {
		p := local(t)
		p.env = of
		p.want(done, "datasets", other+"/tasks/"+someTask)
		if got := otherGot(); got != "" {
			t.Errorf("%s: another server gets %q", name, got)
		}
	}
	p := local(t)
	p.env = map[string]string{"ASSAY_URL": own + "/", "ASSAY_TOKEN": "secret"}
	p.want(done, "datasets", own+"/tasks/"+someTask)
	p.env["ASSAY_URL"], p.env["ASSAY_TOKEN"] = "", "secret\n" // Files end with a line break.
	p.want(done, "datasets", someTask, "--server", own)
	if got := ownGot(); got != strings.Repeat("Bearer secret", 4) {
		t.Errorf("its own server gets %q", got)
	}
}

// TestAnswers_OfBrokenServersAreRefusedOrPlain answers with content that the API never has, and with texts that would control terminals or
// break tables.
func TestAnswers_OfBrokenServersAreRefusedOrPlain(t *testing.T) {
	url, _ := answering(t, map[string]string{
		"/v1/tools/significance": `{"measure":"AP","runs":[],"pairs":[{"first":7,"second":-1},{"first":[],"second":"x"}]}`,
		"/v1/tasks":              `{"data":[{"id":"1","name":"Lake\nforged\tline\u001b[2J"},{"id":"2","name":"same"},{"id":"3","name":"Same"},{"id":"4","name":"C1 ` + "\u009b" + `2J, ` + "\u202e" + `back"}]}`,
		"/v1/runs/1":             `{"id":"1","state":"completed","logTail":"x","log":{"url":"http://HOST/log"}}`,
		"/log":                   "\x1b]0;owned\x07one\r\ntwo \u00e9\u202e\n",
		"/v1/user/tokens":        "<!doctype html>",
		"/v1/tasks/" + someTask:  `{"id":"` + someTask + `"}`,
		"/v1/datasets":           `{"data":[{"id":"d"}]}`,
		"/v1/tools/leaderboard": `{"columns":[{"key":"F1(positive='not spam')"},{"key":"y","title":"x\nforged\tcell"}],"entries":[{"rank":1,"team":"Otters","hidden":"x\ny","runId":"r",
			"measures":{"F1(positive='not spam')":0.5,"y":1}},{"team":"Seals","runId":"s","measures":{}}],"groupsNote":"Two that share a letter may differ."}`,
	})
	p := local(t)
	const board = "RANK  GROUP  TEAM          RUN  F1(positive='not spam')  x forged cell\n" +
		"(1)   -      Otters (x y)  r    0.5000                   1.0000\n" +
		"-     -      Seals         s    -                        -\n" +
		"Others do not see the runs whose ranks are in parentheses. All ranks count them. The ranks shown to all who see the task: --public.\n" +
		"Two that share a letter may differ.\n"
	if got := p.want(done, "leaderboard", someTask, "--server", url); got != board {
		t.Errorf("the leaderboard is\n%s", got)
	}
	p.says(done, []string{"AP"}, "compare", "1", "2", "--server", url)
	if got := p.want(done, "tasks", "--server", url); strings.Count(got, "\n") != 5 || !strings.Contains(got, "Lake forged line�[2J  -") {
		t.Errorf("tasks are\n%s", got)
	}
	p.says(failed, []string{"Which task is meant?", "1  Lake forged line", "its ID"}, "datasets", "", "--server", url)
	if got := p.want(done, "logs", "1", "--server", url); got != "�]0;owned�one \ntwo é�\n" {
		t.Errorf("the log is %q", got)
	}
	p.says(failed, []string{"is it a server of Assay?"}, "tokens", "--server", url)
	if got := p.want(done, "tasks", "4", "--server", url, "--json"); !strings.Contains(got, `"C1 \u009b2J, \u202eback"`) {
		t.Errorf("as JSON, tasks are\n%s", got)
	}
}

// TestFiles_OfServersStayInTheFolder exports and downloads from a server whose ids lead out of the folder, and into a folder with symbolic
// links to other folders.
func TestFiles_OfServersStayInTheFolder(t *testing.T) {
	const file = `"name":"keys","size":4,"sha256":"DIGEST","url":"http://HOST/file"`
	answers := map[string]string{
		"/v1/tasks/" + someTask: `{"id":"` + someTask + `","name":"Lakes"}`, "/file": "mine",
		"/v1/datasets":   `{"data":[{"id":"d","name":"Lakes","inputs":[{` + file + `}]}]}`,
		"/v1/datasets/d": `{"inputs":[{` + file + `}]}`,
	}
	for _, list := range []string{"registrations", "submissions", "evaluations", "announcements"} {
		answers["/v1/tasks/"+someTask+"/"+list] = `{"data":[]}`
	}
	const outside = "../../../outside"
	answers["/v1/runs"] = `{"data":[{"id":"` + outside + `","datasetId":"d","files":[{` + file + `}]}]}`
	answers["/v1/runs/"+outside] = `{"files":[{` + file + `}]}`
	digest := sha256.Sum256([]byte("mine"))
	for path, answer := range answers {
		answers[path] = strings.ReplaceAll(answer, "DIGEST", hex.EncodeToString(digest[:]))
	}
	url, _ := answering(t, answers)
	for name, prepare := range map[string]func(folder, outside string) error{
		"a file": func(folder, outside string) error {
			return os.Symlink(filepath.Join(outside, "keys"), filepath.Join(folder, "Lakes", "keys.part"))
		},
		"a folder": func(folder, outside string) error {
			return errors.Join(os.Remove(filepath.Join(folder, "Lakes")), os.Symlink(outside, filepath.Join(folder, "Lakes")))
		},
	} {
		p := local(t)
		folder := filepath.Join(p.folder, "saved")
		elsewhere := filepath.Join(p.folder, "outside")
		err := errors.Join(os.MkdirAll(filepath.Join(folder, "Lakes"), 0o700), os.Mkdir(elsewhere, 0o700), prepare(folder, elsewhere))
		if err != nil {
			t.Fatal(err)
		}
		p.says(failed, []string{"escapes"}, "download", someTask, "-o", folder, "--server", url)
		p.says(done, []string{"1 file of runs"}, "export", someTask, "-o", folder, "--server", url)
		if found, err := os.ReadDir(elsewhere); err != nil || len(found) > 0 {
			t.Errorf("%s: outside of the folder there is %v, %v", name, found, err)
		}
	}
}

// TestExport_ChangesOnlyItsOwnFiles exports into a folder with other files. The server gives ids that lead to them, and the contents of an
// earlier export name them.
func TestExport_ChangesOnlyItsOwnFiles(t *testing.T) {
	digest := sha256.Sum256([]byte("mine"))
	file := `"name":"config","size":4,"sha256":"` + hex.EncodeToString(digest[:]) + `","url":"http://HOST/file"`
	answers := map[string]string{"/v1/tasks/" + someTask: `{"id":"` + someTask + `","name":"Lakes"}`, "/file": "mine",
		"/v1/datasets": `{"data":[]}`, "/v1/runs/.git": `{"files":[{` + file + `}]}`,
		"/v1/runs": `{"data":[{"id":".git","datasetId":"..","files":[{` + file + `}]}]}`}
	for _, list := range []string{"submissions", "evaluations", "announcements"} {
		answers["/v1/tasks/"+someTask+"/"+list] = `{"data":[]}`
	}
	url, _ := answering(t, answers)
	p := local(t)
	folder := filepath.Join(p.folder, "saved")
	others := []string{".git/config", "paper.tex", "runs.tex", "data.csv", "files/paper.tex", "files/a/b/c/paper.tex"}
	var named []string
	for _, name := range others {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("Own."), 0o600)); err != nil {
			t.Fatal(err)
		}
		named = append(named, name, "files/a/../../"+name, "./"+name)
	}
	contents, err := json.Marshal(map[string]any{"taskId": someTask, "files": named})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "export.json"), contents, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // The second export reads the contents that the first one wrote.
		p.says(done, []string{"1 file of runs", "Also in " + folder}, "export", someTask, "-o", folder, "--server", url)
		for _, name := range others {
			if got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name))); string(got) != "Own." {
				t.Errorf("%s has %q, %v", name, got, err)
			}
		}
	}
}

// TestIsExported_KnowsTheNamesOfFiles checks that export recognizes the names of its own files, whatever their owners called them.
func TestIsExported_KnowsTheNamesOfFiles(t *testing.T) {
	for _, name := range []string{"run.txt", "..", ".x", "a b", " a ", "a/b", "\xff", "é.txt", "NUL", strings.Repeat("é", 200),
		strings.Repeat("a", 140) + " " + strings.Repeat(" b", 40), strings.Repeat("a", 150) + " b"} {
		if saved := "files/d/r/" + fileName(name, "0"); !isExported(saved) {
			t.Errorf("%q is saved as %q, which export does not know", name, saved)
		}
	}
}

// TestAnswers_WithoutAnEndAreRefused answers with content that would take all memory or never end.
func TestAnswers_WithoutAnEndAreRefused(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	url, _ := answering(t, map[string]string{
		"/v1/tasks":       `{"data":[],"links":{"next":"/v1/tasks"}}`,
		"/v1/user/tokens": `{"data":[{"id":"1","name":` + deep + `}]}`,
		"/v1/runs/1":      `{"id":"1","state":"completed","logTail":"x","log":{"url":"http://HOST/log"}}`,
		"/log":            strings.Repeat("line\n", 20<<20),
		"/info":           `{"issuer":"http://HOST/issuer","clientId":"assay"}`,
		"/issuer/.well-known/openid-configuration": `{"issuer":"http://HOST/issuer","x":"` + strings.Repeat("x", 70<<20) + `"}`,
	})
	p := local(t)
	p.says(failed, []string{"without an end"}, "tasks", "--server", url)
	p.says(failed, []string{"more than 64 MiB or 32 levels"}, "tokens", "--server", url, "--json")
	if got := p.want(done, "logs", "1", "--server", url); len(got) != 64<<20 {
		t.Errorf("the log has %d bytes", len(got))
	}
	p.says(failed, []string{"sign-in issuer", "more than 64 MiB"}, "login", url)
}

// TestLinks_AreSecrets checks that errors do not print links to files, because every reader of the output could use them. The only requests
// to a link of an upload are PUTs.
func TestLinks_AreSecrets(t *testing.T) {
	somewhere := client.New(nil, "", func(string, time.Duration) {})
	var methods []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer s.Close()
	path := local(t).write("run.txt", goodRun)
	for _, to := range []string{s.URL, "http://127.0.0.1:1"} {
		ctx, stop := context.WithCancel(t.Context())
		var said error
		link := func(context.Context) (*record.Upload, error) {
			var up record.Upload
			return &up, json.Unmarshal([]byte(`{"method":"DELETE","url":"`+to+`/file?signature=secret"}`), &up)
		}
		first := true
		err := somewhere.Send(ctx, path, func(ctx context.Context) (*record.Upload, error) {
			if !first {
				stop()
				return nil, errors.New("over")
			}
			first = false
			return link(ctx)
		}, func(string, int64, int64) {})
		stop()
		said = err
		if said == nil || strings.Contains(said.Error(), "secret") {
			t.Errorf("the error is %v", said)
		}
	}
	if !slices.Equal(methods, []string{http.MethodPut}) {
		t.Errorf("the requests are %v", methods)
	}
}

// laughing returns a file whose aliases multiply each other (the billion laughs).
func laughing(levels int) string {
	var b strings.Builder
	b.WriteString("task:\n  name: x\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range levels {
		fmt.Fprintf(&b, "  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return b.String()
}

// TestExport_CountsNoFileAfterAnError exports from a server that fails in the middle.
func TestExport_CountsNoFileAfterAnError(t *testing.T) {
	answers := map[string]string{"/v1/tasks/" + someTask: `{"id":"` + someTask + `","name":"x"}`, "/v1/datasets": `{"data":[]}`,
		"/v1/runs": `{"data":[{"id":"2","datasetId":"1","files":[{"name":"run.txt","size":1,"sha256":"0"}]}]}`}
	for _, list := range []string{"registrations", "submissions", "evaluations", "announcements"} {
		answers["/v1/tasks/"+someTask+"/"+list] = `{"data":[]}`
	}
	url, _ := answering(t, answers)
	p := local(t)
	if got := p.says(failed, []string{"404"}, "export", someTask, "--server", url, "-o", p.folder); strings.Contains(got, "left out") {
		t.Errorf("it says what it does not know:\n%s", got)
	}
	if lists, err := filepath.Glob(filepath.Join(p.folder, "*.*")); err != nil || len(lists) > 0 {
		t.Errorf("an export that failed looks whole: %v, %v", lists, err)
	}
}

// TestApply_RefusesWhatJSONLacks applies YAML files that are no declared files, or that would take all memory.
func TestApply_RefusesWhatJSONLacks(t *testing.T) {
	for content, want := range map[string]string{
		"task: {name: x}\ndatasets: [{name: [a]}]\n": "task.yaml:2: datasets[0].name: is missing, no text",
		"task: {name: x}\ndatasets: [null]\n":        "task.yaml:2: datasets[0].name: is missing, no text",
		"task: {name: 2026}\n":                       "task.yaml:1: task.name: is missing, or no text",
		"task: {name: x, quota: .nan}\n":             "NaN",
		"{}":                                         "task.yaml:1: task.name: is missing",
		"tsk: {name: x}\n":                           `task.yaml:1: tsk: is no member of the file. Did you mean "task"?`,
		"organizer: {name: x}\ntask: {name: x}\n":    "task.yaml:1: organizer: must not be a value of the kind object",
		"task:\n  name: [x\n":                        "task.yaml: near line 1: did not find",
		"task: {name: x}\n#" + strings.Repeat("#", 4<<20) + "\nunknown: 1\n": "unknown",
		"task: {name: x}\n#" + strings.Repeat("#", 5<<20) + "\n":             "more than 5 MiB",
		"task: {name: x, l: " + strings.Repeat("[", 200_000):                 "depth",
		"task:\n  l:\n    " + strings.Repeat("- ", 200_000) + "\n":           "depth",
		laughing(9):                        "aliasing",
		"task: &a {name: x, self: *a}\n":   "contains itself",
		"task: {name: x, name: y}\n":       "already defined",
		"task: {name: x, task: 1, 2: y}\n": "unsupported",
	} {
		p := local(t)
		p.says(fileRefused, []string{want}, "apply", p.write("task.yaml", content), "--server", "http://127.0.0.1:1")
	}
}

// TestFresh_UsesTokensOfOtherProcesses replaces an expired token while another process signs in to another server, also replaces the token,
// or signs out.
func TestFresh_UsesTokensOfOtherProcesses(t *testing.T) {
	url, _ := answering(t, map[string]string{"/dev/token": `{"access_token":"next","expires_in":3600}`})
	folder := t.TempDir()
	open := func() *signin.File {
		t.Helper()
		f, err := signin.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	change := func(to func(*signin.File)) {
		t.Helper()
		f := open()
		to(f)
		if err := f.Save(); err != nil {
			t.Fatal(err)
		}
	}
	expired := signin.Credentials{Token: "old", ExpiresAt: time.Now().Add(-time.Hour), Developer: "ada"}
	for name, c := range map[string]struct {
		other func(*signin.File)
		want  string
	}{
		"elsewhere": {func(f *signin.File) { f.Servers["http://elsewhere"] = &signin.Credentials{Token: "elsewhere"} }, "next"},
		"replaced": {func(f *signin.File) {
			f.Servers[url] = &signin.Credentials{Token: "theirs", ExpiresAt: time.Now().Add(time.Hour)}
		}, "theirs"},
		"signed out": {func(f *signin.File) { delete(f.Servers, url) }, ""},
	} {
		change(func(f *signin.File) { f.Servers = map[string]*signin.Credentials{url: new(expired)} })
		before := open()
		change(c.other)
		elsewhere, err := json.Marshal(open().Servers["http://elsewhere"])
		if err != nil {
			t.Fatal(err)
		}
		if token, err := before.Fresh(context.Background(), url, false); err != nil || token != c.want {
			t.Errorf("%s: the token is %q, %v, want %q", name, token, err, c.want)
		}
		after, err := json.Marshal(open().Servers["http://elsewhere"])
		if err != nil || !bytes.Equal(elsewhere, after) || (open().Servers[url] == nil) != (c.want == "") {
			t.Errorf("%s: kept is %v, and elsewhere %s, %v", name, open().Servers[url], after, err)
		}
	}
}
