package text

import (
	"bytes"
	"fmt"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
	"assay/shared/language/plural"
)

// wordless counts texts that are not blank but have no word for a measure of ROUGE, such as texts in another script. Other measures find a
// word in every text, or say in their definition which texts are no answer.
type wordless struct {
	texts    int
	counters []wordlessCounter
}

type wordlessCounter struct {
	measure string // the first measure with the tokenizer, which its text names unless it is the usual one
	unicode bool   // the tokenizer
	found   int
	healed  int // of these texts, how many have a word in any script
}

func newWordless(asked []measure.Measure) predictions.TextInspector {
	w := &wordless{}
	for _, unicode := range []bool{false, true} {
		for _, m := range asked {
			if strings.HasPrefix(m.Name, "ROUGE") && rougeTokensOf(m).unicode == unicode {
				name := m.Name
				if unicode {
					name += "(tokenize=unicode)"
				}
				w.counters = append(w.counters, wordlessCounter{measure: name, unicode: unicode})
				break
			}
		}
	}
	return w
}

// Inspect implements predictions.TextInspector.
func (w *wordless) Inspect(text []byte) {
	w.texts++
	for i := range w.counters {
		c := &w.counters[i]
		inWord := isASCIIWord
		if c.unicode {
			inWord = isUnicodeWord
		}
		if !bytes.ContainsFunc(text, inWord) && bytes.ContainsFunc(text, not(isSpace)) {
			c.found++
			if bytes.ContainsFunc(text, isUnicodeWord) {
				c.healed++
			}
		}
	}
}

// Warnings implements predictions.TextInspector.
func (w *wordless) Warnings() (list []string) {
	for _, c := range w.counters {
		if c.found == 0 {
			continue
		}
		counted := "only the letters a to z and digits"
		switch {
		case c.unicode:
			counted = "letters and digits"
		case c.healed > 0:
			counted += fmt.Sprintf("; %s(tokenize=unicode) counts words of all scripts", c.measure)
			if c.healed < c.found {
				counted += fmt.Sprintf(", which %d of them %s", c.healed, plural.Verb(c.healed, "has", "have"))
			}
		}
		list = append(list, fmt.Sprintf("%d of %s %s no word for %s, which counts %s",
			c.found, plural.Count(w.texts, "text"), plural.Verb(c.found, "has", "have"), c.measure, counted))
	}
	return list
}
