package tools_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/inputs"
	"assay/shared/domain/record"
)

// resultSummary describes each result: document, grade and passage, with the marked words in brackets.
func resultSummary(out tools.SerpOutput) string {
	var all []string
	for _, r := range out.Results {
		text := fmt.Sprintf("%d%s", r.Rank, r.Document)
		if r.Grade != nil {
			text += fmt.Sprintf("(%d)", *r.Grade)
		}
		if len(r.Pieces) > 0 {
			text += ": "
		}
		for _, p := range r.Pieces {
			if p.Marked {
				p.Text = "[" + p.Text + "]"
			}
			text += p.Text
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestSerp_ByHand(t *testing.T) {
	s := newToolServer(t, record.Public)
	input := object{
		"run": namedRun("mine", trecRun("1 bxa", "2 c", "10 a")), "truth": inlineFiles("qrels.txt", datasetQrels),
		"texts": inlineFiles("documents.tsv", datasetDocuments, "queries.tsv", datasetQueries),
	}
	for name, c := range map[string]struct {
		input object
		want  string
		query string
	}{
		"the first topic": {input, "1b(0): A [boat] floats.; 2x; 3a(2): An [anchor] holds a [boat].", "boats at anchor"},
		"another":         {withMembers(input, "topic", "2"), "1c(1): A [canal] is dug.", "canals"},
		"no query":        {withMembers(input, "topic", "10"), "1a: An anchor holds a boat.", ""},
		"another query": {withMembers(input, "query", "what FLOATS"), "1b(0): A boat [floats].; 2x; 3a(2): An anchor holds a boat.",
			"what FLOATS"},
		"less":     {withMembers(input, "depth", 1), "1b(0): A [boat] floats.", "boats at anchor"},
		"no truth": {withMembers(input, "truth", nil, "depth", 1), "1b: A [boat] floats.", "boats at anchor"},
		"no texts": {withMembers(input, "texts", nil), "1b(0); 2x; 3a(2)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer[tools.SerpOutput](s, "", "serp", c.input)
			if resultSummary(got) != c.want || got.Query != c.query || got.Run != "mine" || got.Judged != (c.input["truth"] != nil) {
				t.Errorf("got %s\n%+v", resultSummary(got), got)
			}
		})
	}
	page := s.page("", "serp", input)
	s.wantTexts(page, "A <mark>boat</mark> floats.", "An <mark>anchor</mark> holds a <mark>boat</mark>.", "not relevant", "grade 2",
		"unjudged", "boats at anchor", "(1 of 3)", "3 of 3 documents", ">Next topic<")
	if strings.Contains(page, "Previous topic") {
		t.Error("there is a topic before the first")
	}
}

// The links lead through all topics as people count.
func TestSerp_LinksToOtherTopics(t *testing.T) {
	s := newToolServer(t, record.Public)
	input := object{"run": namedRun("mine", trecRun("1 b", "2 c", "10 a")), "query": "of topic 1", "depth": 5}
	got := answer[tools.SerpOutput](s, "", "serp", input)
	seen := got.Topic
	for got.Links.Next != "" && len(seen) < 20 {
		next := got.Links.Next
		got = tools.SerpOutput{}
		s.Want(http.StatusOK, &got, "", http.MethodGet, next, nil)
		seen += " " + got.Topic
		if got.Query != "" || got.Links.Previous == "" {
			t.Errorf("topic %s has the query %q", got.Topic, got.Query)
		}
	}
	if seen != "1 2 10" || got.Position != 3 || strings.Join(got.Topics, " ") != seen {
		t.Errorf("the links lead to %s; %+v", seen, got)
	}
	long := withMembers(input, "run", namedRun("mine", trecRun("1 abcdefghi", "2 c")+strings.Repeat("\n", 8000)))
	if strings.Contains(s.page("", "serp", long), "Next topic") {
		t.Error("a page leads to an address that is too long")
	}
}

func TestSerp_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	good := object{"run": namedRun("mine", trecRun("1 a", "2 a", "3 a", "4 a", "5 a", "6 a", "7 a"))}
	s.wantRefusals("serp", map[string]refusal{
		"no run":                  {object{}, "/run", ""},
		"a run of nothing":        {object{"run": object{"name": "x"}}, "/run", "needs runId or files"},
		"an id that is none":      {object{"run": object{"runId": "x"}}, "/run/runId", "an id of 26 characters"},
		"a topic that is missing": {withMembers(good, "topic", "8"), "/topic", "but for 1, 2, 3, 4, 5 and 2 others"},
		"depth beyond the most":   {withMembers(good, "depth", 201), "/depth", ""},
		"a faulty run":            {object{"run": namedRun("mine", "1 Q0 a\n")}, "/run/files/0", "line 1"},
	})
}

// Everybody sees as much of a stored run as the resources show. Only organizers see judgments.
func TestSerp_OfAStoredRun(t *testing.T) {
	s := newToolServer(t, record.Public)
	input := object{"run": runRef(s.addRun(runSpec{public: true, content: trecRun("1 ab")}))}
	for user, want := range map[string]string{
		"":      "1a: An [anchor] holds a [boat].; 2b: A [boat] floats.",
		"alice": "1a: An [anchor] holds a [boat].; 2b: A [boat] floats.",
		"olga":  "1a(2): An [anchor] holds a [boat].; 2b(0): A [boat] floats.",
	} {
		got := answer[tools.SerpOutput](s, user, "serp", input)
		if resultSummary(got) != want || got.Judged != (user == "olga") || got.Run != "team of alice" {
			t.Errorf("%q sees %s", user, resultSummary(got))
		}
	}
	s.invoke(http.StatusForbidden, nil, "alice", "serp", withMembers(input, "truth", object{"datasetId": s.dataset.ID}))
}

func TestSerp_EscapesTexts(t *testing.T) {
	s := newToolServer(t, record.Public)
	runs, texts := injectionInput(t)
	for _, topic := range injections {
		for _, query := range []string{"", "<mark><b/data-intruder> water"} {
			input := object{"run": runs[0], "texts": texts, "topic": topic}
			if query != "" {
				input["query"] = query
			}
			page := s.checkPage("serp", input)
			if !strings.Contains(page, "&lt;script&gt;window.intruded=1&lt;/script&gt;") || !strings.Contains(page, "<mark>water</mark>") {
				t.Errorf("the page of topic %q with query %q does not show the texts as they are", topic, query)
			}
		}
	}
}

// A grade below 0 marks a pooled document that nobody judged. The document counts as unjudged.
func TestSerp_NegativeGrades(t *testing.T) {
	s := newToolServer(t, record.Public)
	page := s.page("", "serp", object{"run": namedRun("mine", trecRun("1 ab")), "truth": inlineFiles("qrels.txt", "1 0 a -1\n1 0 b 0\n")})
	if !strings.Contains(page, "unjudged (-1)") || strings.Count(page, "not relevant") != 1 || strings.Count(page, `class="grade0"`) != 1 {
		t.Errorf("the page says %s", page)
	}
}

// If an answer lacks texts, it names the files of the dataset that have no texts.
func TestTexts_ReportFaultsOfFiles(t *testing.T) {
	s := newToolServer(t, record.Public)
	first := runRef(s.addRun(runSpec{public: true, content: trecRun("1 ab")}))
	second := runRef(s.addRun(runSpec{public: true, content: trecRun("1 ba")}))
	texts := s.dataset.Inputs
	readme := s.records.File(record.HolderInputs, s.dataset.ID, "<b>readme</b>", "These are lakes.\n")
	large := readme
	large.Size = inputs.MaxStoredBytes
	for name, c := range map[string]struct {
		inputs []record.File
		file   string // the file with the fault
		says   string // empty: no fault
	}{
		"found":      {texts, "", ""},
		"found all":  {append(slices.Clone(texts), readme), "", ""},
		"no format":  {[]record.File{readme, texts[1]}, readme.Name, "known format"},
		"too large":  {[]record.File{large}, "", "so texts are not looked for"},
		"no inputs":  {nil, "", ""},
		"not stored": {[]record.File{{Name: "documents.tsv", SHA256: readme.SHA256, Size: 1, State: record.FilePending}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.dataset.Inputs = c.inputs
			record.Touch(s.dataset.DatasetItem, s.Now())
			s.records.Replace(s.dataset.DatasetItem)
			for tool, input := range map[string]object{"serp": {"run": first}, "diffir": {"runs": []any{first, second}}} {
				var got struct{ TextFaults []inputs.TextFault }
				s.invoke(http.StatusOK, &got, "", tool, input)
				page := s.page("", tool, input)
				if c.says == "" {
					if len(got.TextFaults) > 0 {
						t.Errorf("%s reports %+v", tool, got.TextFaults)
					}
					continue
				}
				if len(got.TextFaults) != 1 || got.TextFaults[0].File != c.file || !strings.Contains(got.TextFaults[0].Detail, c.says) {
					t.Errorf("%s reports %+v", tool, got.TextFaults)
				}
				if !strings.Contains(page, c.says) || strings.Contains(page, readme.Name) {
					t.Errorf("the page of %s does not say it", tool)
				}
			}
		})
	}
	s.dataset.Inputs = []record.File{texts[0], readme}
	record.Touch(s.dataset.DatasetItem, s.Now())
	s.records.Replace(s.dataset.DatasetItem)
	for query, want := range map[string]int{"": 1, "boats": 0} {
		var got struct{ TextFaults []inputs.TextFault }
		s.invoke(http.StatusOK, &got, "", "serp", object{"run": first, "query": query})
		if len(got.TextFaults) != want {
			t.Errorf("with the query %q it reports %+v", query, got.TextFaults)
		}
	}
}
