package blob_test

import (
	"testing"

	"assay/shared/blob"
)

func TestMediaTypeOf(t *testing.T) {
	for name, want := range map[string]string{"predictions.csv": "text/csv", "QRELS.TXT": "text/plain", "a.tsv": "text/tab-separated-values",
		"topics.xml": "application/xml", "test.qrels": "text/plain", "run": blob.DefaultMediaType, "a.exe": blob.DefaultMediaType} {
		if got := blob.MediaTypeOf(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
