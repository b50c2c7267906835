package spans

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// contents counts the tokens and spans of a truth of tokens. A scheme can ignore tags that are spans without it.
func (s *sentences) contents(counter *steps.Counter) measure.Contents {
	count := func(of *scheme) (spans int) {
		var list []span
		for i := range s.count() {
			if counter.Add(len(s.sentence(i))) != nil {
				return 0
			}
			list = of.appendSpans(list[:0], s.sentence(i), s.tags)
			spans += len(list)
		}
		return spans
	}
	all := count(schemes[""])
	c := measure.Contents{Text: fmt.Sprintf("%s, %s, %s of %s", plural.Count(s.count(), "sentence"), plural.Count(len(s.list), "token"),
		plural.Count(all, "span"), plural.Count(len(s.types.names), "type"))}
	if all == 0 {
		c.Faults = append(c.Faults, "no token has a tag other than O, so there is no span to find")
	}
	if s.areNumbered() {
		c.Faults = append(c.Faults, "the first column has the numbers of the tokens, as in CoNLL-U; expected the tokens themselves: leave that "+
			"column out")
	}
	for _, of := range s.checks {
		if valid := count(of); valid < all {
			c.Faults = append(c.Faults, fmt.Sprintf("with scheme=%s, %d of %s %s; the tags of the others do not begin or end a span in this "+
				"scheme: check the scheme and the tags", of.name, valid, plural.Count(all, "span"), plural.Verb(valid, "counts", "count")))
		}
	}
	return c
}

// areNumbered reports whether each token is its number in the sentence.
func (s *sentences) areNumbered() bool {
	number := 0
	for line := range bytes.Lines(s.text) {
		number++
		switch token := string(bytes.TrimSuffix(line, []byte{'\n'})); token {
		case "":
			number = 0
		case strconv.Itoa(number):
		default:
			return false
		}
	}
	return len(s.list) > 1
}

// contents counts the spans of a truth of documents.
func (x *texts) contents(*steps.Counter) measure.Contents {
	without := 0
	for _, p := range x.places {
		if p.start == p.end {
			without++
		}
	}
	c := measure.Contents{Values: slices.Values(x.types.names), Text: fmt.Sprintf("%s, %d of them without spans, %s of %s",
		plural.Count(len(x.places), "item"), without, plural.Count(len(x.list), "span"), plural.Count(len(x.types.names), "type"))}
	if len(x.list) == 0 {
		c.Faults = append(c.Faults, "no document has a span, so there is none to find")
	}
	return c
}
