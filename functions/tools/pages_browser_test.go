//go:build browser

package tools_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/shared/record"
	"assay/shared/webpage/browsertest"
)

// TestComparingPagesInABrowser opens the pages that compare runs in Chromium, with usual names and with hostile ones.
func TestComparingPagesInABrowser(t *testing.T) {
	usual, hostile := compared(t, false), compared(t, true)
	browser := browsertest.Start(t)
	for name, shown := range map[string]*comparedRuns{"usual": usual, "hostile": hostile} {
		for tool, input := range map[string]object{
			"significance": {"runs": runs(shown.all[:6]...)},
			"topics":       {"runs": runs(shown.all...)},
			"leaderboard":  {"datasetId": shown.dataset.ID, "against": 1, "best": false},
		} {
			path := s.address(tool, input)
			for _, v := range browsertest.Views {
				t.Run(tool+"/"+name+"/"+v.String(), func(t *testing.T) {
					p := browser.Open(t, shown.URL+path, v)
					p.Check()
					p.Shoot(tool + "-" + name + "-" + v.String())
					if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("[onerror], [data-intruder]") !== null`) {
						t.Error("a text became markup")
					}
				})
			}
		}
	}
}

// comparedRuns are runs on a dataset with two versions of the truth.
type comparedRuns struct {
	*stage
	all []*record.RunItem
}

// compared makes twelve runs on forty topics, each a little worse than the one before.
func compared(t testing.TB, hostile bool) *comparedRuns {
	c := &comparedRuns{stage: newStage(t, record.Public)}
	teams := []string{"Lakeside University", "Ada", "Northern Retrieval Group", "webis", "مختبر البحث", "基準 検索"}
	if hostile {
		teams = intruders
		c.task.Name, c.dataset.Name = intruders[1], intruders[4]
		c.replace(c.task)
	}
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
		run, e := c.enter(staged{user: fmt.Sprint("user", i/2), team: teams[i/2], label: fmt.Sprintf("%s %d", teams[i/2], i%2+1), public: true, ap: values((i * 5) % 12), rr: new(.5), baseline: i == 4})
		e.Superseded = true
		c.replace(e)
		c.all = append(c.all, run)
	}
	c.dataset.TruthVersion = 2
	c.replace(c.dataset)
	for i, run := range c.all {
		c.enter(staged{ap: values((i*5)%12 + i%3), rr: new(.5), was: run, public: true, baseline: i == 4})
	}
	run, _ := c.enter(staged{user: "newcomer", team: teams[5], label: "new", ap: values(3), public: true, rr: nil})
	c.all = append(c.all, run)
	return c
}
