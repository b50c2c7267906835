//go:build browser

package chart_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/functions/tools/chart"
	"assay/shared/domain/access"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/webpage"
	"assay/shared/edge/webpage/browsertest"
	"assay/shared/testing/programtest"

	"github.com/a-h/templ"
)

// runs are usual names of runs, and some that try to break a page.
var runs = []string{
	"Lakeside University · dense-large-rerank", "bm25+rm3", "Ada · splade-v3", "مختبر البحث · تشغيل أول", "基準 · BM25 検索モデル改良版の実行",
	"<img src=x onerror=intruded=1> & \"quoted\"", "👩‍🔬👩🏽‍🚀 emoji team 🚀", "a\u202egnp.exe run",
	"Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311\u0312\u0313\u0314 zalgo",
	"WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
	"tf-idf", "random",
}

// charts returns a chart of each kind. Topics are numbers or, if there are few, names.
func charts() map[string]chart.Chart {
	topics := make([]string, maxColumns)
	for i := range topics {
		topics[i] = strconv.Itoa(301 + i)
	}
	shown := all(runs, topics, false)
	maps.Copy(shown, all(runs, []string{"question-301-x", "question-302-y"}, true))
	caption := chart.Caption{ID: "signed", Title: "Change against the baseline", Description: "What is to be learnt from it."}
	shown["signed"] = chart.Bars(caption, []chart.Bar{{Label: runs[0], Value: 640}, {Label: runs[1], Value: -460}})
	shown["empty"] = chart.Bars(chart.Caption{ID: "empty", Title: "Nothing"}, nil)
	return shown
}

func TestMain(m *testing.M) { os.Exit(programtest.Run(m)) }

// TestCharts_InABrowser shows every chart on a page with the content policy of pages.
func TestCharts_InABrowser(t *testing.T) {
	page := webpage.Page{Title: "Charts", Style: chart.Style, Main: templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		io.WriteString(w, "<h1>Charts</h1>")
		for _, name := range slices.Sorted(maps.Keys(charts())) {
			fmt.Fprintf(w, "<section><h2>%s</h2>", name)
			if err := charts()[name].Render(ctx, w); err != nil {
				return err
			}
			io.WriteString(w, "</section>")
		}
		return nil
	})}
	server := servertest.New(t, api.Document(api.Spec{ID: "charts", Path: "/charts", May: access.Anyone}, []string{webpage.MediaType},
		page.Send))
	for _, v := range browsertest.Views() {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			p := browsertest.Open(t, server.URL+"/charts", v)
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
}

// outside finds texts that extend beyond their chart. It skips the labels of bars, which a mask clips.
const outside = `[...document.querySelectorAll(".chart text")].filter(text => !text.closest("[mask]")).filter(text => {
  const chart = text.ownerSVGElement.closest("figure svg:not(svg svg)").getBoundingClientRect(), t = text.getBoundingClientRect();
  return t.left < chart.left - 1 || t.right > chart.right + 1 || t.top < chart.top - 1 || t.bottom > chart.bottom + 1;
}).map(text => text.outerHTML)`
