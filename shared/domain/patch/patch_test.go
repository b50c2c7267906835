package patch_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/patch"
	"assay/shared/language/problem"
)

// The examples come from RFC 6902, appendix A. They are those whose documents are objects.
func TestApply_JSONPatch(t *testing.T) {
	for name, c := range map[string]struct{ resource, patch, want string }{
		"A.1": {`{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux"}]`, `{"baz":"qux","foo":"bar"}`},
		"A.2": {`{"foo":["bar","baz"]}`, `[{"op":"add","path":"/foo/1","value":"qux"}]`, `{"foo":["bar","qux","baz"]}`},
		"A.3": {`{"baz":"qux","foo":"bar"}`, `[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`},
		"A.4": {`{"foo":["bar","qux","baz"]}`, `[{"op":"remove","path":"/foo/1"}]`, `{"foo":["bar","baz"]}`},
		"A.5": {`{"baz":"qux","foo":"bar"}`, `[{"op":"replace","path":"/baz","value":"boo"}]`, `{"baz":"boo","foo":"bar"}`},
		"A.6": {`{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`, `[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`,
			`{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`},
		"A.7": {`{"foo":["all","grass","cows","eat"]}`, `[{"op":"move","from":"/foo/1","path":"/foo/3"}]`,
			`{"foo":["all","cows","eat","grass"]}`},
		"A.8": {`{"baz":"qux","foo":["a",2,"c"]}`, `[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`,
			`{"baz":"qux","foo":["a",2,"c"]}`},
		"A.10": {`{"foo":"bar"}`, `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, `{"child":{"grandchild":{}},"foo":"bar"}`},
		"A.11": {`{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`, `{"baz":"qux","foo":"bar"}`},
		"A.14": {`{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":10}]`, `{"/":9,"~1":10}`},
		"A.16": {`{"foo":["bar"]}`, `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, `{"foo":["bar",["abc","def"]]}`},
		"null": {`{"foo":"bar"}`, `[{"op":"replace","path":"/foo","value":null}]`, `{"foo":null}`},
		"none": {`{"foo":"bar"}`, `[]`, `{"foo":"bar"}`},
		"copy": {`{"foo":["a",{"b":[1]}]}`, `[{"op":"copy","from":"/foo","path":"/foo/0"},{"op":"remove","path":"/foo/2/b/0"}]`,
			`{"foo":[["a",{"b":[1]}],"a",{"b":[]}]}`},
		"down": {`{"foo":{"a":1},"qux":[1]}`, `[{"op":"move","from":"/foo","path":"/qux/-"},{"op":"move","from":"/qux/0","path":"/qux/0"}]`,
			`{"qux":[1,{"a":1}]}`},
	} {
		got, err := patch.Apply(patch.JSONPatch, []byte(c.patch), []byte(c.resource), []string{"foo", "baz", "qux", "child", "/", "~1"})
		if err != nil || string(bytes.TrimSpace(got)) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestApply_RefusesJSONPatches(t *testing.T) {
	for name, c := range map[string]struct {
		patch string
		kind  *problem.Kind
	}{
		"A.9 a test that fails":       {`[{"op":"test","path":"/foo","value":"other"}]`, problem.PatchFailed},
		"A.12 to nowhere":             {`[{"op":"add","path":"/baz/bat","value":"qux"}]`, problem.PatchFailed},
		"removing what is not there":  {`[{"op":"remove","path":"/baz"}]`, problem.PatchFailed},
		"a test after a change":       {`[{"op":"replace","path":"/foo","value":1},{"op":"test","path":"/foo","value":2}]`, problem.PatchFailed},
		"an unknown op":               {`[{"op":"swap","path":"/foo"}]`, problem.BadRequest},
		"no op":                       {`[{"path":"/foo"}]`, problem.BadRequest},
		"no path":                     {`[{"op":"remove"}]`, problem.BadRequest},
		"a path that is none":         {`[{"op":"remove","path":"foo"}]`, problem.BadRequest},
		"no value, but one elsewhere": {`[{"op":"add","path":"/foo","value":1},{"op":"add","path":"/foo"}]`, problem.BadRequest},
		"no from":                     {`[{"op":"copy","path":"/foo"}]`, problem.BadRequest},
		"an object":                   {`{"foo":1}`, problem.BadRequest},
		"null":                        {`null`, problem.BadRequest},
		"no JSON":                     {`[`, problem.BadRequest},
		"too many": {`[` + strings.Repeat(`{"op":"test","path":"/foo","value":"bar"},`, 1000) +
			`{"op":"test","path":"/foo","value":"bar"}]`, problem.Invalid},
		"a member that is not its own": {`[{"op":"replace","path":"/id","value":2}]`, problem.Invalid},
		"such a member removed":        {`[{"op":"remove","path":"/id"}]`, problem.Invalid},
		"a move into itself": {`[{"op":"add","path":"/foo","value":{"a":{}}},{"op":"move","from":"/foo","path":"/foo/a"}]`,
			problem.PatchFailed},
		"a path that is just so long":  {`[{"op":"remove","path":"/` + strings.Repeat("ä", 199) + `"}]`, problem.PatchFailed},
		"a path that is too long":      {`[{"op":"add","path":"` + strings.Repeat("/foo", 51) + `","value":1}]`, problem.BadRequest},
		"past the end of an array":     {`[{"op":"add","path":"/foo","value":[1]},{"op":"add","path":"/foo/2","value":1}]`, problem.PatchFailed},
		"an index with a zero":         {`[{"op":"add","path":"/foo","value":[1,2]},{"op":"remove","path":"/foo/01"}]`, problem.PatchFailed},
		"a replacement of nothing":     {`[{"op":"replace","path":"/bar","value":1}]`, problem.PatchFailed},
		"a resource removed":           {`[{"op":"remove","path":""}]`, problem.Invalid},
		"a resource that is no object": {`[{"op":"replace","path":"","value":[]}]`, problem.Invalid},
	} {
		got, err := patch.Apply(patch.JSONPatch, []byte(c.patch), []byte(`{"id":1,"foo":"bar"}`), []string{"foo"})
		if !c.kind.Is(err) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.kind.Slug)
		}
	}
}

// The examples come from RFC 7396, appendix A. They are those whose original is an object.
func TestApply_MergePatch(t *testing.T) {
	for _, c := range []struct{ resource, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		// A null for an unknown member remains, so that the schema refuses it.
		{`{"a":"b"}`, `{"colour":null}`, `{"a":"b","colour":null}`},
		{`{"a":"b"}`, `{"colour":"red"}`, `{"a":"b","colour":"red"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		got, err := patch.Apply(patch.MergePatch, []byte(c.patch), []byte(c.resource), []string{"a", "b", "e"})
		if err != nil || string(bytes.TrimSpace(got)) != c.want {
			t.Errorf("%s on %s: %s, %v; want %s", c.patch, c.resource, got, err, c.want)
		}
	}
	for _, body := range []string{`["c"]`, `null`, `"bar"`, `1`, ``, `{`} {
		if _, err := patch.Apply(patch.MergePatch, []byte(body), []byte(`{"a":"b"}`), []string{"a"}); !problem.BadRequest.Is(err) {
			t.Errorf("%q: %v, want it to be refused", body, err)
		}
	}
	if _, err := patch.Apply(patch.MergePatch, []byte(`{"id":null}`), []byte(`{"id":1}`), nil); !problem.Invalid.Is(err) {
		t.Errorf("%v: a member of the service was removed", err)
	}
}

func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"replace","path":"/name","value":"x"}]`, `[{"op":"copy","from":"","path":"/list/-"}]`,
		`[{"op":"move","from":"/list/0","path":"/name"}]`,
		`[{"op":"test","path":"/id","value":1}]`, `{"name":null}`, `{"list":[1,{"a":null}]}`, `[{"op":"add","path":"/list/-1","value":0}]`,
		`[{"op":"remove","path":""}]`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	const resource = `{"id":1,"name":"n","list":[1,2],"deep":{"a":{"b":"c"}}}`
	f.Fuzz(func(t *testing.T, body []byte, merge bool) {
		mediaType := patch.JSONPatch
		if merge {
			mediaType = patch.MergePatch
		}
		out, err := patch.Apply(mediaType, body, []byte(resource), []string{"name", "list", "deep"})
		if err != nil {
			kinds := []*problem.Kind{problem.BadRequest, problem.PatchFailed, problem.Invalid}
			if !slices.ContainsFunc(kinds, func(k *problem.Kind) bool { return k.Is(err) }) {
				t.Fatalf("%v is no problem of a patch", err)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(out, &members); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if _, there := members["id"]; there {
			t.Fatalf("%s has a member that is the service's", out)
		}
	})
}

// Repeated and copied values of a patch allocate at most a few times the lengths of patch and resource.
func TestApply_AllocatesAFewTimesThePatch(t *testing.T) {
	big := `"` + strings.Repeat("<", 4<<20) + `"`
	deep := func(depth int, inner string) string {
		return strings.Repeat(`{"a":`, depth) + inner + strings.Repeat("}", depth)
	}
	text := `{"id":1,"a":{"text":"` + strings.Repeat("x", 64<<10) + `","list":["x"]}}`
	list := `[` + strings.Repeat("1,", 8000) + `1]`
	for name, c := range map[string]struct{ mediaType, patch, resource string }{
		"a deep merge":         {patch.MergePatch, deep(30, big), `{"id":1}`},
		"a deep merge on deep": {patch.MergePatch, deep(30, big), deep(30, `"x"`)},
		"a deep add": {patch.JSONPatch, `[{"op":"add","path":"/a","value":` + deep(28, big) + `},{"op":"add","path":"` +
			strings.Repeat("/a", 28) + `/b","value":1}]`, `{"id":1}`},
		"a deep test": {patch.JSONPatch, `[{"op":"add","path":"/a","value":` + deep(28, big) + `},{"op":"test","path":"` +
			strings.Repeat("/a", 28) + `","value":{}}]`, `{"id":1}`},
		"adds at a head": {patch.JSONPatch, `[{"op":"add","path":"/a","value":` + list + `}` +
			strings.Repeat(`,{"op":"add","path":"/a/0","value":1}`, 400) + `]`, `{"id":1}`},
		"copies of a text": {
			patch.JSONPatch, `[{"op":"test","path":"/id","value":1}` + strings.Repeat(`,{"op":"copy","from":"/a/text","path":"/a/list/-"}`, 900) +
				`]`, text},
		"copies of copies": {
			patch.JSONPatch, `[{"op":"test","path":"/id","value":1}` + strings.Repeat(`,{"op":"copy","from":"/a/list","path":"/a/list/-"}`, 900) +
				`]`, text},
	} {
		var err error
		n := measuretest.Allocated(func() { _, err = patch.Apply(c.mediaType, []byte(c.patch), []byte(c.resource), []string{"a"}) })
		if most := uint64(8*len(c.patch) + 8<<20); n > most {
			t.Errorf("%s of %d bytes allocates %d, want at most %d (%v)", name, len(c.patch), n, most, err)
		}
		if strings.HasPrefix(name, "copies") && !problem.PatchFailed.Is(err) {
			t.Errorf("%s: %v, want it to be refused", name, err)
		}
	}
}
