package fields_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// checkScore compares ParseScore with strconv, which is correct but slower, and accepts more than decimal numbers.
func checkScore(t interface{ Fatalf(string, ...any) }, text string) {
	want, err := strconv.ParseFloat(text, 64)
	accepted := err == nil && !math.IsInf(want, 0) && decimal.MatchString(text)
	got, ok := fields.ParseScore([]byte(text))
	if ok != accepted || ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q is %v, %v; want %v, %v", text, got, ok, want, accepted)
	}
	if !ok && fields.ScoreFault([]byte(text), "") == "" {
		t.Fatalf("nothing is said about %q", text)
	}
}

func TestParseScore_IsExact(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "+1", "1.", ".5", "-.5", "12.033000", "9007199254740992", "9007199254740993", "9007199254740993.0", "21484.543959354817",
		"3005787.8670387625", "1e22", "1e23", "1E-7", "1e+5",
		"0.30000000000000004", "123456789012345678", "18446744073709551615", "18446744073709551616", "99999999999999999999",
		"0.0000000000000000000001",
		"0.00000000000000000000001", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324", "1e-400", "2.2250738585072011e-308",
		"0000000000000000000000001.5", strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1",
		"", ".", "-", "+", "-.", "e5", "1e", "1e+", "1e5x", "1.2.3", "1_000", "1e1_0", "0x10", "0x1p4", "inf", "Infinity", "NaN", "--1", "1-",
		"１", "1,5", "1e5.0",
	} {
		checkScore(t, text)
	}
}

// TestParseScore_ReadsShortOnesExactly tries each byte at each place, and more digits than a float64 holds.
func TestParseScore_ReadsShortOnesExactly(t *testing.T) {
	for _, score := range []string{"12.345678", "123456789.12", "12345678"} {
		for at := range score {
			for b := range 256 {
				text := []byte(score)
				text[at] = byte(b)
				checkScore(t, string(text))
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		digits := strconv.Itoa(1e15 + random.IntN(9e16))
		at := random.IntN(len(digits))
		checkScore(t, digits[:at]+"."+digits[at:])
	}
}

func TestParseScore_AgreesWithStrconv(t *testing.T) {
	formatted := rapid.Custom(func(t *rapid.T) string {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near one") {
			x = rapid.Float64Range(-1000, 1000).Draw(t, "x")
		}
		return strconv.FormatFloat(x, rapid.SampledFrom([]byte("efg")).Draw(t, "format"), rapid.IntRange(-1, 20).Draw(t, "digits"), 64)
	})
	drawn := rapid.StringMatching(`[+-]?[0-9]{0,22}\.?[0-9]{0,25}([eE][+-]?[0-9]{0,3})?`)
	nearly := rapid.StringMatching(`[0-9]{0,16}.[0-9]{0,16}.?`) // the lengths for which parseShort exists
	nightlytest.Check(t, func(t *rapid.T) {
		checkScore(t, rapid.OneOf(formatted, drawn, nearly, rapid.String()).Draw(t, "text"))
	})
}

func TestSplit_AgreesWithStrings(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("ab1ü \t\v\f\r")), 0, 40, -1).Draw(t, "line")
		want := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) })
		var parts [6][]byte
		n := fields.Split([]byte(line), parts[:])
		if n != min(len(want), 7) {
			t.Fatalf("%q has %d fields, want %d", line, n, len(want))
		}
		for i := range min(n, 6) {
			if string(parts[i]) != want[i] {
				t.Fatalf("field %d of %q is %q, want %q", i, line, parts[i], want[i])
			}
		}
	})
}

// TestNumberHint_RepeatsNoLongText names the healed number only if it is short.
func TestNumberHint_RepeatsNoLongText(t *testing.T) {
	for text, want := range map[string]string{
		"1,5":                                   "; numbers have a point and no comma: write 1.5",
		"1,500.25":                              "; numbers have nothing between thousands: write 1500.25",
		"10,000,000":                            "; numbers have nothing between thousands: write 10000000",
		"10.457,":                               "",
		"61.7%":                                 "; leave out % and divide by 100",
		"61.7 %":                                "; leave out % and divide by 100",
		"x%":                                    "",
		"\u22121.5":                             "; its minus is the character U+2212: write -1.5",
		"\u2013.5":                              "; its minus is the character U+2013: write -.5",
		"\u2011x":                               "",
		"1,5" + strings.Repeat("0", 60000):      "",
		"1,500.25" + strings.Repeat("0", 60000): "",
	} {
		if got := fields.NumberHint([]byte(text)); got != want {
			t.Errorf("%.20s: %.100q, want %q", text, got, want)
		}
	}
	if got := fields.OtherSpelling([]string{strings.Repeat(" ", 60000) + "ID"}, "id"); len(got) > 200 {
		t.Errorf("a clause of %d bytes", len(got))
	}
}

func TestParseGrade_TakesWholeNumbers(t *testing.T) {
	for text, want := range map[string]int16{"1": 1, "1.0": 1, "-2.": -2, "+03": 3, "0.000": 0, "-0": 0, "1e1": 10, "32767.0": 32767,
		"-32767": -32767} {
		if got, ok := fields.ParseGrade([]byte(text)); !ok || got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "1.5", "0.1", "32768", "-32768", "-32768.0", "1e5", "x", "1x", "0x1", "inf", "NaN", "1,0", "1_0",
		strings.Repeat("9", 400)} {
		if got, ok := fields.ParseGrade([]byte(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestRecords_ReadCSV(t *testing.T) {
	const (
		bare   = "a quote stands within a field"
		quoted = "a quoted field does not end with a quote"
	)
	for content, want := range map[string][]string{
		"a,b\n\"x\ny\",\"\"\"\"\n\nc,\n": {"1 [a b]", "2 [x\ny \"]", "5 [c ]"},
		"a,b\n1,2\n1,2,3\n": {"1 [a b]", "2 [1 2]",
			"3 the record has 3 fields, and the first line has 2; expected as many, and quotes"},
		"a,b\n1\n1,2\n":            {"1 [a b]", "2 the record has 1 field, and the first line has 2; expected as many", "3 [1 2]"},
		"a,b\nx\"y,1\n1,2\n":       {"1 [a b]", "2 " + bare, "3 [1 2]"},
		"a,b\n1,\"2\n":             {"1 [a b]", "2 " + quoted},
		"":                         nil,
		"a\tb\n1,2\t\"3\t4\"\n":    {"1 [a b]", "2 [1,2 3\t4]"},
		"a,x\tb\n1,2\t3\n":         {"1 [a x\tb]", "2 [1 2\t3]"}, // tabs do not separate a from the rest
		"a\t\"b\"\tc,d\n1\t2\t3\n": {"1 [a b c,d]", "2 [1 2 3]"},
		"x\ty\n1\t2\n":             {"1 [x y]", "2 [1 2]"},
		"x;y\n1;2,5\n":             {"1 [x y]", "2 [1 2,5]"},
		"a;b;c,d\n1;2;\"3;4\"\n":   {"1 [a b c,d]", "2 [1 2 3;4]"},
		"a,b,x;y;z;w\n1,2,3\n":     {"1 [a b x;y;z;w]", "2 [1 2 3]"}, // semicolons do not separate a from b
		"a,b\n\"x\ry\",2\n":        {"1 [a b]", "2 [x\ry 2]"},
		"a,b\n1,2\r\r\n":           {"1 [a b]", "2 [1 2]"},
		"a,b\n\xff\n1,2\n":         {"1 [a b]", "3 [1 2]"},
		"a,b\r1,2\r":               {"1 " + lines.BareCRFault},
		"a\n" + strings.Repeat("\n", fields.MaxRecord+10): {"1 [a]", fmt.Sprintf("%d before this line are", fields.MaxRecord+2)},
		"a\n\"" + strings.Repeat("x\n", fields.MaxRecord): {"1 [a]", "2 the record that starts here has a quoted field that is not closed"},
	} {
		var report measure.Report
		var got []string
		add := func(line int, format string, args ...any) {
			if len(got) <= len(want) {
				got = append(got, fmt.Sprint(line, " ", fmt.Sprintf(format, args...)))
			}
		}
		records := fields.NewRecords(lines.NewReader(t.Context(), "f", strings.NewReader(content), &report), add, "a", "b")
		if line, header := records.Header(); header != nil {
			add(line, "%v", header)
		}
		for line, record := range records.All() {
			add(line, "%s", record)
		}
		// After a quote that is never closed, reading goes on with the next line.
		if len(content) > fields.MaxRecord && len(got) > len(want) {
			got = got[:len(want)]
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%.40q: got %.200q, want %q", content, got, want)
		}
	}
}

// TestMembers_AgreeWithEncodingJSON walks objects of any values, with space between the tokens and without.
func TestMembers_AgreeWithEncodingJSON(t *testing.T) {
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "string") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(-1e9, 1e9).Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return strings.Repeat(`\"`, 20) + rapid.String().Draw(t, "long") }),
		rapid.SampledFrom([]any{nil, true, false, []any{}, map[string]any{"}": []any{`"]`, 1.5}}, `\"{`}),
	)
	nightlytest.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.String(), value, 0, 6).Draw(t, "object")
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "spaced") {
			var spaced bytes.Buffer
			if err := json.Indent(&spaced, text, "", "\t"); err != nil {
				t.Fatal(err)
			}
			text = bytes.ReplaceAll(spaced.Bytes(), []byte("\n"), []byte(" \r"))
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		for key, raw := range fields.Members(text) {
			name, fault := fields.Text("key", key, []string{"string"})
			ok := fault == ""
			if !ok {
				name = nil // with a zero byte
				for other := range want {
					if fields.Names(key, other) {
						t.Fatalf("%s is %q, although it has a zero byte", key, other)
					}
					if bytes.IndexByte([]byte(other), 0) >= 0 {
						name = []byte(other)
					}
				}
			} else if !fields.Names(key, string(name)) {
				t.Fatalf("%s is not %q", key, name)
			}
			if ok && !bytes.Equal(bytes.TrimRight(want[string(name)], " \r"), raw) {
				t.Fatalf("%s is %s, want %s", key, raw, want[string(name)])
			}
			delete(want, string(name))
		}
		if len(want) > 0 {
			t.Fatalf("%q is missing of %s", want, text)
		}
	})
}

func TestText_RefusesHalfCharacters(t *testing.T) {
	for raw, want := range map[string]string{
		`"\ud83d\uDE00"`: "😀", `"\\ud800"`: `\ud800`, `"\uFFFD\ufffd\\ufffd�"`: "\ufffd\ufffd\\ufffd\ufffd", `"\\\u0061"`: `\a`,
	} {
		if text, fault := fields.Text("key", []byte(raw), []string{"string"}); string(text) != want || fault != "" {
			t.Errorf("%s is %q: %s", raw, text, fault)
		}
	}
	for _, raw := range []string{`"\ud800"`, `"\uDC00\ud800"`, `"\ud800\\udc00"`, `"\ud800\ufffd"`, `"\\ufffd\ud800"`, `"�\ud800"`, `"a\udfffb"`,
		`"\u0000"`, `"a\u0000b"`} {
		if text, fault := fields.Text("key", []byte(raw), []string{"string"}); fault == "" {
			t.Errorf("%s is %q", raw, text)
		}
	}
}

// TestMembers_EndWhereAnObjectDoesNot reads each prefix of an object. It must have the members before the cut, and then a nil key.
func TestMembers_EndWhereAnObjectDoesNot(t *testing.T) {
	whole := `{"id": "` + strings.Repeat(`\\`, 30) + `", "a" :[{"b":"]"},"}"], "n":1}`
	for end := 1; end < len(whole); end++ {
		count, ended := 0, false
		for key := range fields.Members([]byte(whole[:end])) {
			count, ended = count+1, key == nil
		}
		if !ended || count > 3 {
			t.Errorf("%s: %d members, ended %v", whole[:end], count, ended)
		}
	}
	for _, text := range []string{`{"a" 1}`, `{"a"x1}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1]`, `{,}`, `{"a":"\"}`, `{"a":[1}`} {
		ended := false
		for key := range fields.Members([]byte(text)) {
			ended = key == nil
		}
		if !ended {
			t.Errorf("%s is an object", text)
		}
	}
}

// FuzzObject compares Object with encoding/json: both must accept the same lines and find the same members.
func FuzzObject(f *testing.F) {
	for _, line := range []string{
		`{}`, ` {"a": 1, "b":[true,{"c":"d"}]}	`, `{"a":-0.5e+7,"b":0}`, `{"a":"\\\"\/\b\f\n\r\t\u00e9\uD83d\ude00"}`, `[1]`, "",
		`{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":-}`, `{"a":1.2.3}`, `{"a":+1}`, `{"a":nul}`, `{"a":NaN}`, `{"a":[1,]}`, `{"a":1,}`, `{"a":{"b" 1}}`,
		`{"a":[1}}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`, `{"a":"\"}`, "{\"a\":\"\t\"}", "{\"\x01\":1}", `{"a":1}}`, `{"a":1} x}`,
		`{"a":"` + strings.Repeat(`\\`, 30) + `"}`, `{"a":"` + strings.Repeat(`x`, 50) + `\"}`, `{"a":"\ud800"}`, `{"a":"\ud800\u0061"}`, `{"a":"\u0000"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 || !utf8.Valid(line) {
			return // a Reader never returns such a line
		}
		keys, values := []string{}, []string{}
		sound := true
		found, fault := fields.Object(line, "", func(key, value []byte) string {
			name, fault := fields.Text("key", key, []string{"string"})
			var decoded string
			if json.Unmarshal(key, &decoded) != nil || fault == "" && string(name) != decoded ||
				fault != "" && !strings.ContainsAny(decoded, "\x00\ufffd") {
				t.Errorf("the key %s is %q: %s", key, name, fault)
			}
			sound = sound && fault == ""
			keys, values = append(keys, decoded), append(values, string(value))
			return ""
		})
		text := bytes.Trim(line, fields.JSONSpace)
		want := len(text) > 0 && text[0] == '{' && json.Valid(text)
		if found != want || (fault == "") != (want || len(text) == 0) {
			t.Errorf("%.100q: found %v, fault %q", line, found, fault)
		}
		var members map[string]json.RawMessage
		if !want || json.Unmarshal(text, &members) != nil {
			return
		}
		for i, key := range keys {
			if slices.Contains(keys[i+1:], key) {
				continue // the last one counts
			}
			if string(members[key]) != values[i] {
				t.Errorf("%q: the member %q is %s", line, key, values[i])
			}
			delete(members, key)
		}
		if sound && len(members) > 0 {
			t.Errorf("%q: %v is missing", line, members)
		}
	})
}

func TestObject_NestsAsDeeplyAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{9_999, 10_000, 1_000_000} {
		line := []byte(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`)
		if found, fault := fields.Object(line, "", func(_, _ []byte) string { return "" }); found != json.Valid(line) || found == (fault != "") {
			t.Errorf("depth %d: %v, %s", depth, found, fault)
		}
	}
}

// TestRecords_AgreeWithEncodingCSV reads random records after a header, with and without quotes.
func TestRecords_AgreeWithEncodingCSV(t *testing.T) {
	piece := rapid.SampledFrom([]string{"x", "", "é ", ",", "\"", `"y"`, `"a""b"`, "\n", "\r\n", "1,2\n", "\t"})
	nightlytest.Check(t, func(t *rapid.T) {
		content := "a,b\n" + strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "content"), "")
		var got, want []string
		for reader := csv.NewReader(strings.NewReader(content)); ; {
			record, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if parse, ok := errors.AsType[*csv.ParseError](err); ok {
				want = append(want, fmt.Sprint(parse.StartLine))
				continue
			}
			line, _ := reader.FieldPos(0)
			want = append(want, fmt.Sprintf("%d %q", line, record))
		}
		var report measure.Report
		records := fields.NewRecords(lines.NewReader(context.Background(), "f", strings.NewReader(content), &report),
			func(line int, _ string, _ ...any) { got = append(got, fmt.Sprint(line)) }, "a", "b")
		line, header := records.Header()
		got = append(got, fmt.Sprintf("%d %q", line, header))
		for line, record := range records.All() {
			got = append(got, fmt.Sprintf("%d %q", line, record))
		}
		hasShape := len(got) > 1 && got[len(got)-1] == "0" // a table with tabs, which ends the reading
		if !hasShape && !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", content, got, want)
		}
	})
}
