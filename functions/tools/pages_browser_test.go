//go:build browser

package tools_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
	"assay/shared/webpage/browsertest"
)

// shownPage is a page of a tool, as everybody has it.
type shownPage struct {
	*stage
	tool  string
	input object
}

// TestPagesInABrowser opens what each tool shows in Chromium, with usual texts and with ones that try to be more than text.
func TestPagesInABrowser(t *testing.T) {
	browser := browsertest.Start(t)
	for name, c := range shownPages(t) {
		a := c.stage.tool(http.StatusOK, nil, "", c.tool, c.input, "Accept", "text/html")
		address := a.Header.Get("Content-Location")
		if address == "" {
			t.Errorf("%s has no address", name)
			continue
		}
		for _, v := range browsertest.Views {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				p := browser.Open(t, c.URL+address, v)
				p.Check()
				p.Shoot(name + "-" + v.String())
				if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("[onerror], [data-intruder]") !== null`) {
					t.Error("a text became markup")
				}
				if lost := browsertest.Evaluate[[]string](p, `[...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))`); len(lost) > 0 {
					t.Errorf("links lead nowhere: %q", lost)
				}
			})
		}
	}
}

// shownPages has two pages of each tool, by the name of a picture.
func shownPages(t testing.TB) map[string]shownPage {
	s := newStage(t, record.Public)
	words := named("words", ranked("1 abcdefgh", "2 hgfedcba", "3 ab"))
	truth := sent("q", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 h 3\n2 0 g -1\n")
	texts := sent("d.tsv", keptDocuments+"h\tHarbours "+strings.Repeat("are where boats and barges lie, ", 12)+"\n", "queries.tsv", keptQueries+"3\t\n")
	hostileRuns, hostileTexts := intrusion()
	pages := map[string]shownPage{
		"diffir-five": {s, "diffir", object{
			"runs": []object{
				words, named("meaning", ranked("1 bacxyzgh", "2 hgfedcba")), named("both", ranked("1 abxcyz", "2 gh", "3 ba")), named("links", ranked("1 zyxw", "2 wxyz", "3 ab")),
				named("a run with a longer name than others have", ranked("1 hgfedcba", "2 abcdefgh", "3 ab")),
			},
			"truth": truth, "texts": texts, "order": "measure",
		}},
		"diffir-hostile": {s, "diffir", object{"runs": hostileRuns, "texts": hostileTexts, "limit": 2}},
		"serp-middle":    {s, "serp", object{"run": words, "topic": "2", "truth": truth, "texts": texts, "query": "boats that lie in harbours"}},
		"serp-hostile":   {s, "serp", object{"run": hostileRuns[0], "texts": hostileTexts}},
	}
	for name, teams := range map[string][]string{
		"usual": {"Lakeside University", "Ada", "Northern Retrieval Group", "webis", "مختبر البحث", "基準 検索"}, "hostile": intruders,
	} {
		s := newStage(t, record.Public)
		all := s.compared(teams)
		pages["significance-"+name] = shownPage{s, "significance", object{"runs": runs(all[:6]...)}}
		pages["topics-"+name] = shownPage{s, "topics", object{"runs": runs(all...)}}
		pages["leaderboard-"+name] = shownPage{s, "leaderboard", object{"datasetId": s.dataset.ID, "against": 1, "best": false}}
		if name == "hostile" {
			s.task.Name, s.dataset.Name = intruders[1], intruders[5]
			s.replace(s.task)
			s.replace(s.dataset)
		}
	}
	return pages
}

// compared makes twelve runs on forty topics, each a little worse than the one before, measured against two versions of
// the truth, and one against the newer alone.
func (s *stage) compared(teams []string) (all []*record.RunItem) {
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
		run, _ := s.enter(staged{user: fmt.Sprint("user", i/2), team: teams[i/2], label: fmt.Sprintf("%s %d", teams[i/2], i%2+1), public: true, ap: values((i * 5) % 12), rr: new(.5), baseline: i == 4})
		all = append(all, run)
	}
	s.nextTruth()
	for i, run := range all {
		s.enter(staged{ap: values((i*5)%12 + i%3), rr: new(.5), was: run, public: true, baseline: i == 4})
	}
	run, _ := s.enter(staged{user: "newcomer", team: teams[5], label: "new", ap: values(3), public: true})
	return append(all, run)
}
