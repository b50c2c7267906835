package fields_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/shared/measure/fields"

	"pgregory.net/rapid"
)

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// checkScore compares with strconv, which is right but slower, and knows more than decimal numbers.
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

func TestParseScore_AgreesWithStrconv(t *testing.T) {
	formatted := rapid.Custom(func(t *rapid.T) string {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near one") {
			x = rapid.Float64Range(-1000, 1000).Draw(t, "x")
		}
		return strconv.FormatFloat(x, rapid.SampledFrom([]byte("efg")).Draw(t, "format"), rapid.IntRange(-1, 20).Draw(t, "digits"), 64)
	})
	drawn := rapid.StringMatching(`[+-]?[0-9]{0,22}\.?[0-9]{0,25}([eE][+-]?[0-9]{0,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		checkScore(t, rapid.OneOf(formatted, drawn, rapid.String()).Draw(t, "text"))
	})
}

func TestSplit_AgreesWithStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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
