package tools_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
)

// searched is the answer of serp as far as the tests look at it.
type searched struct {
	Run, Topic, Query               string
	Judged                          bool
	Retrieved, Position, TopicCount int
	Topics                          []string
	Results                         []struct {
		Rank            int
		Document, Title string
		Score           float64
		Grade           *int
		Passage         []struct {
			Text   string
			Marked bool
		}
		Before, After bool
	}
	Links struct{ Previous, Next string }
}

// told is the results in short: document, grade and passage, with the marked words in brackets.
func (s *searched) told() string {
	var all []string
	for _, r := range s.Results {
		text := fmt.Sprintf("%d%s", r.Rank, r.Document)
		if r.Grade != nil {
			text += fmt.Sprintf("(%d)", *r.Grade)
		}
		if len(r.Passage) > 0 {
			text += ": "
		}
		for _, p := range r.Passage {
			if p.Marked {
				p.Text = "[" + p.Text + "]"
			}
			text += p.Text
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestSerpByHand(t *testing.T) {
	s := newShowcase(t, record.Public)
	input := m{
		"run": named("mine", ranked("1 bxa", "2 c", "10 a")), "truth": sent("qrels.txt", keptQrels),
		"texts": sent("documents.tsv", keptDocuments, "queries.tsv", keptQueries),
	}
	for name, c := range map[string]struct {
		input m
		want  string
		query string
	}{
		"the first topic": {input, "1b(0): A [boat] floats.; 2x; 3a(2): An [anchor] holds a [boat].", "boats at anchor"},
		"another":         {with(input, "topic", "2"), "1c(1): A [canal] is dug.", "canals"},
		"no query":        {with(input, "topic", "10"), "1a: An anchor holds a boat.", ""},
		"another query":   {with(input, "query", "what FLOATS"), "1b(0): A boat [floats].; 2x; 3a(2): An anchor holds a boat.", "what FLOATS"},
		"less":            {with(input, "depth", 1), "1b(0): A [boat] floats.", "boats at anchor"},
		"no truth":        {with(input, "truth", nil, "depth", 1), "1b: A [boat] floats.", "boats at anchor"},
		"no texts":        {with(input, "texts", nil), "1b(0); 2x; 3a(2)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got searched
			s.Want(http.StatusOK, &got, "", http.MethodPost, "/v1/tools/serp", c.input)
			if got.told() != c.want || got.Query != c.query || got.Run != "mine" || got.Judged != (c.input["truth"] != nil) {
				t.Errorf("got %s\n%+v", got.told(), got)
			}
		})
	}
	page := s.page("", "serp", input)
	for _, want := range []string{"A <mark>boat</mark> floats.", "An <mark>anchor</mark> holds a <mark>boat</mark>.", "not relevant", "grade 2", "unjudged", "boats at anchor", "(1 of 3)", "3 of 3 documents", ">Next topic<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "Previous topic") {
		t.Error("there is a topic before the first")
	}
}

// Who follows the links sees every topic, in byte order.
func TestSerpLeadsToOtherTopics(t *testing.T) {
	s := newShowcase(t, record.Public)
	input := m{"run": named("mine", ranked("1 b", "2 c", "10 a")), "query": "of topic 1", "depth": 5}
	var got searched
	s.Want(http.StatusOK, &got, "", http.MethodPost, "/v1/tools/serp", input)
	seen := got.Topic
	for got.Links.Next != "" {
		next := got.Links.Next
		got = searched{}
		s.Want(http.StatusOK, &got, "", http.MethodGet, next, nil)
		if seen += " " + got.Topic; got.Query != "" || got.Links.Previous == "" {
			t.Errorf("topic %s has the query %q", got.Topic, got.Query)
		}
	}
	if seen != "1 10 2" || got.Position != 3 || strings.Join(got.Topics, " ") != seen {
		t.Errorf("the links lead to %s; %+v", seen, got)
	}
	long := with(input, "run", named("mine", ranked("1 abcdefghi", "2 c")+strings.Repeat("\n", 8000)))
	s.Want(http.StatusOK, &got, "", http.MethodPost, "/v1/tools/serp", with(long, "topic", "2"))
	page := s.page("", "serp", long)
	if got = (searched{}); strings.Contains(page, "Next topic") {
		t.Error("a page leads to an address that is too long")
	}
}

func TestSerpRefuses(t *testing.T) {
	s := newShowcase(t, record.Public)
	good := m{"run": named("mine", ranked("1 a", "2 a", "3 a", "4 a", "5 a", "6 a", "7 a"))}
	for name, c := range map[string]struct {
		input         m
		pointer, says string
	}{
		"no run":                  {m{}, "/run", ""},
		"a run of nothing":        {m{"run": m{"name": "x"}}, "/run", "needs runId or files"},
		"an id that is none":      {m{"run": m{"runId": "x"}}, "/run/runId", "is no id"},
		"a topic that is missing": {with(good, "topic", "8"), "/topic", "but for 1, 2, 3, 4, 5 and 2 others"},
		"depth beyond the most":   {with(good, "depth", 201), "/depth", ""},
		"a faulty run":            {m{"run": named("mine", "1 Q0 a\n")}, "/run/files/0", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			told := s.faulty(http.StatusUnprocessableEntity, "", "serp", c.input)
			if len(told) == 0 || told[0].Pointer != c.pointer && c.pointer != "/run" || !strings.Contains(told[0].Detail, c.says) {
				t.Errorf("it says %+v", told)
			}
		})
	}
}

// Of a stored run everybody sees what the resources show them: judgments are for the organizers.
func TestSerpOfAStoredRun(t *testing.T) {
	s := newShowcase(t, record.Public)
	input := m{"run": s.run(published, ranked("1 ab"), 1)}
	for user, want := range map[string]string{
		"":      "1a: An [anchor] holds a [boat].; 2b: A [boat] floats.",
		"alice": "1a: An [anchor] holds a [boat].; 2b: A [boat] floats.",
		"olga":  "1a(2): An [anchor] holds a [boat].; 2b(0): A [boat] floats.",
	} {
		var got searched
		s.Want(http.StatusOK, &got, user, http.MethodPost, "/v1/tools/serp", input)
		if got.told() != want || got.Judged != (user == "olga") || got.Run != "Lakeside" {
			t.Errorf("%q sees %s", user, got.told())
		}
	}
	s.Want(http.StatusForbidden, nil, "alice", http.MethodPost, "/v1/tools/serp", with(input, "truth", m{"datasetId": s.dataset.ID}))
}

// A run that is hidden is told of as one that is missing, and so are the texts of a dataset.
func TestSerpOfWhatIsHidden(t *testing.T) {
	s := newShowcase(t, record.Private)
	missing := record.NewID(s.Now())
	run := s.run(published, ranked("1 ab"), 1)
	s.Want(http.StatusOK, nil, "olga", http.MethodPost, "/v1/tools/serp", m{"run": run})
	for _, user := range []string{"", "stranger"} {
		for _, c := range []struct {
			hidden, missing m
			pointer         string
		}{
			{m{"run": run}, m{"run": m{"runId": missing}}, "/run/runId"},
			{
				m{"run": named("mine", ranked("1 ab")), "texts": m{"datasetId": s.dataset.ID}},
				m{"run": named("mine", ranked("1 ab")), "texts": m{"datasetId": missing}}, "/texts/datasetId",
			},
			{
				m{"run": named("mine", ranked("1 ab")), "truth": m{"datasetId": s.dataset.ID}},
				m{"run": named("mine", ranked("1 ab")), "truth": m{"datasetId": missing}}, "/truth/datasetId",
			},
		} {
			told, as := s.faulty(http.StatusNotFound, user, "serp", c.hidden), s.faulty(http.StatusNotFound, user, "serp", c.missing)
			if asJSON(t, told) != asJSON(t, as) || told[0].Pointer != c.pointer {
				t.Errorf("%q is told %+v of what is hidden, %+v of what is missing", user, told, as)
			}
		}
	}
}

func TestSerpKeepsTextsText(t *testing.T) {
	s := newShowcase(t, record.Public)
	runs, texts := intrusion()
	for _, topic := range intruders {
		for _, query := range []string{"", "<mark><b/data-intruder> water"} {
			input := m{"run": runs[0], "texts": texts, "topic": topic}
			if query != "" {
				input["query"] = query
			}
			page := s.page("", "serp", input)
			if found := unwanted(page); found != "" {
				t.Errorf("the page has %q", found)
			}
			if !strings.Contains(page, "&lt;script&gt;window.intruded=1&lt;/script&gt;") || !strings.Contains(page, "<mark>water</mark>") {
				t.Errorf("the page of topic %q with query %q does not show the texts as they are", topic, query)
			}
		}
	}
}
