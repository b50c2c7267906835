package service_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"assay/functions"
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
