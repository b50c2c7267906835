package fields_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"assay/shared/measure/fields"

	"pgregory.net/rapid"
)

// TestMembers_AgreeWithEncodingJSON walks objects of any values, with space between the tokens and without.
func TestMembers_AgreeWithEncodingJSON(t *testing.T) {
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "string") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(-1e9, 1e9).Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return strings.Repeat(`\"`, 20) + rapid.String().Draw(t, "long") }),
		rapid.SampledFrom([]any{nil, true, false, []any{}, map[string]any{"}": []any{`"]`, 1.5}}, `\"{`}),
	)
	rapid.Check(t, func(t *rapid.T) {
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

// TestMembers_EndWhereAnObjectDoesNot: each beginning of an object has its members before the last, and then none but a nil key.
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
