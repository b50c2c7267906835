package datasets_test

import (
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestShow_NamesTypesThatNoWorkerServes asks for a dataset before and after a worker was seen. Only organizers, who submit baselines,
// are told.
func TestShow_NamesTypesThatNoWorkerServes(t *testing.T) {
	f, path, _ := serveDataset(t)
	if got := f.get("olga", path); !slices.Equal(got.UnservedTypes, []record.SubmissionType{record.ImageType}) || got.Withheld {
		t.Errorf("without workers: %v, withheld %v", got.UnservedTypes, got.Withheld)
	}
	if got := f.get("reg", path); got.UnservedTypes != nil {
		t.Errorf("a participant is shown %v", got.UnservedTypes)
	}
	serving := new(record.Serving)
	serving.Note(time.Now(), []record.Subqueue{record.WorkerSubqueue("", record.ExecuteImage)})
	f.Records().Put(serving)
	if got := f.get("olga", path); got.UnservedTypes != nil {
		t.Errorf("with a worker: %v", got.UnservedTypes)
	}
}
