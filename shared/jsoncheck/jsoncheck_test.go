package jsoncheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"assay/shared/jsoncheck"
	"assay/shared/problem"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func array(values int) string { return "[" + strings.Repeat("1,", values-2) + "1]" }

func TestCheck_RefusesWhatIsNotJSON(t *testing.T) {
	for document, ok := range map[string]bool{
		`null`: true, ` {} `: true, `[]`: true, `""`: true, `-1.5e3`: true, `{"a":[{"b":1},{"b":2}],"b":"a"}`: true,
		`{"a\"":1,"a\\":2,"a\\\"":{"\\":"\\\""}}`:            true,
		`{"a":"a","b":["a","a"],"c":{"a":1}}`:                true,
		`{"text":"a\u0000b"}`:                                true,
		`["\ud83d\ude00\uD83D\uDE00","\\ud800","\\\\ud800"]`: true,
		`"\ud800"`: false, `"\uD800"`: false, `"\ude00\ud83d"`: false, `"\ud83d\ud83d\ude00"`: false, `"\ud83d\u0061"`: false, `"\ud83dx"`: false,
		`"\ud83d\\ude00"`: false, `"\\\udc00"`: false, `{"\udfff":1}`: false, `[{"a":["\ud83d\ude00\ude00"]}]`: false,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{} {}`: false, `nul`: false, "\"\xff\"": false, "\xef\xbb\xbf{}": false,
		`{"a":1,"b":2,"a":3}`:                                       false,
		`{"name":1,"n\u0061me":2}`:                                  false,
		`{"a":{"b":1},"a":{}}`:                                      false,
		`[{"a":1},{"a":[{"b":1,"b":1}]}]`:                           false,
		nested(jsoncheck.MaxDepth):                                  true,
		nested(jsoncheck.MaxDepth + 1):                              false,
		strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat("}", 33): false,
		array(jsoncheck.MaxValues):                                  true,
		array(jsoncheck.MaxValues + 1):                              false,
		`{"n":` + strings.Repeat("1", 100) + `}`:                    true,
		strings.Repeat("1", 101):                                    false,
		`[0.` + strings.Repeat("1", 1<<20) + `]`:                    false,
		`"` + strings.Repeat("1", 1<<20) + `"`:                      true,
	} {
		if err := jsoncheck.Check(t.Context(), []byte(document)); (err == nil) != ok || !ok && !problem.BadRequest.Is(err) {
			t.Errorf("%.80s: %v, want it to be accepted: %t", document, err, ok)
		}
	}
}

func TestCheck_SaysWhatToDo(t *testing.T) {
	for document, want := range map[string]string{
		array(jsoncheck.MaxValues + 1): "Send it in several requests, or put large data into files.",
		nested(jsoncheck.MaxDepth + 1): "compare it with /openapi.json",
		strings.Repeat("1", 101):       "Round it.",
	} {
		if err := jsoncheck.Check(t.Context(), []byte(document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", document, err, want)
		}
	}
}

func TestCheck_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := jsoncheck.Check(ctx, []byte(array(5000))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the error of the context", err)
	}
}

// A refused document costs the names and containers that were read until then, whatever its size.
func TestCheck_AllocatesLittle(t *testing.T) {
	for name, document := range map[string]string{
		"wide array":    array(2_500_000),
		"wide object":   `{` + strings.Repeat(`"a":1,`, 800_000) + `"a":1}`,
		"many objects":  `[` + strings.Repeat(`{"a":1},`, 600_000) + `{}]`,
		"long string":   `"` + strings.Repeat(`\"`, 2_500_000) + `"`,
		"long number":   strings.Repeat("1", 5_000_000),
		"deep":          nested(9_000),
		"escaped names": `{` + strings.Repeat(`"\u0061":1,`, 9_000) + `"b":1}`,
	} {
		body := []byte(document)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = jsoncheck.Check(t.Context(), body)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: checking %d bytes takes %d", name, len(body), n)
		}
	}
}

// What Check accepts, encoding/json decodes, and no object of it loses a member to another.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\\\""}]}`, `{"a":1,"\u0061":2}`, `[[[]]]`, `{"":{"":""}}`, `"\ud800"`, `{"a":1,"a":2}`,
		` [ 1e5 , null ] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if jsoncheck.Check(t.Context(), document) != nil {
			return
		}
		var v any
		if err := json.Unmarshal(document, &v); err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				t.Fatalf("%q was accepted: %v", document, err)
			}
			return // a number that is too large
		}
		if written, kept := colons(document), members(v); written != kept {
			t.Fatalf("%q has %d members, of which %d are left", document, written, kept)
		}
	})
}

// colons counts the colons outside of strings.
func colons(document []byte) int {
	return strings.Count(regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(string(document), ""), ":")
}

// members counts the members of all objects.
func members(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, m := range v {
			n += members(m)
		}
	case []any:
		for _, item := range v {
			n += members(item)
		}
	}
	return n
}
