package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/functions/tools/chart"
	"assay/shared/edge/webpage"

	"github.com/a-h/templ"
)

const (
	// documentBytes is about the size of all lists of documents on a page. With more documents, each gets a shorter text.
	documentBytes = 160_000
	// entryBytes is about the size of one list entry without its text.
	entryBytes = 110
	// columnBytes is the length of a text in a column as wide as the page. Narrower columns get shorter texts of the same number
	// of lines.
	columnBytes = 480
)

func (out DiffirOutput) page() (string, templ.Component) {
	return "Runs side by side", diffirPage(diffirView{out, out.textBytes()})
}

// diffirView is a comparison with the settings of its page.
type diffirView struct {
	DiffirOutput
	textLimit int // bytes of the text of each document
}

// textBytes returns the number of bytes for the text of each document.
func (out *DiffirOutput) textBytes() int {
	texts, places := 1, 0
	for _, t := range out.Topics {
		texts += len(t.Texts)
		for _, list := range t.Rankings {
			places += len(list)
		}
	}
	return max(40, min(columnBytes/len(out.Runs), (documentBytes-entryBytes*places)/texts))
}

// shown returns the topics that have rankings.
func (out *DiffirOutput) shown() []DiffirTopic {
	for i, t := range out.Topics {
		if t.Rankings == nil {
			return out.Topics[:i]
		}
	}
	return out.Topics
}

// orders describes the orders of topics.
var orders = map[string]string{byOverlap: "rank-biased overlap", byTau: "Kendall’s tau", byMeasure: "the difference of the measure"}

// sortAttribute returns the attribute of a sorted column, and nil for other columns.
func (out *DiffirOutput) sortAttribute(column string) templ.Attributes {
	if out.Order != column {
		return nil
	}
	return templ.Attributes{"aria-sort": webpage.AriaSort(column != byMeasure)}
}

// diffirCell is a document in the column of a run.
type diffirCell struct {
	DiffirDocument
	anchor string // anchor of the first cell of the topic with this document
	first  bool   // whether this is that first cell
	again  bool   // whether other cells link to it
	text   DiffirText
	change rankChange
}

// columns returns the columns of a topic, one for each run. The text of a document is in the first cell of the topic with this
// document.
func (v *diffirView) columns(topic int) [][]diffirCell {
	t := &v.Topics[topic]
	first := map[string]*diffirCell{}
	var columns [][]diffirCell
	for run, list := range t.Rankings {
		column := make([]diffirCell, len(list))
		for i, d := range list {
			c := &column[i]
			c.DiffirDocument, c.change = d, v.rankChange(run, &d)
			if f, known := first[d.Document]; known {
				c.anchor, f.again = f.anchor, true
				continue
			}
			c.anchor, c.first = fmt.Sprintf("%s-%d", anchor(topic), len(first)+1), true
			first[d.Document] = c
			c.text = t.Texts[d.Document]
			c.text.Title = webpage.Truncate(c.text.Title, v.textLimit)
			c.text.Text = webpage.Truncate(c.text.Text, max(v.textLimit/2, v.textLimit-len(c.text.Title)))
		}
		columns = append(columns, column)
	}
	return columns
}

// attributes returns the attributes of the element of a cell. They are as few as possible, because a page has a thousand cells.
func (c *diffirCell) attributes() templ.Attributes {
	a := templ.Attributes{}
	if class := gradeClass(c.Grade); class != "" {
		a["class"] = class
	}
	if c.first && c.again {
		a["id"] = c.anchor
	}
	return a
}

// nameSeparator returns the separator after the name of a run in the list of runs.
func (out *DiffirOutput) nameSeparator(run int) string {
	switch run {
	case len(out.Runs) - 1:
		return ""
	case 0:
		return " compared with "
	}
	return ", "
}

// anchor returns the URL fragment of a topic.
func anchor(topic int) string { return "t" + strconv.Itoa(topic+1) }

// rankChange describes in words how the rank of a document changed. way is a CSS class, which the style shows as an arrow.
type rankChange struct{ way, words string }

func (v *diffirView) rankChange(run int, d *DiffirDocument) rankChange {
	switch from := d.Ranks[0]; {
	case run > 0 && from == 0:
		return rankChange{"came", "new"}
	case run > 0 && from > d.Rank:
		return rankChange{"up", fmt.Sprintf("up %d, from rank %d", from-d.Rank, from)}
	case run > 0 && from < d.Rank:
		return rankChange{"down", fmt.Sprintf("down %d, from rank %d", d.Rank-from, from)}
	case run > 0:
		return rankChange{"kept", "same rank"}
	case len(d.Went) == 0:
		return rankChange{}
	case len(v.Runs) > 2 && len(d.Went) == len(v.Runs)-1:
		return rankChange{"went", "gone from all others"}
	case len(v.Runs) > 2:
		return rankChange{"went", "gone from " + v.runNames(d.Went)}
	case d.Ranks[1] > 0:
		return rankChange{"down", fmt.Sprintf("to rank %d", d.Ranks[1])}
	default:
		return rankChange{"went", "gone"}
	}
}

func (m rankChange) attributes() templ.Attributes {
	if m.way == "" {
		return nil
	}
	return templ.Attributes{"class": m.way}
}

// maxRunName bounds the bytes of a run's name where the name is repeated.
const maxRunName = 40

func (v *diffirView) runNames(names []string) string {
	var clipped []string
	for _, name := range names {
		run := slices.IndexFunc(v.Runs, func(r DiffirRun) bool { return r.Name == name })
		clipped = append(clipped, strconv.Itoa(run+1)+" "+chart.Isolated(webpage.Truncate(name, maxRunName)))
	}
	return strings.Join(clipped, ", ")
}

// judgment returns a grade in words.
func judgment(grade *int) string {
	switch {
	case grade == nil:
		return "unjudged"
	case *grade > 0:
		return "grade " + strconv.Itoa(*grade)
	case *grade == 0:
		return "not relevant"
	default:
		return fmt.Sprintf("unjudged (%d)", *grade) // by convention, a negative grade marks a pooled document that nobody judged
	}
}

// gradeClass returns the CSS class that colours a grade. It is empty for unjudged documents.
func gradeClass(grade *int) string {
	if grade == nil || *grade < 0 {
		return ""
	}
	return "grade" + strconv.Itoa(min(2, *grade))
}

func listClass(judged bool) string {
	if judged {
		return "hits judged"
	}
	return "hits"
}

// shortScore formats a score with six digits, usually enough to distinguish it from its neighbours.
func shortScore(score float64) string { return strconv.FormatFloat(score, 'g', 6, 64) }

// summary says how a run differs from the first run in a topic.
func (v *diffirView) summary(t DiffirTopic, run int) string {
	value := ""
	if v.Measure != "" && t.Values[run] != nil {
		value = v.Measure + " " + webpage.Value(t.Values[run])
	}
	if run == 0 {
		return value
	}
	c := t.Comparisons[run-1]
	parts := []string{"overlap " + webpage.Value(&c.Overlap)}
	if c.Tau != nil {
		parts = append(parts, "tau "+webpage.Value(c.Tau))
	}
	if value != "" {
		parts = append(parts, value)
	}
	return strings.Join(parts, " · ")
}
