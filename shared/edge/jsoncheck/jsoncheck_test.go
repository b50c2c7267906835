package jsoncheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"assay/shared/computation/measure/measuretest"
	"assay/shared/edge/jsoncheck"
	"assay/shared/language/problem"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func array(values int) string { return "[" + strings.Repeat("1,", values-2) + "1]" }

func TestDeep_CountsLevels(t *testing.T) {
	for document, want := range map[string]bool{
		"": false, "{": false, nested(jsoncheck.MaxDepth): false, nested(jsoncheck.MaxDepth + 1): true, strings.Repeat("[", 1<<20): true,
		`{"a":1,"a":` + nested(jsoncheck.MaxDepth) + "}": true, `["` + nested(100) + `"]`: false,
	} {
		if jsoncheck.Deep([]byte(document)) != want {
			t.Errorf("%.60s is deep: %t", document, !want)
		}
	}
}

func TestCheck_RefusesWhatIsNotJSON(t *testing.T) {
	const (
		ok      = ""
		notJSON = "The body is not a JSON document in UTF-8: "
		twice   = "An object of the body has two members with the name "
	)
	const (
		levels = "compare it with GET /openapi.json"
		values = "Send it in several requests, or put large data into files."
		digits = "Round it."
	)
	for document, want := range map[string]string{
		`null`: ok, ` {} `: ok, `[]`: ok, `""`: ok, `-1.5e3`: ok, `{"a":[{"b":1},{"b":2}],"b":"a"}`: ok,
		`{"a\"":1,"a\\":2,"a\\\"":{"\\":"\\\""}}`:            ok,
		`{"a":"a","b":["a","a"],"c":{"a":1}}`:                ok,
		`{"text":"a\u0000b"}`:                                ok,
		`["\ud83d\ude00\uD83D\uDE00","\\ud800","\\\\ud800"]`: ok,
		`"\ud800"`: notJSON, `"\uD800"`: notJSON, `"\ude00\ud83d"`: notJSON, `"\ud83d\ud83d\ude00"`: notJSON, `"\ud83d\u0061"`: notJSON,
		`"\ud83dx"`: notJSON, `"\ud83d\\ude00"`: notJSON, `"\\\udc00"`: notJSON, `{"\udfff":1}`: notJSON,
		`[{"a":["\ud83d\ude00\ude00"]}]`: notJSON, `{`: notJSON, `[1,]`: notJSON, `nul`: notJSON, "\"\xff\"": notJSON, "\xef\xbb\xbf{}": notJSON,
		``: "nothing but white space", ` `: "nothing but white space", `{} {}`: "more than one JSON document",
		`{"a":1,"b":2,"a":3}`:                                       twice + `"a"`,
		`{"name":1,"n\u0061me":2}`:                                  twice + `"name"`,
		`{"a":{"b":1},"a":{}}`:                                      twice + `"a"`,
		`[{"a":1},{"a":[{"b":1,"b":1}]}]`:                           twice + `"b"`,
		nested(jsoncheck.MaxDepth):                                  ok,
		nested(jsoncheck.MaxDepth + 1):                              levels,
		strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat("}", 33): levels,
		array(jsoncheck.MaxValues):                                  ok,
		array(jsoncheck.MaxValues + 1):                              values,
		`{"n":` + strings.Repeat("1", 100) + `}`:                    ok,
		strings.Repeat("1", 101):                                    digits,
		`[0.` + strings.Repeat("1", 1<<20) + `]`:                    digits,
		`"` + strings.Repeat("1", 1<<20) + `"`:                      ok,
	} {
		err := jsoncheck.Check(t.Context(), []byte(document))
		if want == ok && err != nil || want != ok && (!problem.BadRequest.Is(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %v, want %q", document, err, want)
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

// Refusing a document allocates only the names and containers before the fault, whatever its length.
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
		if n := measuretest.Allocated(func() { _ = jsoncheck.Check(t.Context(), body) }); n > 4<<20 {
			t.Errorf("%s: checking %d bytes takes %d", name, len(body), n)
		}
	}
}

// encoding/json decodes every document that Check accepts, and keeps all of its members.
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
			return // the number is too large for encoding/json
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
