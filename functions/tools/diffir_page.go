package tools

import (
	"fmt"
	"strconv"
	"strings"

	"assay/shared/webpage"

	"github.com/a-h/templ"
)

// maxPageTexts is about how many bytes of documents a page shows: the more documents there are, the less of each.
const maxPageTexts = 60_000

func (out DiffirOutput) page() (string, templ.Component) {
	return "Runs side by side", diffirPage(diffirView{out, out.textBytes()})
}

// diffirView is a comparison as a page shows it.
type diffirView struct {
	DiffirOutput
	most int // bytes of each document
}

// textBytes is how many bytes of each document there is room for.
func (out *DiffirOutput) textBytes() int {
	documents := 1
	for _, t := range out.Topics {
		documents += len(t.Texts)
	}
	return max(60, min(maxPassage, maxPageTexts/documents))
}

// shown are the topics with rankings.
func (out *DiffirOutput) shown() []DiffirTopic {
	for i, t := range out.Topics {
		if t.Rankings == nil {
			return out.Topics[:i]
		}
	}
	return out.Topics
}

// orders say what topics are ordered by.
var orders = map[string]string{byOverlap: "rank-biased overlap", byTau: "Kendall’s tau", byMeasure: "the difference of the measure"}

// direction is how the column is sorted; empty when it does not sort.
func (out *DiffirOutput) direction(column string) string {
	switch {
	case out.Order != column:
		return ""
	case column == byMeasure:
		return "descending"
	}
	return "ascending"
}

// diffirCell is a document in the column of a run.
type diffirCell struct {
	DiffirDocument
	anchor string // to where the topic has the document first
	first  bool   // which is here
	text   DiffirText
	move   move
}

// columns are what the runs show of a topic. The text of a document stands where the topic has it first.
func (v *diffirView) columns(topic int) [][]diffirCell {
	t := &v.Topics[topic]
	anchors := map[string]string{}
	var columns [][]diffirCell
	for run, list := range t.Rankings {
		var column []diffirCell
		for _, d := range list {
			c := diffirCell{DiffirDocument: d, move: v.move(run, &d)}
			if c.anchor, c.first = anchors[d.Document], false; c.anchor == "" {
				c.anchor, c.first = fmt.Sprintf("%s-%d", anchor(topic), len(anchors)+1), true
				anchors[d.Document] = c.anchor
				c.text = t.Texts[d.Document]
				c.text.Text = webpage.Clip(c.text.Text, max(0, v.most-len(c.text.Title)))
			}
			column = append(column, c)
		}
		columns = append(columns, column)
	}
	return columns
}

// anchor is the fragment of a topic.
func anchor(topic int) string { return "t" + strconv.Itoa(topic+1) }

// move is where a document went or came from, as an arrow and in words.
type move struct{ arrow, words string }

func (v *diffirView) move(run int, d *DiffirDocument) move {
	switch from := d.Ranks[0]; {
	case run > 0 && from == 0:
		return move{"+", "new"}
	case run > 0 && from > d.Rank:
		return move{"↑", fmt.Sprintf("up %d, from rank %d", from-d.Rank, from)}
	case run > 0 && from < d.Rank:
		return move{"↓", fmt.Sprintf("down %d, from rank %d", d.Rank-from, from)}
	case run > 0:
		return move{"=", "same rank"}
	case len(d.Went) == 0:
		return move{}
	case len(v.Runs) > 2:
		return move{"−", fmt.Sprintf("not among the first %d of %s", v.Depth, clipNames(d.Went))}
	case d.Ranks[1] > 0:
		return move{"↓", fmt.Sprintf("to rank %d", d.Ranks[1])}
	default:
		return move{"−", "gone"}
	}
}

// maxName is how many bytes of a run's name stand where it is repeated.
const maxName = 40

func clipNames(names []string) string {
	var clipped []string
	for _, name := range names {
		clipped = append(clipped, isolated(webpage.Clip(name, maxName)))
	}
	return strings.Join(clipped, ", ")
}

// isolated keeps the direction of a name's script from what stands around it (Unicode Standard Annex #9, FSI and PDI).
func isolated(name string) string { return "\u2068" + name + "\u2069" }

// judgment is how a grade is said, and the class that colours it.
func judgment(grade *int) (class, words string) {
	switch {
	case grade == nil:
		return "unjudged", "unjudged"
	case *grade > 1:
		return "grade2", "grade " + strconv.Itoa(*grade)
	case *grade == 1:
		return "grade1", "grade 1"
	case *grade == 0:
		return "grade0", "not relevant"
	default:
		return "grade0", fmt.Sprintf("not relevant (%d)", *grade)
	}
}

// judgedClass is the class of a document's box.
func judgedClass(judged bool, grade *int) string {
	if !judged {
		return "hit"
	}
	class, _ := judgment(grade)
	return "hit " + class
}

// digits is a value to four digits.
func digits(value *float64) string {
	if value == nil {
		return "–"
	}
	return strconv.FormatFloat(*value, 'f', 4, 64)
}

// scored is a score as short as it can be told from its neighbours by eye.
func scored(score float64) string { return strconv.FormatFloat(score, 'g', 6, 64) }

func judgmentWords(grade *int) string {
	_, words := judgment(grade)
	return words
}

// summary is how a run differs from the first in a topic.
func (v *diffirView) summary(t DiffirTopic, run int) string {
	value := ""
	if v.Measure != "" && t.Values[run] != nil {
		value = v.Measure + " " + digits(t.Values[run])
	}
	if run == 0 {
		return value
	}
	c := t.Comparisons[run-1]
	parts := []string{"overlap " + digits(&c.Overlap)}
	if c.Tau != nil {
		parts = append(parts, "tau "+digits(c.Tau))
	}
	if value != "" {
		parts = append(parts, value)
	}
	return strings.Join(parts, " · ")
}
