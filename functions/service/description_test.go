package service_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/computation/measure"
	"assay/shared/edge/api"
)

var update = flag.Bool("update", false, "generate the API's description")

// TestDescription_IsGenerated requires that the document describes the declared operations. With -update it writes the document.
func TestDescription_IsGenerated(t *testing.T) {
	const file = "openapi.json"
	want, err := api.DocumentJSON(functions.Families())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s does not describe the operations: run go generate ./functions/service (%v)", file, err)
	}
}

// Two renderings of the same operations are equal, so that every difference of the document is a difference of the API.
func TestDescription_IsStable(t *testing.T) {
	first, err := api.DocumentJSON(functions.Families())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, err := api.DocumentJSON(functions.Families()); err != nil || !bytes.Equal(again, first) {
			t.Fatalf("another rendering has other bytes (%v)", err)
		}
	}
}

// TestDescription_DefinesMeasures looks for each text and number that /info has about evaluators and measures.
func TestDescription_DefinesMeasures(t *testing.T) {
	text := api.OpenAPI(functions.Families()).Paths["/info"].Get.Description
	for _, e := range measure.Evaluators {
		start := strings.Index(text, "A run of `"+string(e.Kind)+"`")
		if start < 0 {
			t.Errorf("the document does not describe %s", e.Kind)
			continue
		}
		described, _, _ := strings.Cut(text[start:], "\n\nA run of `")
		for _, shown := range []any{e, e.Families} {
			var value any
			if encoded, err := json.Marshal(shown); err != nil || json.Unmarshal(encoded, &value) != nil {
				t.Fatal(err)
			}
			for _, leaf := range leaves(value) {
				if !strings.Contains(described, leaf) {
					t.Errorf("%s: the document lacks %q", e.Kind, leaf)
				}
			}
		}
	}
}

// leaves returns the texts and numbers in a JSON value. It leaves out names of members, and cutoffs of measures that have none.
func leaves(value any) (all []string) {
	switch v := value.(type) {
	case string:
		if v != string(measure.NoCutoff) {
			all = append(all, v)
		}
	case float64:
		all = append(all, strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		for _, element := range v {
			all = append(all, leaves(element)...)
		}
	case map[string]any:
		for _, member := range v {
			all = append(all, leaves(member)...)
		}
		if higher, ok := v["higherIsBetter"].(bool); ok && !higher {
			all = append(all, "less is better): "+v["definition"].(string))
		}
	}
	return all
}

// TestDescription_NamesVersionsInFull searches the document for other names of a version. A change of the evaluator makes a version too, so
// "version of the truth" would be untrue.
func TestDescription_NamesVersionsInFull(t *testing.T) {
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`(?i)[^"]*(versions? of the (dataset's )?truth|of the dataset's truth,|truth versions?\b)[^"]*`)
	for _, found := range other.FindAllString(string(document), -1) {
		t.Errorf("want versions of the ground truth and evaluator: %s", found)
	}
}
