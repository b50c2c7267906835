package retrieval

import (
	"bytes"
	"fmt"
	"slices"

	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// tags holds the first different tags of lines, at most fields.Few of them. The zero value is empty.
type tags struct {
	list [][]byte
	last int // index of the tag of the last line
}

// add adds the tag of a line. Most runs have the same tag in all lines.
func (t *tags) add(tag []byte) {
	if len(t.list) > 0 && bytes.Equal(t.list[t.last], tag) {
		return
	}
	i := slices.IndexFunc(t.list, func(known []byte) bool { return bytes.Equal(known, tag) })
	switch {
	case i >= 0:
		t.last = i
	case len(t.list) < fields.Few:
		t.last = len(t.list)
		t.list = append(t.list, bytes.Clone(tag))
	}
}

// joined explains repeated documents of a run that probably consists of several runs. It returns a clause that begins with a semicolon, or
// "".
func (r *run) joined(counter *steps.Counter) string {
	var all tags
	for _, b := range r.blocks {
		for _, tag := range b.tags.list {
			all.add(tag)
		}
	}
	if n := len(all.list); n > 1 {
		var names []string
		for _, tag := range all.list {
			names = append(names, string(tag))
		}
		return fmt.Sprintf("; the likely cause: several runs were joined, since the lines have different tags in the last field (%s): give "+
			"each run on its own", fields.JoinFirst(names, n))
	}
	if line := r.beginsAgain(counter); line > 0 {
		return fmt.Sprintf("; the likely cause: several runs were joined, or one was written twice, since most topics begin again from "+
			"line %d on: give one run only", line)
	}
	return ""
}

// beginsAgain returns the first line of a topic that other topics separate from its lines before. It returns 0 unless most topics have
// such a line.
func (r *run) beginsAgain(counter *steps.Counter) (line int) {
	begun := make([]int, len(r.topics.names)+len(r.topics.others))
	topics, again := 0, 0
	last := int32(-1)
	for _, b := range r.blocks {
		if counter.Add(len(b.spans)) != nil {
			return 0
		}
		for _, s := range b.spans {
			if s.topic == last {
				continue
			}
			last = s.topic
			begun[s.topic]++
			switch begun[s.topic] {
			case 1:
				topics++
			case 2:
				again++
				if line == 0 {
					line = b.first + int(s.line)
				}
			}
		}
	}
	if 2*again <= topics {
		return 0
	}
	return line
}
