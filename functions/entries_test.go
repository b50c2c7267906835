package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
)

// What tells the runs of a team apart is on every leaderboard, follows its changes, and is kept back with the name of a team.
func TestLeaderboard_TellsRunsOfATeamApart(t *testing.T) {
	b := newBoards(t)
	body := newDatasetBody(b.task[len("/v1/tasks/"):])
	body["split"], body["runFormat"] = "validation", map[string]any{"kind": "trec-run"}
	body["evaluator"], body["truths"] = map[string]any{"kind": "retrieval", "measures": []string{"AP"}}, []any{inlineFile("qrels", "1 0 a 1\n1 0 b 0\n")}
	b.dataset = b.Create("olga", "/v1/datasets", body)[len("/v1/datasets/"):]
	enter := func(user, title, run string) (submission, runID string) {
		file := inlineFile("run.txt", run)
		file["datasetId"] = b.dataset
		var s record.Submission
		b.Want(http.StatusCreated, &s, user, http.MethodPost, b.task+"/submissions", map[string]any{
			"type": "upload", "title": title, "paperUrl": "https://example.org/" + title, "visibility": "public", "files": []any{file},
		})
		b.evaluate(s.RunIDs[0])
		b.review(s.RunIDs[0], true, false)
		return b.task + "/submissions/" + s.ID, s.RunIDs[0]
	}
	_, _ = enter("ada", "plover", "1 Q0 b 1 2.0 lexical\n1 Q0 a 2 1.0 lexical\n")
	submission, run := enter("ada", "curlew", "1 Q0 a 1 2.0 dense\n1 Q0 b 2 1.0 dense\n")
	b.Want(http.StatusOK, nil, "ada", http.MethodPatch, "/v1/runs/"+run, map[string]any{"label": "second try"})
	filter := "filter[datasetId]=" + b.dataset
	all := func(user string) map[string]string {
		answers := map[string]string{}
		for name, accept := range map[string]string{"list": "application/json", "table of text": "text/csv", "page": "text/html"} {
			answers[name] = string(b.Want(http.StatusOK, nil, user, http.MethodGet, b.task+"/evaluations?best=true&"+filter, nil, "Accept", accept).Body)
		}
		for _, accept := range []string{"application/json", "text/html"} {
			answers["tool as "+accept] = string(b.Want(http.StatusOK, nil, user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": b.dataset}, "Accept", accept).Body)
		}
		answers["run"] = string(b.Want(http.StatusOK, nil, user, http.MethodGet, "/v1/runs/"+run, nil).Body)
		answers["submission"] = string(b.Want(http.StatusOK, nil, user, http.MethodGet, submission, nil).Body)
		return answers
	}
	says := func(user string, want bool, words ...string) {
		t.Helper()
		for name, answer := range all(user) {
			for _, word := range words {
				if name == "run" && strings.Contains(word, "of ada") || name == "run" && strings.HasPrefix(word, "https") || name == "submission" && !strings.HasPrefix(word, "curlew") {
					continue
				}
				if strings.Contains(answer, word) != want {
					t.Errorf("as %q, that the %s says %q is not %v:\n%s", user, name, word, want, answer)
				}
			}
		}
	}
	says("", true, "curlew", "second try", "dense", "https://example.org/curlew", "University of ada")
	day := "<time datetime=\"" + b.state("", run).CreatedAt.String()
	for name, answer := range all("") {
		if (name == "page" || name == "tool as text/html") && (!strings.Contains(answer, day) || !strings.Contains(answer, "best of 2 runs")) {
			t.Errorf("the %s does not say when the run was submitted, or of how many it is the best:\n%s", name, answer)
		}
	}
	page := string(b.Do("", http.MethodGet, b.task+"/evaluations?"+filter, nil, "Accept", "text/html").Body)
	if !strings.Contains(page, "best of 2 runs") || strings.Contains(page, "lexical") {
		t.Error("the page does not begin with the best run of each team, or does not say how many it has")
	}
	if page = string(b.Do("", http.MethodGet, b.task+"/evaluations?best=false&"+filter, nil, "Accept", "text/html").Body); !strings.Contains(page, "lexical") {
		t.Error("the page of all runs lacks one")
	}

	b.Want(http.StatusOK, nil, "ada", http.MethodPatch, submission, map[string]any{"title": "curlews", "paperUrl": "https://example.org/curlews"})
	var found struct{ Data []record.Registration }
	b.Want(http.StatusOK, &found, "ada", http.MethodGet, b.task+"/registrations", nil)
	registration := b.task + "/registrations/" + found.Data[0].ID
	b.Want(http.StatusOK, nil, "ada", http.MethodPatch, registration, map[string]any{"affiliation": "Institute of ada"})
	says("", true, "curlews", "https://example.org/curlews", "Institute of ada")

	b.Want(http.StatusOK, nil, "ada", http.MethodPatch, registration, map[string]any{"anonymous": true})
	for _, user := range []string{"", "bob"} {
		says(user, false, "curlew", "second try", "dense", "https://example.org/curlew", "of ada")
	}
	for _, user := range []string{"ada", "olga"} {
		says(user, true, "curlews", "second try", "dense", "Institute of ada")
	}
}
