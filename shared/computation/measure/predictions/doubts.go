package predictions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// isPythonList reports whether a text begins and ends like a list of texts as Python prints it.
func isPythonList(text []byte) bool {
	inner, opens := bytes.CutPrefix(text, []byte{'['})
	inner, closes := bytes.CutSuffix(inner, []byte{']'})
	inner = bytes.TrimSpace(inner)
	isQuote := func(b byte) bool { return b == '\'' || b == '"' }
	return opens && closes && len(inner) > 1 && isQuote(inner[0]) && isQuote(inner[len(inner)-1])
}

// missingValues are texts that Python and pandas write for a missing value.
var missingValues = []string{"nan", "NaN", "NaT", "None", "<NA>"}

// sums are the names of rows that add up a table, in lower case.
var sums = []string{"total", "grand total", "sum", "summe", "gesamt"}

// leastOwn is the number of items from which on labels or clusters that occur only once are doubtful.
const leastOwn = 10

// doubts returns sentences about the ids and values of a truth that are valid and probably mistakes. If an Add of the counter fails, some
// are missing.
func (t *Gold) doubts(counter *steps.Counter) (list []string) {
	names := slices.Clone(t.labels.names)
	steps.Sort(counter, names)
	add := func(doubt string) {
		if doubt != "" {
			list = append(list, doubt)
		}
	}
	add(t.ownValues())
	add(t.missingLabels())
	add(spellings(counter, names))
	add(numberForms(counter, names))
	add(t.listedLabels())
	add(t.separatorInLabels(counter))
	add(t.sumBelow())
	return list
}

// ownValues doubts labels and clusters if every item has one of its own.
func (t *Gold) ownValues() string {
	n := t.Clusters()
	noun := "cluster"
	if t.values == Labels || t.values == Classes {
		n = len(t.labels.names)
		noun = "label"
	}
	if n < leastOwn || n != t.Len() {
		return ""
	}
	return fmt.Sprintf("every item has a %s of its own; check that %q is the field meant", noun, t.format.ValueField)
}

// missingLabels doubts a label that stands for a missing value.
func (t *Gold) missingLabels() string {
	for _, name := range missingValues {
		if t.labels.find([]byte(name)) >= 0 {
			return fmt.Sprintf("items have the label %q, which pandas and Python write for a missing value: write their labels, or leave these "+
				"items out", name)
		}
	}
	return ""
}

// spellings doubts sorted labels that differ only in capitals, and in blanks around them.
func spellings(counter *steps.Counter, names []string) string {
	var first, second string
	pairs := 0
	difference := "upper and lower case"
	seen := map[string]string{}
	for _, name := range names {
		if counter.Add(len(name)) != nil {
			return ""
		}
		key := strings.ToLower(strings.TrimSpace(name))
		other, twice := seen[key]
		if !twice {
			seen[key] = name
			continue
		}
		if pairs == 0 {
			first = other
			second = name
		}
		pairs++
		if !strings.EqualFold(other, name) {
			difference = "blanks or case"
		}
	}
	if pairs == 0 {
		return ""
	}
	more := ""
	if pairs > 1 {
		more = ", as in " + plural.Count(pairs-1, "further pair")
	}
	return fmt.Sprintf("the labels %s and %s differ only in %s%s: write them alike if they are one label", fields.Quote([]byte(first)),
		fields.Quote([]byte(second)), difference, more)
}

// numberForms doubts sorted labels that are whole numbers, some with a fraction of zero and some without.
func numberForms(counter *steps.Counter, names []string) string {
	var fraction, whole string
	for _, name := range names {
		if counter.Add(len(name)) != nil {
			return ""
		}
		if _, isNumber := fields.ParseScore([]byte(name)); !isNumber {
			continue
		}
		_, after, pointed := strings.Cut(name, ".")
		switch {
		case !pointed && whole == "":
			whole = name
		case pointed && fraction == "" && strings.Trim(after, "0") == "":
			fraction = name
		}
	}
	if fraction == "" || whole == "" {
		return ""
	}
	return fmt.Sprintf("the labels %q and %q are numbers in different forms, and labels are compared as text: write all of them alike",
		fraction, whole)
}

// listedLabels doubts labels that are lists of labels.
func (t *Gold) listedLabels() string {
	for _, name := range t.labels.names {
		if !isPythonList([]byte(name)) {
			continue
		}
		heal := "write one label for each item"
		if t.values == Sets {
			heal = fmt.Sprintf("write the labels with %q between them", separatorOf(t.format))
		}
		return fmt.Sprintf("the label %s is a list as Python prints it: %s", fields.Quote([]byte(name)), heal)
	}
	return ""
}

// separatorInLabels doubts labels that consist of several labels with another separator than the dataset's between them. At least one of
// their parts occurs elsewhere too.
func (t *Gold) separatorInLabels(counter *steps.Counter) string {
	if t.values != Sets || t.format.Kind != measure.CSV {
		return ""
	}
	for _, separator := range usualSeparators {
		if joined := t.joinedBy(counter, separator); joined != "" {
			return fmt.Sprintf("labels such as %s contain %q, and labels are separated by %q: write %[3]q between labels, or name %[2]q as the "+
				"separator", fields.Quote([]byte(joined)), separator, separatorOf(t.format))
		}
	}
	return ""
}

// joinedLabels doubts labels of a run that are several labels: lists as Python prints them, and labels with another separator than the
// dataset's between them if no item has several labels. It needs no truth.
func (t *Gold) joinedLabels(counter *steps.Counter) string {
	if listed := t.listedLabels(); listed != "" || t.values != Sets || t.format.Kind != measure.CSV || t.hasSeveral() {
		return listed
	}
	for _, separator := range usualSeparators {
		if joined := t.joinedBy(counter, separator); separator != " " && joined != "" {
			return fmt.Sprintf("labels such as %s contain %q, and no item has %q, which separates labels: write %[3]q between labels",
				fields.Quote([]byte(joined)), separator, separatorOf(t.format))
		}
	}
	return ""
}

// hasSeveral reports whether an item has several labels.
func (t *Gold) hasSeveral() bool {
	for i := range t.Len() {
		if len(t.Set(i)) > 1 {
			return true
		}
	}
	return false
}

// joinedBy returns the first label that has the separator and a part that occurs in another label too, or "".
func (t *Gold) joinedBy(counter *steps.Counter, separator string) string {
	labelsOf := map[string]int{} // by part
	for _, name := range t.labels.names {
		if counter.Add(len(name)) != nil {
			return ""
		}
		for part := range strings.SplitSeq(name, separator) {
			labelsOf[strings.TrimSpace(part)]++
		}
	}
	isShared := func(part string) bool { return labelsOf[strings.TrimSpace(part)] > 1 }
	for _, name := range t.labels.names {
		if counter.Add(len(name)) != nil {
			return ""
		}
		parts := strings.Split(name, separator)
		if len(parts) > 1 && slices.ContainsFunc(parts, isShared) {
			return name
		}
	}
	return ""
}

// sumBelow doubts the last item if its id names a sum.
func (t *Gold) sumBelow() string {
	last := string(t.ids.at(t.Len() - 1))
	if t.Len() < 2 || !isSum(last) {
		return ""
	}
	return fmt.Sprintf("the last item is %q, which is probably a sum below a table: leave its line out", last)
}

func isSum(id string) bool { return slices.Contains(sums, strings.ToLower(strings.TrimSpace(id))) }

// doubtfulTexts is a TextInspector that also counts texts that programs have spoiled.
type doubtfulTexts struct {
	TextInspector
	texts int
	found [len(spoiledTexts)]int
	first [len(spoiledTexts)]string // quoted
}

// spoiledTexts lists what programs leave in texts. share is the least share of the texts that is no accident.
var spoiledTexts = [...]struct {
	is    func(text []byte) bool
	share float64
	what  string
	heal  string
}{
	{isPythonList, 0.5, "lists as Python prints them", "write the text itself; several references of a truth are an array in JSON lines"},
	{isMisread, 0, "UTF-8 that was read as Windows-1252 and saved again", "read and write the file as UTF-8 at each step"},
	{isMissing, 0, "missing values as pandas and Python write them", "write these texts, or an empty text"},
}

// isMisread reports whether a text has characters of UTF-8 that were read as Windows-1252, such as Ã© for é. It ignores sequences that
// texts have, such as Ã before a quote.
func isMisread(text []byte) bool {
	if bytes.Contains(text, []byte("\u00e2\u20ac")) { // begins dashes and curly quotes
		return true
	}
	for _, first := range []string{"\u00c2", "\u00c3"} {
		for _, rest, found := bytes.Cut(text, []byte(first)); found; _, rest, found = bytes.Cut(rest, []byte(first)) {
			next, _ := utf8.DecodeRune(rest)
			if next > '\u00a0' && next < '\u00c0' && next != '«' && next != '»' {
				return true
			}
		}
	}
	return false
}

func isMissing(text []byte) bool { return slices.Contains(missingValues, string(text)) }

// Inspect implements TextInspector.
func (d *doubtfulTexts) Inspect(text []byte) {
	d.TextInspector.Inspect(text)
	d.texts++
	for i, s := range spoiledTexts {
		if !s.is(text) {
			continue
		}
		if d.found[i] == 0 {
			d.first[i] = fields.Quote(text)
		}
		d.found[i]++
	}
}

// Warnings implements TextInspector.
func (d *doubtfulTexts) Warnings() []string {
	list := d.TextInspector.Warnings()
	for i, s := range spoiledTexts {
		if n := d.found[i]; n > 0 && float64(n) >= s.share*float64(d.texts) {
			list = append(list, fmt.Sprintf("texts with %s: %d of %d, such as %s; %s", s.what, n, d.texts, d.first[i], s.heal))
		}
	}
	return list
}
