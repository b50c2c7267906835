package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools/chart"

	"github.com/a-h/templ"
)

// most is the largest size of a page in bytes.
const most = 200_000

func render(t testing.TB, c templ.Component) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The largest numbers of bars, runs and topics that tools draw.
const (
	maxBars    = 200
	maxRuns    = 20
	maxColumns = 300
	maxLabels  = 50
)

// hostile are labels that would break XML, markup or layout.
var hostile = []string{
	`</title></svg><script>alert(1)</script>`, `"onload="x' & <`, "\x00\x1b[31m\xff\ufffe", "]]>", "\u202eevil", "مختبر", "👩🏽‍🚀", "",
	strings.Repeat("<\"&", 400), strings.Repeat("é", 500), strings.Repeat("Z\u0301\u0302", 300), "{{ . }}",
}

// all returns charts of each kind by id, with these labels of runs and topics. They have the largest size unless few is true.
func all(labels, topics []string, few bool) map[string]chart.Chart {
	bars := maxBars
	rows := maxRuns
	columns := maxColumns
	classes := maxLabels
	prefix := ""
	if few {
		bars = 12
		rows = 12
		columns = 50
		classes = 12
		prefix = "few-"
	}
	var entries []chart.Bar
	for i := range bars {
		v := 0.9 - float64(i)/300
		entries = append(entries, chart.Bar{
			Label: labels[i%len(labels)], Value: v, Interval: &chart.Interval{Low: v - 0.0312, High: v + 0.0287}, Group: "abc",
			Note: labels[(i+1)%len(labels)],
		})
	}
	g := chart.Grid{Rows: cycle(labels, rows), Columns: cycle(topics, columns)}
	pairs := make([][]chart.Comparison, rows)
	for i := range rows {
		g.Values = append(g.Values, nil)
		for j := range columns {
			v := math.Abs(math.Sin(float64(7*i + 13*j)))
			if (i+j)%17 == 0 {
				v = math.NaN()
			}
			g.Values[i] = append(g.Values[i], v)
		}
		for j := range rows {
			pairs[i] = append(pairs[i], chart.Comparison{P: math.Abs(math.Sin(float64(i * j))), Difference: float64(i-j) / 100})
		}
	}
	counts := make([][]int, classes)
	for i := 1; i < classes; i++ { // the first label has no example
		for j := range classes {
			counts[i] = append(counts[i], (i*j)%7*(i+j))
		}
	}
	counts[0] = make([]int, classes)
	c := func(kind string) chart.Caption {
		return chart.Caption{ID: prefix + kind, Title: labels[0], Description: labels[1%len(labels)]}
	}
	return map[string]chart.Chart{
		prefix + "bars": chart.Bars(c("bars"), entries), prefix + "heat": chart.HeatMap(c("heat"), g),
		prefix + "strips": chart.Strips(c("strips"), g), prefix + "matrix": chart.Matrix(c("matrix"), g.Rows, pairs),
		prefix + "confusion": chart.Confusion(c("confusion"), cycle(labels, classes), counts),
	}
}

func cycle(labels []string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = labels[i%len(labels)]
	}
	return out
}

func TestDocument_IsXML(t *testing.T) {
	for _, few := range []bool{false, true} {
		for name, c := range all(hostile, hostile, few) {
			text := render(t, c.Document())
			decoder, ids := xml.NewDecoder(strings.NewReader(text)), map[string]bool{}
			for {
				token, err := decoder.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("the document of %s is not well-formed: %v", name, err)
				}
				start, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				if slices.Contains([]string{"script", "a", "image", "foreignObject"}, start.Name.Local) ||
					start.Name.Space != "http://www.w3.org/2000/svg" {
					t.Errorf("%s has an element %v", name, start.Name)
				}
				for _, a := range start.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "id" &&
						(ids[a.Value] || !strings.HasPrefix(a.Value, name+"-")) {
						t.Errorf("%s has the attribute %v", name, a)
					}
					if a.Name.Local == "id" {
						ids[a.Value] = true
					}
				}
			}
			if !ids[name+"-title"] || !ids[name+"-desc"] {
				t.Errorf("%s has only the ids %v", name, ids)
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s has a number that is none", name)
			}
		}
	}
}

// The policy of pages refuses inline styles, and the caller chooses the ids.
func TestElement_HasNoStyle(t *testing.T) {
	for name, c := range all(hostile, hostile, true) {
		if text := render(t, c); strings.Contains(text, "<style") || strings.Contains(text, "style=") || strings.Contains(text, "<script") {
			t.Errorf("%s brings a style or a script", name)
		}
	}
}

func TestCharts_AreSmall(t *testing.T) {
	for kind, labels := range map[string][]string{
		"usual": {"Lakeside University · dense-large-rerank"}, "escaped": {strings.Repeat(`"<&'>`, 80)}, "wide": {strings.Repeat("👩🏽‍🚀", 80)},
	} {
		for name, c := range all(labels, labels, false) {
			for _, size := range []int{len(render(t, c)), len(render(t, c.Document()))} {
				t.Logf("%s with %s labels: %d bytes", name, kind, size)
				if size > most {
					t.Errorf("%s with %s labels has %d bytes, more than %d", name, kind, size, most)
				}
			}
		}
	}
}

func TestBars_SayThatThereAreNone(t *testing.T) {
	empty := chart.Bars(chart.Caption{ID: "c", Title: "title", Description: "description."}, nil)
	const want = "There is nothing to show yet."
	for _, text := range []string{render(t, empty), render(t, empty.Document())} {
		if strings.Count(text, want) != 2 { // once visible and once in the description
			t.Errorf("%q is not said twice in %.300s", want, text)
		}
	}
}

// Up to 600 cells have a tooltip each, as have the labels.
func TestCharts_HaveTooltips(t *testing.T) {
	g := chart.Grid{Rows: []string{"run one", "run <two>"}, Columns: []string{"301", "302"},
		Values: [][]float64{{0.25, 1}, {math.NaN(), math.NaN()}}}
	c := chart.Caption{ID: "c"}
	for _, shown := range []struct {
		chart chart.Chart
		want  []string
	}{
		{chart.HeatMap(c, g), []string{"1 run one, 301: 0.2500", "2 run &lt;two&gt;, 302: undefined"}},
		{chart.Confusion(c, []string{"spam", "ham"}, [][]int{{3, 1}, {0, 0}}),
			[]string{"spam, predicted ham: 1", "ham, predicted spam: 0"}},
		{chart.Strips(c, g), []string{"302: median 1.0000, best 1.0000 1 run one, worst 1.0000 1 run one"}},
		{chart.Bars(c, []chart.Bar{{Label: "run", Value: 0.5, Interval: &chart.Interval{Low: 0.4, High: 0.6}, Group: "a", Note: "baseline"}}),
			[]string{"run: 0.5000, 95 % interval 0.4000 to 0.6000, group a, baseline"}},
		{chart.Matrix(c, g.Rows, [][]chart.Comparison{{{}, {P: 0.004, Difference: 0.1}}, {{}, {}}}), []string{
			"1 run one – 2 run &lt;two&gt;: p = 0.0040, p &lt; 0.01, difference +0.1000"}},
	} {
		text := strings.NewReplacer("\u2068", "", "\u2069", "").Replace(render(t, shown.chart))
		for _, want := range shown.want {
			if !strings.Contains(text, "<title>"+want+"</title>") {
				t.Errorf("no mark says %q", want)
			}
		}
	}
}

// TestHeatMap_HasFigures checks that cells contain shares if there is room, and that the legend explains hatched cells if there
// are any.
func TestHeatMap_HasFigures(t *testing.T) {
	for _, c := range []struct {
		columns         int
		value           float64
		figure, mention bool
	}{{2, 0.256, true, false}, {2, math.NaN(), false, true}, {601, 0.256, false, false}} {
		g := chart.Grid{Rows: []string{"run"}, Columns: make([]string, c.columns), Values: [][]float64{make([]float64, c.columns)}, Percent: true}
		g.Values[0][1] = c.value
		text := render(t, chart.HeatMap(chart.Caption{ID: "c"}, g))
		if strings.Contains(text, ">26</text>") != c.figure || strings.Contains(text, ">undefined</text>") != c.mention {
			t.Errorf("%v of %d: %s", c.value, c.columns, text)
		}
	}
}

func BenchmarkHeatMap(b *testing.B) {
	heatMap := all([]string{"label"}, []string{"topic"}, false)["heat"]
	for b.Loop() {
		if err := heatMap.Render(b.Context(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
