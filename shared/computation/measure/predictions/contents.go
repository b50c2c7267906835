package predictions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// Items returns the ids of the items.
func (t *Gold) Items() *measure.IDs {
	return &measure.IDs{
		Noun: "item", Len: t.ids.len(),
		All: func(yield func(string) bool) {
			for i := range t.ids.len() {
				if !yield(string(t.ids.at(i))) {
					return
				}
			}
		},
		Index: t.ids.findNext,
	}
}

// contents counts the items with their labels, numbers or texts.
func (t *Gold) contents(counter *steps.Counter) measure.Contents {
	c := measure.Contents{Values: slices.Values(t.labels.names)}
	text := []string{plural.Count(t.Len(), "item")}
	if counter.Add(t.Len()+len(t.sets.codes)+len(t.labels.names)) != nil {
		return measure.Contents{}
	}
	switch t.values {
	case Labels, Classes:
		text = append(text, t.countLabels(t.codes, &c))
	case Sets:
		codes, empty := t.assigned()
		text = append(text, fmt.Sprintf("%d of them without a label", empty), t.countLabels(codes, &c))
		if empty == t.Len() {
			c.Faults = append(c.Faults, "no item has a label; check the name of the field and the separator of labels")
		}
	case Numbers:
		least, greatest := slices.Min(t.numbers), slices.Max(t.numbers)
		text = append(text, fmt.Sprintf("numbers from %g to %g", least, greatest))
		if least == greatest && t.Len() > 1 {
			c.Faults = append(c.Faults, fmt.Sprintf("every item has the number %g", least))
		}
	case Clusters:
		text = append(text, plural.Count(t.Clusters(), "cluster"))
	case References:
		text = append(text, t.countReferences(&c))
	case Arrays, Scores, Probabilities, Texts:
	}
	c.Text = strings.Join(text, ", ")
	c.Faults = append(c.Faults, t.doubts(counter)...)
	t.repeat(&c)
	return c
}

// assigned returns the codes of the labels of all sets, and the number of empty sets.
func (t *Gold) assigned() (codes []int32, empty int) {
	for i := range t.Len() {
		set := t.Set(i)
		if len(set) == 0 {
			empty++
		}
		for _, code := range set {
			codes = append(codes, int32(code))
		}
	}
	return codes, empty
}

// namedLabels is the number of labels whose items are counted in words.
const namedLabels = 5

// countLabels counts the items of each label, the most frequent first.
func (t *Gold) countLabels(codes []int32, c *measure.Contents) string {
	counts := make([]int, len(t.labels.names))
	for _, code := range codes {
		counts[code]++
	}
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	if len(order) == 1 && t.values != Sets {
		c.Faults = append(c.Faults, fmt.Sprintf("every item has the label %s", fields.Quote([]byte(t.labels.names[0]))))
	}
	var named []string
	for _, i := range order[:min(len(order), namedLabels)] {
		named = append(named, fmt.Sprintf("%s %d", fields.Quote([]byte(t.labels.names[i])), counts[i]))
	}
	text := plural.Count(len(order), "label") + " (" + strings.Join(named, ", ")
	if more := len(order) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

func (t *Gold) countReferences(c *measure.Contents) string {
	references, empty := 0, 0
	var list [][]byte
	for i := range t.Len() {
		list = t.References(i, list[:0])
		references += len(list)
		if !slices.ContainsFunc(list, func(text []byte) bool { return len(bytes.TrimSpace(text)) > 0 }) {
			empty++
		}
	}
	text := plural.Count(references, "reference")
	if empty > 0 {
		c.Faults = append(c.Faults, fmt.Sprintf("%d of %s %s only empty references", empty, plural.Count(t.Len(), "item"),
			plural.Verb(empty, "has", "have")))
	}
	return text
}

// maxPerfect is the greatest size of the scores in a run that repeats the truth, in bytes.
const maxPerfect = bounds.OwnScores

// repeat sets how to write a run that repeats the truth, if it differs from the files of the truth.
func (t *Gold) repeat(c *measure.Contents) {
	switch {
	case t.values == Classes:
		row := t.scoreRow()
		if t.Len()*len(row.text) > maxPerfect {
			c.Unscored = "a run with a score for each label would be too large"
			return
		}
		c.Perfect = t.repeated(func(text *bytes.Buffer, i int) { t.writeScores(text, i, row) })
	case t.values == References && t.format.Kind == measure.JSONL:
		var list [][]byte
		c.Perfect = t.repeated(func(text *bytes.Buffer, i int) {
			list = t.References(i, list[:0])
			reference := ""
			if len(list) > 0 {
				reference = string(list[0])
			}
			t.writeObject(text, i, inJSON(reference))
		})
	}
}

// repeated returns a function that returns a file with a line for each item.
func (t *Gold) repeated(write func(text *bytes.Buffer, item int)) func() []measure.File {
	return func() []measure.File {
		return []measure.File{{Name: "truth", Content: &repeatedItems{count: t.Len(), write: write}}}
	}
}

// writeObject writes the line of an item with a value in JSON.
func (t *Gold) writeObject(text *bytes.Buffer, item int, value []byte) {
	text.WriteByte('{')
	text.Write(inJSON(t.format.IDField))
	text.WriteByte(':')
	text.Write(inJSON(string(t.ids.at(item))))
	text.WriteByte(',')
	text.Write(inJSON(t.format.ValueField))
	text.WriteByte(':')
	text.Write(value)
	text.WriteString("}\n")
}

func inJSON(s string) []byte {
	b, _ := json.Marshal(s) // strings never fail
	return b
}

// scoreRow has the score 0 for each label, in the format of the truth. Lines are copies of it, so writing a run takes as long as its bytes.
type scoreRow struct {
	text   []byte
	places []int // of the scores in text, by the code of the label
}

func (t *Gold) scoreRow() *scoreRow {
	r := &scoreRow{}
	put := func(before ...byte) {
		r.text = append(r.text, before...)
		r.places = append(r.places, len(r.text))
		r.text = append(r.text, '0')
	}
	if t.format.Kind == measure.CSV {
		for range t.labels.names {
			put(',')
		}
		return r
	}
	separator := byte('{')
	for _, name := range t.labels.names {
		put(slices.Concat([]byte{separator}, inJSON(name), []byte{':'})...)
		separator = ','
	}
	r.text = append(r.text, '}')
	return r
}

// writeScores writes the line of an item with the score 1 for its label, and 0 for all others.
func (t *Gold) writeScores(text *bytes.Buffer, item int, row *scoreRow) {
	place := row.places[t.codes[item]]
	row.text[place] = '1'
	defer func() { row.text[place] = '0' }()
	if t.format.Kind == measure.JSONL {
		t.writeObject(text, item, row.text)
		return
	}
	if item == 0 {
		text.WriteString(inCSV(t.format.IDField))
		for _, name := range t.labels.names {
			text.WriteString("," + inCSV(name))
		}
		text.WriteByte('\n')
	}
	text.WriteString(inCSV(string(t.ids.at(item))))
	text.Write(row.text)
	text.WriteByte('\n')
}

func inCSV(field string) string { return `"` + strings.ReplaceAll(field, `"`, `""`) + `"` }

// repeatedItems writes a line for each item while it is read.
type repeatedItems struct {
	count, at int
	write     func(text *bytes.Buffer, item int)
	text      bytes.Buffer
}

// Read implements io.Reader.
func (r *repeatedItems) Read(b []byte) (int, error) {
	for r.text.Len() == 0 {
		if r.at == r.count {
			return 0, io.EOF
		}
		r.write(&r.text, r.at)
		r.at++
	}
	return r.text.Read(b)
}
