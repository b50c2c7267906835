//go:build browser

package tools_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/edge/webpage/browsertest"
	"assay/shared/testing/programtest"
)

// toolPage is a page of a tool that everybody can see.
type toolPage struct {
	*toolServer
	tool  string
	input object
}

func TestMain(m *testing.M) { os.Exit(programtest.Run(m)) }

// TestPages_InABrowser opens the pages of each tool in Chromium, with usual texts and with texts that attack the page.
func TestPages_InABrowser(t *testing.T) {
	for name, c := range shownPages(t) {
		a := c.toolServer.invoke(http.StatusOK, nil, "", c.tool, c.input, "Accept", "text/html")
		address := a.Header.Get("Content-Location")
		if address == "" {
			t.Errorf("%s has no address", name)
			continue
		}
		for _, v := range browsertest.Views() {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				t.Parallel()
				p := browsertest.Open(t, c.URL+address, v)
				p.Check()
				p.Screenshot(name + "-" + v.String())
				if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("[onerror], [data-intruder]") !== null`) {
					t.Error("a text became markup")
				}
				if lost := browsertest.Evaluate[[]string](p,
					`[...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))`); len(lost) > 0 {
					t.Errorf("links lead nowhere: %q", lost)
				}
			})
		}
	}
}

// shownPages returns two pages of each tool, by the name of their screenshot.
func shownPages(t testing.TB) map[string]toolPage {
	s := newToolServer(t, record.Public)
	words := namedRun("words", trecRun("1 abcdefgh", "2 hgfedcba", "3 ab"))
	truth := inlineFiles("q", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 h 3\n2 0 g -1\n")
	texts := inlineFiles("d.tsv", datasetDocuments+"h\tHarbours "+strings.Repeat("are where boats and barges lie, ", 12)+"\n", "queries.tsv",
		datasetQueries+"3\t\n")
	hostileRuns, hostileTexts := injectionInput(t)
	pages := map[string]toolPage{
		"diffir-five": {s, "diffir", object{
			"runs": []object{
				words, namedRun("meaning", trecRun("1 bacxyzgh", "2 hgfedcba")), namedRun("both", trecRun("1 abxcyz", "2 gh", "3 ba")),
				namedRun("links", trecRun("1 zyxw", "2 wxyz", "3 ab")),
				namedRun("a run with a longer name than others have", trecRun("1 hgfedcba", "2 abcdefgh", "3 ab")),
			},
			"truth": truth, "texts": texts, "order": "measure",
		}},
		"diffir-hostile": {s, "diffir", object{"runs": hostileRuns, "texts": hostileTexts, "limit": 2}},
		"serp-middle":    {s, "serp", object{"run": words, "topic": "2", "truth": truth, "texts": texts, "query": "boats that lie in harbours"}},
		"pool-middle":    {s, "pool", object{"runs": []object{words, namedRun("meaning", trecRun("1 bacxyzgh", "2 hgfedcba"))}, "depth": 5}},
		"pool-hostile":   {s, "pool", object{"runs": hostileRuns}},
		"serp-hostile":   {s, "serp", object{"run": hostileRuns[0], "texts": hostileTexts}},
	}
	for name, teams := range map[string][]string{
		"usual": {"Lakeside University", "Ada", "Northern Retrieval Group", "webis", "مختبر البحث", "基準 検索"}, "hostile": injections,
	} {
		s := newToolServer(t, record.Public)
		all := s.addComparedRuns(teams)
		pages["significance-"+name] = toolPage{s, "significance", object{"runs": runRefs(all[:6]...)}}
		pages["topics-"+name] = toolPage{s, "topics", object{"runs": runRefs(all...)}}
		pages["leaderboard-"+name] = toolPage{s, "leaderboard", object{"datasetId": s.dataset.ID, "against": 1, "best": false}}
		if name == "hostile" {
			s.task.Name, s.dataset.Name = injections[1], injections[5]
			s.records.Replace(s.task.TaskItem)
			s.records.Replace(s.dataset.DatasetItem)
		}
	}
	return pages
}

// addComparedRuns makes twelve runs on forty topics. Each run is a little worse than the one before. All have evaluations against
// two truth versions, except one that has only the newer evaluation.
func (s *toolServer) addComparedRuns(teams []string) (all []*record.RunItem) {
	random := rand.New(rand.NewPCG(7, 7))
	values := func(i int) map[string]float64 {
		topics := map[string]float64{}
		for topic := range 40 {
			x := 1 / (1 + math.Exp(float64(i)/4-1+math.Sin(float64(topic))*1.5+random.NormFloat64()*.4))
			topics[fmt.Sprint(301+topic)] = math.Round(x*1e4) / 1e4
		}
		return topics
	}
	for i := range 12 {
		run, _ := s.addEvaluatedRun(runSpec{user: fmt.Sprint("user", i/2), team: teams[i/2], label: fmt.Sprintf("%s %d", teams[i/2], i%2+1),
			public: true, ap: values((i * 5) % 12), rr: new(.5), baseline: i == 4})
		all = append(all, run)
	}
	s.nextTruthVersion()
	for i, run := range all {
		s.addEvaluatedRun(runSpec{ap: values((i*5)%12 + i%3), rr: new(.5), earlier: run, public: true, baseline: i == 4})
	}
	run, _ := s.addEvaluatedRun(runSpec{user: "newcomer", team: teams[5], label: "new", ap: values(3), public: true})
	return append(all, run)
}
