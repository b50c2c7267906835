package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// KnownTopics holds the topics and possibly the documents that participants know. Comparing a run with them does not use the truth.
type KnownTopics struct {
	origin    measure.Origin
	topics    Qrels // without judgments
	documents func(id []byte) bool
}

// Known returns the topics of the truth.
func (q *Qrels) Known() *KnownTopics {
	return &KnownTopics{origin: measure.OfTruth, topics: Qrels{names: q.names, index: q.index, options: q.options}}
}

// KnownOf returns the topics and documents in the inputs of a dataset. documents is nil if the documents are unknown. There may be no
// topics.
func KnownOf(topics []string, documents func(id []byte) bool) *KnownTopics {
	names := slices.Compact(slices.Sorted(slices.Values(topics)))
	k := &KnownTopics{origin: measure.OfInputs, documents: documents, topics: Qrels{names: names, index: map[string]int32{}}}
	for i, name := range k.topics.names {
		k.topics.index[name] = int32(i)
	}
	return k
}

// Compare reports the unknown topics and documents of a run, and the topics that the run lacks. Its diagnostics say nothing else about a
// truth.
func (k *KnownTopics) Compare(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
	run, report, err := readRun(ctx, &k.topics, standardLimits, files)
	if err != nil {
		return nil, err
	}
	return k.compare(ctx, run, report)
}

// compareRead compares a run that was read before.
func (k *KnownTopics) compareRead(ctx context.Context, e *kept) ([]measure.Diagnostic, error) {
	return k.compare(ctx, e.run, e.read.Clone())
}

func (k *KnownTopics) compare(ctx context.Context, run *run, report *measure.Report) ([]measure.Diagnostic, error) {
	counter := steps.Of(ctx)
	k.topics.compareTopics(counter, run, k.origin, report)
	if k.documents != nil && !report.Failed() {
		k.compareDocuments(counter, run, report)
	}
	return run.inOrder(report), counter.Err()
}

func (k *KnownTopics) compareDocuments(counter *steps.Counter, run *run, report *measure.Report) {
	var unknown []string
	cause := ""
	n, all := 0, 0
	for doc := range run.documents() {
		if counter.Add(perLookup) != nil {
			return
		}
		all++
		if k.documents(doc) {
			continue
		}
		n++
		if form := mismatch.OtherForm(doc, k.documents); cause == "" && form != nil {
			cause = mismatch.Explain(counter, []string{string(doc)}, slices.Values([]string{string(form)}))
		}
		if n <= mostExplained {
			unknown = append(unknown, string(doc))
		}
	}
	if n > 0 {
		known := func(id string) bool { return k.documents([]byte(id)) }
		cause = cmp.Or(cause, mismatch.IDs{Of: k.origin, Has: known, Lacks: known}.Explain(counter, unknown))
		report.Warnf(run.files[0], 0, "documents that are not in %s: %d of %s that the run has over all topics: %s%s", k.origin, n,
			plural.Count(all, "document"), fields.JoinFirst(unknown, n), cause)
	}
}

// documents returns an iterator over the documents of all lines.
func (r *run) documents() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, b := range r.blocks {
			for i := range b.records {
				if !yield(b.doc(&b.records[i])) {
					return
				}
			}
		}
	}
}

// compareTopics reports topics that only the run has, and topics that only q has. The origin says where the topics of q come from.
func (q *Qrels) compareTopics(counter *steps.Counter, run *run, o measure.Origin, report *measure.Report) {
	if report.Failed() || len(run.blocks) == 0 || len(q.names) == 0 {
		return
	}
	file := run.files[0]
	found := make([]bool, len(q.names))
	var missing, extra []string
	for _, name := range run.topicNames(counter) {
		if topic, ok := q.index[name]; ok {
			found[topic] = true
		} else {
			extra = append(extra, name)
		}
	}
	for topic, ok := range found {
		if !ok {
			missing = append(missing, q.names[topic])
		}
	}
	steps.Sort(counter, extra) // their order depends on the parsers
	cause := mismatch.IDs{
		Of:    o,
		Has:   q.has,
		Lacks: func(name string) bool { return q.has(name) && !found[q.index[name]] },
		Left:  slices.Values(missing),
	}.Explain(counter, extra)
	if cause == "" && len(missing) == len(q.names) && run.hasDocument(q.index) {
		cause = q.exchangedCause(counter, run, o)
	}
	severity := measure.Error
	retrieved := ", which count with nothing retrieved"
	reportExtra := report.Warnf
	count := " and do not count"
	switch {
	case o != measure.OfTruth: // inputs may have topics without judgments
		severity = measure.Warning
		retrieved = ""
		count = ""
	case q.options.ExtraIDs == measure.RefuseExtraIDs:
		reportExtra = report.Errorf
		count = "; leave them out"
	}
	if len(missing) == len(q.names) && (len(extra) > 0 || q.options.Only == nil) {
		report.Add(measure.Diagnostic{Severity: severity, File: file, Message: fmt.Sprintf(
			"none of the topics of the run (%s) is among the %d of %s; check the first field of the lines%s", fields.JoinFirst(extra, len(extra)),
			len(q.names), o, cause)})
		report.Add(measure.Diagnostic{
			Severity: severity, File: file, Message: fmt.Sprintf("the topics of %s are %s", o, fields.JoinFirst(q.names, len(q.names)))})
		return
	}
	if len(missing) > 0 {
		report.Warnf(file, 0, "topics missing from the run%s: %d of %s of %s: %s", retrieved, len(missing), plural.Count(len(q.names), "topic"),
			o, fields.JoinFirst(missing, len(missing)))
	}
	if len(extra) > 0 {
		reportExtra(file, 0, "topics that are not in %s%s: %d of %s of the run: %s%s",
			o, count, len(extra), plural.Count(len(extra)+len(q.names)-len(missing), "topic"), fields.JoinFirst(extra, len(extra)), cause)
	}
}

// hasDocument reports whether one of the first documents of the run is one of the topics.
func (r *run) hasDocument(topics map[string]int32) bool {
	n := 0
	for doc := range r.documents() {
		if _, ok := topics[string(doc)]; ok {
			return true
		}
		n++
		if n == mostExplained {
			break
		}
	}
	return false
}

// sourceLine is a line of one of the files.
type sourceLine struct{ file, line int }

// repeat is a document that a topic has in two lines.
type repeat struct {
	second, first sourceLine
	topic         string
	subtopic      string // only for diversity qrels
	doc           string
}

// repeatList holds repeated documents. It counts those after the first measure.MaxDiagnostics by file.
type repeatList struct {
	list []repeat
	more map[int]repeatCount
}

// repeatCount is a number of repeated documents in a file, and the last line of one.
type repeatCount struct{ n, last int }

func (r *repeatList) drop(last sourceLine, n int) {
	if r.more == nil {
		r.more = map[int]repeatCount{}
	}
	old := r.more[last.file]
	r.more[last.file] = repeatCount{n: old.n + n, last: max(old.last, last.line)}
}

// repeats keeps the repeated documents that come first in the files, in whatever order they are found, and counts the others. It is safe
// for concurrent use.
type repeats struct {
	mu sync.Mutex
	repeatList
}

func (r *repeats) add(found repeat) { r.addAll(repeatList{list: []repeat{found}}) }

func (r *repeats) addAll(found repeatList) {
	if len(found.list) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, found.list...)
	for file, more := range found.more {
		r.drop(sourceLine{file, more.last}, more.n)
	}
	if len(r.list) > 10*measure.MaxDiagnostics {
		r.trim()
	}
}

func (r *repeats) trim() {
	slices.SortFunc(r.list, func(a, b repeat) int {
		return cmp.Or(cmp.Compare(a.second.file, b.second.file), cmp.Compare(a.second.line, b.second.line))
	})
	most := min(len(r.list), measure.MaxDiagnostics)
	for _, d := range r.list[most:] {
		r.drop(d.second, 1)
	}
	r.list = r.list[:most]
}

// report adds an error for each repeated document that is kept, and counts the others. The hint ends the message. It returns the first
// error, if there is one.
func (r *repeats) report(files []string, report *measure.Report, hint string) (first measure.Diagnostic, found bool) {
	r.trim()
	latest := map[int]measure.Diagnostic{} // by file
	for i, d := range r.list {
		name, elsewhere := files[d.second.file], ""
		if d.first.file != d.second.file {
			elsewhere = " of " + files[d.first.file]
		}
		of := ""
		if d.subtopic != "" {
			of = " for subtopic " + fields.Quote([]byte(d.subtopic))
		}
		fault := measure.Diagnostic{Severity: measure.Error, File: name, Line: d.second.line, Message: fmt.Sprintf(
			"topic %s has document %s%s already, in line %d%s; keep one of them%s",
			fields.Quote([]byte(d.topic)), fields.Quote([]byte(d.doc)), of, d.first.line, elsewhere, hint)}
		report.Add(fault)
		if i == 0 {
			first = fault
		}
		latest[d.second.file] = fault
	}
	for _, file := range slices.Sorted(maps.Keys(r.more)) {
		more := r.more[file]
		if fault, ok := latest[file]; ok {
			report.AddMore(fault, more.n, more.last)
			continue
		}
		report.Add(measure.Diagnostic{Severity: measure.Error, File: files[file], Count: more.n,
			Message: "topics have documents that lines before have already; keep one line of each" + hint})
	}
	return first, len(r.list) > 0
}

func (r *run) inOrder(report *measure.Report) []measure.Diagnostic { return inOrder(report, r.files) }

// inOrder returns the diagnostics in the order of files and lines. Diagnostics about a whole file come before those about its lines.
func inOrder(report *measure.Report, files []string) []measure.Diagnostic {
	position := func(d measure.Diagnostic) int { return slices.Index(files, d.File) }
	list := report.Diagnostics()
	slices.SortStableFunc(list, func(a, b measure.Diagnostic) int {
		return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(a.Line, b.Line))
	})
	return list
}
