package functions_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
)

// The page marks and counts entries that others do not see, and links to the page that others see.
func TestLeaderboardPage_MarksWhatOthersAreNotShown(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enter("ada", "1,a\n2,b\n"), l.enter("bob", "1,a\n2,a\n")
	l.review(bob, true, false)
	registration := servertest.List[record.Registration](l.Server, "bob", l.task+"/registrations")[0]
	l.change("bob", l.task+"/registrations/"+registration.ID, map[string]any{"anonymous": true})
	has := func(page string, want bool, words ...string) {
		t.Helper()
		for _, word := range words {
			if strings.Contains(page, word) != want {
				t.Errorf("that the page has %q is not %v:\n%s", word, want, page)
			}
		}
	}
	for _, user := range []string{"ada", "olga"} {
		own := l.page(user, "best=false&limit=7")
		has(own, true, "All runs that you see", "Not public: 1 of 2 entries", ">not published</span>")
		has(own, user == "olga", "(alias "+registration.Alias+")</bdi>")
		link := regexp.MustCompile(`href="([^"]*)">As the public sees it`).FindStringSubmatch(own)
		if link == nil {
			t.Fatal("no link to the public view")
		}
		path := html.UnescapeString(link[1])
		public := l.page(user, path[strings.Index(path, "?")+1:])
		has(public, true, "All runs that everyone sees", "As you see it", registration.Alias, "limit=7", "view=public")
		has(public, true, "limit=200") // the command that gets a table of text
		has(public, false, "Not public:", "Team of", "not published", ada)
	}
	has(l.page("", "best=false"), true, "All runs that everyone sees")
	has(l.page("", "best=false"), false, "As the public sees it", "Team of", "Not public:")
}

// Every leaderboard shows the present label of each run of a team, and hides it together with the name of the team.
func TestLeaderboard_TellsRunsOfATeamApart(t *testing.T) {
	l := newLeaderboards(t)
	l.newDataset(map[string]any{
		"split": "validation", "runFormat": map[string]any{"kind": "trec-run"}, "truths": []any{servertest.Inline("qrels", "1 0 a 1\n1 0 b 0\n")},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	})
	enter := func(user, title, run string) (submission, runID string) {
		body := servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.txt", run))
		body["title"] = title
		body["paperUrl"] = "https://example.org/" + title
		body["visibility"] = "public"
		s := l.submit(user, body)
		l.evaluate(s.RunIDs[0])
		l.review(s.RunIDs[0], true, false)
		return l.task + "/submissions/" + s.ID, s.RunIDs[0]
	}
	_, _ = enter("ada", "plover", "1 Q0 b 1 2.0 lexical\n1 Q0 a 2 1.0 lexical\n")
	submission, run := enter("ada", "curlew", "1 Q0 a 1 2.0 dense\n1 Q0 b 2 1.0 dense\n")
	l.change("ada", "/v1/runs/"+run, map[string]any{"label": "second try"})
	filter := "filter[datasetId]=" + servertest.ID(l.dataset)
	all := func(user string) map[string]string {
		answers := map[string]string{}
		for name, accept := range map[string]string{"list": "application/json", "table of text": "text/csv", "page": "text/html"} {
			answers[name] = string(l.Want(http.StatusOK, nil, user, http.MethodGet, l.task+"/evaluations?best=true&"+filter, nil, "Accept",
				accept).Body)
		}
		for _, accept := range []string{"application/json", "text/html"} {
			answers["tool as "+accept] = string(l.Want(http.StatusOK, nil, user, http.MethodPost, "/v1/tools/leaderboard", map[string]any{
				"datasetId": servertest.ID(l.dataset)}, "Accept", accept).Body)
		}
		answers["run"] = string(l.Want(http.StatusOK, nil, user, http.MethodGet, "/v1/runs/"+run, nil).Body)
		answers["submission"] = string(l.Want(http.StatusOK, nil, user, http.MethodGet, submission, nil).Body)
		return answers
	}
	says := func(user string, want bool, words ...string) {
		t.Helper()
		for name, answer := range all(user) {
			for _, word := range words {
				if name == "run" && strings.Contains(word, "of ada") || name == "run" && strings.HasPrefix(word, "https") || name == "submission" &&
					!strings.HasPrefix(word, "curlew") {
					continue
				}
				if strings.Contains(answer, word) != want {
					t.Errorf("as %q, that the %s says %q is not %v:\n%s", user, name, word, want, answer)
				}
			}
		}
	}
	says("", true, "curlew", "second try", "dense", "https://example.org/curlew", "University of ada")
	day := "<time datetime=\"" + l.run("", run).CreatedAt.String()
	for name, answer := range all("") {
		if (name == "page" || name == "tool as text/html") &&
			(!strings.Contains(answer, day) || !strings.Contains(answer, "best of 2 runs here")) {
			t.Errorf("the %s does not say when the run was submitted, or of how many it is the best:\n%s", name, answer)
		}
	}
	page := l.page("", filter)
	if !strings.Contains(page, "best of 2 runs here") || strings.Contains(page, "lexical") {
		t.Error("the page does not begin with the best run of each team, or does not say how many it has")
	}
	page = l.page("", "best=false&"+filter)
	if !strings.Contains(page, "lexical") {
		t.Error("the page of all runs lacks one")
	}

	l.change("ada", submission, map[string]any{"title": "curlews", "paperUrl": "https://example.org/curlews"})
	registration := l.task + "/registrations/" + l.IDs("ada", l.task+"/registrations")[0]
	l.change("ada", registration, map[string]any{"affiliation": "Institute of ada"})
	says("", true, "curlews", "https://example.org/curlews", "Institute of ada")

	l.change("ada", registration, map[string]any{"anonymous": true})
	for _, user := range []string{"", "bob"} {
		says(user, false, "curlew", "second try", "dense", "https://example.org/curlew", "of ada")
	}
	for _, user := range []string{"ada", "olga"} {
		says(user, true, "curlews", "second try", "dense", "Institute of ada")
	}
}
