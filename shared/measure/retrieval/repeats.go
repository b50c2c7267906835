package retrieval

import (
	"cmp"
	"slices"
	"sync"

	"assay/shared/measure"
	"assay/shared/measure/fields"
)

// sourceLine is a line of one of the files.
type sourceLine struct{ file, line int }

func (a sourceLine) compare(b sourceLine) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
}

// repeat is a document that stands twice under a topic.
type repeat struct {
	second, first sourceLine
	topic, doc    string
}

// repeats keeps the earliest of the repeated documents, however many are found and in whatever order; safe for
// concurrent use.
type repeats struct {
	mu   sync.Mutex
	list []repeat
}

func (r *repeats) add(found ...repeat) {
	if len(found) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, found...)
	if len(r.list) > 10*measure.MaxDiagnostics {
		r.trim()
	}
}

func (r *repeats) trim() {
	slices.SortFunc(r.list, func(a, b repeat) int { return a.second.compare(b.second) })
	r.list = r.list[:min(len(r.list), measure.MaxDiagnostics)]
}

// report makes an error of each that is kept.
func (r *repeats) report(files []string, report *measure.Report) {
	r.trim()
	for _, d := range r.list {
		name, elsewhere := files[d.second.file], ""
		if d.first.file != d.second.file {
			elsewhere = " of " + files[d.first.file]
		}
		report.Errorf(name, d.second.line, "topic %s has document %s already, in line %d%s; keep one of them",
			fields.Quote([]byte(d.topic)), fields.Quote([]byte(d.doc)), d.first.line, elsewhere)
	}
}
