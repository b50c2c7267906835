package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"assay/local/cli/client"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// object is a resource in an answer of the API.
type object map[string]any

// member returns the member at a path such as submissions.closesAt, or nil.
func (o object) member(path string) any {
	var at any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		of, _ := at.(map[string]any)
		at = of[name]
	}
	return at
}

// memberAs returns a member of a resource in its type. It returns the zero value if the member is missing or has another type.
func memberAs[T any](o object, name string) (value T) {
	text, err := json.Marshal(o[name])
	if errors.Join(err, json.Unmarshal(text, &value)) != nil {
		return *new(T)
	}
	return value
}

// text returns the member as a cell of a table: instants in the local time zone, numbers with four decimals, and a dash for a missing
// member.
func (o object) text(path string) string {
	switch v := o.member(path).(type) {
	case string:
		if at, ok := client.LocalTime(v); ok {
			return at
		}
		v = strings.Join(strings.Fields(v), " ") // a cell has one line
		if v != "" {
			return v
		}
	case float64:
		if v == float64(int64(v)) {
			return strconv.FormatInt(int64(v), 10)
		}
		return decimals(&v)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			text, isText := one.(string)
			texts[i] = text
			if !isText {
				return strconv.Itoa(len(v))
			}
		}
		return object{"": strings.Join(texts, " ")}.text("")
	}
	return "-"
}

func (o object) id() string { return memberAs[string](o, "id") }

// first returns the text of the first of the members that has one, or a dash.
func (o object) first(paths ...string) string {
	for _, path := range paths {
		if text := o.text(path); text != "-" {
			return text
		}
	}
	return "-"
}

// decimals returns a value as a cell of a table, or a dash if it is undefined.
func decimals(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 4, 64)
}

// score returns the value of a column as a cell of a table.
func score(measures object, of record.Column) string {
	v := memberAs[*float64](measures, of.Key)
	if v == nil || of.Decimals == nil {
		return decimals(v)
	}
	return strconv.FormatFloat(*v, 'f', *of.Decimals, 64)
}

// heading returns the heading of a column in a table, with its group.
func heading(of record.Column) string {
	if of.Group == "" {
		return of.Heading()
	}
	return of.Group + ": " + of.Heading()
}

// print prints the value as JSON with --json, and otherwise the lines with aligned cells.
func (c *call) print(value any, lines ...[]string) {
	if c.err != nil {
		return
	}
	if c.json {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		c.fail(e.Encode(value))
		_, err := io.WriteString(c.out, escaped(text.String()))
		c.fail(err)
		return
	}
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(w, strings.Join(lists.Map(cells, line), "\t"))
	}
	c.err = w.Flush()
}

// say prints one sentence, or the value with --json.
func (c *call) say(value any, format string, args ...any) {
	c.print(value, []string{fmt.Sprintf(format, args...)})
}

// table prints a line for each resource. columns has titles and members, such as "ID id|CLOSES submissions.closesAt". It prints empty if
// there are no resources. After an error, it still prints the resources that were changed before.
func (c *call) table(list []object, empty, columns string) {
	failure := c.err
	switch {
	case len(list) == 0 && failure != nil:
		return
	case len(list) == 0 && !c.json:
		c.note("%s", empty)
		return
	}
	c.err = nil
	var titles, members []string
	for column := range strings.SplitSeq(columns, "|") {
		i := strings.LastIndexByte(column, ' ')
		titles, members = append(titles, column[:i]), append(members, column[i+1:])
	}
	lines := [][]string{titles}
	for _, o := range list {
		lines = append(lines, lists.Map(members, func(m string) string { return o.first(strings.Split(m, ",")...) }))
	}
	c.print(append([]object{}, list...), lines...)
	c.err = cmp.Or(failure, c.err)
}

// list prints all pages of a list.
func (c *call) list(path, empty, columns string) { c.table(all[object](c, path), empty, columns) }

// note prints a message to standard error. Line breaks in arguments are replaced.
func (p *program) note(format string, args ...any) {
	for i, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
			args[i] = line(v.String())
		}
	}
	p.tell(fmt.Sprintf(format, args...))
}

// tell prints a message to standard error. It indents all lines except the first, so that a text from another user cannot look like a
// second message.
func (p *program) tell(message string) {
	fmt.Fprintln(p.errs, indented(printable(strings.TrimSpace(message))))
}

// indented returns a text with all lines indented except the first.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// line returns a text from another user, such as a name, as one line or one cell. Line breaks become blanks, and characters that control
// the terminal become visible.
func line(text string) string { return printable(client.OneLine(text)) }

// printable returns a text without characters that control a terminal.
func printable(text string) string { return strings.Map(visible, text) }

// escaped returns a text in JSON with escapes for characters that control a terminal. JSON does not require these escapes.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', unicode.IsPrint(r):
		return r
	case r == '\r': // from lines that end with CRLF
		return ' '
	}
	return unicode.ReplacementChar
}

// progress prints the progress of files, only on a terminal.
func (p *program) progress() client.Progress {
	var last time.Time
	return func(name string, done, total int64) {
		if now := time.Now(); p.terminal && !p.json && (done >= total || now.Sub(last) > 200*time.Millisecond) {
			last = now
			end := map[bool]string{true: "\n"}[done >= total]
			fmt.Fprintf(p.errs, "\r%s: %d of %d KiB%s", line(name), done>>10, total>>10, end)
		}
	}
}
