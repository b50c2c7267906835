package service_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"testing"

	"assay/functions"
	"assay/functions/service/reference"
	"assay/shared/api"
)

var update = flag.Bool("update", false, "generate the API's description")

// TestDescription_IsGenerated holds that what is served describes the declared operations; with -update it makes the files.
func TestDescription_IsGenerated(t *testing.T) {
	document, err := api.DocumentJSON(functions.Families())
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := reference.Render(t.Context(), api.OpenAPI(functions.Families()), &page); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"openapi.json.gz": document, "reference.html.gz": page.Bytes()} {
		if got, err := unpack(file); bytes.Equal(got, want) {
			continue // packed by another version of Go, its bytes may be others
		} else if !*update {
			t.Errorf("%s does not describe the operations: run go generate ./functions/service (%v)", file, err)
			continue
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(want)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(file string) ([]byte, error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
