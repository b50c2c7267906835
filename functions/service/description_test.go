package service_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
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

// TestDescription_DefinesMeasures looks for what organizers need to know about measures before they choose them.
func TestDescription_DefinesMeasures(t *testing.T) {
	text := api.OpenAPI(functions.Families()).Paths["/info"].Get.Description
	for _, e := range measure.Evaluators {
		sentences := e.Conventions
		for _, f := range e.Families {
			sentences = append(append(slices.Clone(sentences), f.Definition), f.Conventions...)
		}
		for _, l := range e.Limits {
			sentences = append(sentences, fmt.Sprintf("%d %s", l.Most, l.Of))
		}
		for _, sentence := range sentences {
			if !strings.Contains(text, sentence) {
				t.Errorf("%s: the document lacks %q", e.Kind, sentence)
			}
		}
	}
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
