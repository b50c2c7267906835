package conversion

import (
	"bytes"
	"fmt"
	"slices"

	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
)

// readJSONL reads an object from each line.
func (r *reader) readJSONL(in *lines.Reader) {
	expected := "with " + r.kind.names(", ")
	for in.Scan() {
		r.begin()
		found, fault := fields.Object(in.Text(), expected, func(key, raw []byte) string { return r.member(in.Number(), key, raw) })
		if found && fault == "" {
			fault = r.incomplete()
		}
		if fault != "" {
			r.errorf(in.Number(), "%s", fault)
		} else if found && !r.accept(in.Number()) {
			return
		}
	}
}

// begin forgets the values of the object before.
func (r *reader) begin() {
	clear(r.values)
	r.columns = r.columns[:0]
	for range r.kind.columns {
		r.columns = append(r.columns, unnamed)
	}
}

// incomplete says which member an object lacks, or returns "".
func (r *reader) incomplete() string {
	if i := r.kind.missing(func(column int) bool { return r.values[column] != nil }); i >= 0 {
		return fmt.Sprintf("the object has no %q; expected it in every line", r.kind.columns[i].name)
	}
	return ""
}

// member stores a value of an object, unless a better name has the same column.
func (r *reader) member(line int, key, raw []byte) (fault string) {
	name, fault := fields.Text("a name", key, []string{"string"})
	if fault != "" {
		return fault
	}
	i, preference := r.kind.column(string(name))
	switch {
	case i < 0:
		r.warnDropped(line, name)
		return ""
	case r.columns[i] == preference:
		return fmt.Sprintf("the object has %q twice; expected it once", name)
	case r.columns[i] < preference:
		r.warnDropped(line, name)
		return ""
	}
	r.columns[i] = preference
	r.values[i], fault = fields.Text(string(name), raw, jsonKinds[r.kind.columns[i].values])
	return fault
}

// readCSV reads a header record and then records of values.
func (r *reader) readCSV(in *lines.Reader) {
	records := fields.NewRecords(in, r.errorf)
	line, header := records.Header()
	if header == nil {
		return
	}
	r.decimalComma = records.Separator() != ','
	order := r.kind.order(texts(header))
	if order == nil {
		columns, ok := r.header(line, header)
		if !ok {
			return
		}
		order = columns
	} else { // The first line has values, and no names.
		r.setRecord(order, texts(header))
		if !r.accept(line) {
			return
		}
	}
	for line, record := range records.All() {
		r.setRecord(order, record)
		if !r.accept(line) {
			return
		}
	}
}

func texts(names []string) (list [][]byte) {
	for _, name := range names {
		list = append(list, []byte(name))
	}
	return list
}

// setRecord stores the fields of a record. order has the column of each field, or constant for a field without one.
func (r *reader) setRecord(order []int, record [][]byte) {
	clear(r.values)
	for i, column := range order {
		if column != constant && i < len(record) {
			r.values[column] = record[i]
		}
	}
}

// header returns the column of each field of a csv file. It returns constant for a field without a column, or whose column has a better
// name.
func (r *reader) header(line int, names []string) (columns []int, ok bool) {
	ok = true
	best := map[int]int{} // preference of the name of a column
	for _, name := range names {
		if i, preference := r.kind.column(name); i >= 0 {
			if other, twice := best[i]; !twice || preference < other {
				best[i] = preference
			} else if other == preference {
				ok = false
				r.errorf(line, "the first line names the field %q twice; expected it once", name)
			}
		}
	}
	for _, name := range names {
		i, preference := r.kind.column(name)
		if i < 0 || best[i] != preference {
			i = constant
			r.warnDropped(line, []byte(name))
		}
		columns = append(columns, i)
	}
	if i := r.kind.missing(func(column int) bool { return slices.Contains(columns, column) }); i >= 0 {
		ok = false
		r.errorf(line, "the first line names no field %q; it has %s, and expected are %s, separated by commas, tabs or semicolons",
			r.kind.columns[i].name, fields.JoinFirst(names, len(names)), r.kind.names(", "))
	}
	return columns, ok
}

// readUnnamed reads lines of MS MARCO: three or four fields without names, which spaces or tabs separate.
func (r *reader) readUnnamed(in *lines.Reader) {
	var memory [4][]byte
	var order []int
	for in.Scan() {
		n := fields.Split(in.Text(), memory[:])
		if n == 0 {
			continue
		}
		parts := memory[:min(n, len(memory))]
		if order == nil {
			order = r.kind.order(parts)
		}
		if order == nil || n != len(order) || n == len(r.kind.trec) {
			r.errorf(in.Number(), "the line has %s fields; expected topic, document and %s, in each line alike",
				countOf(n, len(memory)), map[bool]string{true: "rank or score", false: "grade"}[r.kind == Runs])
			continue
		}
		r.setRecord(order, parts)
		if !r.accept(in.Number()) {
			return
		}
	}
}

// countOf describes a number of fields that were counted up to most.
func countOf(n, most int) string {
	if n > most {
		return fmt.Sprintf("more than %d", most)
	}
	return fmt.Sprint(n)
}

// order returns the columns of a line whose fields have no names, or nil if the fields have no such order:
//
//	runs   topic Q0 docid rank score tag   topic docid rank   topic docid score   topic docid rank score
//	qrels  topic iteration docid grade     topic docid grade
func (k *Kind) order(parts [][]byte) []int {
	parts = slices.Clone(parts)
	for i := min(4, len(parts)-1); i >= 3; i-- { // where numbers are
		parts[i] = bytes.Replace(parts[i], []byte{','}, []byte{'.'}, 1)
	}
	last := parts[len(parts)-1]
	_, number := fields.ParseScore(last)
	switch {
	case len(parts) == len(k.trec) && k.matches(parts):
		return k.trec
	case len(parts) < 3 || !number:
		return nil
	case k == Qrels && len(parts) == 3 && k.columns[lastOfBoth].fault(last) == "":
		return []int{topic, docOfQrels, lastOfBoth}
	case k == Runs && len(parts) == 3 && isWhole(last):
		return []int{topic, docOfRun, rankOfRun}
	case k == Runs && len(parts) == 3:
		return []int{topic, docOfRun, lastOfBoth}
	case k == Runs && len(parts) == 4 && isWhole(parts[2]) && string(parts[1]) != "0": // 0 is the iteration of a judgment
		return []int{topic, docOfRun, rankOfRun, lastOfBoth}
	}
	return nil
}

// isWhole reports whether a text consists of digits.
func isWhole(text []byte) bool { return len(bytes.Trim(text, "0123456789")) == 0 && len(text) > 0 }
