package tools_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/comparison"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// topicNames lists the topics in the order of the answer.
func topicNames(out tools.DiffirOutput) string {
	return strings.Join(lists.Map(out.Topics, func(t tools.DiffirTopic) string { return t.Topic }), " ")
}

// summarize describes each document of a ranking: id, grade, change from the first run, and the runs that lack it.
func summarize(out tools.DiffirOutput, topic, run int) string {
	var all []string
	for _, x := range out.Topics[topic].Rankings[run] {
		text := fmt.Sprintf("%d%s", x.Rank, x.Document)
		if x.Grade != nil {
			text += fmt.Sprintf("(%d)", *x.Grade)
		}
		all = append(all, text+x.Change+fmt.Sprint(x.Ranks)+strings.Join(x.Went, ","))
	}
	return strings.Join(all, " ")
}

func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprintf("%.4f", *x)
}

// The tests of package comparison derive the expected values by hand or take them from the paper.
func TestDiffir_ByHand(t *testing.T) {
	s := newToolServer(t, record.Public)
	input := object{
		"runs": []object{
			namedRun("first", trecRun("equal abc", "turned abc", "apart abc", "paper abcdefg", "alone ab")),
			namedRun("second", trecRun("equal abc", "turned acb", "apart def", "paper zcavwxy")),
		},
		"truth":   inlineFiles("qrels.txt", "equal 0 a 1\nturned 0 b 1\npaper 0 c 2\npaper 0 z 0\npaper 0 d 1\n"),
		"measure": "RR",
	}
	for order, want := range map[string]string{
		"overlap": "alone apart paper turned equal",
		// Both of the paper's rankings have a and c, in opposite order. The rankings of the topics alone and apart share no
		// document.
		"tau": "alone apart paper turned equal",
		// RR is 1/1 and 1/1, 1/2 and 1/3, 1/3 and 1/2. The truth has no judgments of the other topics.
		"measure": "paper turned equal alone apart",
	} {
		got := answer[tools.DiffirOutput](s, "", "diffir", withMembers(input, "order", order))
		if topicNames(got) != want || got.Order != order || got.TopicCount != 5 || got.Measure != "RR" || !got.Judged {
			t.Errorf("by %s the topics are %s, want %s; %+v", order, topicNames(got), want, got.Runs)
		}
	}
	got := answer[tools.DiffirOutput](s, "", "diffir", withMembers(input, "depth", 3))
	for i, want := range []string{
		"alone 0.0000 none none", "apart 0.0000 none none", "paper 0.2882 -1.0000 0.1667", "turned 0.9550 0.3333 0.1667",
		"equal 1.0000 1.0000 0.0000",
	} {
		x := got.Topics[i]
		if text := x.Topic + " " + number(&x.Overlap) + " " + number(x.Tau) + " " + number(x.Difference); text != want {
			t.Errorf("topic %d is %s, want %s", i, text, want)
		}
	}
	// Down to rank 3 the paper's rankings share a and c.
	paper := got.Topics[2]
	if c := paper.Comparisons[0].Shown; c.Kept != 0 || c.Moved != 2 || c.Came != 1 || c.Went != 1 {
		t.Errorf("changes %+v", c)
	}
	if first, want := summarize(got, 2, 0), "1a[1 3] 2b[2 0]second 3c(2)[3 2]"; first != want {
		t.Errorf("the first run has %s, want %s", first, want)
	}
	const second = "1z(0)came[0 1] 2c(2)moved[3 2] 3amoved[1 3]"
	if found := summarize(got, 2, 1); found != second {
		t.Errorf("the second run has %s, want %s", found, second)
	}
	const turned = "1akept[1 1] 2cmoved[3 2] 3b(1)moved[2 3]"
	if found := summarize(got, 3, 1); found != turned {
		t.Errorf("of the turned topic the second run has %s, want %s", found, turned)
	}
	if n := len(got.Topics[0].Rankings[1]); n != 0 || summarize(got, 0, 0) != "1a[1 0]second 2b[2 0]second" {
		t.Errorf("the second run has %d documents, the first %s", n, summarize(got, 0, 0))
	}
	page := s.page("", "diffir", withMembers(input, "depth", 3))
	s.wantTexts(page, "up 1, from rank 3", "down 2, from rank 1", "new", "gone", "grade 2", "not relevant", "unjudged", "same rank",
		`href="#t3-3"`, `id="t3-3"`, `<a href="#t3">`, "Nothing was retrieved")
}

// The difference of a topic is the greatest difference of a run from the first run.
func TestDiffir_OfSeveralRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var got tools.DiffirOutput
	input := object{
		"runs": []object{namedRun("x", trecRun("1 abc", "2 abc")), namedRun("x", trecRun("1 abc", "2 acb")),
			namedRun("z", trecRun("1 def", "2 acb"))},
		"p": 0.99, "depth": 2, "limit": 1,
	}
	s.invoke(http.StatusOK, &got, "", "diffir", input)
	if topicNames(got) != "1 2" || got.Topics[0].Overlap != 0 || number(&got.Topics[0].Comparisons[0].Overlap) != "1.0000" || got.Judged ||
		got.Measure != "" {
		t.Errorf("%+v", got)
	}
	if got.Topics[0].Rankings == nil || got.Topics[1].Rankings != nil || got.Topics[1].Comparisons[0].Shown != nil {
		t.Errorf("rankings are not shown of the first topic alone: %+v", got.Topics)
	}
	if got.Runs[1].Name != "x (2)" || summarize(got, 0, 0) != "1a[1 1 0]z 2b[2 2 0]z" {
		t.Errorf("the first of %+v has %s", got.Runs, summarize(got, 0, 0))
	}
	page := s.page("", "diffir", input)
	s.wantTexts(page, "gone from 3 \u2068z\u2069", "1 more topic with lesser differences", "There are no judgments here")
	if _, body, _ := strings.Cut(page, "</head>"); strings.Contains(body, "unjudged") {
		t.Error("the page calls documents unjudged, and there are no judgments")
	}
	// A run without a common document differs more than any order of the same documents, even if another run equals the first
	// run.
	s.invoke(http.StatusOK, &got, "", "diffir", withMembers(input, "order", "tau"))
	if topicNames(got) != "1 2" {
		t.Errorf("by tau the order is %s", topicNames(got))
	}
	s.invoke(http.StatusOK, &got, "", "diffir", withMembers(input, "topics", []string{"2"}))
	if got.TopicCount != 1 || topicNames(got) != "2" {
		t.Errorf("of the topic that is named there is %+v", got)
	}
}

// Rankings are read so deep that the documents below change the overlap by less than a millionth.
func TestDiffir_ReadsDeepEnough(t *testing.T) {
	s := newToolServer(t, record.Public)
	random := rand.New(rand.NewPCG(1, 2))
	runs, rankings := make([]strings.Builder, 2), make([]*comparison.Ranking, 2)
	for i := range runs {
		documents := make([]comparison.Document, 3000)
		for j := range documents {
			documents[j] = comparison.Document{ID: strconv.Itoa(j), Score: -float64(j) + float64(i)*random.Float64()*500}
		}
		slices.SortFunc(documents, func(a, b comparison.Document) int { return cmp.Compare(b.Score, a.Score) })
		for _, d := range documents {
			fmt.Fprintf(&runs[i], "1 Q0 %s 0 %.15g x\n", d.ID, d.Score)
		}
		rankings[i] = comparison.NewRanking(documents)
	}
	for p, compared := range map[float64]int{0.5: 1000, 0.9: 1000, 0.99: 1375} {
		got := answer[tools.DiffirOutput](s, "", "diffir", object{
			"runs": []object{namedRun("a", runs[0].String()), namedRun("b", runs[1].String())}, "p": p, "depth": 100})
		want := comparison.RankBiasedOverlap(rankings[0], rankings[1], p)
		if math.Abs(got.Topics[0].Overlap-want) > 1e-6 || got.Compared != compared {
			t.Errorf("to depth %d the overlap at %v is %v, to the end it is %v", got.Compared, p, got.Topics[0].Overlap, want)
		}
		for _, d := range got.Topics[0].Rankings[1] {
			if rank := rankings[0].Rank(d.Document); d.Ranks[0] != rank || d.Ranks[1] != d.Rank {
				t.Errorf("%s stands at %v and not at %d", d.Document, d.Ranks, rank)
			}
		}
	}
}

func TestDiffir_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	a, b := namedRun("a", trecRun("1 abc")), namedRun("b", trecRun("1 bca"))
	good := object{"runs": []object{a, b}}
	s.wantRefusals("diffir", map[string]refusal{
		"one run":                 {object{"runs": []object{a}}, "/runs", ""},
		"six runs":                {object{"runs": []object{a, b, a, b, a, b}}, "/runs", ""},
		"depth of none":           {withMembers(good, "depth", 0), "/depth", ""},
		"depth beyond the most":   {withMembers(good, "depth", 101), "/depth", ""},
		"limit beyond the most":   {withMembers(good, "limit", 101), "/limit", ""},
		"too many documents":      {withMembers(good, "depth", 100, "limit", 100), "/limit", "give less of limit or depth"},
		"p of 1":                  {withMembers(good, "p", 1), "/p", ""},
		"another order":           {withMembers(good, "order", "name"), "/order", ""},
		"a topic that is missing": {withMembers(good, "topics", []string{"1", "2"}), "/topics/1", "no run has documents"},
		"a topic twice":           {withMembers(good, "topics", []string{"1", "1"}), "/topics/1", "/topics/0"},
		"a measure without truth": {withMembers(good, "measure", "AP"), "/truth", "is needed"},
		"order by no truth":       {withMembers(good, "order", "measure"), "/truth", "is needed"},
		"a measure that is none":  {withMembers(good, "measure", "wow", "truth", inlineFiles("q", "1 0 a 1\n")), "/measure", ""},
		"a truth of another kind": {
			withMembers(good, "truth", withMembers(inlineFiles("q", "id,label\na,b\n"), "kind", "classification", "format", object{
				"kind": "csv", "idField": "id", "valueField": "label"})), "/truth", "no judgments"},
		"a faulty run":         {object{"runs": []object{a, namedRun("b", "1 Q0 a\n")}}, "/runs/1/files/0", "line 1"},
		"texts that have none": {withMembers(good, "texts", inlineFiles("x.bin", "\x00\x01")), "/texts/files/0", "no texts"},
		"texts that are not base64": {withMembers(good, "texts", object{"files": []object{{"name": "x", "content": "!"}}}),
			"/texts/files/0/content", "base64"},
	})
}

// Everybody sees as much of stored runs as the resources show. Only organizers see judgments.
func TestDiffir_OfStoredRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	first, _ := s.addEvaluatedRun(runSpec{public: true, content: trecRun("1 abz", "2 c"), ap: topicValues(1, 0)})
	second, _ := s.addEvaluatedRun(runSpec{public: true, content: trecRun("1 ba", "2 c"), ap: topicValues(0, 0)})
	input := object{"runs": runRefs(first, second), "order": "measure"}
	for _, user := range []string{"", "alice", "unrelated", "olga"} {
		got := answer[tools.DiffirOutput](s, user, "diffir", input)
		if got.Judged != (user == "olga") {
			t.Errorf("judged is %v for %q", got.Judged, user)
		}
		if got.Measure != "AP" || topicNames(got) != "1 2" || number(got.Topics[0].Difference) != "1.0000" ||
			number(got.Runs[0].Value) != "0.5000" || got.Runs[0].EvaluationID == "" {
			t.Errorf("for %q the values are %+v", user, got)
		}
		if x := got.Topics[0]; x.Query != "boats at anchor" || x.Texts["a"].Text != "An anchor holds a boat." || len(x.Texts) != 2 {
			t.Errorf("for %q the texts are %q, %+v", user, x.Query, x.Texts)
		}
		grades := summarize(got, 0, 0)
		if want := map[bool]string{true: "1a(2)[1 2] 2b(0)[2 1] 3z[3 0]team of alice (Run ",
			false: "1a[1 2] 2b[2 1] 3z[3 0]team of alice (Run "}[user == "olga"] + second.ID[20:] + ")"; grades != want {
			t.Errorf("%q sees %s, want %s", user, grades, want)
		}
	}
	// A measure that the evaluations lack is computed for callers with the right to read the truth.
	got := answer[tools.DiffirOutput](s, "olga", "diffir", withMembers(input, "measure", "P@2"))
	if got.Measure != "P@2" || number(got.Topics[0].Difference) != "0.0000" || number(got.Topics[1].Difference) != "0.0000" {
		t.Errorf("%+v", got.Topics)
	}
	s.wantRefusal("alice", "diffir", refusal{withMembers(input, "measure", "P@2"), "/measure", ""})
	s.invoke(http.StatusForbidden, nil, "alice", "diffir", withMembers(input, "truth", object{"datasetId": s.dataset.ID}))
}

// Callers with the right to read the files of runs, but not their values, see the runs without values.
func TestDiffir_OfRunsBeforeTheirReview(t *testing.T) {
	s := newToolServer(t, record.Public)
	for _, e := range []runSpec{{public: true, blinded: true, hidden: true}, {blinded: true}} {
		e.content, e.ap = trecRun("1 ab"), topicValues(1, 0)
		one, _ := s.addEvaluatedRun(e)
		e.content, e.ap = trecRun("1 ba"), topicValues(0, 0)
		other, _ := s.addEvaluatedRun(e)
		input := object{"runs": runRefs(one, other)}
		got := answer[tools.DiffirOutput](s, "alice", "diffir", input)
		if got.Judged || summarize(got, 0, 1) != "1bmoved[2 1] 2amoved[1 2]" {
			t.Errorf("their owner sees %+v", got)
		}
		s.wantRefusal("alice", "diffir", refusal{withMembers(input, "order", "measure"), "/runs/0", "not its values"})
		s.invoke(http.StatusOK, &got, "alice", "diffir", withMembers(input, "order", "measure", "truth", inlineFiles("q", "1 0 a 1\n")))
		s.invoke(http.StatusOK, &got, "olga", "diffir", withMembers(input, "order", "measure"))
	}
}

func TestDiffir_EscapesTexts(t *testing.T) {
	s := newToolServer(t, record.Public)
	runs, texts := injectionInput(t)
	page := s.checkPage("diffir", object{"runs": runs, "texts": texts})
	if n := strings.Count(page, "&lt;script&gt;window.intruded=1&lt;/script&gt;"); n < 20 {
		t.Errorf("the page shows a text %d times as it is", n)
	}
}

// A page with usual settings stays small for all texts.
func TestDiffir_PageIsSmall(t *testing.T) {
	s := newToolServer(t, record.Public)
	var runs []object
	var documents strings.Builder
	for run := range 5 {
		var b strings.Builder
		for topic := range 30 {
			for rank := range 12 {
				id := fmt.Sprintf("FBIS3-%02d-%d-%03d", topic, run, rank)
				fmt.Fprintf(&b, "%d Q0 %s 0 %f x\n", 300+topic, id, 12.345678-float64(rank)/10)
				fmt.Fprintf(&documents, `{"id":%q,"title":"Of lakes","text":%q}`+"\n", id, strings.Repeat("the lake and the pond ", 20))
			}
		}
		runs = append(runs, namedRun(fmt.Sprintf("run of team %d", run), b.String()))
	}
	input := object{"runs": runs, "truth": inlineFiles("q", "300 0 FBIS3-00-0-000 1\n"),
		"texts": inlineFiles("documents.jsonl", documents.String()), "order": "measure"}
	s.checkPage("diffir", input)
}
