package submissions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
)

func TestCreate_RefusesRepositoriesThatAreNotBuilt(t *testing.T) {
	s := serve(t)
	d := s.dataset()
	body := object{"type": "repository", "url": "https://example.org/ranker.git", "datasetIds": []string{d.ID}}
	refused := s.refused(http.StatusUnprocessableEntity, "ada", body)
	if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/datasetIds/0" ||
		!strings.Contains(refused.Errors[0].Detail, "submit an image") {
		t.Errorf("%+v", refused)
	}
}

func TestCreate_QueuesImagesForWorkers(t *testing.T) {
	s := serve(t)
	d := s.dataset(func(d *record.DatasetItem) { d.Builds = true })
	for _, body := range []object{
		{"type": "image", "image": "ranker:1", "command": "rank"},
		{"type": "repository", "url": "https://example.org/ranker.git", "ref": "v1"},
	} {
		body["datasetIds"] = []string{d.ID}
		made := s.submit(body)
		if r := s.run(made.RunIDs[0]); r.State != record.Queued || r.Queue != record.QueueWorkers || len(made.Files) != 0 {
			t.Errorf("%+v", r)
		}
	}
}
