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
	measure string // the first measure with the tokenizer
	unicode bool   // the tokenizer
	found   int
}

func newWordless(asked []measure.Measure) predictions.TextInspector {
	w := &wordless{}
	for _, unicode := range []bool{false, true} {
		for _, m := range asked {
			if strings.HasPrefix(m.Name, "ROUGE") && rougeTokensOf(m).unicode == unicode {
				w.counters = append(w.counters, wordlessCounter{measure: m.Name, unicode: unicode})
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
		}
	}
}

// Warnings implements predictions.TextInspector.
func (w *wordless) Warnings() (list []string) {
	for _, c := range w.counters {
		if c.found == 0 {
			continue
		}
		counted := fmt.Sprintf("only the letters a to z and digits; %s(tokenize=unicode) counts words of all scripts", c.measure)
		if c.unicode {
			counted = "letters and digits"
		}
		list = append(list, fmt.Sprintf("%d of %s have no word for %s, which counts %s",
			c.found, plural.Count(w.texts, "text"), c.measure, counted))
	}
	return list
}
