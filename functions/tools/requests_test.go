package tools_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// object is an object of JSON.
type object = map[string]any

// inlineFiles are files sent with a request, from pairs of a name and a content.
func inlineFiles(pairs ...string) object {
	var files []object
	for i := 0; i < len(pairs); i += 2 {
		name, content := pairs[i], pairs[i+1]
		if utf8.ValidString(content) {
			files = append(files, object{"name": name, "text": content})
		} else {
			files = append(files, object{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))})
		}
	}
	return object{"files": files}
}

// namedRun is an inline run with a name.
func namedRun(name, content string) object {
	return withMembers(inlineFiles("run.txt", content), "name", name)
}

// trecRun writes a run: each text is a topic, and after its space a document for each letter, best first.
func trecRun(topics ...string) string {
	var b strings.Builder
	for _, text := range topics {
		topic, letters, _ := strings.Cut(text, " ")
		for i, letter := range letters {
			b.WriteString(topic + " Q0 " + string(letter) + " 0 " + string(rune('9'-i)) + " x\n")
		}
	}
	return b.String()
}

// topicValues gives values to topics 1, 2, ...
func topicValues(values ...float64) map[string]float64 {
	topics := map[string]float64{}
	for i, v := range values {
		topics[fmt.Sprint(i+1)] = v
	}
	return topics
}

// runRef refers to a run of the platform.
func runRef(r *record.RunItem) object { return object{"runId": r.ID} }

// runRefs refers to runs of the platform.
func runRefs(all ...*record.RunItem) []object {
	var refs []object
	for _, r := range all {
		refs = append(refs, runRef(r))
	}
	return refs
}

// withMembers is the input with members added or, when they are nil, taken out.
func withMembers(input object, pairs ...any) object {
	out := maps.Clone(input)
	for i := 0; i < len(pairs); i += 2 {
		if out[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
			delete(out, pairs[i].(string))
		}
	}
	return out
}

// invoke has the tool compute from the input, as the user. What it answers as JSON must be of its schema.
func (s *toolServer) invoke(status int, out any, user, tool string, input any, headers ...string) servertest.Answer {
	s.t.Helper()
	if out != nil {
		reflect.ValueOf(out).Elem().SetZero() // what an answer leaves out is not that of the one before
	}
	a := s.Want(status, out, user, http.MethodPost, "/v1/tools/"+tool, input, headers...)
	if status == http.StatusOK && a.Header.Get("Content-Type") == "application/json" {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.schema(tool).Validate(document); err != nil {
			s.t.Errorf("the answer of %s is not of its schema: %v", tool, err)
		}
	}
	return a
}

// answer is what the tool computes from the input, for the user.
func answer[O any](s *toolServer, user, tool string, input object) (out O) {
	s.t.Helper()
	s.invoke(http.StatusOK, &out, user, tool, input)
	return out
}

// schema is what the tool says of its answers.
func (s *toolServer) schema(tool string) *jsonschema.Schema {
	s.t.Helper()
	if s.schemas[tool] == nil {
		var described struct{ Output any }
		s.Want(http.StatusOK, &described, "", http.MethodGet, "/v1/tools/"+tool, nil)
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("urn:assay:"+tool, described.Output); err != nil {
			s.t.Fatal(err)
		}
		schema, err := compiler.Compile("urn:assay:" + tool)
		if err != nil {
			s.t.Fatal(err)
		}
		s.schemas[tool] = schema
	}
	return s.schemas[tool]
}

// page is what the tool shows in a browser.
func (s *toolServer) page(user, tool string, input object) string {
	s.t.Helper()
	return string(s.invoke(http.StatusOK, nil, user, tool, input, "Accept", "text/html").Body)
}

// wantTexts checks that a page has the texts.
func (s *toolServer) wantTexts(page string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			s.t.Errorf("the page does not say %q", text)
		}
	}
}

// resultURL is where a GET has the answer.
func (s *toolServer) resultURL(tool string, input object) string {
	s.t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	return "/v1/tools/" + tool + "/result?" + url.Values{"input": {string(text)}}.Encode()
}

// refusal is an input that a tool refuses, and the one member that the problem names.
type refusal struct {
	input         object
	pointer, says string
}

// wantRefusals has the tool refuse each of the inputs.
func (s *toolServer) wantRefusals(tool string, all map[string]refusal) {
	s.t.Helper()
	for _, r := range all {
		s.wantRefusal("", tool, r)
	}
}

// wantRefusal has the tool refuse the input of the user.
func (s *toolServer) wantRefusal(user, tool string, r refusal) {
	s.t.Helper()
	var got problem.Document
	s.invoke(http.StatusUnprocessableEntity, &got, user, tool, r.input)
	if len(got.Errors) != 1 || got.Errors[0].Pointer != r.pointer || !strings.Contains(got.Errors[0].Detail, r.says) {
		s.t.Errorf("%s refuses %v with %+v, want %q %q", tool, r.input, got.Errors, r.pointer, r.says)
	}
}
