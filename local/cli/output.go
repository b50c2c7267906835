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
	"assay/shared/lists"
)

// object is a resource of the API, as it was answered.
type object map[string]any

// member is the member that a path such as submissions.closesAt leads to; nil where there is none.
func (o object) member(path string) any {
	var at any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		of, _ := at.(map[string]any)
		at = of[name]
	}
	return at
}

// memberAs is a member of a resource as what the API declares it to be; the zero value where there is none, or another.
func memberAs[T any](o object, name string) (value T) {
	text, err := json.Marshal(o[name])
	if errors.Join(err, json.Unmarshal(text, &value)) != nil {
		return *new(T)
	}
	return value
}

// text is the member as tables show it: instants in the reader's zone, numbers with four decimals, and a dash where there is nothing.
func (o object) text(path string) string {
	switch v := o.member(path).(type) {
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			return t.Local().Format("2006-01-02 15:04")
		}
		if v = strings.Join(strings.Fields(v), " "); v != "" { // of one line, in its cell
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

// first is the first of the members that has a text; a dash where none has.
func (o object) first(paths ...string) string {
	for _, path := range paths {
		if text := o.text(path); text != "-" {
			return text
		}
	}
	return "-"
}

// decimals is a value as tables show it; of one that is not defined a dash.
func decimals(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 4, 64)
}

// score is the value of a measure as tables show it.
func score(measures object, name string) string { return decimals(memberAs[*float64](measures, name)) }

// print prints a value as JSON where that is asked for, and else the lines, whose cells stand below each other.
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

// say is print of one sentence.
func (c *call) say(value any, format string, args ...any) {
	c.print(value, []string{fmt.Sprintf(format, args...)})
}

// table prints resources, each a line of members: columns are as in "ID id|CLOSES submissions.closesAt". Of none, empty is said. Those that
// were changed before an error are printed too.
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

// note tells a person something that is no result. Arguments stand within their line.
func (p *program) note(format string, args ...any) {
	for i, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
			args[i] = line(v.String())
		}
	}
	p.tell(fmt.Sprintf(format, args...))
}

// tell prints a message to a person. Its first line begins where lines of the program begin. Those below it are indented, so that a
// message with a text of strangers cannot look like two.
func (p *program) tell(message string) {
	fmt.Fprintln(p.errs, indented(printable(strings.TrimSpace(message))))
}

// indented is a text whose lines below the first begin further right.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// line returns a text from another user, such as a name, for one line or one cell. Line breaks become blanks, and characters that control
// the terminal become visible.
func line(text string) string { return printable(client.OneLine(text)) }

// printable is a text without characters that steer a terminal.
func printable(text string) string { return strings.Map(visible, text) }

// escaped returns a text in JSON with escapes for the characters that steer a terminal. JSON does not require these escapes.
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
	case r == '\r': // of lines that end with CRLF
		return ' '
	}
	return unicode.ReplacementChar
}

// progress shows how far files are, on a terminal alone.
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
