package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"

	"assay/shared/language/problem"
)

// foreign is a text with all characters that end a line, and with sequences that control terminals.
const foreign = "x\nFORGED a\r\nFORGED b\rFORGED c\vFORGED d\fFORGED e\u0085FORGED f\u2028FORGED g\u2029FORGED h" +
	"\x1b[2K\x1b[1GFORGED i\u202e\t\tj"

// hostile starts a server whose answers have foreign in the place of every text. Runs have the state.
func hostile(t *testing.T, state string) string {
	t.Helper()
	resource := map[string]any{"id": foreign, "datasetId": "d", "runId": "r", "taskId": someTask, "state": state,
		"columns":      []any{foreign},
		"evaluationId": "e", "measures": map[string]any{foreign: 0.5}, "reasons": map[string]any{foreign: foreign}, "uses": 1,
		"scopes":       []any{foreign},
		"terms":        map[string]any{"text": foreign, "version": 1},
		"registration": map[string]any{"mode": foreign}, "evaluator": map[string]any{"kind": foreign, "measures": []any{foreign}},
		"diagnostics": []any{map[string]any{"severity": "warning", "file": foreign, "message": foreign, "line": 1}},
		"problem":     map[string]any{"detail": foreign}, "members": []any{foreign}, "detail": foreign}
	for _, member := range []string{"name", "title", "team", "notice", "label", "alias", "kind", "subject", "secret", "link", "logTail",
		"affiliation", "contact", "role", "taskName", "organizerName", "url", "split", "expiresAt", "createdAt", "version"} {
		resource[member] = foreign
	}
	one := maps.Clone(resource)
	list := []any{resource}
	maps.Copy(one, map[string]any{"data": list, "registrations": list, "memberships": list, "runs": list, "effects": list,
		"entries": []any{map[string]any{"runId": foreign, "team": foreign, "measures": map[string]any{foreign: 1}, "rank": 1}},
		"columns": []any{map[string]any{"key": foreign, "title": foreign, "group": foreign}},
		"issuer":  foreign, "clientId": ""})
	return answer(t, http.StatusOK, one)
}

// answer starts a server that answers every request with the body.
func answer(t *testing.T, status int, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// invocations returns every command with valid arguments.
func invocations(p *person, of []command) (all [][]string) {
	file := p.write("run.txt", goodRun)
	declared := p.write("task.yaml", "organizer: x\ntask: {name: x}\ndatasets: [{name: y}]\n")
	flags := map[string][]string{"submit": {"--image", "x", "--dataset", "y"}, "review": {"--publish", "--filter", "states=completed"},
		"download": {"-o", p.folder}, "export": {"-o", p.folder}, "apply": {"--dry-run"}, "final": nil}
	for _, c := range of {
		words := strings.Fields(c.use)
		args := words[:1:1]
		for _, word := range words[1:] {
			switch word = strings.Trim(word, "[]."); {
			case word == "TASK" || word == "TASK|INVITATION":
				args = append(args, someTask)
			case c.use == "apply FILE":
				args = append(args, declared)
			case strings.Contains(word, "FILE"):
				if words[0] != "submit" {
					args = append(args, file)
				}
			case word == "URL":
			case strings.ToUpper(word) == word:
				args = append(args, "1")
			}
		}
		if c.run != nil {
			all = append(all, append(args, flags[words[0]]...))
		}
		for _, below := range invocations(p, c.commands) {
			all = append(all, append(words[:1:1], below...))
		}
	}
	return all
}

// TestForeignTexts_BeginNoLine runs every command against servers whose texts contain line ends. No printed line may begin with the rest of
// such a text, and no output may control a terminal.
func TestForeignTexts_BeginNoLine(t *testing.T) {
	document := func(kind *problem.Kind) map[string]any {
		return map[string]any{"type": kind.Type(), "title": foreign, "detail": foreign,
			"errors": []any{map[string]any{"pointer": "/" + foreign, "detail": foreign}}}
	}
	servers := map[string]string{"failed": hostile(t, "failed"), "completed": hostile(t, "completed"), "rejected": hostile(t, foreign),
		"texts instead": answer(t, http.StatusOK, foreign), "invalid": answer(t, http.StatusUnprocessableEntity, document(problem.Invalid)),
		"forbidden": answer(t, http.StatusForbidden, document(problem.Forbidden)), "page": answer(t, http.StatusNotFound, foreign)}
	said := 0
	for name, url := range servers {
		for _, g := range groups {
			for _, args := range invocations(local(t), g.commands) {
				for _, more := range [][]string{nil, {"--json"}} {
					p := local(t)
					p.env = map[string]string{"ASSAY_TOKEN": "secret", "ASSAY_URL": url}
					r := p.run(t.Context(), slices.Concat(args, more)...)
					printed := r.out + r.errs
					said += strings.Count(printed, "FORGED")
					for text := range strings.Lines(printed) {
						forged := strings.HasPrefix(text, "FORGED") && (args[0] != "logs" || more != nil) // A log contains lines of the program of a run.
						if forged || strings.ContainsFunc(strings.TrimSuffix(text, "\n"), steers) {
							t.Errorf("%s, assay %s: %q", name, strings.Join(slices.Concat(args, more), " "), text)
						}
					}
				}
			}
		}
	}
	if said < 1000 {
		t.Errorf("foreign texts are printed %d times", said)
	}
}

func steers(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }

// TestEvalAsTREC_PrintsNothingThatSteers evaluates files whose topics and tags would control a terminal.
func TestEvalAsTREC_PrintsNothingThatSteers(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", "\x1b[2J\u202e1 0 d1 1\n")
	run := p.write("run.txt", "\x1b[2J\u202e1 Q0 d1 1 2.0 \x1b]0;owned\x07\n")
	got := p.want(done, "eval", "--trec", "-q", "-m", "runid", "-m", "map", qrels, run)
	for text := range strings.Lines(got) {
		if strings.ContainsFunc(strings.TrimSuffix(text, "\n"), steers) {
			t.Errorf("%q", text)
		}
	}
	if !strings.Contains(got, "\t\ufffd[2J\ufffd1\t") {
		t.Errorf("the topic is missing in\n%s", got)
	}
}
