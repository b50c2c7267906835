//go:build browser

package chart_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/functions/tools/chart"
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/webpage"
	"assay/shared/webpage/browsertest"

	"github.com/a-h/templ"
)

// runs are names as teams give them, and some as they should not.
var runs = []string{
	"Lakeside University · dense-large-rerank", "bm25+rm3", "Ada · splade-v3", "مختبر البحث · تشغيل أول", "基準 · BM25 検索モデル改良版の実行",
	"<img src=x onerror=intruded=1> & \"quoted\"", "👩‍🔬👩🏽‍🚀 emoji team 🚀", "a\u202egnp.exe run",
	"Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311\u0312\u0313\u0314 zalgo",
	"WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
	"tf-idf", "random",
}

// results are values as a measure would give them: topics differ in how hard they are, runs in how good they are.
func results(rows, columns int, name string) chart.Grid {
	random := rand.New(rand.NewPCG(1, 2))
	g := chart.Grid{}
	for i := range rows {
		g.Rows = append(g.Rows, runs[i%len(runs)])
		g.Values = append(g.Values, nil)
	}
	for i := range columns {
		g.Columns = append(g.Columns, fmt.Sprintf(name, 301+i))
		hard := random.NormFloat64() * 1.2
		for row := range rows {
			v := 1 / (1 + math.Exp(-(hard + 1 - 2.2*float64(row)/float64(rows) + random.NormFloat64()*0.45)))
			if random.IntN(25) == 0 {
				v = math.NaN()
			}
			g.Values[row] = append(g.Values[row], v)
		}
	}
	return g
}

func leaderboard(n int) []chart.Bar {
	var all []chart.Bar
	for i := range n {
		v := 0.62 - 0.55*float64(i)/float64(n)
		b := chart.Bar{Label: runs[i%len(runs)], Value: v, Interval: &chart.Interval{Low: v - 0.04, High: v + 0.05}}
		b.Group = []string{"a", "ab", "b", "bc", "cde"}[min(i, 4)]
		switch i {
		case 1:
			b.Note = "baseline"
		case n - 1:
			b.Value, b.Interval, b.Group = math.NaN(), nil, ""
		}
		all = append(all, b)
	}
	return all
}

func comparisons(n int) [][]chart.Comparison {
	all := make([][]chart.Comparison, n)
	for i := range n {
		for j := range n {
			d := float64(j-i) * 0.021
			all[i] = append(all[i], chart.Comparison{P: math.Exp(-math.Abs(float64(j-i))*1.9) * 0.9, Difference: d})
		}
	}
	return all
}

type named struct {
	name  string
	chart chart.Chart
}

func charts() []named {
	caption := func(id, title string) chart.Caption {
		return chart.Caption{ID: id, Title: title, Description: "What is to be learnt from it, in a sentence."}
	}
	errors := leaderboard(5)
	for i := range errors {
		errors[i].Value, errors[i].Interval, errors[i].Group = (errors[i].Value-0.3)*2000, nil, ""
	}
	return []named{
		{"bars", chart.Bars(caption("bars", "nDCG@10 by run, with 95 % intervals"), leaderboard(12))},
		{"bars-signed", chart.Bars(caption("signed", "Change against the baseline"), errors)},
		{"heat", chart.HeatMap(caption("heat", "nDCG@10 by run and topic"), results(8, 20, "%d"))},
		{"heat-wide", chart.HeatMap(caption("wide", "nDCG@10 of 20 runs by 300 topics"), results(20, 300, "%d"))},
		{"strips", chart.Strips(caption("strips", "How runs spread on each topic"), results(8, 24, "%d"))},
		{"strips-named", chart.Strips(caption("named", "Topics with longer names"), results(12, 50, "question-%d-x"))},
		{"strips-wide", chart.Strips(caption("many", "Three hundred topics"), results(20, 300, "%d"))},
		{"matrix", chart.Matrix(caption("matrix", "Paired t-test, Holm-corrected"), runs[:6], comparisons(6))},
		{"matrix-wide", chart.Matrix(caption("pairs", "All pairs"), append(runs, runs[:8]...), comparisons(20))},
		{"empty", chart.Bars(caption("empty", "Nothing"), nil)},
	}
}

// TestCharts_InABrowser shows every chart on a page, with the policy of pages, and as a document of its own.
func TestCharts_InABrowser(t *testing.T) {
	page := webpage.Page{Title: "Charts", Style: chart.Style, Main: templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		io.WriteString(w, "<h1>Charts</h1>")
		for _, c := range charts() {
			fmt.Fprintf(w, "<section><h2>%s</h2>", templ.EscapeString(c.chart.Title))
			if err := c.chart.Render(ctx, w); err != nil {
				return err
			}
			io.WriteString(w, "</section>")
		}
		return nil
	})}
	server := servertest.New(t, api.Document(api.Spec{ID: "charts", Path: "/charts", May: access.Anyone}, []string{webpage.MediaType},
		page.Send))
	browser := browsertest.Start(t)
	for _, v := range browsertest.Views {
		t.Run(v.String(), func(t *testing.T) {
			p := browser.Open(t, server.URL+"/charts", v)
			p.Check()
			p.Screenshot("charts-" + v.String())
			if browsertest.Evaluate[bool](p, `"intruded" in window || document.querySelector("main img, [onerror]") !== null`) {
				t.Error("a label became markup")
			}
			if out := browsertest.Evaluate[[]string](p, outside); len(out) > 0 {
				t.Errorf("labels stand outside their chart:\n%s", strings.Join(out, "\n"))
			}
		})
	}
	for _, c := range charts() {
		document := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", chart.MediaType)
			if err := c.chart.Document().Render(r.Context(), w); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(document.Close)
		for _, v := range browsertest.Views[2:] {
			t.Run(c.name+".svg/"+v.String(), func(t *testing.T) {
				p := browser.Open(t, document.URL+"/", v)
				p.Screenshot(c.name + "-svg-" + v.String())
				if root := browsertest.Evaluate[string](p,
					`document.documentElement.tagName + " " + document.querySelectorAll("parsererror").length`); root != "svg 0" {
					t.Errorf("the document is read as %s", root)
				}
			})
		}
	}
}

// outside finds texts that a chart does not hold. Labels of bars are cut by their mask instead.
const outside = `[...document.querySelectorAll(".chart text")].filter(text => !text.closest("[mask]")).filter(text => {
  const chart = text.ownerSVGElement.closest("figure svg:not(svg svg)").getBoundingClientRect(), t = text.getBoundingClientRect();
  return t.left < chart.left - 1 || t.right > chart.right + 1 || t.top < chart.top - 1 || t.bottom > chart.bottom + 1;
}).map(text => text.outerHTML)`
